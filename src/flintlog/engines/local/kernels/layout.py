"""The words of the blocks that kernels and Python share.

A block is an array of 64-bit words. A kernel gets the addresses of blocks, and reads the addresses of other arrays from
them. A rule's block names the blocks of relations and indexes: when a log moves, only the relation's block changes, and
the rule's block lasts from round to round.
"""

# --- A relation: its rows, and the set that knows them --------------------------------------------
R_ARITY = 0
R_WIDE = 1  # 0: a row is one packed key; 1: it is `arity` words
R_ROWS = 2  # address of the rows
R_COUNT = 3  # rows there are, those of this round included
R_VISIBLE = 4  # rows that rules see
R_DELTA = 5  # the first of last round's rows
R_SET = 6  # one of the kinds below
R_TABLE = 7  # address of the set's slots
R_BITS = 8  # logarithm of the number of slots; of one bit a key, the number of bits
R_LAST = 9  # of one bit a key: the width of the key's last column
R_STRIDE = 10  # and how many bits there are for each combination of the others
R_WIDTH = 11  # bits of a packed key
R_CROWDED = 12  # whether a short set found no slot near enough
R_COLUMNS = 13  # of every column low, shift and mask in the packed key, and the largest known value less low
COLUMN_WORDS = 4

SET_KEYS = 0  # slots hold key + 1
SET_BITS = 1  # one bit a key
SET_ROWS = 2  # slots hold 16 bits of the hash and row + 1
SET_SHORT = 3  # slots of 32 bits hold the lower bits of the hash; the slot's number has the others

# In a short set, no key is further than this from the slot where it belongs, so that its slot's number says enough.
FAR = 1 << 12
# Bits of the hash that a short set does not know from the slot where a key belongs, at most.
SHORT_BITS = 31 - 12

# --- An index: rows by the values of some columns -------------------------------------------------
X_RELATION = 0  # address of the relation's block
X_KIND = 1  # one of the kinds below
X_GROUPS = 2  # groups there are; for a dense index, keys there may be
X_BASE = 3  # rows below this are in the ordered part, the others in chains
X_BASE_GROUPS = 4  # groups of the ordered part
X_OFFSETS = 5  # address: where each group begins in the ordered part
X_ORDERED = 6  # address: rows (packed keys, or row numbers) of the ordered part, group by group
X_HEADS = 7  # address: the last row of each group's chain, -1 for none
X_NEXT = 8  # address: for each row from X_BASE on, the next one of its chain
X_TABLE = 9  # address: pairs of a key and its group + 1; of wide keys, hash bits and group + 1
X_BITS = 10  # logarithm of the number of slots
X_FIRST = 11  # address: for each group of wide keys a row that has the key
X_END = 12  # rows that are indexed
X_NFILTERS = 13
X_FILTERS = 14  # address of the filters: only rows that pass them all are indexed
X_ROOM = 15  # rows up to which kernels may lengthen the chains by themselves
X_NKEYS = 16
X_KEYS = 17  # for every key column: its position in the row, and low, shift and mask in the index's own key
KEY_WORDS = 4

# A filter: rows whose values in some columns another index has.
F_INDEX = 0  # address of the other index
F_VALUES = 1  # address of room for the values
F_NAMES = 2  # address: their positions in that room
F_COUNT = 3
F_COLUMNS = 4  # address: the columns
FILTER_WORDS = 5

INDEX_ALL = 0  # no key: every row
INDEX_DENSE = 1  # the packed key is the group
INDEX_HASH = 2  # packed keys in a table
INDEX_WIDE = 3  # keys of several words in a table

# --- A table from rows to their positions in the relation's log -----------------------------------
W_RELATION = 0  # address of the relation's block
W_TABLE = 1  # address of the slots, each 32 bits: the position + 1, or 0
W_BITS = 2  # logarithm of the number of slots
W_ROW = 3  # addresses of room for one row as the log has it, and for its values
W_VALUES = 4
W_COLUMNS = 5  # addresses of the columns of the rows that are looked for

# --- A rule, with one of its literals reading the delta -------------------------------------------
P_CURSOR = 0  # the next row of the first level that no thread has taken
P_END = 1
P_CHUNK = 2  # how many rows of the first level a thread takes at a time
P_SHARED = 3  # whether several threads run the rule at once
P_NLEVELS = 4
P_NCONSTANTS = 5
P_CONSTANTS = 6  # address: pairs of a register and its value
P_SINK = 7  # one of the kinds below
P_HEAD = 8  # address of the block of the relation that rows go to, or of the columns of a batch
P_NOUT = 9
P_OUT = 10  # address: for every column of the head its register, or -1 - (column of the last level's rows)
P_FUSED = 11  # whether the last level's rows go straight into the head's keys
P_CHECKED = 12  # whether values may be outside the head's packing
P_CAPACITY = 13  # of a batch: rows for which there is room
P_LEVELS = 16  # addresses of the levels

SINK_RELATION = 0
SINK_BATCH = 1

# --- A level: a loop over rows --------------------------------------------------------------------
L_KIND = 0
L_SOURCE = 1  # address of a relation's block, an index's block, or the columns of a batch
L_NSTEPS = 2
L_STEPS = 3  # address of the steps
L_BACK = 4  # the level that goes on after a row of the head came out
L_NKEYS = 5
L_KEYS = 6  # address: registers of the key
L_NBINDS = 7
L_BINDS = 8  # address: pairs of a register and a column
LEVEL_WORDS = 9

LEVEL_SCAN = 0  # a range of a relation's rows
LEVEL_BATCH = 1  # rows of a batch
LEVEL_PROBE = 2  # the rows that an index has for a key
LEVEL_GROUPS = 3  # one row of every group of an index

# --- A step: a test or a computation on registers -------------------------------------------------
S_OP = 0
S_TO = 1  # register of the result; for a test, 1 if it must hold and 0 if it must not
S_A = 2
S_B = 3
S_NKEYS = 4
STEP_WORDS = 5

(
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_ULT,
    OP_ULE,
    OP_UGT,
    OP_UGE,
    OP_CONTAINS,  # relation at S_A, registers at S_B
    OP_EXISTS,  # index at S_A, registers at S_B
    OP_COPY,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_MIN,
    OP_MAX,
    OP_DIV,  # towards zero; the divisor is neither 0 nor -1
    OP_MOD,
) = range(23)

# --- What a thread keeps while it runs a rule -----------------------------------------------------
T_LEVEL = 0  # -1: nothing begun
T_AGAIN = 1  # whether a row of the head waits to be taken again
T_COUNT = 2  # candidates in the buffer
T_ROOM = 3  # new rows for which there is room
T_BUDGET = 4  # candidates until the thread comes back to say that it is alive
T_SEEN = 5  # candidates so far
T_CURSORS = 8  # position, end and chain of every level
CURSOR_WORDS = 3
MAX_LEVELS = 40
T_BUFFER = T_CURSORS + CURSOR_WORDS * MAX_LEVELS
BUFFER_WORDS = 1024
T_NEW = T_BUFFER + BUFFER_WORDS
T_REGISTERS = T_NEW + BUFFER_WORDS  # as many as the rule has

# --- How a thread comes back ----------------------------------------------------------------------
DONE = 0
PAUSED = 1  # the budget is spent
FULL = 2  # there is no room for more
OUTSIDE = 3  # a row of the head does not fit into the packing

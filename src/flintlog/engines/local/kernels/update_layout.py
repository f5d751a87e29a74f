"""The words of the blocks that kernels and Python share in an update; `layout` has those of a run."""

# --- What is kept of a relation's rows ------------------------------------------------------------
K_RELATION = 0  # address of the relation's block
K_PLACES = 1  # address of the block of the table of its rows' positions
K_OLD = 2  # addresses of what is known of each row: rounds before and after the update, and counts
K_NEW = 3
K_COUNTS = 4
K_MARKS = 5  # address: of each row 0, or 1 + where it stands among those that are being settled
K_ROOM = 6  # rows that the log has room for
K_LATE = 7  # addresses of lists of positions, and their lengths: rows that no longer come in this round,
K_NLATE = 8
K_COME = 9  # rows that come in it now,
K_NCOME = 10
K_ASKED = 11  # and rows whose count has to be found out
K_NASKED = 12
K_CAPACITY = 13  # of each list
K_SAVED = 14  # address: pairs of the position of a changed row and the count that it had
K_NSAVED = 15
K_SAVED_ROOM = 16
KEPT_WORDS = 17

# --- A clause -------------------------------------------------------------------------------------
C_HEAD = 0  # address of what is kept of the head's relation
C_LEAST = 1  # the round before the first in which an instance may come
C_BEFORE = 2  # 0 where the rule belongs to the program before the update, NEVER where it does not
C_AFTER = 3
C_NPLACES = 4
C_SEARCHES = 5  # address: of each place, and last of the head, the search that begins there, or one of those below
C_PLACES = 6  # of each place: what is kept of its relation, and one of the kinds below
PLACE_WORDS = 2

PLACE_OWN = 0  # a row of the stratum
PLACE_BELOW = 1  # a row from below it
PLACE_ABSENT = 2  # a row that must not be there

SEARCH_UNKNOWN = 0  # Python has not made it yet
SEARCH_OUTSIDE = -1  # it is not for kernels

# --- A search for instances -----------------------------------------------------------------------
Q_RULE = 0  # address of a rule that goes from a batch to a batch; 0: the batch has the instances
Q_THREAD = 1
Q_OUT = 2  # address: registers of its output
Q_BATCH = 3  # address of the addresses of the batch's columns
Q_NGIVEN = 4  # how many these are
Q_BINDS = 5  # address: of each the position in a row that it gets its values from
Q_NTESTS = 6
Q_TESTS = 7  # address: positions, each with a word that must stand there, or another position that must have the same
Q_VALUES = 8  # addresses, of each place and last of the head: pairs of a kind below and a word, for each column
TEST_WORDS = 3

VALUE_FOUND = 0  # what the search has found for a variable
VALUE_CONST = 1

# --- An instance that waits for the round in which it has its effect ------------------------------
N_NEXT = 0  # where the next one of that round stands + 1
N_KIND = 1
N_CLAUSE = 2  # address of the clause
N_PLACE = 3  # where the changed row stands
N_HEAD = 4
N_ROWS = 5  # the rows of its places

REMOVED, ADDED, AGAIN, COUNTED = range(4)

# --- A row that is being settled ------------------------------------------------------------------
A_KEPT = 0
A_ROW = 1
A_MORE = 2  # instances that it gains in this round, and loses
A_LESS = 3
A_COUNT = 4  # what it had before, if that was asked for, or UNKNOWN
SETTLED_WORDS = 5

# --- An update of a stratum -----------------------------------------------------------------------
U_PHASE = 0  # one of those below
U_ROUND = 1
U_CLAUSE = 2  # how far it has come: number of the clause, and of the search of this clause,
U_STEP = 3
U_AT = 4  # rows that were taken to begin the search with,
U_RUNNING = 5  # whether the rule has more for these,
U_FOUND = 6  # instances that it has found,
U_TAKEN = 7  # and how many of them were looked at
U_INSTANCES = 8  # all instances since progress was last reported
U_NCLAUSES = 9
U_CLAUSES = 10  # address of the addresses of clauses
U_NKEPT = 11
U_KEPT = 12  # address of the addresses of all that is kept, the stratum's own first
U_NOWN = 13
U_NINDEXES = 14
U_INDEXES = 15  # address of the addresses of indexes that searches use
U_STALE = 16  # whether these have to be looked after by Python
U_ROUNDS = 17  # address: for each round where the first instance stands that waits for it + 1, or 0, and how many do
U_NROUNDS = 18  # rounds for which there is room
U_LAST = 19  # the last round for which an instance waits
U_WAITING = 20  # address of the waiting instances
U_WAITING_END = 21
U_WAITING_ROOM = 22
U_FREE = 23  # address: of each number of places, where an unused instance stands + 1, or 0
U_SETTLED = 24  # address of the rows that are being settled
U_NSETTLED = 25
U_SETTLED_ROOM = 26
U_COLUMNS = 27  # address of the columns of a batch to begin with
U_BUFFER = 28  # address of the columns of what was found
U_ROWS = 29  # address of room for the rows of one instance
U_VALUES = 30  # address of room for the values of one row
U_NEW_KEY = 31  # room for a key
U_WANTED = 32  # what is missing: a round, a number of rows
U_WHERE = 33  # and where: address of what is kept
UPDATE_WORDS = 34

SPREAD, NEXT, COUNT, SETTLE = range(4)

BATCH_ROWS = 1 << 9  # rows that a search begins with at a time
FOUND_ROWS = 1 << 11  # instances that are found at a time
TELL_AFTER = 1 << 14  # instances after which progress is reported

# The round of a row that is not there, and a count that is not known, in 32 bits.
ROUND_NEVER = (1 << 31) - 1
COUNT_UNKNOWN = (1 << 32) - 1

# --- What an update needs when it comes back ------------------------------------------------------
FINISHED = 0
NEEDS_TELLING = 1
NEEDS_SEARCH = 2  # the search of this clause is to be made
NEEDS_INSTANCES = 3  # the instances of this search are to be found by Python
NEEDS_INDEXES = 4
NEEDS_ROUNDS = 5
NEEDS_WAITING = 6
NEEDS_LISTS = 7
NEEDS_ROWS = 8  # a log has no room for the row of these values
NEEDS_RANGE = 9  # values are outside what is known of a log

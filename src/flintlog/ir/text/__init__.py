"""The text form of the IR. It prints and parses: `parse_program(print_program(p)) == p` if `verify` accepts `p`.

Indentation shows the tree, `# …` is a comment, and `:` stands before a kind or type, `=` before a value:

    type Tree = Leaf {} | Node {l: Tree, r: Tree}
    relation edge(x: number, y: number)
    relation path(x: number, y: number) limit 100
    input edge (IO="file", filename="edge.facts")

    stratum recursive path
      rule 1 path
        join [z] (x, y = (y + 1))
          where (x != y)
          scan edge(x: number, z: number)
          scan path(z: number, y: number)

An expression is fully parenthesised. A column takes its kind from the node's inputs, an operation from its arguments; a
kind is written only where neither tells it: `@f(x): number`, `part(r, 0): symbol`, `as(x): float`. A name that does not
read as a name stands in backticks.
"""

from flintlog.ir.text.node_printer import print_head, print_node
from flintlog.ir.text.node_reader import parse_node
from flintlog.ir.text.program_printer import print_program
from flintlog.ir.text.program_reader import parse_program
from flintlog.ir.text.scalar_printer import print_condition, print_scalar

__all__ = [
    "parse_node",
    "parse_program",
    "print_condition",
    "print_head",
    "print_node",
    "print_program",
    "print_scalar",
]

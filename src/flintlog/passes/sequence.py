"""The passes in order, and how they run.

A pass is a pure function `(Program, PassContext) -> Program` in a file of its name. It returns the same object if it
has nothing to do, and none of them changes the rows of a wanted relation. It leaves alone the rules of relations in
`context.held`, and the order of atoms in a rule that has a `plan`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError, InternalError, did_you_mean
from flintlog.ir.program import Program
from flintlog.ir.verify import verify
from flintlog.passes.constants import constants
from flintlog.passes.context import PassContext
from flintlog.passes.duplicate_rules import duplicate_rules
from flintlog.passes.fusion import fusion
from flintlog.passes.inline_relations import inline_relations
from flintlog.passes.magic.demand import magic
from flintlog.passes.order_shows import relations_whose_order_shows
from flintlog.passes.remove_unneeded import remove_unneeded
from flintlog.passes.sharing import sharing
from flintlog.passes.sip.sideways import sip
from flintlog.passes.structural.planner import structural

Transformation: TypeAlias = Callable[[Program, PassContext], Program]


@dataclass(frozen=True)
class Pass:
    """`summary` says in one line what the pass does."""

    name: str
    summary: str
    apply: Transformation


_REMOVE_UNNEEDED = Pass("remove_unneeded", "leaves out rules and relations that add nothing", remove_unneeded)
_CONSTANTS = Pass("constants", "computes constants and carries them to where they are used", constants)
_FUSION = Pass("fusion", "makes one step of maps over maps, maps over joins, unions of unions", fusion)
_DUPLICATE_RULES = Pass("duplicate_rules", "leaves out rules that repeat others in other words", duplicate_rules)
_INLINE_RELATIONS = Pass("inline_relations", "puts rules in the place of relations read once", inline_relations)
_MAGIC = Pass("magic", "computes only the rows that the constants of wanted relations ask for", magic)
_SIP = Pass("sip", "filters the atoms of cyclic recursive joins by each other first", sip)
_STRUCTURAL = Pass("structural", "orders joins by their structure, filters as low as they can be", structural)
_SHARING = Pass("sharing", "computes joins and aggregates once that several rules need", sharing)

# A pass may stand here more than once: what one of them does gives another something to do.
PASSES: tuple[Pass, ...] = (
    # Everything below takes time in proportion to the program, so what nobody needs goes first.
    _REMOVE_UNNEEDED,
    _CONSTANTS,
    # Rules are compared, and put into others, as fused trees: there are fewer ways to write these.
    _FUSION,
    _DUPLICATE_RULES,
    _INLINE_RELATIONS,
    # A constant of an inlined rule may meet one of the rule around it.
    _CONSTANTS,
    # Needs the constants of wanted relations where they are read.
    _MAGIC,
    _REMOVE_UNNEEDED,
    # Its rules are joins, too.
    _SIP,
    _STRUCTURAL,
    # What these built of small parts.
    _FUSION,
    # Last: whoever rewrites a subplan afterwards would have to look at everyone who shares it.
    _SHARING,
)

ALL = "all"

# What engines do by themselves, in the course of a run. It is switched off by name as passes are.
IN_ENGINES = {"samples": "orders joins while the program runs, by samples of what relations hold"}

# What Soufflé's names in `.pragma "disable-transformers"` switch off here.
_SOUFFLE_NAMES = {
    "InlineRelationsTransformer": "inline_relations",
    "MagicSetTransformer": "magic",
    "MinimiseProgramTransformer": "duplicate_rules",
    "RemoveEmptyRelationsTransformer": "remove_unneeded",
    "RemoveRedundantRelationsTransformer": "remove_unneeded",
    "RemoveRelationCopiesTransformer": "inline_relations",
}


@dataclass(frozen=True)
class Applied:
    """One pass of a run: the program it found and the one it left, the same object if it had nothing to do or was
    `skipped`."""

    step: Pass
    before: Program
    after: Program
    skipped: bool = False


def pass_names() -> tuple[str, ...]:
    """Every pass once, in the order of their first run."""
    return tuple(dict.fromkeys(step.name for step in PASSES))


def optimise(
    program: Program, context: PassContext, without: Collection[str] = (), *, verified: bool = False
) -> Program:
    """The program after all passes but those in `without`; `all` stands for every pass. With `verified`, the invariants
    of the IR are checked after each."""
    for applied in applied_passes(program, context, without, verified=verified):
        program = applied.after
    return program


@deep_recursion()
def applied_passes(
    program: Program, context: PassContext, without: Collection[str] = (), *, verified: bool = False
) -> list[Applied]:
    """The passes one by one, as `optimise` runs them, those it skips among them."""
    check_names(without)
    return list(_apply(program, context, {*without, *_disabled(context)}, verified))


def _disabled(context: PassContext) -> Iterator[str]:
    """The passes that the program itself switches off."""
    for name in context.pragmas.get("disable-transformers", "").split(","):
        yield _SOUFFLE_NAMES.get(name.strip(), name.strip())


def _apply(program: Program, context: PassContext, without: Collection[str], verified: bool) -> Iterator[Applied]:
    context = replace(context, held=relations_whose_order_shows(program))
    for step in PASSES:
        if ALL in without or step.name in without:
            yield Applied(step, program, program, skipped=True)
            continue
        after = step.apply(program, context)
        yield Applied(step, program, after)
        if after is not program:
            if verified:
                _verify_after(step, after)
            context = replace(context, held=relations_whose_order_shows(after))
        program = after


def _verify_after(step: Pass, program: Program) -> None:
    try:
        verify(program)
    except InternalError as error:
        raise InternalError(step.name, str(error)) from error


def engine_may(name: str, without: Collection[str]) -> bool:
    """Whether an engine may do what it does under that name.

    >>> engine_may("samples", ["sip"]), engine_may("samples", ["all"])
    (True, False)
    """
    return name not in without and ALL not in without


def check_names(without: Collection[str]) -> None:
    """Raises the user's mistake if a name is no pass."""
    known = (*pass_names(), *IN_ENGINES, ALL)
    wrong = [name for name in dict.fromkeys(without) if name not in known]
    if wrong:
        raise FlintlogError(
            [
                Diagnostic(
                    "E911",
                    f"there is no pass `{name}` to go without",
                    note=did_you_mean(name, known) or f"passes: {', '.join(known)}",
                )
                for name in wrong
            ]
        )

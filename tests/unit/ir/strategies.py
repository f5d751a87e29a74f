"""Hypothesis strategies for well-formed IR: trees, and programs that `verify` accepts."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from tests.unit.ir.scalar_strategies import FUNCTIONS, NUMERIC, POOLS, conditions, kinds, names, scalars, texts, values

from flintlog.ir.nodes import (
    Aggregate,
    AntiJoin,
    ConcatAll,
    Each,
    FlatMap,
    Fold,
    JoinFlatMap,
    Let,
    Node,
    Scan,
    Schema,
    SemiJoin,
    Shared,
    Step,
    Unit,
    Values,
    Where,
)
from flintlog.ir.program import NEW, OLD, IoDirective, Program, Relation, Rule, Stratum, Subsumption
from flintlog.ir.scalar import Column
from flintlog.types import FLOWLOG_TYPES, PRIMITIVES, AdtType, Branch, Field, Kind, RecordType, ScalarType, Type

# A relation that records another has one column more, and a subsumption twice as many, perhaps all of one kind.
MAX_WIDTH = 3


# --- Trees ----------------------------------------------------------------------------------------


@st.composite
def schemas(draw: st.DrawFn, of: Sequence[Kind] | None = None) -> Schema:
    """Columns of these kinds, or of any."""
    wanted = draw(st.lists(kinds, max_size=MAX_WIDTH)) if of is None else of
    unused = {kind: list(draw(st.permutations(POOLS[kind]))) for kind in set(wanted)}
    return tuple(Column(unused[kind].pop(), kind) for kind in wanted)


@st.composite
def steps(draw: st.DrawFn, scope: Schema) -> tuple[tuple[Step, ...], Schema]:
    """Steps, and the columns in scope after them."""
    made: list[Step] = []
    for form in draw(st.lists(st.sampled_from((Where, Let, Each)), max_size=3)):
        if form is Where:
            made.append(Where(draw(conditions(scope))))
            continue
        kind = draw(st.sampled_from(NUMERIC) if form is Each else kinds)
        unused = [name for name in POOLS[kind] if name not in {column.name for column in scope}]
        if not unused:
            continue
        column = Column(draw(st.sampled_from(unused)), kind)
        bounds = tuple(draw(scalars(kind, scope)) for _ in range(draw(st.integers(2, 3))))
        made.append(Each(column, bounds) if form is Each else Let(column, bounds[0]))
        scope = (*scope, column)
    return tuple(made), scope


@st.composite
def projections(draw: st.DrawFn, node: Node, schema: Schema) -> FlatMap:
    """A FlatMap over the node that has the schema."""
    made, scope = draw(steps(node.schema))
    return FlatMap(node, made, tuple((column.name, draw(scalars(column.kind, scope))) for column in schema))


@st.composite
def nodes(
    draw: st.DrawFn, relations: Sequence[Relation] = (), shared: Sequence[tuple[int, Node]] = (), depth: int = 3
) -> Node:
    """A tree over these relations and shared subplans."""
    leaves = [_values, *([_scan] if relations else []), *([_shared] if shared else [])]
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(leaves))(draw, relations, shared)
    source = draw(nodes(relations, shared, depth - 1))
    form = draw(st.sampled_from((FlatMap, JoinFlatMap, SemiJoin, AntiJoin, Aggregate, ConcatAll)))
    if form is FlatMap:
        return draw(projections(source, draw(schemas())))
    if form is Aggregate:
        return draw(aggregates(source))
    other = draw(nodes(relations, shared, depth - 1))
    if form is ConcatAll:
        return ConcatAll((source, draw(projections(other, source.schema))))
    common = [column.name for column in other.schema if column in source.schema]
    if form is not JoinFlatMap:
        on = tuple(draw(st.permutations(common)))[: draw(st.integers(0, 2))]
        return SemiJoin(source, other, on) if form is SemiJoin else AntiJoin(source, other, on)
    plain = JoinFlatMap(source, other, tuple(common), (), ())
    made, scope = draw(steps(plain.joined))
    output = tuple((column.name, draw(scalars(column.kind, scope))) for column in draw(schemas()))
    return JoinFlatMap(source, other, tuple(common), made, output)


def _values(draw: st.DrawFn, relations: Sequence[Relation], shared: Sequence[tuple[int, Node]]) -> Node:
    schema = draw(schemas())
    if not schema and draw(st.booleans()):
        return Unit()
    rows = st.tuples(*(values(column.kind) for column in schema))
    return Values(schema, tuple(draw(st.lists(rows, max_size=2))))


def _scan(draw: st.DrawFn, relations: Sequence[Relation], shared: Sequence[tuple[int, Node]]) -> Node:
    relation = draw(st.sampled_from(relations))
    return Scan(relation.name, draw(schemas(relation.kinds)))


def _shared(draw: st.DrawFn, relations: Sequence[Relation], shared: Sequence[tuple[int, Node]]) -> Node:
    id, node = draw(st.sampled_from(shared))
    return Shared(id, draw(schemas([column.kind for column in node.schema])))


@st.composite
def aggregates(draw: st.DrawFn, source: Node) -> Aggregate:
    by = tuple(column for column in source.schema if draw(st.booleans()))
    op = draw(st.sampled_from(("count", "sum", "min", "max", "mean", "@plus", "@glue it")))
    init, value = None, None
    if op.startswith("@"):
        kind = FUNCTIONS[op[1:]].result
        init = draw(scalars(kind, by))
    else:
        kind = Kind.FLOAT if op == "mean" else draw(st.sampled_from(NUMERIC))
    if op != "count":
        value = draw(scalars(kind, source.schema))
    into = draw(st.sampled_from([name for name in POOLS[kind] if name not in {column.name for column in by}]))
    keys = draw(st.none() | st.builds(Values, st.just(by), st.just(())))
    return Aggregate(source, tuple(column.name for column in by), into, Fold(op, value, kind, init), keys)


# --- Programs -------------------------------------------------------------------------------------


@st.composite
def type_tables(draw: st.DrawFn) -> dict[str, Type]:
    """Standard types and some more."""
    table: dict[str, Type] = dict(draw(st.sampled_from((PRIMITIVES, {**PRIMITIVES, **FLOWLOG_TYPES}))))
    fields = st.lists(st.builds(Field, names, names), max_size=2).map(tuple)
    for name in draw(st.lists(names, max_size=3, unique=True)):
        own = draw(st.sampled_from((name, "other")))
        table[name] = draw(
            st.builds(ScalarType, st.just(own), st.sampled_from(NUMERIC), st.sampled_from((None, 8)))
            | st.builds(RecordType, st.just(own), fields)
            | st.builds(
                AdtType, st.just(own), st.lists(st.builds(Branch, names, fields), min_size=1, max_size=2).map(tuple)
            )
            | st.sampled_from(list(table.values()))
        )
    return table


@st.composite
def relations(draw: st.DrawFn, name: str, types: dict[str, Type]) -> Relation:
    columns = draw(st.lists(st.builds(Field, names, st.sampled_from(list(types))), max_size=MAX_WIDTH, unique_by=_name))
    column_kinds = tuple(types[column.type].kind for column in columns)
    positions = st.lists(st.sampled_from(range(len(columns))), max_size=2) if columns else st.just([])
    merge = tuple(draw(st.none() | scalars(k, (Column(OLD, k), Column(NEW, k)))) for k in column_kinds)
    return Relation(
        name,
        tuple(columns),
        column_kinds,
        draw(st.sampled_from(("", "", "brie", "eqrel", "limit"))),
        frozenset(draw(st.lists(names, max_size=2))),
        tuple(map(tuple, draw(st.lists(positions, max_size=2)))),
        merge if any(merge) else (),
        draw(st.none() | st.integers(0, 1000)),
    )


def _recording(relation: Relation) -> Relation:
    columns = (*relation.columns, Field("number of the round", "number"))
    return Relation("debug", columns, (*relation.kinds, Kind.NUMBER), delta_of=relation.name)


def _name(field: Field) -> str:
    return field.name


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A program with inputs, a relation that records another one's rows, shared subplans over them, and strata."""
    types = draw(type_tables())
    declared = [draw(relations(name, types)) for name in draw(st.lists(names, min_size=1, max_size=4, unique=True))]
    if draw(st.booleans()):
        declared.append(_recording(declared[0]))
    cut = draw(st.integers(0, 1))
    readable, computed = declared[:cut], declared[cut:]
    shared: list[tuple[int, Node]] = []
    for id in range(draw(st.integers(0, 2))):
        shared.append((id, draw(nodes(readable, shared, depth=1))))
    strata: list[Stratum] = []
    while computed:
        size = draw(st.integers(1, 2))
        own, computed = computed[:size], computed[size:]
        strata.append(draw(_strata(own, readable, shared, 10 * len(strata))))
        readable = readable + own
    params = st.lists(st.tuples(names, texts), max_size=2).map(tuple)
    directives = st.builds(
        IoDirective,
        st.sampled_from(("input", "output", "printsize")),
        st.sampled_from([r.name for r in declared]),
        params,
    )
    io = tuple(draw(st.lists(directives, max_size=2)))
    return Program(types, {r.name: r for r in declared}, tuple(strata), io, FUNCTIONS, dict(shared))


@st.composite
def _strata(
    draw: st.DrawFn, own: list[Relation], earlier: list[Relation], shared: list[tuple[int, Node]], first_id: int
) -> Stratum:
    recursive = draw(st.booleans())
    rules, subsumptions = [], []
    for id in range(first_id, first_id + draw(st.integers(0, 2))):
        relation = draw(st.sampled_from(own))
        source = draw(nodes(earlier + own if recursive else earlier, shared, depth=2))
        body = draw(projections(source, draw(schemas(relation.kinds))))
        plan = draw(st.sampled_from(((), ((0, (2, 1)), (1, ())))))
        rules.append(Rule(id, relation.name, body, plan))
    if draw(st.integers(0, 3)) == 0:
        relation = draw(st.sampled_from(own))
        pair = draw(schemas(relation.kinds * 2))
        source = Scan(relation.name, pair[: len(relation.kinds)])
        subsumptions.append(Subsumption(first_id + 9, relation.name, draw(projections(source, pair))))
    return Stratum(tuple(r.name for r in own), recursive, tuple(rules), tuple(subsumptions))

"""A program of a thousand rules is read, checked and lowered in a moment, and time grows with the number of rules."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from tests.machine import slowness

from flintlog.check.check import check
from flintlog.depth import deep_recursion
from flintlog.diagnostics import Report
from flintlog.lower.lower import lower
from flintlog.source import SourceFile
from flintlog.syntax.parser import parse

RULES_A_MODULE = 20


def module(i: int) -> str:
    """Twenty rules about the relations of one module, which read some of the module before: a small analysis."""
    before = max(i - 1, 0)
    return f"""
.type Node{i} <: number
.type Pair{i} = [left: Node{i}, right: Node{i}]
.type Shape{i} = Point{i} {{ x: number }} | Box{i} {{ corner: Pair{i}, name: symbol }}
.decl edge{i}(x: number, y: number, w: number)
.decl node{i}(x: number)
.decl path{i}(x: number, y: number)
.decl far{i}(x: number, y: number)
.decl degree{i}(x: number, n: number)
.decl cost{i}(x: number, y: number, c: number)
.decl pair{i}(p: Pair{i})
.decl shape{i}(s: Shape{i})
.decl name{i}(x: number, s: symbol)
.decl best{i}(x: number, c: number)
.decl summary{i}(n: number, s: symbol)
.input edge{i}
.output summary{i}
node{i}(x) :- edge{i}(x, _, _) ; edge{i}(_, x, _).
path{i}(x, y) :- edge{i}(x, y, _).
path{i}(x, z) :- path{i}(x, y), edge{i}(y, z, w), w > 0, x != z.
path{i}(x, y) :- path{before}(x, y), node{i}(x), node{i}(y).
far{i}(x, y) :- node{i}(x), node{i}(y), !path{i}(x, y), x < y.
degree{i}(x, n) :- node{i}(x), n = count : {{ edge{i}(x, _, _) }}.
degree{i}(x, n + m) :- degree{before}(x, n), m = sum w : {{ edge{i}(x, _, w), w < 100 }}.
cost{i}(x, y, c) :- edge{i}(x, y, w), c = w * 2 + 1.
cost{i}(x, y, min(c, d)) :- cost{before}(x, y, c), edge{i}(x, y, d), (c > 3 ; d > 3).
pair{i}([as(x, Node{i}), as(y, Node{i})]) :- edge{i}(x, y, _), path{i}(y, x).
pair{i}([y, x]) :- pair{i}([x, y]).
shape{i}($Box{i}(p, cat("box", to_string(x)))) :- pair{i}(p), p = [x, _].
shape{i}($Point{i}(x)) :- node{i}(x), !far{i}(x, _).
name{i}(x, s) :- shape{i}($Box{i}([x, _], s)), contains("box", s).
name{i}(x, cat("n", s, "_{i}")) :- name{before}(x, s), strlen(s) < 10.
best{i}(x, c) :- node{i}(x), c = min d : {{ cost{i}(x, _, d) }}.
best{i}(x, c) <= best{i}(x, d) :- d < c.
summary{i}(n, "far") :- n = count : {{ far{i}(_, _) }}.
summary{i}(c, s) :- best{i}(x, c), name{i}(x, s), degree{i}(x, n), n band 1 = 0.
.comp Closure{i}<T> {{
    .decl base(x: T, y: T)
    .decl reach(x: T, y: T)
    reach(x, y) :- base(x, y).
    reach(x, z) :- reach(x, y), base(y, z).
}}
.init closure{i} = Closure{i}<number>
closure{i}.base(x, y) :- edge{i}(x, y, _).
summary{i}(n, "reach") :- n = count : {{ closure{i}.reach(_, _) }}.
"""


def program(rules: int) -> SourceFile:
    return SourceFile("large.dl", "".join(module(i) for i in range(rules // RULES_A_MODULE)))


@deep_recursion()
def compile_seconds(source: SourceFile) -> tuple[float, float]:
    """How long it takes to read and check a program, and how long to lower it, in a process that does nothing else:
    neither the time of other processes counts, nor the garbage collector's walks over what the tests keep alive."""
    gc.collect()
    gc.freeze()
    try:
        report = Report()
        started = time.process_time()
        checked = check(parse(source, report), report)
        between = time.process_time()
        assert checked is not None, "\n".join(d.render() for d in report.errors[:3])
        lowered = lower(checked)
        ended = time.process_time()
    finally:
        gc.unfreeze()
    assert len(lowered.relations) == len(checked.relations)
    return between - started, ended - between


def best_of_three(measure: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    checks, lowerings = zip(*(measure() for _ in range(3)), strict=True)
    return min(checks), min(lowerings)


def test_a_thousand_rules_take_less_than_a_second():
    source = program(1000)
    reading, lowering = best_of_three(lambda: compile_seconds(source))
    assert reading < slowness()
    assert lowering < slowness()


def test_twice_the_rules_take_about_twice_the_time():
    once, twice = program(1000), program(2000)
    ratios: list[float] = []
    gc.disable()  # collections come in bursts, which make two measurements hard to compare
    try:
        # What else the machine does may spoil one measurement: one of some tries has to show that growth is linear.
        while not ratios or (min(ratios) >= 2.6 and len(ratios) < 3):
            short, long = best_of_three(lambda: compile_seconds(once)), best_of_three(lambda: compile_seconds(twice))
            ratios.append(sum(long) / sum(short))
    finally:
        gc.enable()
    assert min(ratios) < 2.6

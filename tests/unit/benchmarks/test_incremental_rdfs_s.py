"""benchmarks/programs/rdfs_s derives what rdfs derives, in several relations."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.definition import PROGRAMS, load
from tests.benchmark_data import data_sets

from flintlog import Program, Result
from flintlog.types import Row

TRIPLES = [
    ("headOf", "rdfs:subPropertyOf", "worksFor"),
    ("worksFor", "rdfs:subPropertyOf", "memberOf"),
    ("Chair", "rdfs:subClassOf", "Professor"),
    ("Professor", "rdfs:subClassOf", "Person"),
    ("memberOf", "rdfs:domain", "Person"),
    ("worksFor", "rdfs:range", "Department"),
    ("Department", "rdfs:subClassOf", "Organization"),
    ("ann", "headOf", "logic"),
    ("ann", "rdf:type", "Chair"),
    ("bob", "memberOf", "logic"),
    ("bob", "name", "Bob"),
]


def in_one_relation(result: Result) -> set[Row]:
    predicates = {
        "Domain": "rdfs:domain",
        "Range": "rdfs:range",
        "Type": "rdf:type",
        "SubPropertyOf": "rdfs:subPropertyOf",
        "SubClassOf": "rdfs:subClassOf",
    }
    rows: set[Row] = {(s, predicate, o) for name, predicate in predicates.items() for s, o in result[name]}
    return rows | set(result["Rdf"])


def test_the_relations_together_are_the_triples_of_rdfs() -> None:
    one = Program.load(PROGRAMS / "rdfs" / "program.dl").run(T=TRIPLES)
    several = Program.load(PROGRAMS / "rdfs_s" / "program.dl").run(Rdf=TRIPLES)
    assert in_one_relation(several) == set(one["T"])
    assert {("ann", "memberOf", "logic"), ("logic", "rdf:type", "Organization")} <= set(one["T"])


@pytest.mark.slow
@pytest.mark.parametrize("data", load(PROGRAMS / "rdfs_s").data, ids=lambda data: data.name)
def test_sizes(data) -> None:
    folder: Path = data_sets().folder(data.name)
    several = Program.load(PROGRAMS / "rdfs_s" / "program.dl").run(facts_dir=folder)
    assert data.expected == {name: str(len(several[name])) for name in data.expected}
    (one,) = load(PROGRAMS / "rdfs").data
    assert len(in_one_relation(several)) == int(one.expected["T"])

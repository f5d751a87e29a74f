"""Programs made from ontologies derive what the W3C's rules entail."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from benchmarks import owl2rl
from benchmarks.owl2rl import Triple, translate
from tests.benchmark_data import data_sets
from tests.unit.benchmarks.owl2rl_by_triples import entailed

from flintlog import Program
from flintlog.types import Row

# Bosses lead some team; a leader is a person who leads something; a senior is exactly a person in a large team.
TERMINOLOGY = """
    Person rdf:type owl:Class
    Team rdf:type owl:Class
    LargeTeam rdfs:subClassOf Team
    knows rdf:type owl:ObjectProperty
    knows rdfs:domain Person
    knows rdfs:range Person
    isIn rdfs:range Team
    leads rdfs:subPropertyOf isIn
    has http://www.w3.org/2002/07/owl#inverseOf isIn
    partOf rdf:type owl:TransitiveProperty
    partOf rdfs:domain _:teamOfTeams
    _:teamOfTeams owl:intersectionOf _:list1
    _:list1 rdf:first Team
    _:list1 rdf:rest _:list2
    _:list2 rdf:first Group
    _:list2 rdf:rest rdf:nil
    Boss rdfs:subClassOf _:someTeam
    _:someTeam owl:onProperty leads
    _:someTeam owl:someValuesFrom Team
    Leader owl:intersectionOf _:list3
    _:list3 rdf:first Person
    _:list3 rdf:rest _:list4
    _:list4 rdf:first _:leads
    _:list4 rdf:rest rdf:nil
    _:leads owl:onProperty leads
    _:leads owl:someValuesFrom owl:Thing
    Senior owl:equivalentClass _:both
    _:both owl:intersectionOf _:list5
    _:list5 rdf:first Person
    _:list5 rdf:rest _:list6
    _:list6 rdf:first _:inLarge
    _:list6 rdf:rest rdf:nil
    _:inLarge owl:onProperty isIn
    _:inLarge owl:someValuesFrom _:largePart
    _:largePart owl:onProperty partOf
    _:largePart owl:someValuesFrom LargeTeam
    Lonely owl:complementOf Person
    Person rdfs:label somebody
"""
CLASSES = "Person Team LargeTeam Group Boss Leader Senior".split()
PROPERTIES = "knows isIn leads has partOf".split()


def triples_of(text: str) -> list[Triple]:
    lines = [line.split() for line in text.strip().splitlines()]
    return [(s, p, o) for s, p, o in lines]


def random_facts(seed: int, count: int = 25) -> list[Triple]:
    random = Random(seed)
    things = [f"t{number}" for number in range(9)]
    types = [(random.choice(things), "rdf:type", random.choice(CLASSES)) for _ in range(count // 3)]
    return types + [(random.choice(things), random.choice(PROPERTIES), random.choice(things)) for _ in range(count)]


def test_every_relation_equals_what_the_rules_on_triples_entail(tmp_path: Path) -> None:
    for seed in range(4):
        triples = triples_of(TERMINOLOGY) + random_facts(seed)
        found = answer(triples, tmp_path / str(seed))
        assert found == expected(triples)
    assert all(found.values())  # an empty relation would be right by chance


def test_what_no_rule_says_is_named(tmp_path: Path) -> None:
    source = tmp_path / "T.facts"
    source.write_text("".join("\t".join(t) + "\n" for t in [*triples_of(TERMINOLOGY), ("a", "likes", "b")]))
    assert owl2rl.write(source, tmp_path / "owl").left_out == [
        "Boss ⊑ ∃leads.Team",
        "Leader ⊑ ∃leads.Thing",
        "Senior ⊑ ∃isIn.∃partOf.LargeTeam",
        "Lonely owl:complementOf Person",
        "1 triples with likes",
    ]


def test_rules_of_class_expressions() -> None:
    rules = translate(triples_of(TERMINOLOGY)).rules
    assert "class_Leader(x) :- class_Person(x), property_leads(x, _)." in rules
    senior = "property_isIn(x, y1), property_partOf(y1, y2), class_LargeTeam(y2)"
    assert f"class_Senior(x) :- class_Person(x), {senior}." in rules
    assert "class_Group(x) :- property_partOf(x, _)." in rules
    assert len(rules) == len(set(rules))


def test_names_that_end_alike_are_two_relations() -> None:
    found = translate([(f"http://{place}/ns#Part", "rdf:type", "owl:Class") for place in ("here", "there")])
    assert list(found.classes.values()) == ["class_Part", "class_Part_2"]


@pytest.mark.slow
def test_the_universities_of_lubm(tmp_path: Path) -> None:
    source = data_sets().folder("lubm1-rdfs") / "T.facts"
    triples = [(s, p, o) for s, p, o in (line.split("\t") for line in source.read_text().splitlines())]
    assert len(translate(triples).rules) > 100
    assert answer(triples, tmp_path) == expected(triples)


def answer(triples: list[Triple], folder: Path) -> dict[str, set[Row]]:
    """The rows of every relation of the program that is made from these triples."""
    folder.mkdir(exist_ok=True)
    source = folder / "T.facts"
    source.write_text("".join("\t".join(triple) + "\n" for triple in triples), encoding="utf-8")
    owl2rl.write(source, folder / "owl")
    result = Program.load(folder / "owl" / "program.dl").run()
    return {name: set(result[name]) for name in result}


def expected(triples: list[Triple]) -> dict[str, set[Row]]:
    names = translate(triples)
    found: dict[str, set[Row]] = {relation: set() for relation in [*names.classes.values(), *names.properties.values()]}
    for s, p, o in entailed(triples):
        if p == "rdf:type" and o in names.classes:
            found[names.classes[o]].add((s,))
        elif p in names.properties:
            found[names.properties[p]].add((s, o))
    return found

"""What an ontology entails by the W3C's OWL 2 RL rules, on triples: what the rules of benchmarks/owl2rl.py must derive.

Shares with them only how terms of the vocabulary are spelt. Classes without a name get their members here too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from benchmarks.owl2rl import Triple, short


def entailed(triples: Iterable[Triple]) -> set[Triple]:
    """The triples and all that follow from them."""
    known = {(short(s), short(p), short(o)) for s, p, o in triples}
    schema = _Schema(known)
    while new := {triple for triple in schema.consequences(known) if triple not in known}:
        known |= new
    return known


class _Schema:
    """What triples say about classes and properties, by what they say it of; nothing here is ever derived."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        said: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for s, p, o in triples:
            said[p][s].append(o)
        self.domain, self.range = said["rdfs:domain"], said["rdfs:range"]
        self.super_properties = said["rdfs:subPropertyOf"]
        self.super_classes = said["rdfs:subClassOf"]
        self.inverse: defaultdict[str, set[str]] = defaultdict(set)
        for one, others in said["owl:inverseOf"].items():
            for other in others:
                self.inverse[one].add(other)
                self.inverse[other].add(one)
        for one, others in said["owl:equivalentClass"].items():
            for other in others:
                self.super_classes[one].append(other)
                self.super_classes[other].append(one)
        self.transitive = {s for s, types in said["rdf:type"].items() if "owl:TransitiveProperty" in types}
        first, rest = said["rdf:first"], said["rdf:rest"]
        self.members = {c: list(_walk(node, first, rest)) for c, (node,) in said["owl:intersectionOf"].items()}
        some, on = said["owl:someValuesFrom"], said["owl:onProperty"]
        self.restrictions = [(c, on[c][0], filler) for c, (filler,) in some.items()]

    def consequences(self, triples: set[Triple]) -> Iterator[Triple]:
        """What one step gives, under the names of the W3C's rules."""
        types: defaultdict[str, set[str]] = defaultdict(set)
        pairs: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for s, p, o in triples:
            pairs[p].add((s, o))
            if p == "rdf:type":
                types[s].add(o)
                yield from ((s, p, c) for c in self.super_classes[o])  # cax-sco, cax-eqc1, cax-eqc2
                yield from ((s, p, c) for c in self.members.get(o, ()))  # cls-int2
            yield from ((s, "rdf:type", c) for c in self.domain[p])  # prp-dom
            yield from ((o, "rdf:type", c) for c in self.range[p])  # prp-rng
            yield from ((s, q, o) for q in self.super_properties[p])  # prp-spo1
            yield from ((o, q, s) for q in self.inverse[p])  # prp-inv1, prp-inv2
        for s, found in types.items():
            yield from ((s, "rdf:type", c) for c, members in self.members.items() if found >= set(members))  # cls-int1
        for c, p, filler in self.restrictions:  # cls-svf1, cls-svf2
            yield from ((s, "rdf:type", c) for s, o in pairs[p] if filler == "owl:Thing" or filler in types[o])
        for p in self.transitive:  # prp-trp
            after = defaultdict(set)
            for s, o in pairs[p]:
                after[s].add(o)
            yield from ((s, p, z) for s, o in pairs[p] for z in after[o])


def _walk(node: str, first: dict[str, list[str]], rest: dict[str, list[str]]) -> Iterator[str]:
    while node != "rdf:nil":
        yield first[node][0]
        node = rest[node][0]

"""An OWL 2 RL program made from an ontology: rules from what it says about classes and properties, facts from the rest.

A class becomes a relation of one column and a property one of two, as description logic is translated to Datalog. What
a rule cannot say is left out, and named: a graduate student takes some graduate course, but no rule knows which.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

Triple = tuple[str, str, str]

THING, NIL = "owl:Thing", "rdf:nil"
_NAMESPACES = {
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf:",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs:",
    "http://www.w3.org/2002/07/owl#": "owl:",
}
_VOCABULARY = tuple(_NAMESPACES.values())
_PROPERTY_TYPES = ("rdf:Property", "owl:ObjectProperty", "owl:DatatypeProperty", "owl:TransitiveProperty")
# Parts of class expressions, which are read where the expression is used, and what is said for human readers.
_NO_AXIOMS = {"owl:onProperty", "owl:someValuesFrom", "rdf:first", "rdf:rest"}
_NOTES = {"rdfs:label", "rdfs:comment", "rdfs:seeAlso", "rdfs:isDefinedBy", "owl:versionInfo", "owl:imports"}


@dataclass(frozen=True)
class Some:
    """What is related by a property to something of a class."""

    property: str
    filler: "Expression"


@dataclass(frozen=True)
class All:
    """What is of all these classes."""

    members: tuple["Expression", ...]


Expression = str | Some | All


@dataclass
class Translation:
    """`classes` and `properties` map names of the ontology to relations; `left_out` is what no rule says."""

    classes: dict[str, str] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def program(self) -> str:
        lines = [f"// Made by benchmarks/owl2rl.py: {len(self.rules)} rules."]
        columns = {**dict.fromkeys(self.classes.values(), 1), **dict.fromkeys(self.properties.values(), 2)}
        for relation, width in columns.items():
            typed = ", ".join(f"{name}: symbol" for name in "xy"[:width])
            lines.append(f".decl {relation}({typed})  .input {relation}  .printsize {relation}")
        return "\n".join([*lines, "", *self.rules]) + "\n"

    def fact(self, triple: Triple) -> tuple[str, tuple[str, ...]] | None:
        """The relation and the row that a triple is a fact of."""
        subject, predicate, object_ = triple
        if short(predicate) == "rdf:type":
            relation = self.classes.get(object_)
            return None if relation is None else (relation, (subject,))
        relation = self.properties.get(predicate)
        return None if relation is None else (relation, (subject, object_))


def translate(triples: Iterable[Triple]) -> Translation:
    """The rules for what triples say about classes and properties; facts among them are passed over."""
    return _Translator(triple for triple in triples if _is_terminology(triple)).translation()


def write(source: Path, folder: Path) -> Translation:
    """Makes `program.dl` and a facts file for each of its relations, from a file with a triple on each line."""
    found = translate(_read(source))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.dl").write_text(found.program, encoding="utf-8")
    unknown: Counter[str] = Counter()
    with ExitStack() as stack:
        files = {
            relation: stack.enter_context((folder / f"{relation}.facts").open("w", encoding="utf-8"))
            for relation in [*found.classes.values(), *found.properties.values()]
        }
        for triple in _read(source):
            fact = found.fact(triple)
            if fact is not None:
                files[fact[0]].write("\t".join(fact[1]) + "\n")
            elif not _is_terminology(triple):
                unknown[triple[1]] += 1
    found.left_out += [f"{number:,} triples with {predicate}" for predicate, number in unknown.items()]
    return found


def short(term: str) -> str:
    """A term of the standard vocabularies with its usual prefix; any other as it is.

    >>> short("http://www.w3.org/2002/07/owl#inverseOf")
    'owl:inverseOf'
    """
    for address, prefix in _NAMESPACES.items():
        if term.startswith(address):
            return prefix + term.removeprefix(address)
    return term


class _Unsayable(Exception):
    """A class that no rule body can test for."""


class _Translator:
    def __init__(self, terminology: Iterable[Triple]) -> None:
        self._axioms: list[Triple] = [(short(s), short(p), short(o)) for s, p, o in terminology]
        self._objects: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for subject, predicate, object_ in self._axioms:
            self._objects[subject, predicate].append(object_)
        self._found = Translation()

    def translation(self) -> Translation:
        for axiom in self._axioms:
            self._translate(*axiom)
        self._found.rules = list(dict.fromkeys(self._found.rules))  # an inverse is often said both ways
        return self._found

    def _translate(self, subject: str, predicate: str, object_: str) -> None:
        match predicate:
            case "rdf:type":
                self._declare(subject, object_)
            case "rdfs:subClassOf":
                self._subclass(self._expression(subject), self._expression(object_))
            case "owl:equivalentClass":
                self._same(self._expression(subject), self._expression(object_))
            case "owl:intersectionOf":
                if not _is_blank(subject):
                    self._same(subject, All(tuple(self._list(object_))))
            case "rdfs:subPropertyOf":
                self._rule(f"{self._property(object_)}(x, y)", f"{self._property(subject)}(x, y)")
            case "owl:inverseOf":
                one, other = self._property(subject), self._property(object_)
                self._rule(f"{other}(y, x)", f"{one}(x, y)")
                self._rule(f"{one}(y, x)", f"{other}(x, y)")
            case "rdfs:domain":
                self._implied(f"{self._property(subject)}(x, _)", self._expression(object_), f"{subject} {predicate}")
            case "rdfs:range":
                self._implied(f"{self._property(subject)}(_, x)", self._expression(object_), f"{subject} {predicate}")
            case _:
                if predicate not in _NO_AXIOMS | _NOTES:
                    self._found.left_out.append(f"{subject} {predicate} {object_}")

    def _declare(self, subject: str, type_: str) -> None:
        if type_ in ("owl:Class", "rdfs:Class"):
            if not _is_blank(subject):
                self._class(subject)
        elif type_ in _PROPERTY_TYPES:
            relation = self._property(subject)
            if type_ == "owl:TransitiveProperty":
                self._rule(f"{relation}(x, z)", f"{relation}(x, y), {relation}(y, z)")
        elif type_ not in ("owl:Ontology", "owl:Restriction"):
            self._found.left_out.append(f"{subject} rdf:type {type_}")

    # --- Classes ----------------------------------------------------------------------------------

    def _same(self, one: Expression, other: Expression) -> None:
        self._subclass(one, other)
        self._subclass(other, one)

    def _subclass(self, sub: Expression, super_: Expression) -> None:
        self._others = count(1)
        try:
            body = ", ".join(self._atoms(sub, "x"))
            if not body:
                raise _Unsayable  # everything is of the class: there is no relation of everything
        except _Unsayable:
            self._found.left_out.append(f"{_text(sub)} ⊑ {_text(super_)}")
        else:
            self._implied(body, super_, f"{_text(sub)} ⊑")

    def _implied(self, body: str, class_: Expression, axiom: str) -> None:
        """Rules by which what the body says of x makes it one of a class; `axiom` begins the text of what no rule
        says."""
        if isinstance(class_, All):
            for member in class_.members:
                self._implied(body, member, axiom)
        elif isinstance(class_, Some) or _is_blank(class_):
            self._found.left_out.append(f"{axiom} {_text(class_)}")
        elif class_ != THING:
            self._rule(f"{self._class(class_)}(x)", body)

    def _atoms(self, class_: Expression, variable: str) -> Iterator[str]:
        """What holds of something of a class. Raises _Unsayable."""
        match class_:
            case All(members):
                for member in members:
                    yield from self._atoms(member, variable)
            case Some(property_, filler):
                other = f"y{next(self._others)}"
                atoms = list(self._atoms(filler, other))
                yield f"{self._property(property_)}({variable}, {other if atoms else '_'})"
                yield from atoms
            case str() if _is_blank(class_):
                raise _Unsayable
            case str() if class_ != THING:
                yield f"{self._class(class_)}({variable})"

    def _expression(self, node: str) -> Expression:
        """A class by its name, or what is said of a node without one; such a node itself if that is not understood."""
        if not _is_blank(node):
            return node
        if lists := self._objects[node, "owl:intersectionOf"]:
            return All(tuple(self._list(lists[0])))
        properties, fillers = self._objects[node, "owl:onProperty"], self._objects[node, "owl:someValuesFrom"]
        if properties and fillers:
            return Some(properties[0], self._expression(fillers[0]))
        return node

    def _list(self, node: str) -> Iterator[Expression]:
        while node != NIL:
            yield self._expression(self._objects[node, "rdf:first"][0])
            (node,) = self._objects[node, "rdf:rest"]

    # --- Rules and names --------------------------------------------------------------------------

    def _rule(self, head: str, body: str) -> None:
        if head != body:
            self._found.rules.append(f"{head} :- {body}.")

    def _class(self, name: str) -> str:
        return _named(self._found.classes, "class", name)

    def _property(self, name: str) -> str:
        return _named(self._found.properties, "property", name)


def _named(known: dict[str, str], kind: str, name: str) -> str:
    """The relation for a name: its last part, with a number where another name ends alike."""
    if name not in known:
        relation = f"{kind}_{re.sub(r'[^0-9A-Za-z]', '_', _last_part(name))}"
        taken = sum(re.fullmatch(rf"{relation}(_\d+)?", other) is not None for other in known.values())
        known[name] = f"{relation}_{taken + 1}" if taken else relation
    return known[name]


def _text(class_: Expression) -> str:
    match class_:
        case All(members):
            return " ⊓ ".join(map(_text, members))
        case Some(property_, filler):
            return f"∃{_last_part(property_)}.{_text(filler)}"
        case name:
            return _last_part(name)


def _last_part(name: str) -> str:
    return re.split(r"[#/:]", name)[-1]


def _is_blank(node: str) -> bool:
    return node.startswith("_:")


def _is_terminology(triple: Triple) -> bool:
    _, predicate, object_ = triple
    if short(predicate) == "rdf:type":
        return short(object_).startswith(_VOCABULARY)
    return short(predicate).startswith(_VOCABULARY)


def _read(source: Path) -> Iterator[Triple]:
    with source.open(encoding="utf-8") as stream:
        for line in stream:
            subject, predicate, object_ = line.rstrip("\n").split("\t")
            yield subject, predicate, object_

"""The visible text of a causal tree, by walking the tree: what benchmarks/programs/crdt_text must derive.

Shares nothing with Flintlog, and not the rules' way of thinking either: lists, sorting and a stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import pairwise

Element = tuple[int, ...]
Rows = Set[Element]
ROOT: Element = (0, 0)


def crdt_text(facts: Mapping[str, Rows]) -> dict[str, Rows]:
    """Every relation that the program prints the size of."""
    children: dict[Element, list[Element]] = {}
    for ctr, node, parent_ctr, parent_node in facts["Insert_input"]:
        children.setdefault((parent_ctr, parent_node), []).append((ctr, node))
    for siblings in children.values():
        siblings.sort(reverse=True)
    order = _depth_first(children)
    position = {element: i for i, element in enumerate(order)}
    visible = {element for element in order[1:] if element not in facts["Remove_input"]}
    next_element = set(pairwise(order))
    skip = _next_seen(order, visible)
    groups = list(children.values())
    return _flat(
        {
            "EarlierSibling": {(a, b) for group in groups for i, a in enumerate(group) for b in group[i + 1 :]},
            "FirstChild": {(parent, group[0]) for parent, group in children.items()},
            "NextSibling": {pair for group in groups for pair in pairwise(group)},
            "NextAfterSubtree": _after_subtrees(order, position, children),
            "NextElement": next_element,
            "Visible": {(element,) for element in visible},
            "SkipRemoved": skip,
            "NextVisible": {(a, b) for a, b in skip if a in visible or a == ROOT},
        }
    )


def checksum(next_visible: Rows) -> int:
    return sum((c1 * 31 + n1 * 17 + c2 * 7 + n2) % 1009 for c1, n1, c2, n2 in next_visible)


def _flat(pairs: dict[str, set[tuple[Element, Element]] | set[tuple[Element]]]) -> dict[str, Rows]:
    return {name: {tuple(part for element in row for part in element) for row in rows} for name, rows in pairs.items()}


def _depth_first(children: Mapping[Element, list[Element]]) -> list[Element]:
    order: list[Element] = []
    stack = [ROOT]
    while stack:
        element = stack.pop()
        order.append(element)
        stack += reversed(children.get(element, []))
    return order


def _after_subtrees(
    order: list[Element], position: Mapping[Element, int], children: Mapping[Element, list[Element]]
) -> set[tuple[Element, Element]]:
    """The element that follows the last one of each subtree, found from the subtrees' sizes."""
    size = dict.fromkeys(order, 1)
    for element in reversed(order):
        size[element] += sum(size[child] for child in children.get(element, []))
    ends = ((element, position[element] + size[element]) for element in order)
    return {(element, order[end]) for element, end in ends if end < len(order)}


def _next_seen(order: list[Element], visible: set[Element]) -> set[tuple[Element, Element]]:
    pairs: set[tuple[Element, Element]] = set()
    following: Element | None = None
    for element in reversed(order):
        if following is not None:
            pairs.add((element, following))
        if element in visible:
            following = element
    return pairs

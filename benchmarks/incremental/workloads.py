"""How many facts change at a time: the update sizes of "Towards Elastic Incrementalization for Datalog", table 2."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    """`sizes` begin with a small update, ten facts, and end with a large one. Where our data set is much smaller than
    the paper's of `paper_facts` facts, updates larger than the smallest take the same share of it."""

    sizes: tuple[int, ...]
    paper_facts: int | None = None

    def facts(self, size: int, there: int) -> int:
        """How many facts an update of the paper's size has, of so many that there are.

        >>> Workload((10, 10_000), 1_000_000).facts(10_000, there=50_000)
        500
        """
        if self.paper_facts is None or size == self.sizes[0]:
            return size
        return max(self.sizes[0], round(size * there / self.paper_facts))


WORKLOADS = {
    "points_to:doop-int": Workload((10, 100, 400, 700, 1_000)),
    "crdt_text:crdt": Workload((10, 40, 70, 100)),
    "galen:galen": Workload((10, 10_000, 40_000, 70_000, 100_000), paper_facts=976_552),
}

"""All groups of operators worth considering: for each run of operators, the stripes that nothing beats in memory and cycles at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import mul

from ....model.deadline import PREPARING, look
from ..demand import Flow
from ..work import Cycles
from .cutting import Cutting, cuts, stripes_in
from .group import Group, Mode, Stripes
from .recomputed import recomputed, whole
from .rolling import rolling

MOST_EFFORT = 40_000
"""The effort of examining operators in stripes: it limits the length of groups and, if that falls below LONG, the number of stripes."""
LONG = 8
FEW = 8
"""Up to this many ways to cut one output are not thinned out further."""
MOST_CUTS = 512
"""The most ways to cut one output."""
MOST_CUTS_IN_ALL = 100_000


class Ways:
    """The groups, by first and last operator."""

    def __init__(self, flow: Flow, cutting: Cutting, cycles: Cycles) -> None:
        self._flow, self._cutting, self._cycles = flow, cutting, cycles
        self.is_thinned = False
        most = max(min(MOST_CUTS, MOST_CUTS_IN_ALL // len(flow.steps)), 1)
        known = [list(cuts(flow.demand[step.output], cutting, most)) for step in flow.steps]
        self.longest = self._affordable(known)
        while self.longest < min(LONG, cutting.longest, len(known)) and any(len(ways) > FEW for ways in known):
            known = [ways[::2] for ways in known]
            self.longest = self._affordable(known)
            self.is_thinned = True
        self.is_cut_short = self.longest < min(cutting.longest, len(known))
        self.groups: dict[tuple[int, int], list[Group]] = {}
        for last, ways in enumerate(known):
            self._note([whole(flow, last, cutting.blocks, cycles)])
            for stripes in ways if self.longest > 1 else ():
                self._note(self._made(last, stripes))
        self.groups = {span: best(groups) for span, groups in self.groups.items()}

    def _made(self, last: int, stripes: Stripes) -> Iterator[Group]:
        least_first = max(last - self.longest + 1, 0)
        blocks = self._cutting.blocks
        if stripes.mode is Mode.ROLLING:
            return rolling(self._flow, last, stripes, least_first, blocks, self._cycles)
        return recomputed(self._flow, last, stripes.extents, least_first, blocks, self._cycles)

    def _note(self, groups: Iterable[Group]) -> None:
        for group in groups:
            look(PREPARING)
            if group.stripes is None or group.first < group.last:
                self.groups.setdefault((group.first, group.last), []).append(group)

    def _affordable(self, known: Sequence[Sequence[Stripes]]) -> int:
        """Return the affordable length of groups."""
        efforts = [sum(self._effort(last, stripes) for stripes in ways) for last, ways in enumerate(known)]
        inputs = [len(step.inputs) for step in self._flow.steps]
        spent = longest = 0
        while longest < min(self._cutting.longest, len(known)):
            spent += sum(map(mul, efforts[longest:], inputs))  # among the operators that this length adds
            if spent > MOST_EFFORT:
                break
            longest += 1
        return max(longest, 1)

    def _effort(self, last: int, stripes: Stripes) -> int:
        """Return the effort for one operator in such stripes: rolling ones are simulated one by one."""
        count = stripes_in(self._flow.demand[self._flow.steps[last].output], stripes.extents)
        return 1 + count // (16 if stripes.mode is Mode.ROLLING else 256)


def best(groups: Iterable[Group]) -> list[Group]:
    """Return the Pareto-optimal groups in memory and cycles; the fastest first."""
    found: list[Group] = []
    for group in sorted(groups, key=lambda each: (each.cycles, each.own)):
        if not found or group.own < found[-1].own:
            found.append(group)
    return found

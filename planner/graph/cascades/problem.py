"""From a network to a problem with variants: which operators run together, and in which stripes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...checks.report import bad_input
from ...facts.names import Names
from ...model.errors import Code
from ...model.problem import (
    MAX_ADDRESS,
    Alternative,
    Buffer,
    BufferId,
    CostTerm,
    Interval,
    Lifetimes,
    MoreLife,
    Pool,
    Problem,
    VariantGroup,
    Variants,
)
from .checks import require_sound_cutting, require_sound_network
from .demand import Flow
from .operators import Network, label
from .stripes.cutting import Cutting
from .stripes.group import Group
from .stripes.paths import Path, frontier, stretches
from .stripes.ways import Ways
from .work import Cycles, Rates, in_whole_cycles

CYCLES = "cycles"
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class CascadeOptions:
    """The compiler's decisions."""

    plan_inputs: bool = True
    """False: the caller provides the network's inputs."""
    plan_outputs: bool = True
    """False: the caller provides the network's outputs."""
    cutting: Cutting = field(default_factory=Cutting)
    cycles: Cycles = field(default_factory=Rates)


@dataclass(frozen=True, slots=True)
class CascadeProblem:
    """The problem, and the meaning of its alternatives."""

    problem: Problem
    ways: Mapping[tuple[str, str], Path]
    """By the names of a group and an alternative: the operators that run together, in order, and their stripes."""
    parts: Mapping[BufferId, BufferId]
    """By a buffer that holds part of a tensor: the tensor."""
    warnings: tuple[str, ...] = ()


def cascade_problem(
    network: Network, pools: Sequence[Pool] = (Pool("default"),), options: CascadeOptions | None = None
) -> CascadeProblem:
    """Return the problem of placing what the network needs; its variants tell which operators run together, in which stripes, at what cost.

    Raises BadInput for a network that is wrong in itself.
    """
    options = options or CascadeOptions()
    require_sound_network(network)
    require_sound_cutting(options.cutting, network)
    return _Making(network, pools, options).made()


class _Making:
    def __init__(self, network: Network, pools: Sequence[Pool], options: CascadeOptions) -> None:
        self._network, self._pools = network, tuple(pools)
        self._labels = labels(network)
        self._flow = flow = Flow(network)
        self._planned = frozenset(flow.planned(options.plan_inputs, options.plan_outputs))
        ways = Ways(flow, options.cutting, in_whole_cycles(options.cycles))
        self._stretches = stretches(frontier(flow, ways.groups, self._planned))
        self._in_part = {
            inner.tensor for paths in self._stretches for path in paths for group in path for inner in group.inner
        }
        self._warnings = _notes_on(ways)
        names = Names(str(tensor.id) for tensor in network.tensors)
        self._part_ids = {t: names.new(f"{network.tensors[t].id} in part") for t in sorted(self._in_part)}
        self._constant_ids = [names.new(f"constants of {name}") for name in self._labels]

    def made(self) -> CascadeProblem:
        groups: list[VariantGroup] = []
        names = Names()
        ways: dict[tuple[str, str], Path] = {}
        for paths in self._stretches:
            ends = self._labels[paths[0][0].first], self._labels[paths[0][-1].last]
            group = names.new(" .. ".join(dict.fromkeys(ends))[:LONGEST_NAME])
            alternatives = []
            for k, path in enumerate(paths):
                name = f"{k + 1}: {self._described(path)}"
                name = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
                ways[group, name] = path
                cost = sum(each.cycles for each in path)
                alternatives.append(Alternative(name, (cost,), tuple(self._own(path)), live=tuple(self._longer(path))))
            groups.append(VariantGroup(group, tuple(alternatives)))
        if sum(max(each.costs[0] for each in group.alternatives) for group in groups) >= MAX_ADDRESS:
            raise bad_input(Code.TOO_LARGE, ("operators",), "the network takes 2^62 cycles or more")
        problem = Problem(
            buffers=tuple(whole_buffer(self._flow, t) for t in sorted(self._planned - self._in_part)),
            pools=self._pools,
            name=self._network.name,
            lifetimes=Lifetimes.HALF_OPEN,
            steps=tuple(enumerate(self._labels)),
            variants=Variants(tuple(groups), (CostTerm(CYCLES),)),
        )
        parts: dict[BufferId, BufferId] = {self._part_ids[t]: self._network.tensors[t].id for t in self._in_part}
        return CascadeProblem(problem, ways, parts, self._warnings)

    def _touched(self, path: Path) -> dict[int, list[Interval]]:
        """Return, by planned tensor, when groups of the path run that make or read it."""
        found: dict[int, list[Interval]] = {}
        for group in path:
            steps = self._flow.steps[group.first : group.last + 1]
            for t in dict.fromkeys(t for step in steps for t in (*step.inputs, step.output)):
                if t in self._planned:
                    found.setdefault(t, []).append((group.first, group.last + 1))
        return found

    def _longer(self, path: Path) -> Iterator[MoreLife]:
        """Return what must live longer because whole groups run, not only the operators that make and read it."""
        for t, spans in sorted(self._touched(path).items()):
            if t not in self._in_part:
                start, end = life(self._flow, t)
                beyond = tuple(each for each in spans if each[0] < start or each[1] > end)
                if beyond:
                    yield MoreLife(self._network.tensors[t].id, beyond)

    def _own(self, path: Path) -> Iterator[Buffer]:
        """Return the buffers that exist because of the path."""
        in_part = {inner.tensor for group in path for inner in group.inner}
        for t, spans in sorted(self._touched(path).items()):
            if t in self._in_part and t not in in_part:
                yield replace(whole_buffer(self._flow, t), live=((spans[0][0], spans[-1][1]),))
        for group in path:
            for inner in group.inner:
                live = ((inner.start, inner.end),)
                yield Buffer(self._part_ids[inner.tensor], inner.size, live=live, kind="intermediate")
            for s in range(group.first, group.last + 1):
                size = self._flow.steps[s].operator.constants
                if size:
                    yield Buffer(self._constant_ids[s], size, live=((group.first, group.last + 1),), kind="workspace")

    def _described(self, path: Path) -> str:
        return "; ".join(self._stripes_text(group) for group in path if group.stripes is not None) or "whole"

    def _stripes_text(self, group: Group) -> str:
        assert group.stripes is not None
        extents = "x".join(map(str, group.stripes.extents))
        return f"{self._labels[group.first]} .. {self._labels[group.last]} {group.stripes.mode.value} {extents}"


def _notes_on(ways: Ways) -> tuple[str, ...]:
    """Return a note on what was left out for lack of time."""
    advice = "fewer axes or modes of stripes leave time for more"
    notes = []
    if ways.is_thinned:
        notes.append(f"not all stripes were looked at: {advice}")
    if ways.is_cut_short:
        notes.append(f"groups of more than {ways.longest} operators were not looked at: {advice}")
    return tuple(notes)


def labels(network: Network) -> list[str]:
    """Return distinct names of the operators for people."""
    names = Names()
    return [names.new(label(operator, s)) for s, operator in enumerate(network.operators)]


def life(flow: Flow, t: int) -> Interval:
    """Return the interval from the operator that makes a tensor to after its last reader; the caller has inputs before and outputs afterwards."""
    start = flow.maker.get(t, 0)
    if t in flow.outputs:
        return start, len(flow.steps)
    return start, max(flow.readers[t], default=start) + 1


def whole_buffer(flow: Flow, t: int, pools: tuple[str, ...] | None = None) -> Buffer:
    """Return the buffer of a whole tensor."""
    kind = "output" if t in flow.outputs else "intermediate" if t in flow.maker else "input"
    return Buffer(flow.network.tensors[t].id, flow.whole_bytes(t), live=(life(flow, t),), pools=pools, kind=kind)

"""From a graph or a program to a Problem: lifetimes, what lies inside what, and what is planned at all."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from math import lcm
from typing import NamedTuple

from ..checks.report import Place, Report, bad_input, quoted
from ..checks.values import check_allowed_pools
from ..facts.colocation import eased
from ..model.deadline import PREPARING, in_time
from ..model.errors import Code, echo
from ..model.problem import BufferId, Constraints, Fixed, Lifetimes, Pool, Problem
from .aliases.places import Places
from .aliases.rules import PASSES, Facts, Refusal, apply
from .buffers import Gathered
from .checks.soundness import require_sound_graph, require_sound_program
from .columns import operator_forms, tensor_forms
from .operators import Graph, OperatorKind, Tensor, TensorKind
from .outcomes import Applied, GraphProblem, Reason, Refused
from .program import Program, program_of
from .running.flow import Flow, flow_of

_PINNING = (OperatorKind.IDMA_LOAD, OperatorKind.IDMA_STORE)


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """The compiler's decisions."""

    plan_inputs: bool = True
    """False: the caller provides the graph's inputs."""
    plan_outputs: bool = True
    """False: the caller provides the graph's outputs."""
    plan_state: bool = True
    """False: mutable tensors have their places already."""
    opt_level: int = 2
    """From 2 on, slices, concatenations and in-place operators share memory, so that pairs may overlap in lifetime and storage."""
    offset_multiple: int = 8
    """The alignment that kernels require of a slice or a part, unless the graph returns it."""
    fastest: str | None = None
    """The pool of transfers; None: the one of least rank."""


DEFAULT_POOLS = (Pool("default"),)


class ProgramFile(NamedTuple):
    """A program as described in a file: what `program_problem` is given."""

    program: Program
    pools: tuple[Pool, ...] = DEFAULT_POOLS
    options: GraphOptions = GraphOptions()


def graph_problem(graph: Graph, pools: Sequence[Pool], options: GraphOptions | None = None) -> GraphProblem:
    """Return the problem of placing the graph's tensors, and each operator's outcome. Raises BadInput for a graph that is wrong in itself."""
    require_sound_graph(graph)
    made = _arranged(program_of(graph), pools, options or GraphOptions()).problem()
    return replace(
        made,
        applied=tuple(replace(outcome, function=None) for outcome in made.applied),
        refused=tuple(replace(outcome, function=None) for outcome in made.refused),
        homes={},
    )


def program_problem(program: Program, pools: Sequence[Pool], options: GraphOptions | None = None) -> GraphProblem:
    """Return the problem of placing everything that the program needs in one arena. Raises BadInput for a program that is wrong in itself."""
    require_sound_program(program)
    return _arranged(program, pools, options or GraphOptions()).problem()


@dataclass(frozen=True, slots=True)
class Arrangement:
    """When each tensor of a program is needed, and what lies inside what. The program itself, which may be large, is no longer needed."""

    name: str | None
    flow: Flow
    pools: Sequence[Pool]
    facts: Facts
    pinned: dict[BufferId, str]
    outcomes: tuple[Applied | Refused, ...]

    def problem(self) -> GraphProblem:
        """Return the problem to plan."""
        outside = tuple(id_ for id_ in self.flow.tensors if id_ in self.facts.outside)
        return GraphProblem(
            _problem(self.name, self.flow, self.pools, self.facts, self.pinned),
            tuple(outcome for outcome in self.outcomes if isinstance(outcome, Applied)),
            tuple(outcome for outcome in self.outcomes if isinstance(outcome, Refused)),
            tuple(self.pinned),
            outside,
            self.flow.homes,
        )


def arrangement(
    program: Program, pools: Sequence[Pool], options: GraphOptions | None = None, *, is_sound: bool = False
) -> Arrangement:
    """Do the first step of `program_problem`, without the operators' outcomes. Raises BadInput for a program that is wrong in itself, unless it is
    known to be sound.
    """
    if not is_sound:
        require_sound_program(program)
    return _arranged(program, pools, options or GraphOptions(), tells=False)


def _arranged(program: Program, pools: Sequence[Pool], options: GraphOptions, *, tells: bool = True) -> Arrangement:
    fastest = _fastest(pools, options)
    _check_pools(program, pools)
    flow = flow_of(program)
    facts = _facts(flow, options)
    outcomes: dict[int, Applied | Refused] = {}
    for least, rules in PASSES:
        for i, step in enumerate(in_time(flow.steps, PREPARING, "operator")):
            rule = rules.get(step.kind)
            if rule is None:
                continue
            found = apply(step, facts, rule, least)
            if not tells:
                continue
            if isinstance(found, Refusal):
                outcomes[i] = Refused(step.index, found.reason, found.message, step.function, step.part)
            else:
                outcomes[i] = Applied(step.index, found, step.function, step.part)
    pinned = []
    for i, step in enumerate(flow.steps):
        if step.kind in _PINNING:
            result = step.operator.outputs[0]
            if result in facts.outside:
                if not tells:
                    continue
                text = f"{echo(result)} is not in the plan"
                outcomes[i] = Refused(step.index, Reason.RESULT_NOT_PLANNED, text, step.function, step.part)
            else:
                pinned.append(result)
    flow.steps.clear()  # they refer to the program's operators
    ordered = tuple(outcomes[i] for i in sorted(outcomes))
    return Arrangement(program.name, flow, pools, facts, dict.fromkeys(pinned, fastest), ordered)


def _check_pools(program: Program, pools: Sequence[Pool]) -> None:
    """Check the pools and devices that the program names."""
    names = {pool.name for pool in pools}
    report = Report()
    for i, reached in enumerate(program.devices.values()):
        if reached:
            check_allowed_pools(report, ("devices", i, "pools"), reached, names)
        else:
            report.add(Code.INVALID_VALUE, ("devices", i, "pools"), "a device reaches at least one pool")
    _check_tensors(program.tensors, program, (), names, report)
    for f, function in enumerate(program.functions):
        _check_tensors(function.tensors, program, ("functions", f), names, report)
        for i, form in enumerate(operator_forms(function.operators)):
            for j, workspace in enumerate(form.workspaces):
                if workspace.pools is not None:
                    place = ("functions", f, "operators", i, "workspaces", j, "pools")
                    check_allowed_pools(report, place, workspace.pools, names)
    report.raise_if_any()


def _check_tensors(tensors: Sequence[Tensor], program: Program, at: Place, names: Set[str], report: Report) -> None:
    for i, tensor in enumerate(tensor_forms(tensors)):
        place = (*at, "tensors", i)
        if tensor.pools is not None:
            check_allowed_pools(report, (*place, "pools"), tensor.pools, names)
        if tensor.device is None or not program.devices:
            continue
        reached = program.devices.get(tensor.device)
        if reached is None:
            report.add(Code.INVALID_VALUE, (*place, "device"), f"there is no device {quoted(tensor.device)}")
            continue
        for j, name in enumerate(tensor.pools or ()):
            if name in names and name not in reached:
                text = f"device {quoted(tensor.device)} does not reach pool {quoted(name)}"
                report.add(Code.CONTRADICTION, (*place, "pools", j), text)


def _fastest(pools: Sequence[Pool], options: GraphOptions) -> str:
    if not pools:
        raise bad_input(Code.INVALID_VALUE, ("pools",), "must name at least one pool")
    if options.fastest is None:
        return min(pools, key=lambda pool: pool.rank).name
    if options.fastest not in {pool.name for pool in pools}:
        raise bad_input(Code.INVALID_OPTION, ("options", "fastest"), f"there is no pool {echo(options.fastest)}")
    return options.fastest


def _facts(flow: Flow, options: GraphOptions) -> Facts:
    if options.offset_multiple < 1:
        raise bad_input(Code.INVALID_OPTION, ("options", "offset_multiple"), "must be 1 or more")
    unplanned = frozenset(
        id_ for id_, tensor in flow.tensors.items() if id_ in flow.elsewhere or not _is_planned(tensor, options)
    )
    return Facts(
        places=Places(flow.tensors, flow.lives),
        lives=flow.lives,
        writes=flow.writes,
        rewritten=flow.rewritten,
        unplanned=unplanned,
        opt_level=options.opt_level,
        offset_multiple=options.offset_multiple,
        outside=set(unplanned),
    )


def _is_planned(tensor: Tensor, options: GraphOptions) -> bool:
    if tensor.kind is TensorKind.MUTABLE:
        return options.plan_state
    if tensor.kind is TensorKind.CONSTANT or (tensor.kind is TensorKind.INPUT and not options.plan_inputs):
        return False
    return options.plan_outputs or not tensor.is_output


def _problem(name: str | None, flow: Flow, pools: Sequence[Pool], facts: Facts, pinned: dict[BufferId, str]) -> Problem:
    colocations = facts.places.colocations(facts.outside)
    easy, raised = eased(pools, colocations)
    inside = {colocation.buffer for colocation in colocations}
    made = Gathered(keeps=len(pools) > 1 or bool(colocations))
    for id_, tensor in in_time(flow.tensors.items(), PREPARING, "tensor"):
        if id_ not in facts.outside:
            made.add(
                id_,
                tensor,
                tensor.alignment if id_ in inside else lcm(tensor.alignment, raised),
                facts.lives[id_].spans,
                Fixed(pinned[id_]) if id_ in pinned else None,
            )
    constraints = Constraints(colocations=colocations)
    steps = flow.steps_named()
    return Problem(made.buffers(), easy, constraints, name=name, lifetimes=Lifetimes.HALF_OPEN, steps=steps)

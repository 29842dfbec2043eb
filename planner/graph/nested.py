"""Each function in its own arena, which lies in its caller's arena, as in compilers that plan function by function.

This serves for comparison. One arena for the whole program (`program_problem`) needs no more if each function is run from one place, since
the nested plans could be laid out in it; otherwise it seldom needs more, as a nested arena may then lie elsewhere each time.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import lcm
from typing import NamedTuple, TypeAlias

from ..model.deadline import PREPARING, tick
from ..model.plan import Plan, PlanStatus
from ..model.problem import BufferId, Fixed, Pool, Problem
from .checks.soundness import require_sound_program
from .columns import operator_forms
from .operators import CONTROL, Operator, OperatorKind, Tensor, TensorKind, Workspace, functions_of
from .problem import GraphOptions, program_problem
from .program import Function, Program
from .written import Written

STATE = "state"
"""The arena of mutable tensors, which all entries share; with an apostrophe, if a function has that name."""

WORST_LAST = (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE, PlanStatus.UNKNOWN, PlanStatus.INFEASIBLE)

Arena: TypeAlias = Mapping[str, tuple[int, int]]
"""What a function needs of each pool: bytes, and their alignment."""


class NestedAnswer(NamedTuple):
    """The plans as they were written down, by function, and the need that was stated: of each pool, and of all together."""

    plans: Mapping[str, Plan]
    peaks: tuple[tuple[str, int], ...] | None
    peak: int | None


@dataclass(frozen=True, slots=True)
class NestedArena:
    """One function's arena."""

    function: str
    problem: Problem
    plan: Plan


@dataclass(frozen=True, slots=True)
class NestedPlan:
    """The arenas of a program: state first, then innermost functions first."""

    arenas: tuple[NestedArena, ...]
    peaks: tuple[tuple[str, int], ...] | None
    """The bytes of each pool needed to run any entry; None if some arena could not be planned."""

    @property
    def peak(self) -> int | None:
        return None if self.peaks is None else sum(peak for _, peak in self.peaks)

    @property
    def answer(self) -> NestedAnswer:
        """Return it as it is written down, without the problems."""
        return NestedAnswer({arena.function: arena.plan for arena in self.arenas}, self.peaks, self.peak)

    @property
    def worst(self) -> Plan | None:
        """Return the arenas' plan that is furthest from optimal; None if there are none."""
        return max((arena.plan for arena in self.arenas), key=lambda plan: WORST_LAST.index(plan.status), default=None)


def nested_plan(
    program: Program,
    pools: Sequence[Pool],
    options: GraphOptions,
    solve: Callable[[Problem], Plan],
    on_arena: Callable[[NestedArena], None] | None = None,
) -> NestedPlan:
    """Plan function by function with the solver; `on_arena` receives each arena. Raises BadInput for a program that is wrong in itself."""

    def solved(name: str, problem: Problem) -> Plan:
        plan = solve(problem)
        if on_arena is not None:
            on_arena(NestedArena(name, problem, plan))
        return plan

    return nested_plans(program, pools, options, solved)


def nested_plans(
    program: Program, pools: Sequence[Pool], options: GraphOptions, solve: Callable[[str, Problem], Plan]
) -> NestedPlan:
    """Return the arenas for which `solve` has plans, given the names of the functions. Raises BadInput for a program that is wrong in itself."""
    require_sound_program(program)
    whole = program_problem(program, pools, options).problem
    functions = {function.name: function for function in program.functions}
    arenas: list[NestedArena] = []

    def solved(name: str, problem: Problem) -> Plan:
        arenas.append(NestedArena(name, problem, solve(name, problem)))
        return arenas[-1].plan

    state = _state(whole)
    if state.buffers:
        made = solved(_new_name(STATE, functions), state)
        if not made.placements:
            return NestedPlan(tuple(arenas), None)
        state = _pinned(state, made)
    unlimited = tuple(Pool(pool.name, None, pool.alignment, cost=pool.cost, rank=pool.rank) for pool in pools)
    needs: dict[str, Arena] = {}
    peaks = dict.fromkeys((pool.name for pool in pools), 0)
    order = _innermost_first(program.entries, functions)
    written = Written(program, order)
    for name in order:
        lowered = _with_opaque_calls(functions[name], functions, program, needs, written)
        if name in program.entries:
            problem = _beside(state, program_problem(lowered, pools, replace(options, plan_state=False)).problem)
        else:
            inner = replace(options, plan_inputs=False, plan_outputs=False, plan_state=False)
            problem = program_problem(lowered, unlimited, inner).problem
        made = solved(name, problem)
        if problem.buffers and not made.placements:
            return NestedPlan(tuple(arenas), None)
        needs[name] = _needs(problem, made)
        if name in program.entries:
            for use in made.pools:
                peaks[use.name] = max(peaks[use.name], use.peak or 0)
    return NestedPlan(tuple(arenas), tuple(peaks.items()))


class _NoMorePlans(Exception):
    """The other functions' arenas were not planned."""


def arenas_of(
    program: Program, pools: Sequence[Pool], options: GraphOptions, plans: Iterable[Plan]
) -> tuple[NestedArena, ...]:
    """Return the arenas planned so far in this order, one for each plan."""
    left, found = iter(plans), list[NestedArena]()

    def next_plan(_: Problem) -> Plan:
        for plan in left:
            return plan
        raise _NoMorePlans

    with suppress(_NoMorePlans):
        nested_plan(program, pools, options, next_plan, found.append)
    return tuple(found)


def _state(whole: Problem) -> Problem:
    """Return the problem of everything that outlives a run, needed at once."""
    buffers = tuple(replace(buffer, live=((0, 1),)) for buffer in whole.buffers if buffer.kind == TensorKind.MUTABLE)
    return Problem(buffers, whole.pools, name=STATE, lifetimes=whole.lifetimes)


def _pinned(state: Problem, plan: Plan) -> Problem:
    places = {place.id: Fixed(place.pool, place.offset) for place in plan.placements}
    return replace(state, buffers=tuple(replace(buffer, fixed=places[buffer.id]) for buffer in state.buffers))


def _beside(state: Problem, problem: Problem) -> Problem:
    """Return the problem with state at its place, throughout."""
    end = max((end for buffer in problem.buffers for _, end in buffer.live or ()), default=1)
    own = {buffer.id for buffer in problem.buffers}
    beside = [
        replace(buffer, id=_new_name(str(buffer.id), own) if buffer.id in own else buffer.id, live=((0, end),))
        for buffer in state.buffers
    ]
    return replace(problem, buffers=(*beside, *problem.buffers))


def _innermost_first(entries: Sequence[str], functions: Mapping[str, Function]) -> list[str]:
    """Return all functions in use, each after those that it runs."""
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in order:
            tick(PREPARING)
            for operator in operator_forms(functions[name].operators):
                for target in functions_of(operator):
                    visit(target)
            order[name] = None

    for entry in entries:
        visit(entry)
    return list(order)


def _needs(problem: Problem, plan: Plan) -> Arena:
    alignment = {buffer.id: buffer.alignment for buffer in problem.buffers}
    common = {pool.name: pool.alignment for pool in problem.pools}
    for place in plan.placements:
        common[place.pool] = lcm(common[place.pool], alignment[place.id])
    return {use.name: (use.peak, common[use.name]) for use in plan.pools if use.peak}


def _with_opaque_calls(
    function: Function,
    functions: Mapping[str, Function],
    program: Program,
    needs: Mapping[str, Arena],
    written: Written,
) -> Program:
    """Return the function with each call replaced by one operator that needs an arena, and writes what is written inside."""
    tensors = {tensor.id: tensor for tensor in (*program.tensors, *function.tensors)}
    made: list[Tensor] = []
    operators: list[Operator] = []
    for i, operator in enumerate(function.operators):
        changed = written.by(function.name, operator)
        if operator.kind not in CONTROL:
            operators.append(_named(operator, i) if operator.workspaces else operator)
            if changed:
                operators.append(_opaque(None, (), changed, ()))
        elif operator.kind is OperatorKind.LOOP:
            operators.extend(_turns(i, operator, functions, tensors, needs, made, changed))
        else:
            arena = _workspaces(needs[name] for name in operator.functions)
            name = _named(operator, i).name
            operators.append(_opaque(name, operator.inputs, (*operator.outputs, *changed), arena))
            if changed:  # whatever was handed over may be read after that
                operators.append(_opaque(None, operator.inputs, (), ()))
    lowered = replace(function, tensors=(*function.tensors, *made), operators=tuple(operators))
    return Program((lowered,), (function.name,), program.tensors, program.devices)


def _named(operator: Operator, index: int) -> Operator:
    """Return the operator with a name: memory that belongs to it is named after it, or after its place in the program."""
    return operator if operator.name is not None else replace(operator, name=f"{operator.kind.value}{index}")


def _opaque(
    name: str | None, inputs: Iterable[BufferId], outputs: Iterable[BufferId], workspaces: tuple[Workspace, ...]
) -> Operator:
    return Operator(OperatorKind.COMPUTE, tuple(inputs), tuple(outputs), name=name, workspaces=workspaces)


def _workspaces(arenas: Iterable[Arena]) -> tuple[Workspace, ...]:
    """Return workspaces with room for any of these arenas."""
    found: dict[str, tuple[int, int]] = {}
    for arena in arenas:
        for pool, (size, alignment) in arena.items():
            most, common = found.get(pool, (0, 1))
            found[pool] = (max(most, size), lcm(common, alignment))
    return tuple(Workspace(size, alignment, (pool,)) for pool, (size, alignment) in found.items())


def _turns(
    index: int,
    operator: Operator,
    functions: Mapping[str, Function],
    tensors: Mapping[BufferId, Tensor],
    needs: Mapping[str, Arena],
    made: list[Tensor],
    changed: tuple[BufferId, ...],
) -> list[Operator]:
    """Return a loop's operators: enter, ask, take a turn, and copy its results for the next."""
    name = _named(operator, index).name
    carried, same = operator.carried, operator.inputs[operator.carried + operator.scanned :]
    results = operator.outputs[:carried]
    steps = [_opaque(operator.name, operator.inputs[:carried], operator.outputs, ())]
    stay = (*results, *operator.inputs[carried:], *operator.outputs[carried:])
    if operator.condition is not None:
        condition = functions[operator.condition]
        sample = next(tensor for tensor in (*condition.tensors, *tensors.values()) if tensor.id == condition.outputs[0])
        truth = _fresh(f"{name}.condition", sample, tensors, made)
        asked = _workspaces([needs[operator.condition]])
        steps.append(_opaque(f"{name}.condition", (*results, *same), (truth, *changed), asked))
        steps.append(_opaque(None, (truth, *stay), (), ()))
    next_ = [_fresh(f"{name}.next{j}", tensors[id_], tensors, made) for j, id_ in enumerate(results)]
    turn = _workspaces([needs[operator.functions[0]]])
    steps.append(_opaque(f"{name}.turn", stay, (*next_, *changed), turn))
    steps.append(_opaque(None, (*next_, *stay), (), ()))
    return steps


def _fresh(name: str, like: Tensor, taken: Mapping[BufferId, Tensor], made: list[Tensor]) -> BufferId:
    name = _new_name(name, taken)
    made.append(replace(like, id=name, kind=TensorKind.INTERMEDIATE, is_output=False))
    return name


def _new_name(name: str, taken: Container[BufferId]) -> str:
    while name in taken:
        name += "'"
    return name

"""The problem that a choice of alternatives leaves, with nothing left to choose, and the cost of the choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from ..model.columns.choices import GroupColumns, together
from ..model.deadline import CHECKING, in_time
from ..model.errors import BadInput, Code, Finding
from ..model.plan import Plan
from ..model.problem import Alternative, Buffer, BufferId, Constraints, Interval, MoreLife, Pick, Problem, Variants
from .intervals import merged

_KINDS = tuple(field.name for field in fields(Constraints))


def chosen_alternatives(variants: Variants, choice: Sequence[int]) -> list[Alternative]:
    """Return the alternatives that a choice (a position for each group) names."""
    return [group.alternatives[a] for group, a in zip(variants.groups, choice, strict=True)]


def with_choice(problem: Problem, choice: Sequence[int]) -> Problem:
    """Return the problem of that choice. It may contradict itself if the alternatives do together."""
    assert problem.variants is not None
    groups = problem.variants.groups
    if isinstance(groups, GroupColumns):
        more = groups.buffers_of(groups.chosen(choice))
        return replace(problem, buffers=together(problem.buffers, more), variants=None)
    return with_alternatives(problem, chosen_alternatives(problem.variants, choice))


def with_alternatives(problem: Problem, chosen: Iterable[Alternative]) -> Problem:
    """Return the problem in which these alternatives hold: its own buffers first, then theirs in order."""
    chosen = tuple(chosen)
    more = longer_lives(each for alternative in chosen for each in alternative.live)
    buffers = [_living_longer(buffer, more) for buffer in in_time(problem.buffers, CHECKING)]
    for alternative in in_time(chosen, CHECKING):
        buffers.extend(alternative.buffers)
    constraints = _joined([problem.constraints, *(alternative.constraints for alternative in chosen)])
    return replace(problem, buffers=tuple(buffers), constraints=constraints, variants=None)


def longer_lives(more: Iterable[MoreLife]) -> dict[BufferId, list[Interval]]:
    """Return the added lifetimes by buffer."""
    found: dict[BufferId, list[Interval]] = {}
    for each in more:
        found.setdefault(each.buffer, []).extend(each.live)
    return found


def _living_longer(buffer: Buffer, more: Mapping[BufferId, list[Interval]]) -> Buffer:
    added = more.get(buffer.id)
    return buffer if added is None else replace(buffer, live=merged([*(buffer.live or ()), *added]))


def _joined(parts: Sequence[Constraints]) -> Constraints:
    return Constraints(**{kind: tuple(item for part in parts for item in getattr(part, kind)) for kind in _KINDS})


def costs_of_choice(variants: Variants, choice: Sequence[int]) -> tuple[int, ...]:
    """Return the cost of the choice in each term."""
    if isinstance(variants.groups, GroupColumns):
        costs = variants.groups.costs[variants.groups.chosen(choice)]
        return tuple(sum(of_term.tolist()) for of_term in costs.T)
    chosen = chosen_alternatives(variants, choice)
    return tuple(sum(alternative.costs[k] for alternative in chosen) for k in range(len(variants.costs)))


def weighted_cost(variants: Variants, costs: Sequence[int]) -> int:
    """Return the weighted sum, which is minimised."""
    return sum(term.weight * cost for term, cost in zip(variants.costs, costs, strict=True))


def rules(variants: Variants) -> tuple[list[tuple[tuple[int, int], tuple[int, int]]], ...]:
    """Return the requirements and the exclusions as positions of groups and alternatives."""
    if not variants.requires and not variants.forbids:
        return [], []
    where = positions(variants)
    return tuple([(where[a], where[b]) for a, b in pairs] for pairs in (variants.requires, variants.forbids))


def positions(variants: Variants) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the position of each alternative, by the names of its group and itself."""
    if isinstance(variants.groups, GroupColumns):
        groups = variants.groups
        group = groups.group
        position = np.arange(len(group)) - groups.begin[group]
        names = zip([groups.names[g] for g in group.tolist()], groups.alternatives, strict=True)
        return dict(zip(names, zip(group.tolist(), position.tolist(), strict=True), strict=True))
    return {
        (group.name, alternative.name): (g, a)
        for g, group in enumerate(variants.groups)
        for a, alternative in enumerate(group.alternatives)
    }


def picks_of(variants: Variants, choice: Sequence[int]) -> tuple[Pick, ...]:
    """Return the names of the chosen alternatives and of their groups."""
    groups = variants.groups
    if isinstance(groups, GroupColumns):
        chosen = [groups.alternatives[i] for i in groups.chosen(choice).tolist()]
        return (*zip(groups.names, chosen, strict=True),)
    return tuple((group.name, group.alternatives[a].name) for group, a in zip(groups, choice, strict=True))


def count_of_alternatives(variants: Variants) -> int:
    """Return how many alternatives there are in all groups."""
    groups = variants.groups
    if isinstance(groups, GroupColumns):
        return len(groups.alternatives)
    return sum(len(group.alternatives) for group in groups)


def broken_rules(variants: Variants, choice: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Return the kind and position of each rule that the choice breaks."""
    requires, forbids = rules(variants)
    for k, ((g, a), (h, b)) in enumerate(requires):
        if choice[g] == a and choice[h] != b:
            yield "requires", k
    for k, ((g, a), (h, b)) in enumerate(forbids):
        if choice[g] == a and choice[h] == b:
            yield "forbids", k


def choice_of(problem: Problem, plan: Plan) -> tuple[int, ...] | None:
    """Return the alternative that the plan chooses in each group; None if that is no choice of this problem."""
    if problem.variants is None or plan.choice is None:
        return None
    where = positions(problem.variants)
    known = [where.get(pick) for pick in plan.choice.alternatives]
    if None in known or [at[0] for at in known if at is not None] != list(range(len(problem.variants.groups))):
        return None
    return tuple(at[1] for at in known if at is not None)


def as_chosen(problem: Problem, plan: Plan) -> Problem:
    """Return the problem whose buffers the plan places: without variants, or the problem itself if it has none."""
    chosen = choice_of(problem, plan)
    return replace(problem, variants=None) if chosen is None else with_choice(problem, chosen)


def most_buffers(problem: Problem) -> int:
    """Return the number of buffers that a plan has; with variants, that it has at most."""
    groups = () if problem.variants is None else problem.variants.groups
    return len(problem.buffers) + sum(max(len(each.buffers) for each in group.alternatives) for group in groups)


def require_nothing_to_choose(problem: Problem) -> None:
    """Raise BadInput for a problem with variants: for requests that cannot choose."""
    if problem.variants is not None:
        text = (
            "only plans, frontiers and sweeps choose among variants; "
            "everything else takes a problem in which nothing is left to choose"
        )
        raise BadInput(Finding(Code.UNSUPPORTED, "/variants", text))

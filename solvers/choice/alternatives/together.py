"""Decides choices and addresses together, with CP-SAT: the exact engine for small problems.

Importing this module imports nothing heavy; answering does, so it happens in a child process (see solvers.sandbox).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from ...exact.cpsat import engine
from ...exact.cpsat.program.places import places
from ...model.instance import Instance, Term
from ...model.solver import Control
from .instance import Answer, Choices, Pick, Question
from .questions.answering import Answering

LARGEST = 1 << 61
MOST_PARTS = 250
MOST_PAIRS = 8_000
"""Beyond this a problem is not small."""

Condition: TypeAlias = tuple[Pick, ...]
"""It holds if all these picks are chosen."""


class Link(NamedTuple):
    """If the pick is chosen (None: always), the part lies at the base's address plus the offset."""

    part: int
    base: int
    offset: int
    pick: Pick | None


class Relation(NamedTuple):
    """Two parts to which something applies if the pick is chosen."""

    first: int
    second: int
    pick: Pick | None


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """All parts of all alternatives, each as a block of one part, and the relations between them."""

    instance: Instance
    choices: Choices
    picks: tuple[Pick | None, ...]
    """The pick with which each part is there; None: always."""
    links: tuple[Link, ...] = ()
    exclusions: tuple[Relation, ...] = ()
    conflicts: tuple[Relation, ...] = ()
    same_pool: tuple[Relation, ...] = ()
    different_pool: tuple[Relation, ...] = ()

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Pairs of parts to keep apart unless something exempts them: they may be chosen together, and are live together or in conflict."""
        live = self.sections()
        size = self.instance.part_high
        listed = {tuple(sorted((each.first, each.second))) for each in self.conflicts}
        for i, j in combinations(range(len(self.picks)), 2):
            if exclude_each_other(self.picks[i], self.picks[j]) or not size[i] or not size[j]:
                continue
            if (i, j) in listed or any(a < d and c < b for a, b in live[i] for c, d in live[j]):
                yield i, j

    def sections(self) -> list[list[tuple[int, int]]]:
        """When each part is live."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.picks]
        rects = zip(self.instance.rect_part, self.instance.rect_start, self.instance.rect_end, strict=True)
        for part, start, end in rects:
            found[int(part)].append((int(start), int(end)))
        return found

    def tied(self) -> dict[tuple[int, int], Condition] | None:
        """For each pair of parts that move as one, the condition; None if there is no simple one, since parts may be tied in several ways."""
        edges: dict[int, list[tuple[int, Pick | None]]] = {}
        for link in self.links:
            edges.setdefault(link.part, []).append((link.base, link.pick))
            edges.setdefault(link.base, []).append((link.part, link.pick))
        found: dict[tuple[int, int], Condition] = {}
        for first in edges:
            todo: list[tuple[int, int, Condition]] = [(first, -1, ())]
            seen = {first}
            while todo:
                here, before, condition = todo.pop()
                for other, pick in edges[here]:
                    if other == before:
                        before = -1  # the way back, once
                        continue
                    if other in seen:
                        return None
                    seen.add(other)
                    along = condition if pick is None else (*condition, pick)
                    found[first, other] = along
                    todo.append((other, here, along))
        return found

    def is_small(self) -> bool:
        """True if the exact engine takes it: neither its pairs are too many nor its numbers too large."""
        if len(self.picks) > MOST_PARTS or self.tied() is None:
            return False
        if int(self.instance.part_high.sum()) > engine.LARGEST_TRUSTED:
            return False
        return sum(1 for _ in self.pairs()) <= MOST_PAIRS


def exclude_each_other(one: Pick | None, other: Pick | None) -> bool:
    """True for two alternatives of one group."""
    return one is not None and other is not None and one[0] == other[0] and one != other


class Together(Answering):
    """Answers questions about one problem; loads are the objective's values."""

    rate = engine.RATE_OF_SEVERAL_TERMS

    def __init__(self, joint: Joint) -> None:
        super().__init__(joint.choices)
        self._joint = joint

    def ask(self, question: Question, budget: engine.Budget, control: Control) -> Answer:
        """The answer within the budget."""
        if self._base is None:
            self._build()
        choices, model = self._choices, self._base.clone()
        if question.most_load is not None:
            if question.most_load < 0:
                return Answer(None, None, None)
            model.add(self._level <= question.most_load)
            self._limit_loads(model, question.most_load)
        if question.most_cost is not None:
            model.add(self._cost <= question.most_cost)
        impossible = [cut.picks for cut in question.cuts if cut.least is None]
        for picks in [*impossible, *(tuple(enumerate(each)) for each in question.left_aside)]:
            model.add_bool_or([self._chosen[g][a].negated() for g, a in picks])
        best, reply = self._best(model, question, budget, control)
        if reply.answer is engine.Answer.INFEASIBLE:
            return Answer(None, None, None, reply.work)
        if reply.answer is engine.Answer.OPTIMAL and best:
            return Answer(*best, None, reply.work)
        least = sum(min(of_group) for of_group in choices.costs) if question.for_cost else 0
        is_known = reply.bound is not None and (best or not question.for_cost)  # without a solution the bound may be 0
        bound = max(reply.bound or 0, least) if is_known else least
        return Answer(best[0] if best else None, bound, reply.stopped, reply.work)

    def _build(self) -> None:
        joint, model = self._joint, self._begin()
        self._add_parts()
        self._add_value()
        for link in joint.links:
            both = self._if(link.pick, joint.picks[link.part], joint.picks[link.base])
            model.add(self._address[link.part] == self._address[link.base] + link.offset).only_enforce_if(both)
            self._agree(link.part, link.base, both)
        for one in joint.same_pool:
            self._agree(one.first, one.second, self._if(one.pick, joint.picks[one.first], joint.picks[one.second]))
        for one in joint.different_pool:
            there = self._if(one.pick)
            for p in range(len(joint.instance.pools)):
                inside = self._in[one.first, p], self._in[one.second, p]
                model.add_bool_or([*(each.negated() for each in there), *(each.negated() for each in inside)])
        self._keep_apart()

    def _if(self, *picks: Pick | None) -> list[Any]:
        """Literals that all hold where all of these are chosen."""
        return [self._chosen[g][a] for g, a in dict.fromkeys(pick for pick in picks if pick is not None)]

    def _add_parts(self) -> None:
        """Each part that is there lies in one memory, at one of its places."""
        instance, model = self._joint.instance, self._base
        ends = (instance.highest + instance.part_high[:, None])[instance.allowed]
        self._top = max(int(ends.max()) if ends.size else 0, 0)
        self._address: list[Any] = []
        self._in: dict[tuple[int, int], Any] = {}
        self._no = model.new_constant(0)
        for part, pick in enumerate(self._joint.picks):
            high = int(instance.part_high[part])
            self._address.append(model.new_int_var(0, self._top, ""))
            inside = []
            for p in range(len(instance.pools)):
                spots = places(instance, part, p, [(0, high)], None) if instance.allowed[part, p] else None
                if spots is None or spots.is_empty:
                    self._in[part, p] = self._no
                    continue
                literal = self._in[part, p] = model.new_bool_var("")
                inside.append(literal)
                step = model.new_int_var_from_domain(engine.domain(spots.ranges), "")
                model.add(self._address[part] == spots.first + spots.step * step).only_enforce_if(literal)
            if pick is None:
                model.add(sum(inside) == 1)
            else:
                chosen = self._chosen[pick[0]][pick[1]]
                model.add(sum(inside) == chosen)
                model.add(self._address[part] == 0).only_enforce_if(chosen.negated())

    def _add_value(self) -> None:
        instance, model = self._joint.instance, self._base
        peaks = [model.new_int_var(0, self._top, "") for _ in instance.pools]
        for (part, p), literal in self._in.items():
            if literal is not self._no:
                end = self._address[part] + int(instance.part_high[part])
                model.add(end <= peaks[p]).only_enforce_if(literal)
        self._level = model.new_int_var(0, LARGEST, "")
        prices = [pool.cost for pool in instance.pools]
        is_largest = instance.terms == (Term.LARGEST_PEAK,)
        for reached in peaks if is_largest else [engine.weighted_sum(peaks, prices)]:
            model.add(self._level >= reached)
        self._sums: list[Any] = []
        if len(peaks) == 1:  # what follows from loads is known before any address
            for load in self._choices.loads:
                own = [(size, picks) for size, picks in load.if_any if len({g for g, _ in picks}) == 1]
                literals = [self._chosen[g][a] for _, picks in own for g, a in picks]
                sizes = [size for size, picks in own for _ in picks]
                self._sums.append(engine.weighted_sum(literals, sizes))
                model.add(self._sums[-1] <= peaks[0] - load.always)

    def _limit_loads(self, model: Any, most: int) -> None:
        """What is live together lies beside what is reserved."""
        (pool, *_) = self._joint.instance.pools
        if self._sums and pool.cost:
            top = most if self._joint.instance.terms == (Term.LARGEST_PEAK,) else most // pool.cost
            room = top - sum(min(end, top) - start for start, end in pool.reserved if start < top)
            for total, load in zip(self._sums, self._choices.loads, strict=True):
                model.add(total <= room - load.always)

    def _agree(self, one: int, other: int, where: Sequence[Any]) -> None:
        """Where these literals hold, the parts share a memory."""
        for p in range(len(self._joint.instance.pools)):
            self._base.add(self._in[one, p] == self._in[other, p]).only_enforce_if(where)

    def _keep_apart(self) -> None:
        joint, model = self._joint, self._base
        tied = joint.tied() or {}
        exempt: dict[tuple[int, int], list[Pick | None]] = {}
        for one in joint.exclusions:
            exempt.setdefault((min(one[:2]), max(one[:2])), []).append(one.pick)
        listed: dict[tuple[int, int], list[Pick | None]] = {}
        for one in joint.conflicts:
            listed.setdefault((min(one[:2]), max(one[:2])), []).append(one.pick)
        sections = joint.sections()
        for i, j in joint.pairs():
            pools = [p for p in range(len(joint.instance.pools)) if self._no not in (self._in[i, p], self._in[j, p])]
            condition = tied.get((i, j))
            if not pools or condition == () or None in exempt.get((i, j), ()):
                continue
            below, above = model.new_bool_var(""), model.new_bool_var("")
            size_i, size_j = int(joint.instance.part_high[i]), int(joint.instance.part_high[j])
            model.add(self._address[i] + size_i <= self._address[j]).only_enforce_if(below)
            model.add(self._address[j] + size_j <= self._address[i]).only_enforce_if(above)
            ways = [below, above, *self._if(*exempt.get((i, j), ()))]
            if condition is not None:
                together = model.new_bool_var("")
                for literal in self._if(*condition):
                    model.add_implication(together, literal)
                ways.append(together)
            is_live = any(a < d and c < b for a, b in sections[i] for c, d in sections[j])
            for when in [None] if is_live else listed[i, j]:
                unless = [literal.negated() for literal in self._if(when)]
                for p in pools:
                    model.add_bool_or([*ways, *unless, self._in[i, p].negated(), self._in[j, p].negated()])

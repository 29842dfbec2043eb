"""Answers the questions that ignore addresses, with CP-SAT: the cheapest choice within a load, and the least load within a cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import gcd
from typing import Any

from ....exact.cpsat import engine
from ....model.solver import Control
from ..bounds.lines import Asked
from ..bounds.relaxation import Relaxation
from ..instance import Answer, Bin, Choice, Choices, Memories, Pick, Question, Row, Share, Wall
from .answering import Answering

WORK_PER_DETERMINISTIC_SECOND = 2_000_000
"""These models are small and mostly linear, and CP-SAT counts more of its work on them than on others."""

LARGEST = 1 << 61
"""Greater than any load."""
LARGEST_PEAK = engine.LARGEST_TRUSTED
"""No less than any peak, in the units of the model."""

MOST_SUMS = 32
"""With more sets of bins between which bytes may have to be divided at one time, variables say how they are."""
MOST_SHARES = 1_000
"""With more shares of bytes in several memories, the question about whole blocks is not asked: it has no answer in time."""


class Questions(Answering):
    """About one instance. The model is built once; each question adds to a copy of it.

    With several memories a question is first asked as if bytes could be in any memory at any time: that is quick, and its bounds hold.
    Usually the best choice there is the best of all.
    """

    rate = WORK_PER_DETERMINISTIC_SECOND

    def __init__(self, choices: Choices, *, is_divisible: bool = False) -> None:
        super().__init__(choices)
        self._is_divisible = is_divisible
        """May the bytes of a block be spread over several memories?"""
        in_parts = choices.memories is not None and not is_divisible
        self._divisible = Questions(choices, is_divisible=True) if in_parts else None
        self._relaxation: Relaxation | None = None
        self._is_large = is_large(choices)
        self._tops: list[Any] = []
        self._sums: list[Any] = []
        """For each load, the expression of what is not always live."""
        self._unit = unit_of(choices)
        """Sizes are counted in these, rounded down: what that rules out is ruled out."""

    def answer(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        """Answer in the child process, with prices if these are asked for."""
        if "prices" not in question:
            return super().answer(question, control)
        if self._relaxation is None:
            self._relaxation = Relaxation(self._choices)
        prices, work = self._relaxation.prices(Asked(*question["prices"]), question["work"])
        return {"prices": prices, "work": work}

    def ask(self, question: Question, budget: engine.Budget, control: Control) -> Answer:
        """The answer within the budget."""
        if self._divisible is not None and self._is_large:
            return self._divisible.ask(question, budget, control)
        if self._divisible is None or question.fixed is not None:
            return self._whole(question, budget, control)
        rough = self._divisible.ask(question, _half(budget), control)
        if rough.choice is None:
            return rough if rough.is_impossible else self._whole(question, budget, control)
        tried = self._whole(replace(question, fixed=rough.choice, near=None), _half(budget), control)
        found = tried._replace(bound=rough.bound, stopped=rough.stopped, work=rough.work + tried.work)
        if tried.choice is not None and rough.stopped is None and (question.for_cost or tried.bound == rough.bound):
            return found
        near = question.near if tried.choice is None else tried.choice
        best = self._whole(replace(question, near=near), budget, control)
        if best.is_impossible:
            return best._replace(work=found.work + best.work)
        bound = max((each for each in (best.bound, rough.bound) if each is not None), default=None)
        return best._replace(choice=best.choice or tried.choice, bound=bound, work=found.work + best.work)

    def tops(self, choice: Choice, budget: engine.Budget, control: Control) -> list[int] | None:
        """How high several memories are filled where the choice has the least level; None if none were found in time."""
        if self._base is None:
            self._build()
        model = self._base.clone()
        for literals, a in zip(self._chosen, choice, strict=True):
            model.add(literals[a] == 1)
        model.minimize(self._level)
        best: list[list[int]] = []

        def on_solution(value: engine.ReadValue) -> None:
            best[:] = [[value(top) * self._unit for top in self._tops]]

        engine.solve(model, budget, control, on_solution)
        return best[0] if best else None

    def _whole(self, question: Question, budget: engine.Budget, control: Control) -> Answer:
        """The answer of this model alone."""
        if self._base is None:
            self._build()
        choices, model = self._choices, self._base.clone()
        if question.most_load is not None and question.most_load < self._least:
            return Answer(None, None, None)
        unit = self._unit
        greatest = max([self._greatest, *(cut.least for cut in question.cuts if cut.least is not None)])
        top = greatest if question.most_load is None else min(greatest, question.most_load)
        model.add(self._level <= top // unit)
        if question.most_cost is not None:
            model.add(self._cost <= question.most_cost)
        for k, most in question.caps:
            model.add(self._sums[k] <= (most - choices.loads[k].always) // unit)
        for each in question.left_aside:
            model.add_bool_or([self._chosen[g][a].negated() for g, a in enumerate(each)])
        for cut in question.cuts:
            literals = [self._chosen[g][a] for g, a in cut.picks]
            if cut.least is None or cut.least > top:
                model.add_bool_or([literal.negated() for literal in literals])
            else:
                model.add(self._level >= cut.least // unit).only_enforce_if(literals)
        if question.fixed is not None:
            for g, a in enumerate(question.fixed):
                model.add(self._chosen[g][a] == 1)
        best, reply = self._best(model, question, budget, control)
        in_units = 1 if question.for_cost else unit
        bound = None if reply.bound is None else reply.bound * in_units
        if reply.answer is engine.Answer.OPTIMAL and best:
            bound = best[1] * in_units
        elif reply.stopped is not None:  # if it ended early it may have no bound, and says 0
            trivial = sum(min(of_group) for of_group in choices.costs) if question.for_cost else self._least
            bound = trivial if bound is None or not best else max(bound, trivial)
        return Answer(best[0] if best else None, bound, reply.stopped, reply.work)

    def _build(self) -> None:
        self._begin()
        self._either = dict[tuple[Pick, ...], Any]()
        if self._choices.memories is None:
            self._add_loads()
        else:
            self._add_memories()

    def _add_loads(self) -> None:
        """The level is the greatest load."""
        loads = self._choices.loads
        self._least = max([0, *(load.always for load in loads)])
        self._greatest = max([self._least, *(load.always + sum(size for size, _ in load.if_any) for load in loads)])
        self._level = self._base.new_int_var(self._least // self._unit, LARGEST, "")
        for load in loads:
            literals: list[Any] = []
            sizes: list[int] = []
            for size, picks in load.if_any:
                those = self._any_of(picks)
                literals += those
                sizes += [size // self._unit] * len(those)
            total = engine.weighted_sum(literals, sizes)
            self._sums.append(total)
            if literals:
                self._base.add(total <= self._level - load.always // self._unit)
        self._add_walls()

    def _add_walls(self) -> None:
        """Whatever lives beside a wall at some time lies below or above it, at all times."""
        model = self._base
        below: dict[tuple[int, tuple[Pick, ...], int], Any] = {}
        for row in self._choices.rows:
            there = [sum(self._any_of(each.picks)) if each.picks else 1 for each in row.beside]
            sizes = [each.size // self._unit for each in row.beside]
            self._greatest = max(self._greatest, _height(row))
            lower: tuple[Wall, list[Any]] | None = None
            for wall in row.walls:
                under = []
                for each, whole in zip(row.beside, there, strict=True):
                    key = each.block, each.picks, wall.block
                    if key not in below:
                        below[key] = model.new_bool_var("")
                        model.add(below[key] <= whole)
                    under.append(below[key])
                chosen = [] if wall.pick is None else [self._chosen[wall.pick[0]][wall.pick[1]]]
                others = [each for each in row.walls if each.pick is None and each != wall]
                room = wall.low - sum(each.high - each.low for each in others if each.high <= wall.low)
                top = wall.high + sum(each.high - each.low for each in others if each.low >= wall.high)
                model.add(engine.weighted_sum(under, sizes) <= room // self._unit).only_enforce_if(chosen)
                over = engine.weighted_sum([*there, *under], [*sizes, *(-size for size in sizes)])
                model.add(over <= self._level - top // self._unit).only_enforce_if(chosen)
                if wall.pick is None:
                    if lower is not None and lower[0].high <= wall.low:
                        between = engine.weighted_sum([*under, *lower[1]], [*sizes, *(-size for size in sizes)])
                        model.add(between <= (wall.low - lower[0].high) // self._unit)
                        for one, other in zip(lower[1], under, strict=True):
                            model.add_implication(one, other)
                    lower = wall, under

    def _add_memories(self) -> None:
        """The level is the objective's value of the peaks; each share is in one memory."""
        memories, model = self._choices.memories, self._base
        assert memories is not None
        most, bins = memories.most_live, memories.bins()
        highest = [most if each.size is None else min(each.size, most) for each in bins]
        peaks = [model.new_int_var(0, each // self._unit, "") for each in highest]
        spare = -(-memories.spare // self._unit)
        there: dict[tuple[int, tuple[Pick, ...]], dict[int, Any]] = {}
        for shares in memories.live if not self._is_divisible else ():
            inside: list[tuple[list[Any], list[int]]] = [([], []) for _ in peaks]
            for share in shares:
                key = share.block, share.picks
                if key not in there:
                    there[key] = {b: model.new_bool_var("") for b in memories.bins_for(share, bins)}
                    whole = sum(self._any_of(share.picks)) if share.picks else 1
                    model.add(sum(there[key].values()) == whole)
                for b, literal in there[key].items():
                    inside[b][0].append(literal)
                    inside[b][1].append(share.size // self._unit)
            for peak, (literals, sizes) in zip(peaks, inside, strict=True):
                if literals:
                    model.add(engine.weighted_sum(literals, sizes) <= peak + spare)
        if self._is_divisible:
            self._add_bytes(memories, bins, peaks, most)
        self._least, self._greatest = 0, memories.greatest
        self._level = model.new_int_var(0, LARGEST, "")
        self._tops = [self._top(p, memories, bins, peaks) for p in range(len(memories.prices))]
        for reached in self._tops if memories.is_largest else [engine.weighted_sum(self._tops, memories.prices)]:
            model.add(self._level >= reached)

    def _top(self, pool: int, memories: Memories, bins: Sequence[Bin], peaks: Sequence[Any]) -> Any:
        """How high a memory is filled if its bins are filled up to their peaks; at least as high as what is pinned there."""
        model, unit, pinned = self._base, self._unit, memories.taken_in(pool).pinned
        inside = [(each.low // unit, peak) for each, peak in zip(bins, peaks, strict=True) if each.pool == pool]
        if not pinned and len(inside) == 1 and not inside[0][0]:
            return inside[0][1]
        top = model.new_int_var(0, LARGEST_PEAK, "")
        for low, peak in inside:
            is_used = model.new_bool_var("")
            model.add(peak == 0).only_enforce_if(is_used.negated())
            model.add(top >= peak + low * is_used)
        for end, pick, _ in pinned:
            model.add(top >= end // unit).only_enforce_if([] if pick is None else [self._chosen[pick[0]][pick[1]]])
        return top

    def _add_bytes(self, memories: Memories, bins: Sequence[Bin], peaks: Sequence[Any], most: int) -> None:
        """At each time, bytes that may be in the same bins are spread over them in any way."""
        model = self._base
        spare = -(-memories.spare // self._unit)
        for shares in memories.live:
            inside: list[list[Any]] = [[] for _ in peaks]
            of_homes: dict[tuple[int, ...], list[Share]] = {}
            for share in shares:
                of_homes.setdefault(memories.bins_for(share, bins), []).append(share)
            rounded = 0 if self._unit == 1 else len(of_homes)  # in larger units each part may be rounded up
            totals = {homes: self._bytes_of(those) for homes, those in of_homes.items()}
            unions = _unions(of_homes) if self._is_large else ()
            if 0 < len(unions) <= MOST_SUMS:  # the same bounds, proven with less work
                for union in unions:
                    total = sum(each for homes, each in totals.items() if union.issuperset(homes))
                    model.add(total <= sum(peaks[b] + spare + rounded for b in union))
                continue
            for homes, total in totals.items():
                parts = [model.new_int_var(0, most, "") for _ in homes]
                model.add(sum(parts) == total)
                for b, part in zip(homes, parts, strict=True):
                    inside[b].append(part)
            for peak, parts in zip(peaks, inside, strict=True):
                if parts:
                    model.add(sum(parts) <= peak + spare + min(rounded, len(parts)))

    def _bytes_of(self, shares: Sequence[Share]) -> Any:
        literals = [(literal, each.size // self._unit) for each in shares for literal in self._any_of(each.picks)]
        total = engine.weighted_sum([literal for literal, _ in literals], [size for _, size in literals])
        return total + sum(each.size // self._unit for each in shares if not each.picks)

    def _any_of(self, picks: Sequence[Pick]) -> list[Any]:
        """Literals whose sum is 1 if at least one of the picks is chosen, and can be 0 otherwise; for picks of one group, their own literals."""
        if len({group for group, _ in picks}) == 1:
            return [self._chosen[g][a] for g, a in picks]
        key = tuple(picks)
        if key not in self._either:
            self._either[key] = self._base.new_bool_var("")
            for g, a in picks:
                self._base.add_implication(self._chosen[g][a], self._either[key])
        return [self._either[key]]


def _unions(of_homes: Iterable[tuple[int, ...]]) -> set[frozenset[int]]:
    """Return all unions of some of these sets of bins: bytes can be spread if no union must hold more than it can."""
    found: set[frozenset[int]] = set()
    for homes in of_homes:
        found |= {each.union(homes) for each in found} | {frozenset(homes)}
        if len(found) > MOST_SUMS:
            break
    return found


def is_large(choices: Choices) -> bool:
    """True if there are several memories and so many shares that each answer is about divisible bytes."""
    memories = choices.memories
    return memories is not None and len({each for shares in memories.live for each in shares}) > MOST_SHARES


def unit_of(choices: Choices) -> int:
    """Return the unit in which no number of the choices' model is too large for CP-SAT: their common one, if that is enough."""
    if choices.memories is None:
        loads = [load.always + sum(size for size, _ in load.if_any) for load in choices.loads]
        greatest = max([0, *loads, *map(_height, choices.rows)])
    else:
        greatest = choices.memories.greatest
    if greatest <= engine.LARGEST_TRUSTED:
        return 1
    return max(gcd(*_sizes(choices)), -(-greatest // engine.LARGEST_TRUSTED))


def _sizes(choices: Choices) -> Iterator[int]:
    for load in choices.loads:
        yield load.always
        yield from (size for size, _ in load.if_any)
    for row in choices.rows:
        yield from (number for wall in row.walls for number in (wall.low, wall.high))
        yield from (each.size for each in row.beside)
    if choices.memories is not None:
        yield from (share.size for shares in choices.memories.live for share in shares)


def _height(row: Row) -> int:
    """Return the most that is needed beside the walls."""
    return row.walls[-1].high + sum(each.size for each in row.beside)


def _half(budget: engine.Budget) -> engine.Budget:
    return budget if budget.work is None else replace(budget, work=budget.work // 2)

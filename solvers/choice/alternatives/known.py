"""What is known of choices so far: the answers of the master and of the exact engine, the placed choices, and their points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ...model.errors import StopReason
from .bounds.supporting import Prover, Supporting
from .instance import Answer, Choice, Cut, Question
from .master import Exact, Master
from .points import Measure, Place, PlaceBoth, Placed, Point, Stopped

MOST_IN_VAIN = 1
"""After this many unanswered questions the exact engine is not used again: each takes much of the work."""


class Known:
    """The knowledge of one run: nothing is asked or placed twice, unless with more work."""

    def __init__(
        self,
        master: Master,
        exact: Callable[[], Exact | None],
        measure: Measure,
        place: Place,
        stopped: Stopped,
        place_both: PlaceBoth | None = None,
        prover: Prover | None = None,
    ) -> None:
        self.master, self._exact, self._measure = master, exact, measure
        self._place, self._place_both, self._stopped = place, place_both, stopped
        self.supporting = Supporting(master, measure, prover, stopped)
        """What anybody can work out again."""
        self.placed: dict[Choice, Placed] = {}
        self.points: list[Point] = []
        self.stop: StopReason | None = None
        """Why the search stopped."""
        self._answers: dict[tuple[int | None, int, int], Answer] = {}
        self._proven: dict[int | None, tuple[Answer, int, bool]] = {}
        """For each load: the answer about the cheapest choice, the number of cuts known then, and whether any choice was set aside."""
        self.costs: dict[int, int] = {}
        """For each load that was asked for: no choice within it costs less than this."""
        self._vain = 0
        self._to_place = set[Choice]()
        """Choices to be placed again."""

    def reopen(self) -> None:
        """Allow open questions and placements to be tried again where needed; what was proven stays."""
        for choice, load in self.master.left_aside.items():
            if load > self.master.load(choice):
                self.master.cuts.append(Cut(tuple(enumerate(choice)), load))
        self.master.left_aside.clear()
        self._answers = {key: answer for key, answer in self._answers.items() if not key[2] and answer.stopped is None}
        self._proven = {load: known for load, known in self._proven.items() if not known[2]}
        self._to_place = {
            choice for choice, placed in self.placed.items() if placed.value != placed.bound and not placed.is_useless
        }
        self._vain = min(self._vain, MOST_IN_VAIN - 1)

    def is_over(self) -> bool:
        """Must the run end, even if no question has noticed yet?"""
        self.stop = self.stop or self._stopped()
        return self.stop is not None

    def cheapest(self, most_load: int | None) -> Answer | None:
        """The cheapest choice within the load; an earlier answer is used unless something learned since contradicts it."""
        answer = self.answered(most_load)
        if answer is None:
            found = self.ask(self.master.cheapest, most_load, self._near(most_load))
            if found is None:
                return None
            answer = self._note(most_load, found)
        return answer

    def foresee(self, loads: Iterable[int | None]) -> None:
        """Ask for the cheapest choices within the first of these loads and within one of the others, side by side, since both will be needed soon."""
        first, *others = dict.fromkeys(loads)
        other = next((load for load in others if self.answered(load) is None), first)
        if self.is_over() or other == first or self.answered(first) is not None:
            return
        both = (first, other)
        answers = self.master.cheapest_of_both([(load, self._near(load)) for load in both])
        for load, answer in zip(both, answers, strict=True):
            if answer.stopped is not None and not answer.stopped.is_repeatable:
                self.stop = answer.stopped
            self._note(load, answer)

    def _note(self, most_load: int | None, found: Answer) -> Answer:
        """Keep the answer, so that the question is not repeated."""
        if found.stopped is None:
            self._proven[most_load] = found, len(self.master.cuts), bool(self.master.left_aside)
        answer = self.master.with_aside(most_load, found)
        if most_load is not None and answer.bound is not None:
            self.costs[most_load] = max(answer.bound, self.costs.get(most_load, answer.bound))
        if answer.choice is None and answer.stopped is not None:
            answer = answer._replace(choice=self._cheapest_placed(most_load))
        self._answers[most_load, len(self.master.cuts), len(self.master.left_aside)] = answer
        return answer

    def answered(self, most_load: int | None) -> Answer | None:
        """The earlier answer, if it still holds."""
        learned = (most_load, len(self.master.cuts), len(self.master.left_aside))
        if learned not in self._answers and most_load in self._proven:
            found, cuts, _ = self._proven[most_load]
            choice = found.choice
            if choice is not None and (
                choice in self.master.left_aside
                or any(cut.forbids(choice, most_load) for cut in self.master.cuts[cuts:])
            ):
                return None
            self._answers[learned] = self.master.with_aside(most_load, found)
        return self._answers.get(learned)

    def lightest(
        self, cost: int | None, most_load: int | None, near: Choice | None
    ) -> tuple[Choice | None, int | None]:
        """A choice of the least load within the cost, and a lower bound on that load.

        Whether less is possible than what is known is asked first the other way round: does what has less load cost more?
        """
        if near is not None and cost is not None:
            load = self.master.load(near)
            below = self.cheapest(load - 1)
            if below is None or below.is_impossible or (below.bound is not None and below.bound > cost):
                return near, None if below is None else load
            if below.choice is not None and self.master.choices.cost(below.choice) <= cost:
                near = below.choice
            elif below.stopped is not None:  # the reverse question is no easier
                return near, None
        answer = self.ask(self.master.lightest, cost, most_load, near)
        if answer is None:
            return near, None
        return answer.choice or (near if answer.stopped is not None else None), answer.bound

    def exactly(self, question: Question) -> Answer:
        """The answer of the exact engine, which decides addresses too and takes small problems."""
        exact = None if self.is_over() or self._vain >= MOST_IN_VAIN else self._exact()
        if exact is None:
            return Answer(None, None, StopReason.WORK_LIMIT)
        before = exact.work
        impossible = tuple(cut for cut in self.master.cuts if cut.least is None)
        answer = exact.ask(replace(question, cuts=impossible))
        self.master.work += exact.work - before
        self._vain += answer.stopped is not None
        return answer

    def ask(self, question: Callable[..., Answer], *about: object) -> Answer | None:
        """The master's answer; None if there is no time for it."""
        if self.is_over():
            return None
        answer = question(*about)
        if answer.stopped is not None and not answer.stopped.is_repeatable:
            self.stop = answer.stopped
        return answer

    def place(self, choice: Choice, most_value: int | None = None) -> Placed:
        """Place the choice; only values up to this one are wanted, so a known point beyond it that costs no more may show that the choice is of no use."""
        below = self._least_beyond(most_value, self.master.choices.cost(choice))
        if self._is_to_place(choice, below):
            self.keep(choice, self._place(choice, below))
        return self.placed[choice]

    def place_ahead(self, wanted: Sequence[tuple[Choice, int | None]]) -> None:
        """Place two choices, each for a value, side by side: both will be asked for. Nothing happens if one need not be placed."""
        asked = [(choice, self._least_beyond(value, self.master.choices.cost(choice))) for choice, value in wanted]
        if self._place_both is None or self.is_over() or not all(self._is_to_place(*each) for each in asked):
            return
        for (choice, _), placed in zip(asked, self._place_both(asked), strict=True):
            self.keep(choice, placed)

    def _is_to_place(self, choice: Choice, below: int | None) -> bool:
        """True if the choice was not placed, or not with what is allowed now, or not as low as may be of use."""
        known = self.placed.get(choice)
        is_settled_for_more = known is not None and known.is_useless and (below is None or below > (known.bound or 0))
        return known is None or is_settled_for_more or choice in self._to_place

    def keep(self, choice: Choice, placed: Placed) -> None:
        """Note how the choice was placed."""
        self._to_place.discard(choice)
        self.placed[choice] = placed
        self.master.work += placed.work
        for k, point in enumerate(self.points):
            if point.choice == choice and placed.value is not None and placed.value < point.value:
                self.points[k] = replace(point, value=placed.value)

    def next_cheapest(self, most_load: int | None, but: Choice) -> Answer | None:
        """The cheapest choice within the load apart from this one; None if there is no time for it."""
        return self.ask(self.master.cheapest, most_load, None, (), but)

    def remember_next(self, most_load: int | None, found: Answer, but: Choice, cuts: int) -> None:
        """Keep the answer about all choices but one, which was excluded since: then it is one about all. `cuts`: the number known when it was asked."""
        is_excluded = but in self.master.left_aside or any(
            cut.forbids(but, most_load) for cut in self.master.cuts[cuts:]
        )
        if found.stopped is None and is_excluded:
            self._proven[most_load] = found, cuts, bool(self.master.left_aside)

    def _least_beyond(self, value: int | None, most_cost: int) -> int | None:
        """The least value of the known points that cost no more; None if there is none, one is within the value, or any value is wanted."""
        if value is None:
            return None
        least = min((point.value for point in self.points if point.cost <= most_cost), default=None)
        return None if least is None or least <= value else least

    def learn(self, choice: Choice, placed: Placed) -> bool:
        """Tell the master what is proven of the choice; if nothing is, the choice is set aside. False if the master knew it all."""
        known = self.master.load(choice)
        if placed.bound is None:
            self.master.cuts.append(Cut(tuple(enumerate(choice)), None))
            return True
        least = max(self._measure.most_load(placed.bound - 1) + 1, known)
        if placed.value != placed.bound and not placed.is_useless:
            self.master.left_aside[choice] = least
        elif least > known:
            self.master.know(Cut(placed.picks or tuple(enumerate(choice)), least))
        else:
            return False
        return True

    def know_aside(self, cost: int, value: int | None) -> None:
        """Note that no cheaper choice has so small a value; this holds for choices set aside, too."""
        for each, load in self.master.left_aside.items():
            if value is not None and self.master.choices.cost(each) < cost:
                self.master.left_aside[each] = max(load, self._measure.most_load(value) + 1)

    def _near(self, most_load: int | None) -> Choice | None:
        """The cheapest known choice within the load."""
        known = [each for each in self.points if most_load is None or self.master.load(each.choice) <= most_load]
        return min(known, key=lambda point: point.cost).choice if known else None

    def _cheapest_placed(self, most_load: int | None) -> Choice | None:
        """The cheapest placed choice within the load, for when the master found none in time."""
        known = [
            each
            for each, placed in self.placed.items()
            if placed.value is not None
            and each not in self.master.left_aside
            and (most_load is None or self.master.load(each) <= most_load)
        ]
        return min(known, key=self.master.choices.cost, default=None)

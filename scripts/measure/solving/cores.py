"""Estimates how much sooner plans are found with several workers: rounds are logged once, with one worker, and replayed. A Markdown table.

python -m scripts.measure.solving.cores [--seconds 5] [--plots FOLDER] [FAMILY:BUFFERS:SEEDS]...

The replay takes the processor time of each part of a round, and within the search of each attempt, and assigns them to workers by the rules of
solvers/portfolio/schedule.py and of the native search's descent.cpp. So it needs no idle machine, and can have any number of cores. What one thread does
between rounds is added: reading the problem, greedy, checking plans. That engines wait for each other's Python and memory is left out. `--clock` plans by
the clock instead, with one worker and with two in turn: on an idle machine only.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import inf
from pathlib import Path
from statistics import geometric_mean
from threading import local
from typing import Any, NamedTuple, cast
from unittest.mock import patch

from planner import Options, Problem, plan
from planner.drawing import Sheet, Theme
from planner.drawing.curves.plot import Axes, Curve, curves
from planner.drawing.ticks import number_labels
from planner.generate import Request, generate
from planner.planning.placing.pipeline import WORK_PER_SECOND
from scripts.measure.arguments import Arguments, by_work
from scripts.measure.solving.dense import family, problem_of
from solvers.exact.search import solver as search
from solvers.kernels import Kernels, active
from solvers.model.outcome import Outcome
from solvers.model.registry import get
from solvers.portfolio import separate_pools
from solvers.portfolio.execute import FULL, Answer, ask
from solvers.portfolio.roster import share_of
from solvers.portfolio.schedule import Job, Schedule
from solvers.portfolio.turns import UNITS_PER_SECOND, play

USUAL = (
    "packing:300:8",
    "packing:400:8",
    "packing:3000:2",
    "recurrent:3000:4",
    "dropped3:1500:2",
    "dropped5:8000:1",
)
CUT = ("whole", "dropped", "sizes", "times")
WORKERS = (1, 2, 4, 8, 16)
LEAST = UNITS_PER_SECOND // 5
"""A plan that takes less time ends before several workers are of use."""
UNITS = 512
"""Units of the search's own work in one general unit of work."""
ROUNDS_AHEAD = 64


class Tried(NamedTuple):
    """An attempt of the search."""

    strategy: int
    settled: bool
    work: float


@dataclass
class Part:
    """The work of one engine in a round on one component."""

    name: str
    granted: int
    work: float
    """The time it takes, in the units of turns.UNITS_PER_SECOND."""
    attempts: list[Tried] = field(default_factory=list)
    settles: bool = False
    """Does its answer alone finish the component?"""

    @property
    def is_needed(self) -> bool:
        """Would one worker have asked it?"""
        return self.work < inf

    @property
    def scales(self) -> bool:
        return share_of(self.name).scales and bool(self.attempts)


Round = list[list[Part]]
"""The parts of each component, in order."""


def timed(name: str, work: int, attempts: list[Tried], seconds: float) -> tuple[float, list[Tried]]:
    """The time of an engine and of its attempts instead of their work, of which a unit takes longer in one engine than in another."""
    whole = seconds * UNITS_PER_SECOND
    if get(name).sandboxed:  # another process does the work
        whole += work * UNITS_PER_SECOND / WORK_PER_SECOND
    counted = sum(tried.work for tried in attempts)
    return whole, [tried._replace(work=tried.work * whole / max(counted, 1)) for tried in attempts]


def logged(problem: Problem, options: Options) -> tuple[float, list[Round]]:
    """The time of what is done between rounds, and the parts of each round."""
    here, rounds = local(), list[Round]()

    search_logged = import_module("solvers.kernels._native").search_logged

    class Logging:
        def search(self, **wish: Any) -> tuple[Any, ...]:
            *answer, attempts = search_logged(**wish)
            here.attempts = [Tried(strategy, settled, work / UNITS) for strategy, settled, work in attempts]
            return tuple(answer)

    def ask_logged(name: str, *others: Any) -> Answer:
        here.attempts = []
        begun = time.thread_time()
        answer = ask(name, *others)
        if isinstance(answer, Outcome):
            spent[id(answer)] = timed(name, answer.work, here.attempts, time.thread_time() - begun)
        return answer

    def played(turns: Any, workers: int, board: Any, budget: int, work: Any) -> None:
        play(turns, workers, board, budget, work)
        rounds.append([])
        for turn in turns:
            said = [answer for _, answer in turn.answers()]
            team = [Part(name, weight * budget // FULL, inf) for name, weight in turn.team]
            for part, answer in zip(team, said, strict=False):
                part.work = 0
                if isinstance(answer, Outcome):
                    part.work, part.attempts = spent[id(answer)]
                    part.settles = turn.is_finished_by([answer])
            rounds[-1].append(team)

    spent: dict[int, tuple[float, list[Tried]]] = {}
    logging = active()._replace(kernels=cast(Kernels, Logging()))
    with (
        patch.object(separate_pools, "ask", ask_logged),
        patch.object(separate_pools, "play", played),
        patch.object(search, "active", lambda: logging),
    ):
        begun = time.thread_time()
        plan(problem, options)
        return (time.thread_time() - begun) * UNITS_PER_SECOND, rounds


class Strategies:
    """The search's attempts, assigned as in descent.cpp."""

    def __init__(self, attempts: list[Tried]) -> None:
        self.rounds: list[dict[int, Tried]] = []
        for tried in attempts:
            if tried.strategy == 0 or not self.rounds or any(t.settled for t in self.rounds[-1].values()):
                self.rounds.append({})
            self.rounds[-1][tried.strategy] = tried
        self.usual = sum(tried.work for tried in attempts) / len(attempts)
        self.width = 1 + max(tried.strategy for tried in attempts)
        self.at = 0
        self.next = [0] * self.width
        self.busy: dict[int, int] = {}
        """By strategy: the round that it works on."""
        self.done: set[tuple[int, int]] = set()
        self.last = (len(self.rounds), 0)
        """Attempts from here on do not matter."""

    @property
    def over(self) -> bool:
        return self.at >= len(self.rounds)

    def choose(self, *, in_order: bool) -> tuple[int, int, float] | None:
        """Round, strategy and work of the next attempt, or None; the usual work if it is of no use in the end."""
        free = [s for s in range(self.width) if s not in self.busy and self.next[s] <= self.at + ROUNDS_AHEAD]
        free = [s for s in free if (self.next[s], s) < self.last or not self._answered]
        if self.over or not free:
            return None
        best = min(free, key=lambda s: (self.next[s], -1 if s == self.width - 1 and not in_order else s))
        round_ = self.next[best]
        self.busy[best] = round_
        self.next[best] += 1
        is_of_use = round_ < len(self.rounds) and best in self.rounds[round_] and round_ <= self._end
        return round_, best, self.rounds[round_][best].work if is_of_use else self.usual

    @property
    def _end(self) -> int:
        """The round that settles the present height, or the last one."""
        for number in range(self.at, len(self.rounds)):
            if any(tried.settled for tried in self.rounds[number].values()):
                return number
        return len(self.rounds)

    @property
    def _answered(self) -> bool:
        end = self._end
        return end < len(self.rounds) and any(
            (end, s) in self.done for s, tried in self.rounds[end].items() if tried.settled
        )

    def end(self, round_: int, strategy: int) -> None:
        """Ends an attempt, and frees workers whose attempts no longer matter."""
        if self.busy.get(strategy) != round_:
            return
        self.done.add((round_, strategy))
        del self.busy[strategy]
        if self._answered:
            end = self._end
            winner = next(s for s, tried in self.rounds[end].items() if tried.settled)
            self.last = (end, winner)
            for s, at in list(self.busy.items()):
                if (at, s) > self.last:
                    del self.busy[s]
        while not self.over and all((self.at, s) in self.done for s in self.rounds[self.at]):
            settled = any(tried.settled for tried in self.rounds[self.at].values())
            self.at += 1
            if settled or self.over:
                self.busy.clear()
                self.next = [self.at] * self.width
                self.last = (len(self.rounds), 0)


def replayed(round_: Round, workers: int) -> float:
    """The duration of a round."""
    return _Replay(round_, workers).duration()


class _Replay:
    """One round with several workers: parts get them as in solvers/portfolio/schedule.py. What is not needed works until a part settles its component."""

    def __init__(self, round_: Round, workers: int) -> None:
        self._parts = [(team, part) for team in round_ for part in team]
        self._jobs = [
            Job(at, part.granted, leads=part is team[0], scales=part.scales, rests=share_of(part.name).rests)
            for at, (team, part) in enumerate(self._parts)
        ]
        self._left = {id(team): sum(part.is_needed for part in team) for team in round_}
        self._settled: set[int] = set()
        self._schedule = Schedule(self._jobs, workers)
        self._searches: dict[Job, Strategies] = {}
        self._work: dict[Job, float] = {}  # what parts that use one worker have left
        self._events: list[tuple[float, int, Job, tuple[int, int]]] = []  # the ends of attempts
        self._planned = 0

    def duration(self) -> float:
        now = 0.0
        self._go_on(now)
        while not self._schedule.is_over:
            at_work = [job for job in self._work if job.is_at_work]
            ends = (now + self._work[job] for job in at_work)
            then = min(*ends, self._schedule.look_again, self._events[0][0] if self._events else inf, inf)
            for job in at_work:
                self._work[job] -= then - now
            now = then
            for job in [job for job in at_work if self._work[job] < 1]:
                self._end(job)
            while self._events and self._events[0][0] <= now:
                _, _, job, attempt = heapq.heappop(self._events)
                if strategies := self._searches.get(job):
                    strategies.end(*attempt)
                    if strategies.over:
                        self._end(job)
            self._go_on(now)
        return now

    def _go_on(self, now: float) -> None:
        """Begin what gets a worker at this time."""
        while new := self._schedule.give(now):
            for job in new:
                team, part = self._parts[job.number]
                if part.scales:
                    self._searches[job] = Strategies(part.attempts)
                else:
                    self._work[job] = part.work
                if not part.is_needed and (id(team) in self._settled or not self._left[id(team)]):
                    self._finish(job)
        for job, strategies in self._searches.items():
            threads = int(job.active_threads[0])
            while len(strategies.busy) < threads and (task := strategies.choose(in_order=threads <= 2)):
                self._planned += 1
                heapq.heappush(self._events, (now + task[2], self._planned, job, task[:2]))

    def _finish(self, job: Job) -> None:
        self._schedule.finish(job)
        self._work.pop(job, None)
        self._searches.pop(job, None)

    def _end(self, job: Job) -> None:
        team, ended = self._parts[job.number]
        self._finish(job)
        self._left[id(team)] -= 1
        self._settled |= {id(team)} if ended.settles else set()
        if ended.settles or not self._left[id(team)]:
            for other, (its_team, part) in zip(self._jobs, self._parts, strict=True):
                if its_team is team and not part.is_needed and other.has_begun and not other.has_finished:
                    self._finish(other)


def problems(wanted: str) -> Iterator[Problem]:
    """The problems of FAMILY:BUFFERS:SEEDS, with seeds not used for tuning."""
    kind, count, seeds = wanted.split(":")
    for seed in range(1000, 1000 + int(seeds)):
        is_cut = kind.startswith(CUT)
        yield problem_of(family(kind, int(count), seed)) if is_cut else generate(kind, Request(int(count), seed))


def by_the_clock(wanted: str, options: Options) -> None:
    """Plans with one worker and with two in turn, three times."""
    for number, problem in enumerate(problems(wanted)):
        pairs = []
        for _ in range(3):
            spent = []
            for workers in (1, 2):
                begun = time.monotonic()
                found = plan(problem, replace(options, workers=workers))
                spent.append(time.monotonic() - begun)
            pairs.append(spent[0] / spent[1])
        if spent[0] >= 0.2:
            print(
                f"| {wanted} {number} | {spent[0]:.2f} | {spent[1]:.2f} | {sorted(pairs)[1]:.2f} | {found.solver} |",
                flush=True,
            )


def speed_ups(wanted: str, options: Options) -> tuple[int, dict[int, list[float]]]:
    """Return the number of problems, and of those that take long how many times as fast each number of workers is."""
    ratios: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    count = 0
    for problem in problems(wanted):
        count += 1
        if count == 1:
            plan(problem, replace(options, work_limit=1))  # what it imports is not counted
        between, rounds = logged(problem, options)
        alone = between + sum(part.work for each in rounds for team in each for part in team if part.is_needed)
        for workers, known in ratios.items() if alone >= LEAST else ():
            known.append(alone / (between + sum(replayed(each, workers) for each in rounds)))
    return count, ratios


def by_replay(families: list[str], options: Options) -> list[Curve]:
    """Print a row for each family; return their curves."""
    heads = [f"{n} workers" for n in WORKERS[1:]]
    print(f"| problems | of them longer than 0.2 s | {' | '.join(heads)} |")
    print("|---" * (2 + len(heads)) + "|")
    drawn = []
    for wanted in families:
        count, ratios = speed_ups(wanted, options)
        kind, size, _ = wanted.split(":")
        long = len(ratios[2])
        if not long:
            print(f"| {kind}, {size} | 0 of {count} |" + " |" * len(heads), flush=True)
            continue
        means = {workers: geometric_mean(known) for workers, known in ratios.items()}
        cells = [f"{means[n]:.2f}" for n in WORKERS[1:]]
        if long > 1:
            cells[0] += f" (least {min(ratios[2]):.2f})"
        print(f"| {kind}, {size} | {long} of {count} | {' | '.join(cells)} |", flush=True)
        drawn.append(Curve(f"{kind}, {size}", [(n, means[n]) for n in WORKERS]))
    return drawn


def draw(drawn: list[Curve], folder: Path) -> None:
    axes = Axes(
        "times as fast as one worker, by replayed work",
        drawn,
        number_labels,
        doubling=True,
        in_bytes=True,
    )
    title = "What rounds allow"
    subtitle = "over the number of workers; means of the problems that take longer than 0.2 s"
    for theme in (Theme.LIGHT, Theme.DARK):
        picture = curves(title, subtitle, [axes], number_labels, Sheet(900, theme), doubling=True)
        (folder / f"cores-{theme}.svg").write_bytes(picture)


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("families", nargs="*", default=USUAL)
    parser.add_work(5)
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--plots", type=Path, help="a folder for pictures of the curves")
    parser.add_argument("--clock", action="store_true")
    arguments = parser.parse_args()
    options = replace(by_work(arguments.seconds), solver=arguments.solver)
    if arguments.clock:
        print("| problem | 1 worker | 2 workers | times as fast, median of three | by |\n|---|---|---|---|---|")
        for wanted in arguments.families:
            by_the_clock(wanted, options)
        return
    drawn = by_replay(arguments.families, options)
    if arguments.plots:
        draw(drawn, arguments.plots)


if __name__ == "__main__":
    main()

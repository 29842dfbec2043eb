"""Measures a thousand calls of plan_memory on variants of one problem: fresh, within a session, and each in a process of its own.

python -m scripts.measure.planning.session [--calls 1000] [--processes 20] [--back 0.6] [--rules none,pins,memories,...] [--work-limit 400000]

A search walks through variants: each step makes a change or goes back; `again` is the number of calls that repeat an earlier one. With --back 0 none
does. `afresh` is a session whose every answer equals that of a fresh call byte for byte. Seconds are of the processor, including solvers' processes.
`more`: the number of session plans larger than fresh ones, and the greatest excess; only limits may cause one. Rules are added to each problem: some
of its buffers are fixed, each has one of two memories assigned, and so on.
"""

from __future__ import annotations

import argparse
import gc
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from planner import Buffer, Colocation, Options, Plan, Pool, Problem, Session, StopReason, plan
from planner.generate import Request, generate
from planner.model.problem import Constraints, Fixed
from scripts.measure import spent
from scripts.measure.arguments import Arguments
from scripts.measure.spent import used, used_since

PROBLEMS = (
    ("transformer", 60),
    ("transformer", 300),
    ("convnet", 100),
    ("unet", 150),
    ("recurrent", 100),
    ("training", 200),
    ("random", 20),
)
Way: TypeAlias = Callable[[Problem, Options], Plan]
AT_A_TIME = 20
FRESH = "import pickle, sys\nfrom memplan import plan\nplan(pickle.load(sys.stdin.buffer))"


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--back", type=float, default=0.6)
    parser.add_argument("--rules", default="none", help=", ".join(RULES))
    parser.add_argument("--only", help="one kind of problem")
    parser.add_argument("--count", type=int, help="so many buffers")
    parser.add_argument("--work-limit", type=int, help="instead of a time limit, where plans are not proven")
    arguments = parser.parse_args()
    print(
        "| problem | rules | change | again | fresh calls, s | in a session, s | share | more | afresh | a process each, s |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    for rule in arguments.rules.split(","):
        for kind, usual in (each for each in PROBLEMS if arguments.only in (None, each[0])):
            count = arguments.count or usual
            problem = RULES[rule](generate(kind, Request(count, 1)), random.Random(1))
            for change in CHANGES:
                _row(f"| {kind} {count} | {rule} | {change} |", problem, change, arguments)


def _row(what: str, problem: Problem, change: str, arguments: argparse.Namespace) -> None:
    calls = list(_search(problem, arguments.calls, change, arguments.back))
    work = arguments.work_limit
    options = Options() if work is None else Options(time_limit=None, work_limit=work)
    plan(calls[0], options)  # loads what is loaded on first use
    Session().plan(calls[0], options)
    session, same = Session(), Session(afresh=True)
    (fresh, kept, kept_afresh), more = _in_turns(calls, options, (plan, session.plan, same.plan))
    apart = "-"
    if arguments.processes:
        apart = f"{_in_processes(calls[: arguments.processes]) * len(calls) / arguments.processes:.0f}"
    again = session.hits / len(calls)
    print(
        f"{what} {again:.0%} | {fresh:.2f} | {kept:.2f} | {kept / fresh:.2f} | {_said(more)} | {kept_afresh / fresh:.2f} | {apart} |",
        flush=True,
    )


def _said(more: list[float]) -> str:
    return f"{len(more)}, {max(more):.3%}" if more else "0"


def _in_turns(calls: list[Problem], options: Options, ways: tuple[Way, ...]) -> tuple[list[float], list[float]]:
    """The seconds of the calls in each way, a few at a time in turns, so that other load on the machine affects all ways.

    Also returns by how much plans of the second way are larger than those of the first, where they are.
    """
    taken, more = [0.0] * len(ways), []
    for some in (calls[k : k + AT_A_TIME] for k in range(0, len(calls), AT_A_TIME)):
        answers = []
        for i, way in enumerate(ways):
            strange = [replace(call) for call in some]  # copies, for which nothing is cached
            _forget_garbage()
            begun = spent.seconds()
            answers.append([way(call, options) for call in strange])
            taken[i] += spent.seconds() - begun
        for fresh, kept, afresh in zip(*answers, strict=True):
            assert afresh.placements == fresh.placements or not fresh.reproducible
            assert kept.peak is not None
            assert fresh.peak is not None
            if kept.peak > fresh.peak:
                assert kept.stop is not StopReason.PROVED
                more.append(kept.peak / fresh.peak - 1)
    return taken, more


def _forget_garbage() -> None:
    """Collects garbage, so that neither side pays for older objects."""
    gc.collect()
    gc.freeze()


def _size(buffers: tuple[Buffer, ...], i: int, chance: random.Random) -> tuple[Buffer, ...]:
    """One buffer a little larger or smaller."""
    size = max(buffers[i].size + chance.choice((-64, 64)), 1)
    return (*buffers[:i], replace(buffers[i], size=size), *buffers[i + 1 :])


def _lifetime(buffers: tuple[Buffer, ...], i: int, chance: random.Random) -> tuple[Buffer, ...]:
    """One buffer is needed a step longer, or from a step earlier."""
    ((start, end),) = buffers[i].live or ((0, 1),)
    start, end = chance.choice(((start - 1, end), (start, end + 1)))
    return (*buffers[:i], replace(buffers[i], live=((start, end),)), *buffers[i + 1 :])


def _count(buffers: tuple[Buffer, ...], i: int, chance: random.Random) -> tuple[Buffer, ...]:
    """One buffer more, or one less."""
    more = (replace(buffers[i], id=f"new {chance.random()}"),) if chance.random() < 0.5 else ()
    return (*buffers[:i], *more, *buffers[i + 1 - len(more) :])


def _fusion(buffers: tuple[Buffer, ...], i: int, chance: random.Random) -> tuple[Buffer, ...]:
    """Two operators become one: buffers between them are gone, and inputs of the first are needed longer."""
    ((start, end),) = buffers[i].live or ((0, 1),)
    inputs = [k for k, buffer in enumerate(buffers) if k != i and (buffer.live or ((0, 1),))[0][1] == start + 1]
    if not inputs or len(buffers) < 10:
        return _count(buffers, i, chance)
    k = chance.choice(inputs)
    longer = replace(buffers[k], live=(((buffers[k].live or ((0, 1),))[0][0], end),))
    return tuple(longer if j == k else buffer for j, buffer in enumerate(buffers) if j != i)


CHANGES = {"size": _size, "lifetime": _lifetime, "one more or less": _count, "fusion": _fusion}


def _pins(problem: Problem, chance: random.Random) -> Problem:
    """Fixes two buffers where a plan has them."""
    some = {place.id: Fixed(place.pool, place.offset) for place in chance.sample(list(plan(problem).placements), 2)}
    return replace(problem, buffers=tuple(replace(each, fixed=some.get(each.id)) for each in problem.buffers))


def _memories(problem: Problem, chance: random.Random) -> Problem:
    """Assigns each buffer one of two memories."""
    buffers = tuple(replace(each, pools=(chance.choice(("fast", "slow")),)) for each in problem.buffers)
    return replace(problem, buffers=buffers, pools=(Pool("fast"), Pool("slow", rank=1)))


def _choice(problem: Problem, chance: random.Random) -> Problem:
    """Gives each buffer a choice of two memories; the first has half of the room needed."""
    half = (plan(problem).peak or 0) // 2
    return replace(problem, pools=(Pool("fast", half), Pool("slow", rank=1)))


def _views(problem: Problem, chance: random.Random) -> Problem:
    """A tenth of the buffers get a view of their first half, which is needed for two more steps."""
    bases = chance.sample(list(problem.buffers), max(len(problem.buffers) // 10, 2))
    views, ties = [], []
    for base in bases:
        end = base.live[-1][1] if base.live else 0
        views.append(Buffer(f"view of {base.id}", max(base.size // 2, 1), live=((end, end + 2),)))
        ties.append(Colocation(views[-1].id, base.id, 0))
    return replace(problem, buffers=(*problem.buffers, *views), constraints=Constraints(colocations=tuple(ties)))


def _conflicts(problem: Problem, chance: random.Random) -> Problem:
    ids = [each.id for each in problem.buffers]
    pairs = {tuple(sorted(chance.sample(range(len(ids)), 2))) for _ in range(5)}
    return replace(problem, constraints=Constraints(conflicts=tuple((ids[a], ids[b]) for a, b in sorted(pairs))))


def _reserved(problem: Problem, chance: random.Random) -> Problem:
    return replace(problem, pools=(replace(problem.pools[0], reserved=((64, 128),)),))


def _alignments(problem: Problem, chance: random.Random) -> Problem:
    buffers = tuple(replace(each, alignment=chance.choice((1, 16, 64))) for each in problem.buffers)
    return replace(problem, buffers=buffers)


RULES: dict[str, Callable[[Problem, random.Random], Problem]] = {
    "none": lambda problem, chance: problem,
    "pins": _pins,
    "memories": _memories,
    "choice": _choice,
    "views": _views,
    "conflicts": _conflicts,
    "reserved": _reserved,
    "alignments": _alignments,
}


def _search(problem: Problem, calls: int, change: str, back: float) -> Iterator[Problem]:
    """A walk that goes on to a new variant, or back to an earlier neighbour."""
    chance = random.Random(1)
    tied = {id_ for tie in problem.constraints.colocations for id_ in (tie.buffer, tie.base)}
    tied |= {id_ for pair in problem.constraints.conflicts for id_ in pair}
    tried = [problem]
    now = problem
    for _ in range(calls):
        if chance.random() < back:
            now = tried[-chance.randint(1, min(len(tried), 12))]
        else:
            buffers = now.buffers
            some = [i for i, each in enumerate(buffers) if each.fixed is None and each.id not in tied]
            made = CHANGES[change](tuple(buffers), chance.choice(some), chance)
            if tied <= {each.id for each in made}:
                now = replace(now, buffers=made)
            tried.append(now)
        yield now


def _in_processes(calls: list[Problem]) -> float:
    before = used()
    for call in calls:
        subprocess.run([sys.executable, "-c", FRESH], input=pickle.dumps(call), check=True)
    _, others = used_since(before)
    return others


if __name__ == "__main__":
    main()

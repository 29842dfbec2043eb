"""Plans dense packings: boxes cut up by straight cuts, whole, with pieces dropped, or shrunk. Prints each plan's gap to the bound.

With `--odd KIND`, one buffer of each obeys another rule (KIND:1: one per cent of them). They keep to it in a plan that is made without the rules, but for
`low` and `conflict`.

python -m scripts.measure.solving.dense [--time-limit 10] [--work-limit N] [--seeds 2] [--first-seed 0] [--odd KIND[:PER_CENT]]... [FAMILY:BUFFERS]...
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

from planner import Buffer, Constraints, Fixed, Lifetimes, Options, Pool, Problem, plan
from planner.generate import Request, generate
from scripts.measure import spent
from scripts.measure.arguments import Arguments, seeds

HEIGHT = 1 << 20
STEPS_PER_BUFFER = 8
LOOK_BACK = 400
"""So many pieces back none is live any longer: they live for eight steps at most, and no more than 40 begin in one."""
TALL = 0.33
"""Share of cuts in time for boxes with 60 to 110 of 300 to 500 pieces live at a time."""
USUAL = ("whole:1500", "whole:3000", "whole:8000", "dropped3:3000", "dropped5:3000", "sizes:3000", "times:3000")

KINDS = ("fixed", "conflict", "gaps", "window", "aligned")
PLAIN_WORK = 7_500_000
LEAST_WITH_GAP = 3

Piece = tuple[int, int, int]
"""(start, end, size)"""


def cut(count: int, rng: random.Random, in_time: float = 0.5) -> list[Piece]:
    """A box cut into this many pieces; `in_time` is the share of cuts at a time, not at a height."""
    pieces = [(0, STEPS_PER_BUFFER * count, HEIGHT)]
    while len(pieces) < count:
        at = rng.randrange(len(pieces))
        start, end, size = pieces[at]
        is_long, is_high = end - start >= 2, size >= 8
        if is_long and (not is_high or rng.random() < in_time):
            margin = max((end - start) // 6, 1)
            middle = rng.randint(start + margin, end - margin)
            pieces[at : at + 1] = [(start, middle, size), (middle, end, size)]
        elif is_high:
            part = rng.randint(size // 6 + 1, size - size // 6 - 1)
            pieces[at : at + 1] = [(start, end, part), (start, end, size - part)]
    rng.shuffle(pieces)
    return pieces


def family(name: str, count: int, seed: int) -> list[Piece]:
    """The pieces of one problem; `dropped3` lacks three per cent of them, and `tall_dropped3` also has many live at a time.

    `wheels_dropped3` is cut around pinwheels too, as `memplan generate packing` cuts. Of `long15` so many live for most of the time, and short ones fill
    what these leave.
    """
    if name.startswith("long"):
        return beside_long(int(name.removeprefix("long")), count, random.Random(f"{name} {count} {seed}"))
    if name.startswith("wheels_"):
        return wheels(name.removeprefix("wheels_"), count, seed)
    rng = random.Random(seed)
    pieces = cut(count, rng, TALL if name.startswith("tall_") else 0.5)
    name = name.removeprefix("tall_")
    if name == "sizes":
        return [(start, end, max(int(size * (1 - rng.random() * 0.02)), 1)) for start, end, size in pieces]
    if name == "times":
        return [(start, max(start + 1, end - rng.randint(0, (end - start) // 20)), size) for start, end, size in pieces]
    return pieces[: count - count * _dropped(name) // 100]


def wheels(name: str, count: int, seed: int) -> list[Piece]:
    """The pieces of a box cut around pinwheels too, in their order, but for those dropped anywhere."""
    made = generate("packing", Request(count, seed)).buffers
    pieces = [(*live, buffer.size) for buffer in made for live in buffer.live or ()]
    dropped = _dropped(name)
    return random.Random(seed).sample(pieces, count - count * dropped // 100) if dropped else pieces


def beside_long(most: int, count: int, rng: random.Random) -> list[Piece]:
    """So many long pieces, at most a third of all, each live for half of the time or more; short ones fill the room that they leave, as they come and go."""
    longest = rng.choice((2, 4, 8))
    times = max(8, count * longest // (2 * rng.choice((3, 5, 8))))
    shares = [rng.uniform(1, 20) for _ in range(min(most, count // 3))]
    long = []
    for share in shares:
        length = rng.randint(times // 2, times)
        start = rng.choice((0, times - length, rng.randint(0, times - length)))
        long.append((start, start + length, max(int(share / sum(shares) * HEIGHT * 3 // 4), 1)))
    short = list[Piece]()
    for now in range(times):
        while len(short) + len(long) < count:
            size, end = _room(long, short, now), now + rng.randint(1, longest)
            if size <= HEIGHT // 200:
                break
            size = min(size, max(int(size * rng.uniform(0.2, 0.7)), HEIGHT // 40))
            fits = (time for time in range(now + 1, end) if _room(long, short, time) < size)
            short.append((now, min(next(fits, end), times), size))
    pieces = [*short, *long]
    rng.shuffle(pieces)
    return pieces


def _room(long: list[Piece], short: list[Piece], time: int) -> int:
    """The room that is left at a time; short pieces come in the order in which they begin."""
    recent = short[-LOOK_BACK:]
    return HEIGHT - sum(size for start, end, size in (*long, *recent) if start <= time < end)


def _dropped(name: str) -> int:
    """How many per cent of the pieces are missing."""
    return int(name.removeprefix("dropped")) if name != "whole" else 0


def problem_of(pieces: list[Piece]) -> Problem:
    """The problem with a buffer for each piece."""
    buffers = tuple(Buffer(i, size, live=((start, end),)) for i, (start, end, size) in enumerate(pieces))
    return Problem(buffers, (Pool("arena"),), lifetimes=Lifetimes.HALF_OPEN)


def with_rules(plain: Problem, kind: str, count: int, seed: int) -> Problem:
    """So many buffers, or pairs of them for `conflict`, obey another rule; `mixed`: each another one."""
    rng = random.Random(seed)
    buffers, conflicts = list(plain.buffers), list[tuple[int | str, int | str]]()
    found = plan(plain, Options(time_limit=None, work_limit=PLAIN_WORK))
    at = {placed.id: placed.offset for placed in found.placements}
    half = (found.peak or 0) // 2
    left = rng.sample(range(len(buffers)), len(buffers))
    for number in range(count):
        rule = KINDS[number % len(KINDS)] if kind == "mixed" else kind
        i = next(i for i in left if rule != "gaps" or _lives(buffers[i]) >= LEAST_WITH_GAP)
        left.remove(i)
        buffer = buffers[i]
        ((start, end),) = buffer.live or ()
        match rule:
            case "low":
                buffers[i] = replace(buffer, fixed=Fixed("arena", 0))
            case "fixed":
                buffers[i] = replace(buffer, fixed=Fixed("arena", at[buffer.id]))
            case "window":
                buffers[i] = replace(buffer, max_offset=max(half, at[buffer.id]))
            case "gaps":
                part = (end - start) // 3
                buffers[i] = replace(buffer, live=((start, start + part), (end - part, end)))
            case "aligned":
                buffers[i] = replace(buffer, alignment=64)
            case "conflict":
                apart = [b.id for b in plain.buffers for live in b.live or () if live[0] >= end or live[1] <= start]
                conflicts += [(buffer.id, rng.choice(apart))] if apart else []
            case _:
                raise SystemExit(f"no such kind: {kind}; there are {', '.join(KINDS)}, low and mixed")
    return replace(plain, buffers=tuple(buffers), constraints=Constraints(conflicts=tuple(conflicts)))


def _lives(buffer: Buffer) -> int:
    """How many steps, from the first to the last."""
    ((start, end),) = buffer.live or ()
    return end - start


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("families", nargs="*", default=USUAL)
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--work-limit", type=int, help="on a busy machine: 5000000 is what 10 seconds allow")
    parser.add_seeds(2, 0)
    parser.add_argument("--odd", nargs="+", default=[""], help=f"of {', '.join(KINDS)}, low and mixed")
    arguments = parser.parse_args()
    for wanted, odd in product(arguments.families, arguments.odd):
        name, _, count = wanted.partition(":")
        kind, _, share = odd.partition(":")
        for seed in seeds(arguments):
            problem = problem_of(family(name, int(count), seed))
            if kind:
                problem = with_rules(problem, kind, max(int(count) * int(share or 0) // 100, 1), seed)
            before = spent.seconds()
            found = plan(problem, Options(time_limit=arguments.time_limit, work_limit=arguments.work_limit))
            gap = 100 * ((found.peak or 0) / (found.pools[0].bound or 1) - 1)
            print(
                f"{name:13} {count:>6} {odd} seed {seed}: {gap:7.3f} %, by {found.solver}, {found.status}, stopped by {found.stop}, "
                f"{'repeatable' if found.reproducible else 'not repeatable'}, {spent.seconds() - before:.1f} s of the processor",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""Plans dense packings: boxes cut up by straight cuts, whole, with pieces dropped, or shrunk. Prints each plan's gap to the bound.

python -m scripts.measure.solving.dense [--time-limit 10] [--work-limit N] [--seeds 2] [--first-seed 0] [FAMILY:BUFFERS]...
"""

from __future__ import annotations

import random

from planner import Buffer, Lifetimes, Options, Pool, Problem, plan
from planner.generate import Request, generate
from scripts.measure import spent
from scripts.measure.arguments import Arguments, seeds

HEIGHT = 1 << 20
STEPS_PER_BUFFER = 8
TALL = 0.33
"""Share of cuts in time for boxes with 60 to 110 of 300 to 500 pieces live at a time."""
USUAL = ("whole:1500", "whole:3000", "whole:8000", "dropped3:3000", "dropped5:3000", "sizes:3000", "times:3000")

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

    `wheels_dropped3` is cut around pinwheels too, as `memplan generate packing` cuts.
    """
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


def _dropped(name: str) -> int:
    """How many per cent of the pieces are missing."""
    return int(name.removeprefix("dropped")) if name != "whole" else 0


def problem_of(pieces: list[Piece]) -> Problem:
    """The problem with a buffer for each piece."""
    buffers = tuple(Buffer(i, size, live=((start, end),)) for i, (start, end, size) in enumerate(pieces))
    return Problem(buffers, (Pool("arena"),), lifetimes=Lifetimes.HALF_OPEN)


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("families", nargs="*", default=USUAL)
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--work-limit", type=int, help="on a busy machine: 5000000 is what 10 seconds allow")
    parser.add_seeds(2, 0)
    arguments = parser.parse_args()
    for wanted in arguments.families:
        name, _, count = wanted.partition(":")
        for seed in seeds(arguments):
            before = spent.seconds()
            found = plan(
                problem_of(family(name, int(count), seed)),
                Options(time_limit=arguments.time_limit, work_limit=arguments.work_limit),
            )
            gap = 100 * ((found.peak or 0) / (found.pools[0].bound or 1) - 1)
            print(
                f"{name:13} {count:>6} seed {seed}: {gap:7.3f} %, by {found.solver}, {found.status}, stopped by {found.stop}, "
                f"{'repeatable' if found.reproducible else 'not repeatable'}, {spent.seconds() - before:.1f} s of the processor",
                flush=True,
            )


if __name__ == "__main__":
    main()

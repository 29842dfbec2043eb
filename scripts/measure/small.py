"""Plans small random problems, by work alone, and prints a Markdown table: what is proven, and how far the rest is above bounds.

    python -m scripts.measure.small gaps --buffers 20 30 45 --seeds 100 --first-seed 9001 [--work 400000] [--solver search] [--each]

In `gaps` buffers are live several times, and every third problem has conflicts that no lifetimes say; in `ranges` up to three ranges in the memory are
reserved, in `many_ranges` two to twelve, beside sizes that differ more; in `views` results are written side by side into larger buffers; in `exclusions`
some buffers that meet may share addresses; in `fixed` some keep the place that a plan gave them; in `pipelines` micro-batches of training go through
stages, each beginning where the one before has left, and in `cycles` the last of them beside the first of the next step; in `graphs` nothing is known
but which pairs conflict, a fifth to four fifths of all. Numbers of moments, lengths of lives, sizes and alignments differ from problem to problem. All plans are verified.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, groupby
from random import Random

from planner import Buffer, Options, Pool, Problem, end_solver_processes, plan, verify
from planner.model.problem import Colocation, Constraints, Fixed
from scripts.measure.arguments import Arguments, seeds

WITH_CONFLICTS = 3
SIZES = ("alike", "powers", "scattered")
WORK_OF_FIXED = 1_000_000
"""The work of the plan that says where buffers are fixed."""


def main() -> None:
    """Read the command line and print a row for each number of buffers."""
    parser = Arguments(__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_buffers(20, 30, 45)
    parser.add_seeds(100, 9001)
    parser.add_argument("--work", type=int, default=400_000, help="units for each plan")
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--each", action="store_true", help="a line for each problem that is not proven")
    given = parser.parse_args()
    options = Options(time_limit=None, work_limit=given.work, workers=1, solver=given.solver)
    print("| buffers | proven | mean gap | millions of units |\n|---|---|---|---|")
    for count in given.buffers:
        above, units = list[float](), 0
        for seed in seeds(given):
            problem = KINDS[given.kind](count, seed)
            made = plan(problem, options)
            assert not verify(problem, made)
            above.append(made.gap or 0)
            units += made.run.work or 0
            if made.status != "optimal" and given.each:
                print(f"{count} seed {seed}: peak {made.peak}, {made.gap or 0:.2%} above its bound", flush=True)
        print(
            f"| {count} | {above.count(0)} of {len(above)} | {sum(above) / len(above):.2%} | {units / 1e6:.2f} |",
            flush=True,
        )
    end_solver_processes()


def gaps(count: int, seed: int) -> Problem:
    """A problem of so many buffers, each live up to two, three or four times."""
    rng = Random(seed)
    moments, most, longest = rng.choice((10, 16, 24, 40)), rng.choice((2, 3, 4)), rng.choice((1, 3, 5, 9))
    alignment, largest = rng.choice((1, 1, 4, 16)), rng.choice((6, 30, 1000))
    buffers = [
        Buffer(n, rng.randint(1, largest) * rng.choice((1, alignment)), live=_lives(rng, moments, most, longest))
        for n in range(count)
    ]
    pairs = {(a, b) for a, b in (sorted(rng.sample(range(count), 2)) for _ in range(count))}
    rules = Constraints(conflicts=tuple(sorted(pairs))) if seed % WITH_CONFLICTS == 0 else Constraints()
    return Problem(tuple(buffers), (Pool("memory", None, alignment=alignment),), rules)


def _lives(rng: Random, moments: int, most: int, longest: int) -> tuple[tuple[int, int], ...]:
    """Up to `most` lifetimes; those that touch are one."""
    live = set[int]()
    for _ in range(rng.randint(1, most)):
        start = rng.randrange(moments)
        live |= set(range(start, min(moments, start + rng.randint(1, longest))))
    runs = (
        list(run) for _, run in groupby(sorted(live), key=lambda moment: moment - sum(each < moment for each in live))
    )
    return tuple((run[0], run[-1] + 1) for run in runs)


def ranges(count: int, seed: int) -> Problem:
    """A problem of so many buffers beside one to three ranges that are reserved in the memory."""
    rng = Random(seed)
    moments, longest = rng.choice((20, 40, 60)), rng.choice((4, 8, 16))
    alignment, largest = rng.choice((1, 4, 16, 64)), rng.choice((30, 1000))
    lives = [_life(rng, moments, longest) for _ in range(count)]
    buffers = [Buffer(n, rng.randint(1, largest) * alignment, live=(life,)) for n, life in enumerate(lives)]
    top = _most_live(buffers, lives, moments)
    begins = sorted({rng.randrange(0, top, 4 * alignment) for _ in range(rng.randint(1, 3))})
    reserved = tuple((begin, begin + rng.choice((1, 2, 4)) * alignment) for begin in begins)
    return Problem(tuple(buffers), (Pool("memory", None, alignment=alignment, reserved=reserved),))


def many_ranges(count: int, seed: int) -> Problem:
    """A problem of so many buffers beside two to twelve short ranges at equal distances, up to the most bytes that are live at once."""
    rng = Random(seed)
    moments, longest, walls = rng.choice((20, 40, 80)), rng.choice((4, 8, 16)), rng.randint(2, 12)
    sizes = rng.choice(SIZES)
    lives = [_life(rng, moments, longest) for _ in range(count)]
    buffers = [Buffer(n, _size(rng, sizes), live=(life,)) for n, life in enumerate(lives)]
    top = _most_live(buffers, lives, moments)
    begins = [top * n // walls for n in range(1, walls + 1)]
    reserved = tuple((begin, begin + max(top // 60, 1)) for begin in begins)
    return Problem(tuple(buffers), (Pool("memory", None, reserved=reserved),))


def _size(rng: Random, sizes: str) -> int:
    if sizes == "alike":
        return rng.randint(1, 1000)
    return 1 << rng.randint(0, 11) if sizes == "powers" else int(10 ** rng.uniform(0, 5))


def _most_live(buffers: list[Buffer], lives: list[tuple[int, int]], moments: int) -> int:
    return max(
        sum(buffer.size for buffer, (start, end) in zip(buffers, lives, strict=True) if start <= moment < end)
        for moment in range(moments)
    )


def views(count: int, seed: int) -> Problem:
    """A problem of about so many buffers, of which two or three each are parts of a larger one that is live after them."""
    rng = Random(seed)
    moments, longest, largest = rng.choice((20, 40, 60)), rng.choice((4, 8, 16)), rng.choice((30, 1000))
    buffers, placed = list[Buffer](), list[Colocation]()
    while len(buffers) < count:
        start, end = _life(rng, moments, longest)
        sizes = [rng.randint(1, largest) for _ in range(rng.choice((1, 1, 2, 3)))]
        whole = len(buffers)
        if len(sizes) > 1:
            buffers.append(Buffer(whole, sum(sizes), live=((end, end + rng.randint(1, longest)),)))
            placed += [Colocation(whole + 1 + n, whole, sum(sizes[:n])) for n in range(len(sizes))]
        early = [max(start - rng.randint(0, 4), 0) for _ in sizes]
        buffers += [Buffer(len(buffers) + n, size, live=((early[n], end),)) for n, size in enumerate(sizes)]
    return Problem(tuple(buffers), (Pool("memory", None),), Constraints(colocations=tuple(placed)))


def pipelines(count: int, seed: int) -> Problem:
    """A problem of about so many buffers: what each stage keeps of a micro-batch until its backward pass, what it needs meanwhile, and the gradient it hands on."""
    return _pipelines(count, seed)


def cycles(count: int, seed: int) -> Problem:
    """The same in a ring of time: what goes on after the last moment does so from the first one on."""
    return _pipelines(count, seed, is_ring=True)


def _pipelines(count: int, seed: int, *, is_ring: bool = False) -> Problem:
    rng = Random(seed)
    sizes = [rng.randint(200, 400_000) for _ in range(rng.randint(4, 9))]
    stages, buffers = len(sizes), list[Buffer]()
    batches = count // (3 * stages) + 1
    moments = max(2 * batches, 4 * stages + 4) if is_ring else 2 * batches + 4 * stages + 4

    def live(size: float, start: int, end: int) -> None:
        begin = start % moments
        rest = begin + end - start - moments
        lives = ((0, rest), (begin, moments)) if rest > 0 else ((begin, begin + end - start),)
        buffers.append(Buffer(len(buffers), int(size), live=lives))

    for batch in range(batches):
        for stage, size in enumerate(sizes):
            forward, backward = 2 * batch + stage, 2 * batch + 4 * stages - 2 * stage + batch % 2
            live(size, forward, backward)
            live(size * rng.uniform(0.8, 2.5), forward, forward + 1)
            live(size * rng.choice((0.5, 1)), backward - 1, backward + 2)
    return Problem(tuple(buffers), (Pool("memory", None),))


def exclusions(count: int, seed: int) -> Problem:
    """A problem of so many buffers, about thirty live at a time, and each twentieth pair of those that meet may share addresses."""
    rng = Random(seed)
    lives = _thirty_at_a_time(rng, count)
    buffers = [Buffer(n, rng.randrange(1, 1_000), live=(life,)) for n, life in enumerate(lives)]
    meeting = [
        (a, b)
        for a, b in combinations(range(count), 2)
        if max(lives[a][0], lives[b][0]) < min(lives[a][1], lives[b][1])
    ]
    excluded = tuple(pair for pair in meeting if rng.random() < 0.05)
    return Problem(tuple(buffers), (Pool("memory", None),), Constraints(exclusions=excluded))


def graphs(count: int, seed: int) -> Problem:
    """A problem of so many buffers without lifetimes, of one size, a few or many."""
    rng = Random(seed)
    share, sizes = (
        rng.choice((0.2, 0.35, 0.5, 0.65, 0.8)),
        rng.choice(((64,), (64, 128), (64, 4096, 8192), range(1, 100))),
    )
    pairs = tuple((a, b) for a, b in combinations(range(count), 2) if rng.random() < share)
    buffers = tuple(Buffer(n, rng.choice(sizes)) for n in range(count))
    return Problem(buffers, (Pool("memory"),), Constraints(conflicts=pairs), name=f"graphs {seed}")


def fixed(count: int, seed: int) -> Problem:
    """A problem of so many buffers, about thirty live at a time, some of which have the places of a plan, so that its peak can be reached."""
    rng = Random(seed)
    sizes = rng.choice(SIZES)
    free = [Buffer(n, _size(rng, sizes), live=(life,)) for n, life in enumerate(_thirty_at_a_time(rng, count))]
    problem = Problem(tuple(free), (Pool("memory", None),))
    made = plan(problem, Options(time_limit=None, work_limit=WORK_OF_FIXED, workers=1))
    part = rng.choice((0.02, 0.1, 0.3))
    at = {place.id: Fixed(place.pool, place.offset) for place in made.placements if rng.random() < part}
    return replace(problem, buffers=tuple(replace(buffer, fixed=at.get(buffer.id)) for buffer in free))


def _thirty_at_a_time(rng: Random, count: int) -> list[tuple[int, int]]:
    starts = [rng.randrange(count) for _ in range(count)]
    return [(start, start + 1 + int(rng.expovariate(1 / 30))) for start in starts]


def _life(rng: Random, moments: int, longest: int) -> tuple[int, int]:
    start = rng.randrange(moments)
    return start, min(moments, start + rng.randint(1, longest))


KINDS = {
    "gaps": gaps,
    "ranges": ranges,
    "many_ranges": many_ranges,
    "views": views,
    "exclusions": exclusions,
    "graphs": graphs,
    "fixed": fixed,
    "pipelines": pipelines,
    "cycles": cycles,
}

if __name__ == "__main__":
    main()

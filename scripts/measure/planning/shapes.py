"""Measures plans for all shapes: a transformer's prefill and decode for every length from 1 to 2 048, and random problems at a million shapes.

python -m scripts.measure.planning.shapes [--longest 2048] [--every 1] [--samples 1000000] [--plots FOLDER]

For each mode: the bytes needed, compared with the best plan for each length (proven optimal, or its bound). Then the number of sampled shapes with
overlapping buffers, or with an offset above the closed expressions or the peak: compared pair by pair, in numpy.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from planner import Buffer, Options, Plan, Pool, Problem, plan
from planner.drawing import Sheet, Theme, shapes_curve
from planner.generate import shaped_transformer
from planner.planning.shapes import Mode, ShapedProblem, ShapesPlan, plan_shapes, shaped, verify_shapes
from planner.planning.shapes.answer import Row
from scripts.measure.arguments import Arguments

Array: TypeAlias = npt.NDArray[np.int64]
DRAWN = 48
"""Number of lengths drawn from each end of the curve and along it."""
BUCKETS = (16, 64, 256, 1024, 2048)
QUICK = Options(time_limit=20, workers=1)


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--longest", type=int, default=2048)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--plots", type=Path)
    arguments = parser.parse_args()
    print(
        "| lengths | mode | worst | mean | median | bytes at n=1 | at the longest | s |\n|---|---|---|---|---|---|---|---|"
    )
    for decode in (False, True):
        problem = shaped_transformer(longest=arguments.longest, decode=decode)
        lengths = sorted({*range(1, arguments.longest + 1, arguments.every), arguments.longest})
        best = {n: plan(problem.at({"n": n}), QUICK) for n in lengths}
        proven = sum(each.peak == each.bound for each in best.values())
        drawn = []
        for mode in (Mode.EXPRESSIONS, Mode.MAXIMUM):
            begun = time.monotonic()
            found = plan_shapes(problem, mode, (), QUICK)
            seconds = time.monotonic() - begun
            assert verify_shapes(problem, found) == ()
            taken = {n: _taken(problem, found, n) for n in lengths}
            drawn.append(_with_rows(found, taken, best))
            _line(decode, mode.value, taken, best, seconds)
        drawn.insert(1, _buckets(problem, decode, best))
        print(
            f"| {'decode' if decode else 'prefill'} | the best plan for each length alone: {proven} of {len(lengths)} proven optimal |||||||"
        )
        if arguments.plots:
            for theme in (Theme.LIGHT, Theme.DARK):
                name = f"shapes-{'decode' if decode else 'prefill'}-{theme}.svg"
                (arguments.plots / name).write_bytes(shapes_curve(problem.largest.name, drawn, Sheet(900, theme)))
    print("\n| problem | shapes | overlaps | not covered | s |\n|---|---|---|---|---|")
    for problem in (shaped_transformer(), shaped_transformer(decode=True), *(_random(seed) for seed in range(4))):
        begun = time.monotonic()
        found = plan_shapes(problem, Mode.EXPRESSIONS, (), QUICK)
        overlaps, uncovered = faults(problem, found, arguments.samples)
        print(
            f"| {problem.largest.name} | {arguments.samples} | {overlaps} | {uncovered} | {time.monotonic() - begun:.0f} |",
            flush=True,
        )


def _taken(problem: ShapedProblem, found: ShapesPlan, n: int) -> int:
    if found.plan is not None:
        return found.plan.peak or 0
    offsets = found.offsets({"n": n})
    return max(offsets[b.id] + b.size for b in problem.at({"n": n}).buffers)


def _with_rows(found: ShapesPlan, taken: dict[int, int], best: dict[int, Plan]) -> ShapesPlan:
    shown = sorted(
        {
            *list(taken)[:DRAWN],
            *list(taken)[:: max(len(taken) // DRAWN, 1)],
            *BUCKETS,
            *(n + 1 for n in BUCKETS),
            max(taken),
        }
        & {*taken}
    )
    rows = tuple(Row({"n": n}, taken[n], best[n].peak, best[n].bound) for n in shown)
    return replace(found, rows=rows)


def _line(decode: bool, name: str, taken: dict[int, int], best: dict[int, Plan], seconds: float) -> None:
    waste = sorted(used / (best[n].peak or 1) - 1 for n, used in taken.items())
    mean = sum(waste) / len(waste)
    cells = (f"{100 * waste[-1]:.1f} %", f"{100 * mean:.2f} %", f"{100 * waste[len(waste) // 2]:.2f} %")
    first, last = min(taken), max(taken)
    what = "decode" if decode else "prefill"
    print(f"| {what} | {name} | {' | '.join(cells)} | {taken[first]} | {taken[last]} | {seconds:.2f} |", flush=True)


def _buckets(problem: ShapedProblem, decode: bool, best: dict[int, Plan]) -> ShapesPlan:
    """Offsets for each bucket, for all lengths up to its end, and the excess of the lengths within it."""
    begun = time.monotonic()
    taken: dict[int, int] = {}
    low = 1
    for high in BUCKETS:
        lengths = [n for n in best if low <= n <= high]
        if lengths:
            found = plan_shapes(problem, Mode.BUCKETS, [{"n": n} for n in sorted({min(lengths), max(lengths)})], QUICK)
            taken |= dict.fromkeys(lengths, _taken(problem, found, max(lengths)))
        low = high + 1
    _line(decode, f"buckets {', '.join(map(str, BUCKETS))}", taken, best, time.monotonic() - begun)
    return _with_rows(replace(found, plan=None), taken, best)


def faults(problem: ShapedProblem, found: ShapesPlan, samples: int, seed: int = 0) -> tuple[int, int]:
    """The number of sampled shapes with overlapping buffers, and with an offset or peak above its closed expression."""
    chance = np.random.default_rng(seed)
    values = {name: chance.integers(low, high + 1, samples) for name, (low, high) in problem.symbols.items()}
    ends: dict[int | str, Array] = {}
    offsets: dict[int | str, Array] = {}
    uncovered = np.zeros(samples, dtype=bool)
    for each in found.behind:
        offset = np.zeros(samples, dtype=np.int64)
        for id_ in each.after:
            np.maximum(offset, ends[id_], out=offset)
        offset = -(-offset // each.alignment) * each.alignment
        closed = np.broadcast_to(each.offset.at_many(values), offset.shape)
        uncovered |= (closed != offset) if each.exact else (closed < offset)
        offsets[each.id], ends[each.id] = offset, offset + each.size.at_many(values)
    for pool in found.pools:
        for each in found.behind:
            if each.pool == pool.name:
                uncovered |= ends[each.id] > np.broadcast_to(pool.peak.at_many(values), (samples,))
    overlaps = np.zeros(samples, dtype=bool)
    buffers = problem.largest.buffers
    for i, a in enumerate(buffers):
        for b in buffers[:i]:
            if any(s < v and u < t for s, t in a.live or () for u, v in b.live or ()):
                overlaps |= (offsets[a.id] < ends[b.id]) & (offsets[b.id] < ends[a.id])
    return int(overlaps.sum()), int(uncovered.sum())


FORMS = (
    "{a}*n",
    "{a}*n*m",
    "{a}*m + {b}",
    "max({a}*n, {b}*m)",
    "min({a}*n, {b}*m) + 1",
    "{a}*ceildiv(n, {c})",
    "{b}",
    "{a}*n*n",
    "({a}+n)*({b}-m)",
)


def _random(seed: int, count: int = 24) -> ShapedProblem:
    chance = random.Random(seed)
    buffers, sizes = [], {}
    for i in range(count):
        start = chance.randrange(20)
        buffers.append(Buffer(i, 0, chance.choice((1, 1, 4, 16)), ((start, start + chance.randint(1, 6)),)))
        sizes[i] = chance.choice(FORMS).format(
            a=chance.randint(1, 9), b=chance.randint(100, 900), c=chance.randint(2, 9)
        )
    problem = Problem(tuple(buffers), (Pool("arena"),), name=f"random expressions {seed}")
    return shaped(problem, {"n": (1, 100), "m": (0, 90)}, sizes)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()

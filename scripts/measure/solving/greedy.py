"""Measures `greedy` on synthetic buffers: processor seconds from arrays to offsets, gap to the bound, memory.

python -m scripts.measure.solving.greedy --buffers 100000 --live 10 --lives uniform
python -m scripts.measure.solving.greedy --buffers 100000 --kind transformer
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

import numpy as np

from planner import Buffer, Pool, Problem
from planner.generate import KINDS, Request, generate
from planner.planning.placing.lowering import lower
from scripts.measure.arguments import Arguments
from solvers.kernels.selection import select
from solvers.model.errors import StopReason
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task


def synthetic(buffers: int, live: float, lives: str, seed: int) -> Problem:
    """Random starts and sizes; on average `live` buffers at a time (fewer if long ones are cut off at the end)."""
    rng = np.random.default_rng(seed)
    horizon = 4 * buffers
    mean = live * horizon / buffers
    widths = {
        "uniform": rng.integers(1, int(2 * mean) + 1, buffers),
        "exponential": 1 + rng.exponential(mean, buffers).astype(np.int64),
        "pareto": 1 + (mean / 6 * rng.pareto(1.2, buffers)).astype(np.int64),
    }[lives]
    starts = rng.integers(0, horizon, buffers)
    ends = np.minimum(starts + widths, horizon + 1)
    rows = zip(starts.tolist(), ends.tolist(), rng.integers(1, 1000, buffers).tolist(), strict=True)
    return Problem(tuple(Buffer(id=i, size=z, live=((s, e),)) for i, (s, e, z) in enumerate(rows)), (Pool("memory"),))


def resident() -> int:
    """The memory of this process in bytes (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class Watch(Silent):
    """Notes the memory held whenever it is asked whether to stop."""

    def __init__(self) -> None:
        super().__init__()
        self.most = resident()

    def stopped(self) -> StopReason | None:
        self.most = max(self.most, resident())
        return super().stopped()


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--buffers", type=int, default=100_000)
    parser.add_argument("--live", type=float, default=10)
    parser.add_argument("--lives", choices=("uniform", "exponential", "pareto"), default="uniform")
    parser.add_argument("--kind", choices=tuple(KINDS), help="what `memplan generate` makes, instead")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    problem = (
        synthetic(args.buffers, args.live, args.lives, args.seed)
        if args.kind is None
        else generate(args.kind, Request(args.buffers, args.seed))
    )
    instance = lower(problem).instance
    kernels = select("native").kernels
    bound, _ = kernels.max_live(instance.rect_start, instance.rect_end, instance.part_high, instance.sections)
    watch = Watch()
    before = watch.most
    processor, clock = time.process_time(), time.monotonic()
    task = Task(Limits(workers=args.threads), bound=(int(bound),))
    outcome = get("greedy").solve(instance, task, watch)
    processor, clock = time.process_time() - processor, time.monotonic() - clock
    grown = (watch.most - before) / args.buffers
    assert outcome.value is not None
    gap = outcome.value[0] / int(bound) - 1
    print(
        f"{processor:.3f} s of processor, {clock:.3f} s by the clock, gap {100 * gap:.2f} %, {grown:.0f} bytes a buffer"
    )


if __name__ == "__main__":
    main()

"""Plans generated problems in which each buffer has another alignment, 1 to 8 192, and a size that is no multiple of it. Prints each plan's gap to the bound.

python -m scripts.measure.planning.mixed [--work-limit N] [--seeds 2] [--first-seed 0] [--own-sizes] [KIND:BUFFERS]...
"""

from __future__ import annotations

import random
from dataclasses import replace

from planner import Options, Problem, plan
from planner.generate import Request, generate
from scripts.measure import spent
from scripts.measure.arguments import Arguments, seeds

USUAL = ("recurrent:200", "recurrent:600", "random:300", "training:300", "transformer:300", "unet:300", "convnet:1000")
LARGEST = 50_000
ALIGNMENTS = 14


def mixed(kind: str, count: int, seed: int, own_sizes: bool = False) -> Problem:
    """The problem of this kind with alignments that are drawn, and sizes below LARGEST unless it has its own."""
    problem, rng = generate(kind, Request(count, seed)), random.Random(f"{kind} {count} {seed}")
    drawn = []
    for each in problem.buffers:
        alignment, size = 1 << rng.randrange(ALIGNMENTS), rng.randrange(1, LARGEST)
        drawn.append(replace(each, alignment=alignment, size=each.size if own_sizes else size))
    return replace(problem, buffers=tuple(drawn))


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("problems", nargs="*", default=USUAL)
    parser.add_argument("--work-limit", type=int, default=1_000_000)
    parser.add_argument("--own-sizes", action="store_true", help="of the kind, not drawn")
    parser.add_seeds(2, 0)
    arguments = parser.parse_args()
    for wanted in arguments.problems:
        kind, _, count = wanted.partition(":")
        for seed in seeds(arguments):
            problem = mixed(kind, int(count), seed, arguments.own_sizes)
            before = spent.seconds()
            found = plan(problem, Options(time_limit=None, work_limit=arguments.work_limit))
            bound = found.pools[0].bound or 1
            print(
                f"{kind:12} {count:>6} seed {seed}: {100 * ((found.peak or 0) / bound - 1):6.3f} %, {found.peak} above {bound}, "
                f"{found.status}, by {found.solver}, {spent.seconds() - before:.1f} s of the processor",
                flush=True,
            )


if __name__ == "__main__":
    main()

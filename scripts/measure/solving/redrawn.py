"""Real kernels with sizes, capacities and costs of reuse drawn anew, where these costs come first and peaks second.

python -m scripts.measure.solving.redrawn ../shared/corpus/pypto --seeds 3 --first-seed 1
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from planner import Problem, end_solver_processes, plan
from planner.formats import read_problem
from planner.model.problem import Buffer, ReusePenalty
from scripts.measure import spent
from scripts.measure.arguments import Arguments, by_work, seeds
from solvers.model.instance import Term

LEAST, MOST = 12, 140
NEAR = 6
"""Buffers that live at most so far apart may have a cost."""
TERMS = (Term.REUSE_COST, Term.SUM_OF_PEAKS)


def main() -> None:
    """Reads the command line and prints a line for each problem that stays open, and how many there are of each status."""
    parser = Arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_seeds(3, 1)
    parser.add_work(5)
    given = parser.parse_args()
    statuses, begin = Counter[str](), spent.seconds()
    for seed in seeds(given):
        for name, problem in redrawn(given.folder, seed):
            made = plan(problem, by_work(given.seconds))
            end_solver_processes()
            statuses[str(made.status)] += 1
            if made.status == "feasible":
                print(seed, name, [(term.value, term.bound) for term in made.objective.terms], flush=True)
    print(dict(statuses), f"{spent.seconds() - begin:.0f} s of the processor")


def redrawn(folder: Path, seed: int) -> Iterator[tuple[str, Problem]]:
    """About half of the kernels of a folder, drawn anew."""
    draw = random.Random(seed)
    for path in sorted(set(folder.glob("*.json")) - set(folder.glob("*.schema.json"))):
        problem, _ = read_problem(path.read_bytes())
        if LEAST <= len(problem.buffers) <= MOST and draw.random() < 0.5:
            yield path.name, _redrawn(problem, draw)


def _redrawn(problem: Problem, draw: random.Random) -> Problem:
    buffers = tuple(
        replace(each, size=max(32, int(each.size * draw.choice([0.5, 0.75, 1, 1, 1.25])) // 32 * 32))
        for each in problem.buffers
    )
    separate = set(map(frozenset, problem.constraints.conflicts))
    costs = tuple(
        ReusePenalty(a.id, b.id, draw.choice([1, 1, 2, 3]))
        for a, b in combinations(buffers, 2)
        if frozenset((a.id, b.id)) not in separate and 0 <= _between(a, b) <= NEAR and draw.random() < 0.5
    )
    pools = []
    for pool in problem.pools:
        load = _load([each for each in buffers if each.pools is None or pool.name in each.pools])
        room = int(load * draw.choice([1.3, 1.6, 2.0, 2.5])) // 512 * 512 + 512
        pools.append(replace(pool, size=room if pool.size is None else min(pool.size, room)))
    constraints = replace(problem.constraints, reuse_penalties=costs)
    return replace(problem, buffers=buffers, pools=tuple(pools), constraints=constraints, terms=TERMS)


def _between(one: Buffer, other: Buffer) -> int:
    """The time between the lives of two buffers; negative if they are live together."""
    if not one.live or not other.live:
        return -1
    return max(one.live[0][0] - other.live[-1][1], other.live[0][0] - one.live[-1][1])


def _load(buffers: list[Buffer]) -> int:
    """The most bytes live together."""
    times = {start for each in buffers for start, _ in each.live or ()}
    return max(
        (sum(e.size for e in buffers if any(start <= time < end for start, end in e.live or ())) for time in times),
        default=0,
    )


if __name__ == "__main__":
    main()

"""Measures plans for several memories: gap to the bound and processor time, with `auto`, without one of its engines, or with another solver.

    python -m scripts.measure.solving.memories --seconds 10 --compare greedy assign without:pools_first auto

For each kind of random problem, size and preset: the gap of each solver, means over the seeds, in percent of the first term; the number of fully
proven plans of the last solver, and its processor time, with all its processes. The bound is the best that any of them proved. Work is limited to
what this many seconds stand for, and nothing by the clock, so everything but the processor time repeats exactly. `without:NAME` is `auto` without
that engine. `--reserved middle` reserves a range in the middle of each memory, `--reserved split` makes a memory of each gap beside it instead.
`--more again` adds a copy of the last unlimited memory, `--more twice` a copy of the whole problem, in memories of its own and with as much work again.
`--more pads` has sixteen memories that are alike (or `--pads` many), with five eighths of the bytes live at once, in place of all limited ones; `--more alone` the same with
three halves of them and without an unlimited memory; `--more costs` draws a price of a byte for each memory, and a size for each limited one.
`--conflicts 0.05 0.01` takes the lifetimes away and names the pairs that met in them as conflicts,
without a twentieth of them, drawn at random, and with a hundredth of all other pairs; what `balanced` weighs is as before. With `--beside`
lifetimes stay, and the twentieth are exclusions, the hundredth conflicts: the same problem in other words. `--rules` gives a twentieth of the buffers
rules of these kinds; `pool_alignments` gives the memories in turn 16, 64 and 256. Problems for which no plan is possible
are left out.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations

from planner import Constraints, Options, Plan, Pool, Preference, Problem, plan, with_preference
from planner.generate import Request, generate
from planner.generate.request import largest_live_sum
from planner.model.problem import Pair
from scripts.measure import spent
from scripts.measure.arguments import Arguments, by_work, cases, seeds
from scripts.measure.solving.rules import RULES, with_rules
from solvers.portfolio.roster import ROSTER
from solvers.sandbox import shutdown

WITHOUT = "without:"
RESERVED = 64
"""So many times a memory's alignment is reserved in it."""


def gap(made: Plan, bound: int, term: int = 0) -> float:
    """The gap to the bound in percent."""
    value = made.objective.terms[term].value
    assert value is not None
    return 100 * (value / bound - 1) if bound else 0.0


@contextmanager
def planner_named(name: str) -> Iterator[str]:
    """The solver's name to use within this context."""
    if not name.startswith(WITHOUT):
        yield name
        return
    everybody = dict(ROSTER)
    del ROSTER[name.removeprefix(WITHOUT)]
    try:
        yield "auto"
    finally:
        ROSTER.clear()
        ROSTER.update(everybody)


def measured(problem: Problem, name: str, options: Options) -> tuple[Plan, float]:
    """The plan, and the processor time of all its processes, including the loading of libraries."""
    before = spent.seconds()
    with planner_named(name) as solver:
        made = plan(problem, replace(options, solver=solver))
    shutdown()
    return made, spent.seconds() - before


def with_ranges(problem: Problem, form: str) -> Problem:
    """The problem with a reserved range in the middle of each memory, or with the gaps beside it as memories, in which peaks then count from each begin."""
    if form == "none":
        return problem
    sizes = [pool.size for pool in problem.pools if pool.size is not None]
    pools = list[Pool]()
    of = dict[str, tuple[str, ...]]()
    for pool in problem.pools:
        middle = (max(sizes) if pool.size is None else pool.size // 2) // pool.alignment * pool.alignment
        end = middle + RESERVED * pool.alignment
        size = None if pool.size is None else pool.size + end - middle
        if pool.read_only or form == "middle":
            ranges = () if pool.read_only else ((middle, end),)
            pools.append(replace(pool, size=pool.size if pool.read_only else size, reserved=ranges))
            of[pool.name] = (pool.name,)
            continue
        above = replace(pool, name=f"{pool.name}.above", size=None if size is None else size - end)
        pools += [replace(pool, size=middle), above]
        of[pool.name] = (pool.name, above.name)
    buffers = [
        buffer if buffer.pools is None else replace(buffer, pools=tuple(n for name in buffer.pools for n in of[name]))
        for buffer in problem.buffers
    ]
    return replace(problem, pools=tuple(pools), buffers=tuple(buffers))


def in_pads(problem: Problem, count: int, eighths: int, *, is_alone: bool) -> Problem:
    """The problem with so many equal memories in place of the limited ones, and so many eighths of what is live in all of them; also in place of the others, if alone."""
    size = largest_live_sum(problem.buffers) * eighths // (8 * count)
    limited = [pool for pool in problem.pools if pool.size is not None]
    pads = tuple(replace(limited[0], name=f"pad{n}", size=size) for n in range(count))
    others = () if is_alone else tuple(pool for pool in problem.pools if pool.size is None)
    mine: dict[str, tuple[str, ...]] = {pool.name: (pool.name,) for pool in others}
    mine |= {pool.name: tuple(pad.name for pad in pads) for pool in (problem.pools if is_alone else limited)}
    buffers = []
    for buffer in problem.buffers:
        homes = buffer.pools or tuple(pool.name for pool in problem.pools)
        buffers.append(replace(buffer, pools=tuple(dict.fromkeys(name for home in homes for name in mine[home]))))
    return replace(problem, pools=(*pads, *others), buffers=tuple(buffers))


def with_costs(problem: Problem, seed: int) -> Problem:
    """The problem with a price of a byte for each memory, and for each limited one a size; both are drawn."""
    draw, live = random.Random(seed), largest_live_sum(problem.buffers)
    pools = list[Pool]()
    for pool in problem.pools:
        size = int(live * draw.choice((0.08, 0.2, 0.35, 0.6))) // pool.alignment * pool.alignment
        pools.append(replace(pool, cost=draw.randint(1, 12), size=None if pool.size is None else size))
    return replace(problem, pools=tuple(pools))


def with_more(problem: Problem, form: str, pads: int, seed: int) -> Problem:
    """The problem with its last unlimited memory once more, with a copy of all of it, with memories that are alike, or with other costs and sizes of them."""
    every = tuple(pool.name for pool in problem.pools)
    if form == "none":
        return problem
    if form == "costs":
        return with_costs(problem, seed)
    if form in ("pads", "alone"):
        return in_pads(problem, pads, 5 if form == "pads" else 12, is_alone=form == "alone")
    if form == "again":
        last = next(pool for pool in reversed(problem.pools) if pool.size is None and not pool.read_only)
        alike = replace(last, name=f"{last.name}.again")
        buffers = tuple(
            replace(buffer, pools=(*homes, alike.name)) if last.name in (homes := buffer.pools or ()) else buffer
            for buffer in problem.buffers
        )
        return replace(problem, pools=(*problem.pools, alike), buffers=buffers)
    sides = ("a", "b")
    pools = tuple(replace(pool, name=f"{pool.name}.{side}") for side in sides for pool in problem.pools)
    buffers = tuple(
        replace(buffer, id=f"{buffer.id}.{side}", pools=tuple(f"{name}.{side}" for name in buffer.pools or every))
        for side in sides
        for buffer in problem.buffers
    )
    return replace(problem, pools=pools, buffers=buffers)


def by_conflicts(problem: Problem, seed: int, excluded: float, more: float, *, is_beside: bool) -> Problem:
    """The problem with the conflicts that its lifetimes meant but for some, and with some of other pairs: in place of lifetimes, or beside them."""
    draw = random.Random(seed)
    spans = [(buffer.id, buffer.live or ()) for buffer in problem.buffers]
    pairs, exclusions, others = list[Pair](), list[Pair](), list[Pair]()
    for (a, one), (b, other) in combinations(spans, 2):
        meets = any(start < last and first < end for start, end in one for first, last in other)
        if draw.random() < (1 - excluded if meets else more):
            (pairs if meets else others).append((a, b))
        elif meets:
            exclusions.append((a, b))
    if is_beside:
        return replace(problem, constraints=Constraints(conflicts=tuple(others), exclusions=tuple(exclusions)))
    buffers = tuple(replace(buffer, live=None) for buffer in problem.buffers)
    return replace(problem, buffers=buffers, constraints=Constraints(conflicts=(*pairs, *others)), steps=())


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_several_memories(tuple(Preference))
    parser.add_buffers(60, 300, 1000)
    parser.add_seeds(3, 1000)
    parser.add_work(10)
    parser.add_argument("--live", type=int, help="blocks live at a time, where the kind has that parameter")
    parser.add_argument("--reserved", choices=("none", "middle", "split"), default="none")
    parser.add_argument("--more", choices=("none", "again", "twice", "pads", "alone", "costs"), default="none")
    parser.add_argument("--pads", type=int, default=16, help="memories that are alike, with --more pads or alone")
    parser.add_argument("--conflicts", type=float, nargs=2, metavar=("EXCLUDED", "MORE"))
    parser.add_argument("--beside", action="store_true", help="keep lifetimes beside --conflicts")
    parser.add_argument("--rules", nargs="+", choices=RULES, default=[])
    parser.add_argument("--compare", nargs="+", default=["greedy", "assign", WITHOUT + "pools_first", "auto"])
    args = parser.parse_args()
    shown = " | ".join(args.compare)
    print(f"| instances | preset | {shown} | worst | later terms | proven | processor |")
    print("|---|---|" + "---|" * (len(args.compare) + 4))
    for kind, count, prefer in cases(args):
        print(
            row(kind, count, replace(by_work(args.seconds * (1 + (args.more == "twice"))), prefer=prefer), args),
            flush=True,
        )


def row(kind: str, count: int, options: Options, args: argparse.Namespace) -> str:
    """A row of the table."""
    gaps: dict[str, list[float]] = {name: [] for name in args.compare}
    prefer = options.prefer
    later, seconds, proven = list[float](), list[float](), 0
    for seed in seeds(args):
        made_up = generate(kind, Request(count, seed, parameters={} if args.live is None else {"live": args.live}))
        problem = with_more(with_ranges(made_up, args.reserved), args.more, args.pads, seed)
        problem = with_rules(problem, args.rules, seed)
        if args.conflicts is not None:
            problem = by_conflicts(with_preference(problem, prefer), seed, *args.conflicts, is_beside=args.beside)
            options = replace(options, prefer=None)
        made = {name: measured(problem, name, options) for name in args.compare}
        if any(one.status == "infeasible" for one, _ in made.values()):
            continue
        bound = max(one.objective.bound or 0 for one, _ in made.values())
        for name, (one, _) in made.items():
            gaps[name].append(gap(one, bound))
        last, taken = made[args.compare[-1]]
        proven += last.status == "optimal"
        seconds.append(taken)
        later += [gap(last, term.bound or 0, n) for n, term in enumerate(last.objective.terms) if n]
    if not seconds:
        return f"| {kind}, {count} | {prefer} | no plan is possible |"
    means = " | ".join(f"{statistics.mean(of_one):.2f} %" for of_one in gaps.values())
    after = f"{statistics.mean(later):.2f} %" if later else ""
    worst = f"{max(gaps[args.compare[-1]]):.2f} %"
    took = f"{statistics.median(seconds):.1f} s"
    return f"| {kind}, {count} | {prefer} | {means} | {worst} | {after} | {proven} of {len(seconds)} | {took} |"


if __name__ == "__main__":
    main()

"""Measures plan_memory as compilers call it, with tensors by name: fresh, and within a session, on variants of one problem.

    python -m scripts.measure.planning.calls [KIND ...] [--calls 200] [--back 0.0] [--anew] [--prefer speed ...]

Each call changes the size of one tensor; with --back some return to an earlier variant. With --anew every call makes all its tensors again, so that the
session sees equal ones, but not the same objects. With --prefer each tensor is written once and read up to four times, and the least is sought of what
that prefers. `worse` counts the session's plans whose objective is worse than that of fresh ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeAlias

from planner import BufferInfo, Options, Pool, Preference, Session, plan, plan_memory, with_preference
from planner.generate import Request, generate
from planner.model.plan import Placement
from planner.planning.interfaces.tvm_interface import TensorPlacement, problem_of
from planner.verifying.objective import term_value
from scripts.measure import spent
from scripts.measure.arguments import Arguments

Tensors: TypeAlias = tuple[BufferInfo, ...]
Memories: TypeAlias = tuple[Pool, ...]
Kind: TypeAlias = Callable[[Tensors, random.Random, int], tuple[Memories, Tensors]]

AT_A_TIME = 20
ONE = (Pool("arena"),)
SIZES = (("random", 20), ("transformer", 60))


def _conflicts(tensors: Tensors, chance: random.Random, peak: int) -> tuple[Memories, Tensors]:
    def meet(one: BufferInfo, other: BufferInfo) -> bool:
        return any(a < d and c < b for a, b in one.live or () for c, d in other.live or ())

    lists = [tuple(b.name_hint for b in tensors if b is not a and meet(a, b)) for a in tensors]
    return ONE, tuple(replace(a, live=None, conflicts=names) for a, names in zip(tensors, lists, strict=True))


def _both(tensors: Tensors, chance: random.Random, peak: int) -> tuple[Memories, Tensors]:
    others = [chance.choice(tensors) for _ in tensors]
    made = (replace(a, conflicts=() if a is b else (b.name_hint,)) for a, b in zip(tensors, others, strict=True))
    return ONE, tuple(made)


def _assigned(tensors: Tensors, chance: random.Random, peak: int) -> tuple[Memories, Tensors]:
    made = tuple(replace(each, pool_candidates=(chance.choice(("fast", "slow")),)) for each in tensors)
    return (Pool("fast"), Pool("slow", rank=1)), made


KINDS: dict[str, Kind] = {
    "lifetimes": lambda tensors, chance, peak: (ONE, tensors),
    "conflicts": _conflicts,
    "lifetimes and conflicts": _both,
    "two pools, assigned": _assigned,
    "two pools with room": lambda tensors, chance, peak: ((Pool("fast", 4 * peak), Pool("slow", rank=1)), tensors),
    "two pools, half as large": lambda tensors, chance, peak: (
        (Pool("fast", peak // 2), Pool("slow", rank=1)),
        tensors,
    ),
    "alignments": lambda tensors, chance, peak: (
        ONE,
        tuple(replace(each, alignment=chance.choice((1, 16, 64))) for each in tensors),
    ),
}


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("kinds", nargs="*", default=list(KINDS), help=", ".join(KINDS))
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--back", type=float, default=0.0)
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--prefer", nargs="+", type=Preference, default=[None], metavar="WHAT")
    arguments = parser.parse_args()
    print("| problem | kind | fresh calls, s | in a session, s | share | worse |\n|---|---|---|---|---|---|")
    for network, count in SIZES:
        problem = generate(network, Request(count, 1))
        tensors = tuple(BufferInfo(str(b.id), b.size, live=tuple(b.live or ())) for b in problem.buffers)
        for kind, prefer in product(arguments.kinds, arguments.prefer):
            pools, made = KINDS[kind](tensors, random.Random(1), plan(problem).peak or 1)
            if prefer is not None:
                made = _used(made, random.Random(3))
            calls = _variants(made, arguments.calls, arguments.back)
            fresh, kept, worse = _measured(pools, calls, Options(prefer=prefer), anew=arguments.anew)
            row = f"{fresh:.2f} | {kept:.2f} | {kept / fresh:.2f} | {worse}"
            name = kind if prefer is None else f"{kind}, {prefer}"
            print(f"| {network} {count} | {name} | {row} |", flush=True)


def _used(tensors: Tensors, chance: random.Random) -> Tensors:
    return tuple(replace(each, reads=chance.randint(1, 4), writes=1) for each in tensors)


def _variants(tensors: Tensors, calls: int, back: float) -> list[Tensors]:
    chance, found = random.Random(2), [tensors]
    for _ in range(calls):
        now = found[-1]
        if chance.random() < back:
            found.append(chance.choice(found[-12:]))
            continue
        i = chance.randrange(len(now))
        size = max(now[i].size_bytes * chance.randint(2, 7) // 4 // 16 * 16, 16)
        found.append((*now[:i], replace(now[i], size_bytes=size), *now[i + 1 :]))
    return found[1:]


def _measured(pools: Memories, calls: Sequence[Tensors], options: Options, *, anew: bool) -> tuple[float, float, int]:
    session = Session()
    plan_memory(pools, calls[0], options)  # loads what is loaded on first use
    Session().plan_memory(pools, calls[0], options)
    taken, worse = [0.0, 0.0], 0
    for first in range(0, len(calls), AT_A_TIME):
        some = list(calls[first : first + AT_A_TIME])
        answers = []
        for i, way in enumerate((plan_memory, session.plan_memory)):
            given = [tuple(map(replace, each)) for each in some] if anew else some
            begun = spent.seconds()
            answers.append([way(pools, each, options) for each in given])
            taken[i] += spent.seconds() - begun
        for tensors, *both in zip(some, *answers, strict=True):
            one, other = (_values(pools, tensors, options, places) for places in both)
            worse += other > one
    return taken[0], taken[1], worse


def _values(pools: Memories, tensors: Tensors, options: Options, places: Sequence[TensorPlacement]) -> list[int]:
    problem = with_preference(problem_of(pools, tensors), options.prefer)
    peaks = dict.fromkeys((pool.name for pool in pools), 0)
    where = []
    for tensor, place in zip(tensors, places, strict=True):
        where.append(Placement(place.tensor_id, place.pool_name, place.pool_offset, tensor.size_bytes))
        peaks[place.pool_name] = max(peaks[place.pool_name], place.pool_offset + tensor.size_bytes)
    return [term_value(problem, where, peaks, term) for term in problem.terms]


if __name__ == "__main__":
    main()

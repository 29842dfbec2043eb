"""Adds rules of a kind to a generated problem with variants: measurements of plain problems do not say what rules take."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from planner.model.problem import Alternative, Buffer, Constraints, Fixed, Pick, Problem, Variants

SHARE = 10
"""One buffer in SHARE has a rule."""
RELATIONS = 30
"""The number of relations between alternatives, or of pairs of buffers."""
PINS = 10
ALIGNMENTS = (64, 256)
RESERVED = 20
"""One byte in RESERVED of the first memory is reserved."""
LATER = (10, 200)
"""A second lifetime begins so much later."""


def with_rules(problem: Problem, kinds: list[str], seed: int) -> Problem:
    """Return the problem with rules of these kinds."""
    for kind in kinds:
        problem = KINDS[kind](problem, random.Random(f"{kind} {seed}"))
    return problem


def _each_buffer(problem: Problem, change: Callable[[Buffer], Buffer]) -> Problem:
    """Change each buffer, whichever alternative it is of; alternatives of a group have buffers of the same names."""
    assert problem.variants is not None

    def of(alternative: Alternative) -> Alternative:
        return replace(alternative, buffers=tuple(map(change, alternative.buffers)))

    groups = [replace(group, alternatives=tuple(map(of, group.alternatives))) for group in problem.variants.groups]
    return replace(
        problem,
        buffers=tuple(map(change, problem.buffers)),
        variants=replace(problem.variants, groups=tuple(groups)),
    )


def _some(problem: Problem, chance: random.Random, change: Callable[[Buffer], Buffer]) -> Problem:
    """Change one buffer in SHARE."""
    assert problem.variants is not None
    ids = {each.id for each in problem.buffers}
    ids |= {each.id for group in problem.variants.groups for of in group.alternatives for each in of.buffers}
    chosen = {id_ for id_ in sorted(ids, key=str) if not chance.randrange(SHARE)}
    return _each_buffer(problem, lambda each: change(each) if each.id in chosen else each)


def _pools(problem: Problem, chance: random.Random) -> Problem:
    names: dict[object, str] = {}

    def change(buffer: Buffer) -> Buffer:
        return replace(buffer, pools=(names.setdefault(buffer.id, chance.choice(problem.pools).name),))

    return _some(problem, chance, change)


def _reserved(problem: Problem, chance: random.Random) -> Problem:
    first, *others = problem.pools
    assert first.size is not None
    start = chance.randrange(first.size * (RESERVED - 1) // RESERVED) // 16 * 16
    taken = (start, start + first.size // RESERVED // 16 * 16)
    return replace(problem, pools=(replace(first, reserved=(taken,)), *others))


def _relations(problem: Problem, chance: random.Random) -> Problem:
    variants = problem.variants
    assert variants is not None
    names = [(group.name, [each.name for each in group.alternatives]) for group in variants.groups]
    requires: list[tuple[Pick, Pick]] = []
    forbids: list[tuple[Pick, Pick]] = []
    for _ in range(RELATIONS):
        (one, of_one), (other, of_other) = chance.sample(names, 2)
        pair = (one, chance.choice(of_one[1:])), (other, chance.choice(of_other))
        (requires if chance.randrange(2) else forbids).append(pair)
    made: Variants = replace(variants, requires=tuple(requires), forbids=tuple(forbids))
    return replace(problem, variants=made)


def _alignment(problem: Problem, chance: random.Random) -> Problem:
    return _some(problem, chance, lambda buffer: replace(buffer, alignment=chance.choice(ALIGNMENTS)))


def _lifetimes(problem: Problem, chance: random.Random) -> Problem:
    later: dict[object, int] = {}

    def change(buffer: Buffer) -> Buffer:
        ((start, end),) = buffer.live or ()
        begin = end + later.setdefault(buffer.id, chance.randint(*LATER))
        return replace(buffer, live=((start, end), (begin, begin + max((end - start) // 2, 1))))

    return _some(problem, chance, change)


def _pinned(problem: Problem, chance: random.Random) -> Problem:
    """Pin buffers of the problem itself in any memory, beside what is reserved; no two are live together."""
    size = problem.pools[0].size
    assert size is not None
    pinned: dict[object, Fixed] = {}
    ends = -1
    for buffer in sorted(chance.sample(problem.buffers, 3 * PINS), key=lambda each: each.live or ()):
        lives = buffer.live or ((0, 0),)
        if lives[0][0] >= ends and len(pinned) < PINS:
            pool = chance.choice(problem.pools)
            spots = [at for at in range(0, max(size - buffer.size, 1), 16) if all(at + buffer.size <= low or high <= at for low, high in pool.reserved)]  # fmt: skip
            pinned[buffer.id] = Fixed(pool.name, chance.choice(spots))
            ends = max(end for _, end in lives)
    return _each_buffer(
        problem, lambda each: replace(each, fixed=pinned[each.id], pools=None) if each.id in pinned else each
    )


def _exclusions(problem: Problem, chance: random.Random) -> Problem:
    return _pairs(problem, chance, lambda pairs: Constraints(exclusions=pairs))


def _conflicts(problem: Problem, chance: random.Random) -> Problem:
    return _pairs(problem, chance, lambda pairs: Constraints(conflicts=pairs))


def _same_pool(problem: Problem, chance: random.Random) -> Problem:
    return _pairs(problem, chance, lambda pairs: Constraints(same_pool=pairs))


def _different_pool(problem: Problem, chance: random.Random) -> Problem:
    return _pairs(problem, chance, lambda pairs: Constraints(different_pool=pairs))


def _pairs(problem: Problem, chance: random.Random, made: Callable[..., Constraints]) -> Problem:
    """Relate buffers of the problem itself that follow each other."""
    ids = [each.id for each in sorted(problem.buffers, key=lambda each: each.live or ())]
    at = sorted(chance.sample(range(len(ids) // 2), min(RELATIONS, len(ids) // 2)))
    return replace(problem, constraints=made(tuple((ids[2 * k], ids[2 * k + 1]) for k in at)))


KINDS: dict[str, Callable[[Problem, random.Random], Problem]] = {
    "pools": _pools,
    "reserved": _reserved,
    "relations": _relations,
    "alignment": _alignment,
    "lifetimes": _lifetimes,
    "pinned": _pinned,
    "exclusions": _exclusions,
    "conflicts": _conflicts,
    "same_pool": _same_pool,
    "different_pool": _different_pool,
}

"""What a problem says that another, read back from a file in another format, does not.

Which things a problem can say is read from its classes: a new field is compared, and named as it is called there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from math import lcm
from operator import attrgetter
from typing import Any, TypeVar

from ..facts.colocation import groups
from ..facts.constants import spell_out_constants
from ..facts.digest import PRICED
from ..facts.intervals import merged
from ..model.problem import Buffer, BufferId, Colocation, Constraints, Fixed, Pool, Problem, ReusePenalty, Was

T = TypeVar("T")

WORDS: dict[type, dict[str, str]] = {
    Problem: {
        "terms": "objective",
        "peak_price": "objective",
        "steps": "names of steps",
        "was": "places in an older plan",
    },
    Pool: {
        "name": "names of memories",
        "size": "sizes of memories",
        "base": "addresses of memories",
        "reserved": "reserved ranges",
        "cost": "costs of memories",
        "rank": "order of memories",
        "speed": "speeds of memories",
        "read_only": "which memories are read-only",
    },
    Buffer: {
        "size": "sizes",
        "fixed": "fixed offsets",
        "max_offset": "greatest offsets",
        "kind": "labels (kind)",
        "reads": "numbers of uses",
        "writes": "numbers of uses",
        "device": "devices",
        "dtype": "types of elements",
        "data": "contents of constants",
    },
    Constraints: {"reuse_penalties": "costs of sharing"},
}
"""What fields are called here, if not by their names."""


def lost(before: Problem, after: Problem) -> tuple[str, ...]:
    """Return the kinds of things in which `after` says something else than `before`."""
    first, second = (_normal(spell_out_constants(each)) for each in (before, after))
    second = replace(
        second,
        name=first.name and second.name,  # one that the format needs is no loss
        pools=_in_order_of(first.pools, second.pools, attrgetter("name")),
        buffers=_in_order_of(first.buffers, second.buffers, attrgetter("id")),
    )
    own = _differing(Problem, [(first, second)], apart=("buffers", "pools", "constraints", "lifetimes"))
    return tuple(
        dict.fromkeys((*own, *_of_pools(first, second), *_of_buffers(first, second), *_of_rules(first, second)))
    )


def _differing(kind: type, pairs: Collection[tuple[Any, Any]], apart: Collection[str] = ()) -> Iterator[str]:
    """Yield the fields in which some pair differs; those named `apart` are compared elsewhere, or mean nothing."""
    for field in fields(kind):
        if field.compare and field.name not in apart:
            read = attrgetter(field.name)
            if any(read(a) != read(b) for a, b in pairs):
                yield WORDS[kind].get(field.name, field.name)


def _normal(problem: Problem) -> Problem:
    """Return the problem with ids as text, and one spelling of all that can be said in several ways. Pools come by rank."""
    return replace(
        problem,
        buffers=tuple(_normal_buffer(buffer) for buffer in problem.buffers),
        pools=tuple(
            replace(pool, base=pool.base or 0, reserved=merged(pool.reserved), rank=rank)
            for rank, pool in enumerate(sorted(problem.pools, key=attrgetter("rank")))
        ),
        constraints=_normal_rules(problem),
        steps=tuple(problem.steps),
        peak_price=problem.peak_price if PRICED.intersection(problem.terms) else 1,
        was=tuple(sorted({Was(str(was.buffer), was.pool, was.offset) for was in problem.was}, key=str)),
    )


def _normal_buffer(buffer: Buffer) -> Buffer:
    fixed = buffer.fixed
    return replace(
        buffer,
        id=str(buffer.id),
        live=None if buffer.live is None else merged(buffer.live),
        pools=buffer.pools if fixed is None else (fixed.pool,),
        fixed=None if fixed is None or fixed.offset is None else Fixed("", fixed.offset),
        accesses=0,
        reads=buffer.accesses + buffer.reads,
    )


def _normal_rules(problem: Problem) -> Constraints:
    c, place = problem.constraints, {buffer.id: i for i, buffer in enumerate(problem.buffers)}
    ids = [str(id_) for id_ in place]
    ties = []
    for group in groups(place, c.colocations):
        (base, low), *others = sorted(zip((ids[member] for member in group.members), group.offsets, strict=True))
        ties += [Colocation(id_, base, offset - low) for id_, offset in others]
    costs = []
    for each in c.reuse_penalties:
        one, other = sorted((str(each.first), str(each.second)))
        costs.append(ReusePenalty(one, other, each.cost))
    return replace(
        c,
        conflicts=_unordered(c.conflicts),
        exclusions=_unordered(c.exclusions),
        colocations=tuple(sorted(ties, key=str)),
        same_pool=_unordered(c.same_pool),
        different_pool=_unordered(c.different_pool),
        reuse_penalties=tuple(sorted(costs, key=str)),
    )


def _unordered(found: Iterable[Iterable[BufferId]]) -> tuple[Any, ...]:
    """Return pairs or groups of buffers in which no order counts."""
    return tuple(sorted({tuple(sorted({str(id_) for id_ in each})) for each in found}))


def _in_order_of(first: Sequence[T], second: Sequence[T], name: Callable[[T], object]) -> tuple[T, ...]:
    """Return the second ones in the order of the first, by name; in their own if names have changed."""
    known = {name(each): each for each in second}
    if not len(first) == len(second) == len(known) or not all(name(each) in known for each in first):
        return tuple(second)
    return tuple(known[name(each)] for each in first)


def _of_pools(first: Problem, second: Problem) -> Iterator[str]:
    if len(first.pools) != len(second.pools):
        yield "memories"
    else:  # their alignments hold for the buffers in them, and are compared there
        yield from _differing(Pool, [*zip(first.pools, second.pools, strict=True)], apart=("alignment",))


def _of_buffers(first: Problem, second: Problem) -> Iterator[str]:
    if len(first.buffers) != len(second.buffers):
        yield "some of the buffers"
        return
    pairs = [*zip(first.buffers, second.buffers, strict=True)]
    if sorted(str(a.id) for a in first.buffers) != sorted(str(b.id) for b in second.buffers):
        yield "ids"
    yield from _differing(Buffer, pairs, apart=("id", "live", "alignment", "pools", "hint"))
    if any(a.hint not in (None, b.hint) for a, b in pairs):
        yield "hints"
    if any(a.live and a.live != (b.live or ()) for a, b in pairs):  # one that is never needed may get a time of its own
        is_said = any(buffer.live is not None for buffer in second.buffers)
        yield "lifetimes" if is_said else "lifetimes beyond which buffers meet"
    if len(first.pools) == len(second.pools):
        before, after = _homes(first), _homes(second)
        homes = [(before(a), after(b)) for a, b in pairs]
        if any(sorted(a) != sorted(b) for a, b in homes):
            yield "alignments"
        if any([p for p, _ in a] != [p for p, _ in b] for a, b in homes):
            yield "memories in which buffers may be"


def _homes(problem: Problem) -> Callable[[Buffer], list[tuple[int, int]]]:
    """Return a function from a buffer to its memories in order of preference, each with the alignment that it has there."""
    number = {pool.name: p for p, pool in enumerate(problem.pools)}
    by_rank = sorted(range(len(problem.pools)), key=lambda p: problem.pools[p].rank)

    def homes(buffer: Buffer) -> list[tuple[int, int]]:
        open_to = by_rank if buffer.pools is None else [number[name] for name in buffer.pools]
        return [(p, lcm(buffer.alignment, problem.pools[p].alignment)) for p in open_to]

    return homes


def _of_rules(first: Problem, second: Problem) -> Iterator[str]:
    has_lists = any(a.live is not None and b.live is None for a, b in zip(first.buffers, second.buffers, strict=False))
    apart = ("conflicts", "exclusions") if has_lists else ()  # lists of conflicts have taken the place of lifetimes
    yield from _differing(Constraints, [(first.constraints, second.constraints)], apart)

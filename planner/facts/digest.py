"""A fingerprint of a problem: equal for every way of writing the same problem down.

It does not depend on white space, the order of keys, defaults spelled out or left out, the problem's name, or on whether lifetimes
are written half-open or inclusive. It does depend on ids and on the order of pools, buffers and constraints, because plans do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from functools import cached_property
from itertools import pairwise, repeat
from typing import Any

from solvers.model.instance import LINEAR_TERMS

from ..model.columns.buffers import NO_HINT, BufferColumns, restricted
from ..model.columns.choices import GroupColumns
from ..model.columns.pools import PoolColumns, ranks_of
from ..model.columns.pools import names_of as names_of_pools
from ..model.deadline import CHECKING, LOOK_EVERY, in_time, look
from ..model.problem import NO_CONSTRAINTS, Alternative, Buffer, Constraints, Neighbour, Pool, Problem, Variants
from .constants import spell_out_constants
from .costs import weighs_moves
from .intervals import merged
from .rows import named_rows, names_of

_VERSION = "memplan/1 problem"

_NO_MORE = ",null,null,null,null,null,0]"
"""The end of a plain buffer's entry: it has only a size, an alignment and lifetimes."""
MOST_NAMES = 1_000_000
"""Up to this many pool names, each buffer's list is written out; beyond, equal lists are written once."""

_UNUSED = "[0,0,null]"
"""The uses and the data of a plain buffer of an alternative."""

PRICED = frozenset(term for term, adds in LINEAR_TERMS.items() if adds.priced)
"""The terms that depend on the price of a peak."""


def digest(problem: Problem) -> str:
    """Return the SHA-256 in 64 hexadecimal digits."""
    facts = problem.facts
    if not facts.is_sound:  # and so its maker may still change it
        return _computed(problem)
    if facts.digest is None:
        facts.digest = _computed(problem)
    return facts.digest


def digest_for_sizes(problem: Problem) -> Callable[[Problem], str]:
    """Return the digest of the same problem with other pool sizes, much faster than anew."""
    tail = _behind_pools(spell_out_constants(problem))
    return lambda sized: _hashed(sized, tail)


def _computed(problem: Problem) -> str:
    look(CHECKING)
    problem = spell_out_constants(problem)
    return _hashed(problem, _behind_pools(problem))


def _hashed(problem: Problem, tail: Iterable[str]) -> str:
    look(CHECKING)
    pools = problem.pools
    written = _of_pools(pools) if isinstance(pools, PoolColumns) else _list(pools, _pool)
    found = hashlib.sha256(f"[{_written(_VERSION)},{written},".encode("ascii"))
    for text in tail:
        found.update(text.encode("ascii"))
    return found.hexdigest()


def _behind_pools(problem: Problem) -> list[str]:
    """Yield what is hashed after the pools."""
    lists = _Lists(problem)
    problem.facts.rules = rules = _rules_of(problem)
    rest = ",".join(
        [
            rules,
            _written([str(term) for term in problem.terms]),
            *[_list(each) if isinstance(each, list) else _written(each) for each in _of_memories(problem)],
            *([] if problem.variants is None else [_variants(problem.variants, lists)]),
        ]
    )
    neighbour = problem.facts.neighbour
    if isinstance(problem.buffers, BufferColumns) and neighbour is None:
        return ["[", *_of_columns(problem.buffers), f"],{rest}]"]
    if neighbour is None:
        return [f"{_list(problem.buffers, lambda buffer: _buffer(buffer, lists))},{rest}]"]
    problem.facts.written = written = _of_neighbours(problem, neighbour, lists)
    return [f"[{','.join(written)}],{rest}]"]


def _rules_of(problem: Problem) -> str:
    """Return the text of the constraints; if they are those of the neighbour, as it was there."""
    known = None if problem.facts.neighbour is None else problem.facts.neighbour.rules
    if known is not None and known[0] is problem.constraints:
        return known[1]
    return _NO_RULES if problem.constraints == NO_CONSTRAINTS else _rules(problem.constraints)


_written = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode


def _list(items: Sequence[Any], entry: Callable[[Any], Any] | None = None) -> str:
    """Return the text of a list, with `entry` applied to each item; looks at the clock now and then."""
    if len(items) <= LOOK_EVERY:
        return _written([*items] if entry is None else [entry(item) for item in items])
    texts = []
    for first in range(0, len(items), LOOK_EVERY):
        look(CHECKING)
        texts.append(_list(items[first : first + LOOK_EVERY], entry)[1:-1])
    return f"[{','.join(texts)}]"


def _pool(pool: Pool) -> list[Any]:
    reserved = merged(pool.reserved) if pool.reserved else ()
    return [pool.name, pool.size, pool.alignment, pool.base, reserved, pool.cost, pool.rank]


def _of_pools(pools: PoolColumns) -> str:
    """Return the entries of all pools, in the form of `_pool`."""
    look(CHECKING)
    names, sizes = names_of(pools.names, _written), pools.sizes
    numbers = (pools.alignment.tolist(), pools.cost.tolist(), pools.rank.tolist())
    each = zip(names, sizes, *numbers, strict=True)
    texts = [f"[{n},{'null' if s is None else s},{a},null,[],{c},{r}]" for n, s, a, c, r in each]
    return f"[{','.join(texts)}]"


def _of_columns(columns: BufferColumns) -> Iterator[str]:
    """Return the entries of all buffers, in the form of `_buffer`."""
    numbers = (columns.size, columns.alignment, columns.start, columns.end)
    if columns.kinds is None and columns.hints is None and (columns.start < columns.end).all():
        words = (",[", ",", ",", ",[[", ",", f"]]{_NO_MORE}")
        for piece, text in enumerate(named_rows(words, columns.ids, _written, *numbers)):
            look(CHECKING)
            yield text if piece else text[1:]
        return
    names = names_of(columns.ids, _written)
    kinds = [None] * len(columns) if columns.kinds is None else columns.kinds
    hints = repeat(NO_HINT, len(columns)) if columns.hints is None else columns.hints.tolist()
    written = {kind: f",null,{_written(kind)},0]" for kind in {*kinds}}
    each = zip(names, *(column.tolist() for column in numbers), hints, kinds, strict=True)
    for i, (name, size, alignment, start, end, hint, kind) in enumerate(each):
        live = f"[[{start},{end}]]" if start < end else "[]"
        wish = "null" if hint == NO_HINT else hint
        yield f"{',' if i else ''}[{name},{size},{alignment},{live},null,null,{wish}{written[kind]}"


def _of_neighbours(problem: Problem, neighbour: Neighbour, lists: _Lists) -> tuple[str, ...]:
    """Return the entries of all buffers; those that the neighbour has are taken from it."""
    rows = problem.facts.rows
    assert rows is not None
    known = [*neighbour.written, *[_written(_buffer(problem.buffers[i], lists)) for i in rows.new]]
    return tuple(map(known.__getitem__, rows.at.tolist()))


def _constraints(constraints: Constraints) -> list[Any]:
    return [
        constraints.conflicts,
        constraints.exclusions,
        [[c.buffer, c.base, c.offset] for c in constraints.colocations],
        constraints.same_pool,
        constraints.different_pool,
        [[r.first, r.second, r.cost] for r in constraints.reuse_penalties],
    ]


def _rules(constraints: Constraints) -> str:
    return ",".join(map(_list, _constraints(constraints)))


_NO_RULES = _rules(NO_CONSTRAINTS)


def _variants(variants: Variants, lists: _Lists) -> str:
    costs = _written([[term.name, term.weight] for term in variants.costs])
    if isinstance(variants.groups, GroupColumns):
        groups = _of_groups(variants.groups)
        return f'["variants",{costs},[{",".join(groups)}],{_list(variants.requires)},{_list(variants.forbids)}]'
    groups = [
        f"[{_written(group.name)},{_list(group.alternatives, lambda each: _alternative(each, lists))}]"
        for group in in_time(variants.groups, CHECKING)
    ]
    return f'["variants",{costs},[{",".join(groups)}],{_list(variants.requires)},{_list(variants.forbids)}]'


def _of_groups(groups: GroupColumns) -> list[str]:
    """Return the entries of all groups, in the form of `_variants`."""
    own, begin, some = groups.own.tolist(), groups.begin.tolist(), groups.buffers
    numbers = (column.tolist() for column in (some.size, some.alignment, some.start, some.end))
    buffers = [
        f"[{name},{size},{alignment},{f'[[{start},{end}]]' if start < end else '[]'}{_NO_MORE}"
        for name, size, alignment, start, end in zip(names_of(some.ids, _written), *numbers, strict=True)
    ]
    look(CHECKING)
    costs = [",".join(map(str, row)) for row in groups.costs.tolist()]
    spans = pairwise(own)
    alternatives = [
        f"[{name},[{cost}],[{','.join(buffers[a:b])}],[{','.join((_UNUSED,) * (b - a))}],[{_NO_RULES}],[]]"
        for name, cost, (a, b) in zip(names_of(groups.alternatives, _written), costs, spans, strict=True)
    ]
    look(CHECKING)
    named = zip(names_of(groups.names, _written), begin, begin[1:], strict=False)
    return [f"[{name},[{','.join(alternatives[a:b])}]]" for name, a, b in named]


def _alternative(alternative: Alternative, lists: _Lists) -> list[Any]:
    uses = [
        [b.reads, b.writes, None if b.data is None else hashlib.sha256(b.data).hexdigest()] for b in alternative.buffers
    ]
    return [
        alternative.name,
        alternative.costs,
        [_buffer(buffer, lists) for buffer in alternative.buffers],
        uses,
        _constraints(alternative.constraints),
        [[more.buffer, merged(more.live)] for more in alternative.live],
    ]


def _of_memories(problem: Problem) -> list[Any]:
    """Return what only some problems say: pools' speeds and whether they are read-only; buffers' uses, data and old places."""
    pools = [
        [i, None if pool.speed is None else astuple(pool.speed), pool.read_only]
        for i, pool in enumerate(() if isinstance(problem.pools, PoolColumns) else problem.pools)
        if pool.speed is not None or pool.read_only
    ]
    buffers = [
        [i, b.reads, b.writes, None if b.data is None else hashlib.sha256(b.data).hexdigest()]
        for i, b in enumerate(() if isinstance(problem.buffers, BufferColumns) else problem.buffers)
        if b.reads or b.writes or b.data is not None
    ]
    was = [[was.buffer, was.pool, was.offset] for was in problem.was] if weighs_moves(problem) else []
    price = problem.peak_price if PRICED.intersection(problem.terms) else 1
    facts = [pools, buffers, price] if pools or buffers or price != 1 or was else []
    return [*facts, sorted(was, key=_in_digits)] if was else facts


def _in_digits(was: list[Any]) -> str:
    """Return the text of an old place, as far as needed to tell two of them apart."""
    id_ = was[0]
    return f"[{id_}," if type(id_) is int else f"[{_written(id_)},"


def _buffer(buffer: Buffer, lists: _Lists) -> list[Any]:
    live = buffer.live
    if live is not None and (len(live) != 1 or live[0][0] >= live[0][1]):
        live = merged(live)
    return [
        buffer.id,
        buffer.size,
        buffer.alignment,
        live,
        lists.of(buffer.pools),
        None if buffer.fixed is None else [buffer.fixed.pool, buffer.fixed.offset],
        buffer.hint,
        buffer.max_offset,
        buffer.kind,
        buffer.accesses,
        *([] if buffer.device is None and buffer.dtype is None else [buffer.device, buffer.dtype]),
    ]


class _Lists:
    """Lists of allowed pools. If they are long in total, each is written once and then named by its number."""

    def __init__(self, problem: Problem) -> None:
        self._pools = problem.pools
        known = problem.facts.figures
        is_short = problem.facts.neighbour is not None and len(problem.buffers) * len(self._pools) <= MOST_NAMES
        some = () if is_short or (known is not None and known.is_free) else restricted(problem.buffers)
        self._is_long = sum([len(buffer.pools or ()) for _, buffer in some]) > MOST_NAMES
        self._of_id: dict[int, tuple[str, ...] | int | None] = {}
        self._number: dict[tuple[str, ...], int] = {}

    def of(self, pools: tuple[str, ...] | None) -> tuple[str, ...] | int | None:
        """Return the text of the list; None stands for all pools, by rank."""
        if pools is None:
            return None
        if id(pools) not in self._of_id:  # safe as keys: the lists live as long as the problem
            self._of_id[id(pools)] = self._written(tuple(pools))
        found = self._of_id[id(pools)]
        if self._is_long and not isinstance(found, int):
            self._of_id[id(pools)] = self._number.get(tuple(pools))
        return found

    @cached_property
    def _every_pool(self) -> tuple[str, ...]:
        """Return all pools by rank."""
        names = names_of_pools(self._pools)
        ranks = ranks_of(self._pools)
        return tuple(names[p] for p in sorted(range(len(names)), key=ranks.__getitem__))

    def _written(self, pools: tuple[str, ...]) -> tuple[str, ...] | int | None:
        if pools == self._every_pool:
            return None
        if not self._is_long or pools not in self._number:
            self._number[pools] = len(self._number)
            return pools
        return self._number[pools]

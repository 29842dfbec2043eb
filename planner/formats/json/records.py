"""Long lists of plain buffers and of plain pools in a JSON document, read in columns; anything unusual is left to the careful readers."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from solvers.model.instance import Ints

from ...model.columns.buffers import NO_HINT, BufferColumns
from ...model.columns.pools import PoolColumns
from ...model.columns.rows import FEW
from ...model.columns.varied import NEVER, NOWHERE, UNKNOWN, Saying, VariedColumns
from ...model.problem import MAX_ADDRESS, MAX_TEXT, Buffer, Pool
from .alike import Alike, Listed, Shape, Unusual, fields_of, find_list, place_of
from .groups import TakenGroups, taken_groups

LEAST_OF_POOLS = 24 * FEW
"""Bytes; shorter lists have few pools."""
NEEDED = {"id", "size"}
KNOWN = NEEDED | {"live", "alignment", "accesses", "kind", "fixed"}
POOL_FIELDS = {"name", "size", "alignment", "cost", "rank"}
ACCESSES = 5
"""The column of accesses."""
FIXED = b'"fixed"'
BETWEEN = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*\{")
LONGEST = 1 << 12
"""The most bytes of a record with inner brackets."""


class Texts(NamedTuple):
    """The texts of a record."""

    kind: str | None
    pool: str | None
    """The pool in which it is fixed."""
    has_offset: bool
    has_life: bool


NONE = np.zeros(0, np.int64)
NOTHING = Texts(None, None, False, True)


class More(NamedTuple):
    """Fields of buffers besides sizes, alignments and lifetimes."""

    accesses: Ints
    offset: Ints
    """The fixed offset, or anything."""
    texts: list[Texts]
    which: Ints
    """By buffer, the index of its texts."""

    def is_in_range(self) -> bool:
        """True if all of these are in range."""
        numbers = np.concatenate([self.accesses, self.offset])
        written = [text for each in self.texts for text in (each.kind, each.pool) if text is not None]
        return (
            0 <= int(numbers.min()) <= int(numbers.max()) <= MAX_ADDRESS
            and max(map(len, written), default=0) <= MAX_TEXT
        )

    def rows(self, columns: BufferColumns) -> Sequence[Buffer]:
        """Return the buffers with these fields, as objects if they are few."""
        has_offset = np.array([each.has_offset for each in self.texts])[self.which]
        has_life = np.array([each.has_life for each in self.texts])[self.which]
        start, end = columns.start, columns.end
        for rows, (begin, stop) in ((start == end, NEVER), (~has_life, UNKNOWN)):
            start, end = np.where(rows, begin, start), np.where(rows, stop, end)
        rare = {"offset": np.where(has_offset, self.offset, NOWHERE)} if has_offset.any() else {}
        if self.accesses.any():
            rare["accesses"] = self.accesses
        no_hints = np.broadcast_to(np.array(NO_HINT), start.shape)
        said = self.which.astype(np.min_scalar_type(len(self.texts)))
        sayings = tuple(Saying(kind=each.kind, home=each.pool) for each in self.texts)
        varied = VariedColumns(
            columns.ids, columns.size, columns.alignment, start, end, no_hints, said, sayings, rare, NONE, NONE
        )
        return varied if len(varied) > FEW else tuple(varied.made())


class Taken(NamedTuple):
    """A document in parts."""

    rest: bytes
    """The same document with empty lists instead of these."""
    buffers: BufferColumns | None
    """With lifetimes as written. Numbers may be out of range, and ids duplicated. None: they are in the rest."""
    more: More | None
    pools: Sequence[Pool] | None
    """Numbers may be out of range, and names duplicated. None: they are in the rest."""
    groups: TakenGroups | None
    """The groups of its variants, likewise."""


def taken_apart(data: bytes) -> Taken | None:
    """Return the document in parts, if its buffers, its pools or its groups are many and nothing about them is unusual."""
    if b"\\" in data:
        return None
    cut: list[Listed] = []
    buffers = _buffers(data, cut)
    pools = _pools(data, cut)
    groups = taken_groups(data)
    if groups is not None:
        cut.append(groups[1])
    if not cut:
        return None
    kept, at = [], 0
    for begin, end in sorted(cut):
        kept.append(data[at:begin])
        at = end
    columns, more = (None, None) if buffers is None else buffers
    return Taken(b"".join([*kept, data[at:]]), columns, more, pools, None if groups is None else groups[0])


def _buffers(data: bytes, cut: list[Listed]) -> tuple[BufferColumns, More | None] | None:
    """Return the buffers, and note where they are written; None if anything about them is unusual."""
    where = find_list(data, b"buffers")
    if where is None:
        return None
    alike = Alike(b"id", _shape, [1, 1, 1, 1, 1, 0, 0], FIXED)
    try:
        size, alignment, start, end, id_, accesses, offset, which = alike.read(data, where, _whole)
        named = {shape.is_named for shape in alike.shapes.values()}
        if len(named) != 1:
            return None  # some ids are numbers, others names
    except (Unusual, UnicodeDecodeError):
        return None
    ids = alike.names.all()
    if not ids:
        counted = range(len(id_))
        ids = counted if np.array_equal(id_, np.arange(len(id_))) else array("q", id_.tobytes())
    cut.append(where)
    columns = BufferColumns(ids, size, alignment, start, end)
    texts = [each for each in alike.texts if isinstance(each, Texts)]
    if texts == [NOTHING] and not any(shape.places[ACCESSES] for shape in alike.shapes.values()):
        return columns, None
    return columns, More(accesses, offset, texts, which)


def _whole(chunk: bytes) -> tuple[bytes, bytes]:
    """Yield whole records of a chunk, keeping an incomplete last one for the next if they may have inner brackets."""
    if FIXED not in chunk:
        return chunk, b""
    *_, last = [0, *(found.start() + 1 for found in BETWEEN.finditer(chunk, max(len(chunk) - LONGEST, 0)))]
    if not last:
        raise Unusual
    return chunk[:last], chunk[last:]


def _shape(written: bytes) -> Shape:
    """Return the shape of a buffer with an id, a size, one lifetime (or a kind and none) and known fields. Raises Unusual otherwise."""
    fields, counted = fields_of(written, NEEDED, KNOWN)
    kind, pinned = fields.get("kind", ""), fields.get("fixed", (("pool", "anywhere"),))
    if not isinstance(kind, str) or not isinstance(pinned, tuple):
        raise Unusual
    fixed = dict(pinned)
    if len(fixed) != len(pinned) or not {"pool"} <= fixed.keys() <= {"pool", "offset"}:
        raise Unusual
    if not isinstance(fixed["pool"], str) or not fixed["pool"]:
        raise Unusual
    start = end = None
    if "live" in fields:
        live = fields["live"]
        if not isinstance(live, list) or len(live) != 1 or not isinstance(live[0], list) or len(live[0]) != 2:
            raise Unusual
        start, end = place_of(live[0][0]), place_of(live[0][1])
    elif "kind" not in fields:  # only for constants
        raise Unusual
    is_named = fields["id"] == ""
    texts = Texts(
        kind if "kind" in fields else None,
        fixed["pool"] if "fixed" in fields else None,
        "offset" in fixed,
        start is not None,
    )
    places = (
        place_of(fields["size"]),
        place_of(fields["alignment"]) if "alignment" in fields else None,
        start,
        end,
        None if is_named else place_of(fields["id"]),
        place_of(fields["accesses"]) if "accesses" in fields else None,
        place_of(fixed["offset"]) if "offset" in fixed else None,
    )
    return Shape(counted, places, texts, is_named)


class _Given(NamedTuple):
    """Which fields the pools of a shape have."""

    size: bool
    rank: bool


def _pools(data: bytes, cut: list[Listed]) -> Sequence[Pool] | None:
    """Return the pools, and note where they are written; None if they are few, or anything about them is unusual."""
    where = find_list(data, b"pools")
    if where is None or where.end - where.begin < LEAST_OF_POOLS:
        return None
    alike = Alike(b"name", _pool_shape, [0, 1, 1, 0])
    try:
        size, alignment, cost, rank, which = alike.read(data, where)
    except (Unusual, UnicodeDecodeError):
        return None
    given = [each for each in alike.texts if isinstance(each, _Given)]
    has_size, has_rank = (np.array(each)[which] for each in zip(*given, strict=True))
    cut.append(where)
    rank = np.where(has_rank, rank, np.arange(len(rank)))
    return PoolColumns(cast(Sequence[str], alike.names.all()), size, has_size, alignment, cost, rank)


def _pool_shape(written: bytes) -> Shape:
    """Return the shape of a pool with a name and numbers. Raises Unusual otherwise."""
    fields, counted = fields_of(written, {"name"}, POOL_FIELDS)
    if fields["name"] != "":
        raise Unusual
    places = [place_of(fields[each]) if each in fields else None for each in ("size", "alignment", "cost", "rank")]
    return Shape(counted, (*places,), _Given("size" in fields, "rank" in fields))

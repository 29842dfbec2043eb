"""The groups of alternatives in a JSON document, read in columns; anything unusual is left to the careful readers.

With 0 for every number and an empty string for every name, all that lies between the names of groups and of alternatives has few forms. Each
is parsed once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from solvers.model.instance import Ints

from ...model.columns.buffers import BufferColumns
from ...model.columns.choices import GroupColumns
from ...model.deadline import look
from ..text.digits import chunks
from .alike import MOST_SHAPES, Listed, Place, Unusual, place_of, reduced, with_numbers_counted

KEY = b'"groups"'
LEAST = 1 << 16
"""Bytes; shorter lists have few groups."""
OPEN = re.compile(KEY + rb"[ \t\n\r]*:[ \t\n\r]*\[[ \t\n\r]*(?=\{)")
CLOSE = re.compile(rb"\][ \t\n\r]*\}[ \t\n\r]*\](?=[ \t\n\r]*(?:,[ \t\n\r]*\"|\}[ \t\n\r]*(?:,[ \t\n\r]*\"|\}|$)))")
FIRST = re.compile(rb'\{[ \t\n\r]*"name"[ \t\n\r]*:[ \t\n\r]*""')
GROUP = re.compile(rb'[ \t\n\r]*,[ \t\n\r]*"alternatives"[ \t\n\r]*:[ \t\n\r]*\[[ \t\n\r]*')
ENDS = (
    re.compile(rb"(.*\})[ \t\n\r]*,[ \t\n\r]*", re.DOTALL),
    re.compile(rb"(.*\})[ \t\n\r]*\][ \t\n\r]*\}[ \t\n\r]*,[ \t\n\r]*", re.DOTALL),
    re.compile(rb"(.*\})[ \t\n\r]*\][ \t\n\r]*\}[ \t\n\r]*\]", re.DOTALL),
)
"""What follows an alternative: another one, another group, or nothing."""
BUFFER = ("size", "alignment", "start", "end")


class _Form(NamedTuple):
    """What stands behind a name, in all places where it is the same."""

    numbers: int
    names: int
    """How many names it has, with the one in front."""
    leads_to: int
    """0: a group, before its first alternative; otherwise the place in ENDS, from 1."""
    costs: tuple[tuple[str, Place], ...] = ()
    buffers: tuple[tuple[Place | None, tuple[Place | None, ...]], ...] = ()
    """Of each buffer, the id if it is a number, and the numbers named in BUFFER."""


class TakenGroups(NamedTuple):
    """Groups with their costs by name, in no order yet. Numbers may be out of range, and names duplicated."""

    groups: GroupColumns
    """Without costs."""
    costs: dict[str, Ints]

    def columns(self, terms: Sequence[str]) -> GroupColumns | None:
        """Return the groups with costs in the order of these terms; None if there are others."""
        if not self.costs.keys() <= {*terms}:
            return None
        none = np.zeros(len(self.groups.alternatives), dtype=np.int64)
        costs = np.stack([self.costs.get(term, none) for term in terms] or [none[:0]], axis=1 if terms else 0)
        groups = self.groups
        own = costs.reshape(len(none), len(terms))
        return GroupColumns(groups.names, groups.begin, groups.alternatives, own, groups.own, groups.buffers)


def taken_groups(data: bytes) -> tuple[TakenGroups, Listed] | None:
    """Return the groups, and where they are written; None if they are few, or anything about them is unusual. The text has no escapes."""
    opened = OPEN.search(data) if data.count(KEY) == 1 else None
    closed = None if opened is None else CLOSE.search(data, opened.end())
    if opened is None or closed is None or closed.end() - opened.end() < LEAST:
        return None
    where = Listed(opened.end(), closed.end() - 1)
    try:
        return _read(data, where), where
    except (Unusual, UnicodeDecodeError):
        return None


def _read(data: bytes, where: Listed) -> TakenGroups:
    names: list[str] = []
    written: list[bytes] = []
    values: list[Ints] = []
    for chunk in chunks(data, where.begin, where.end, b"}"):
        look("reading")
        if not chunk:
            raise Unusual
        text, more, value = reduced(chunk, b"name", b"id")
        written.append(text)
        names += more
        values.append(value)
    text = b"".join([*written, b"]"])
    first = FIRST.match(text)
    if first is None:
        raise Unusual
    parts = text.split(first[0])[1:]
    look("reading")
    kinds: dict[bytes, int] = {}
    which = np.array([kinds.setdefault(part, len(kinds)) for part in parts])
    if len(kinds) > MOST_SHAPES:
        raise Unusual
    forms = [_form(first[0], part) for part in kinds]
    if sum(part.count(b'""') for part in kinds) + len(kinds) != sum(form.names for form in forms):
        raise Unusual
    return _Columns(forms, which, names, np.concatenate(values)).taken()


def _form(opening: bytes, part: bytes) -> _Form:
    """Return the form of what stands behind a name. Raises Unusual."""
    if GROUP.fullmatch(part):
        return _Form(0, 1, 0)
    for leads_to, end in enumerate(ENDS, 1):
        found = end.fullmatch(part)
        if found is None:
            continue
        counted, count = with_numbers_counted(opening + found[1])
        try:
            pairs: Any = json.loads(counted.decode("utf-8"), object_pairs_hook=tuple)
        except ValueError:
            continue
        return _alternative(pairs, count, leads_to)
    raise Unusual


def _fields(pairs: Any, needed: set[str], known: set[str]) -> dict[str, Any]:
    fields = dict(pairs) if isinstance(pairs, tuple) else {}
    if not isinstance(pairs, tuple) or len(fields) != len(pairs) or not needed <= fields.keys() <= known:
        raise Unusual
    return fields


def _alternative(pairs: Any, numbers: int, leads_to: int) -> _Form:
    fields = _fields(pairs, {"name"}, {"name", "costs", "buffers"})
    costs = fields.get("costs", ())
    buffers = fields.get("buffers", [])
    if not isinstance(costs, tuple) or len(dict(costs)) != len(costs) or not isinstance(buffers, list):
        raise Unusual
    of_each = [*map(_buffer, buffers)]
    names = 1 + sum(id_ is None for id_, _ in of_each)
    priced = tuple((name, place_of(number)) for name, number in costs)
    return _Form(numbers, names, leads_to, priced, (*of_each,))


def _buffer(pairs: Any) -> tuple[Place | None, tuple[Place | None, ...]]:
    fields = _fields(pairs, {"id", "size", "live"}, {"id", "size", "live", "alignment"})
    live = fields["live"]
    if not isinstance(live, list) or len(live) != 1 or not isinstance(live[0], list) or len(live[0]) != 2:
        raise Unusual
    alignment = place_of(fields["alignment"]) if "alignment" in fields else None
    places = (place_of(fields["size"]), alignment, *map(place_of, live[0]))
    return None if fields["id"] == "" else place_of(fields["id"]), places


class _Columns:
    """Puts names and numbers into columns. `which` gives the form behind each name."""

    def __init__(self, forms: list[_Form], which: Ints, names: list[str], value: Ints) -> None:
        self._forms, self._which, self._names, self._value = forms, which, names, value
        counts = np.array([(form.numbers, form.names, form.leads_to, len(form.buffers)) for form in forms])[which]
        numbers, of_names, self._leads_to, self._own = counts.T
        self._number_at, self._name_at = np.cumsum(numbers) - numbers, np.cumsum(of_names) - of_names
        if int(numbers.sum()) != len(value) or int(of_names.sum()) != len(names):
            raise Unusual

    def taken(self) -> TakenGroups:
        leads_to = self._leads_to
        is_group = leads_to == 0
        wants_group = np.concatenate([[True], leads_to[:-1] == 2])
        # the first is a group, and so is what follows the end of one
        if (is_group != wants_group).any() or (leads_to[:-1] == 3).any() or leads_to[-1] != 3:
            raise Unusual
        alternatives = np.flatnonzero(~is_group)
        begin = np.append(np.searchsorted(alternatives, np.flatnonzero(is_group)), len(alternatives))
        named = [self._names[i] for i in self._name_at.tolist()]
        own = self._own[alternatives]
        first = np.cumsum(own) - own
        groups = GroupColumns(
            [named[i] for i in np.flatnonzero(is_group).tolist()],
            begin,
            [named[i] for i in alternatives.tolist()],
            np.zeros((len(alternatives), 0), dtype=np.int64),
            np.append(first, int(own.sum())),
            self._buffers(alternatives, first, int(own.sum())),
        )
        return TakenGroups(groups, self._costs(alternatives))

    def _at(self, rows: Ints, place: Place) -> Ints:
        found: Ints = self._value[self._number_at[rows] + place[0]] * place[1]
        return found

    def _costs(self, alternatives: Ints) -> dict[str, Ints]:
        found: dict[str, Ints] = {}
        for k, form in enumerate(self._forms):
            here = np.flatnonzero(self._which[alternatives] == k)
            for name, place in form.costs:
                column = found.setdefault(name, np.zeros(len(alternatives), dtype=np.int64))
                column[here] = self._at(alternatives[here], place)
        return found

    def _buffers(self, alternatives: Ints, first: Ints, count: int) -> BufferColumns:
        columns = np.ones((len(BUFFER), count), dtype=np.int64)
        id_, is_named = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
        for k, form in enumerate(self._forms):
            here = np.flatnonzero(self._which[alternatives] == k)
            named = 0
            for j, (number, places) in enumerate(form.buffers):
                at, rows = first[here] + j, alternatives[here]
                for column, place in zip(columns, places, strict=True):
                    if place is not None:
                        column[at] = self._at(rows, place)
                if number is None:
                    named += 1
                    is_named[at], id_[at] = True, self._name_at[rows] + named
                else:
                    id_[at] = self._at(rows, number)
        numbers, names = id_.tolist(), self._names
        if is_named.all():
            return BufferColumns([names[i] for i in numbers], *columns)
        if not is_named.any():
            return BufferColumns(numbers, *columns)
        return BufferColumns(
            [names[i] if text else i for i, text in zip(numbers, is_named.tolist(), strict=True)], *columns
        )

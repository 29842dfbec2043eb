"""Buffers of TVM's USMP in JSON, with their conflict lists: in columns, however many there are."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, repeat
from typing import NotRequired

import numpy as np
from pydantic import with_config
from typing_extensions import TypedDict

from ...checks.names import are_different
from ...checks.pairs import named_in_lists
from ...checks.report import Report, quoted
from ...model.columns.gathered import Gathered
from ...model.errors import Code
from ...model.problem import Buffer, Constraints
from ..json.strict import TOLERANT, Items, Label, unknown_keys
from ..memories import read_data
from ..memplan.wire import Alignment, Bytes, Name

KINDS = ("intermediate", "input", "output")
"""TVM's BufferInfoKind, which is written as a number there."""


@with_config(TOLERANT)
class BufferWire(TypedDict):
    name_hint: Name
    size_bytes: Bytes
    alignment: NotRequired[Alignment]
    pool_candidates: NotRequired[Items[Name]]
    conflicts: NotRequired[Items[Name]]
    kind: NotRequired[Label | None]
    reads: NotRequired[Bytes]
    writes: NotRequired[Bytes]
    accesses: NotRequired[Bytes]
    data: NotRequired[str | None]
    """The contents of a buffer of the kind "constant", in base64."""


_FIELDS = BufferWire.__annotations__.keys()


class Buffers:
    """Buffers that came from a document."""

    def __init__(self, wires: Iterable[BufferWire]) -> None:
        self.clear()
        self.extend(wires)

    def clear(self) -> None:
        self.unknown: dict[str, None] = {}
        """The fields whose meaning is not known."""
        self._gathered = Gathered()
        self._data: dict[int, str] = {}
        self._wrong_kinds: dict[int, int] = {}
        self._number: dict[str, int] = {}
        """Each name that a buffer has, or a conflict list: made once there is a list."""
        self._names = array("q")
        """The number of each buffer's name."""
        self._listed, self._ends = array("q"), array("q")
        """The numbers of all names in conflict lists, and where each buffer's list ends; those of the last buffers may be missing."""

    def __len__(self) -> int:
        return len(self._gathered)

    def extend(self, wires: Iterable[BufferWire]) -> None:
        for wire in wires:
            self._add(wire)

    def _add(self, wire: BufferWire) -> None:
        here = len(self._gathered)
        kind, candidates, text = wire.get("kind"), wire.get("pool_candidates"), wire.get("data")
        if isinstance(kind, int):
            if 0 <= kind < len(KINDS):
                kind = KINDS[kind]
            else:
                self._wrong_kinds[here] = kind
        if text is not None:
            self._data[here] = text
        if not wire.keys() <= _FIELDS:
            self.unknown.update(dict.fromkeys(unknown_keys(wire, BufferWire)))
        self._gathered.add(
            Buffer(
                wire["name_hint"],
                wire["size_bytes"],
                wire.get("alignment", 1),
                pools=None if candidates is None else tuple(candidates),
                kind=None if kind is None else str(kind),
                accesses=wire.get("accesses", 0),
                reads=wire.get("reads", 0),
                writes=wire.get("writes", 0),
            )
        )
        others = wire.get("conflicts", [])
        if others or self._number:
            self._list(here, wire["name_hint"], others)

    def _list(self, here: int, name: str, others: Sequence[str]) -> None:
        """Record a buffer's conflict list, its name and the names before it."""
        number = self._number
        if len(self._names) < here:
            earlier = islice(self._gathered.ids(), here)
            self._names.extend([number.setdefault(str(id_), len(number)) for id_ in earlier])
        self._names.append(number.setdefault(name, len(number)))
        self._listed.extend([number.setdefault(other, len(number)) for other in others])
        self._ends.extend(repeat(len(self._listed) - len(others), here - len(self._ends)))
        self._ends.append(len(self._listed))

    def index(self) -> dict[str, int]:
        """Return the number of each buffer, or of the first of its name."""
        found: dict[str, int] = {}
        for i, id_ in enumerate(self._gathered.ids()):
            found.setdefault(str(id_), i)
        return found

    def check(self, report: Report) -> None:
        """Report names that appear twice, and unknown kinds."""
        twice: dict[int, int] = {}
        if not are_different([*self._gathered.ids()]):
            index = self.index()
            twice = {i: index[str(id_)] for i, id_ in enumerate(self._gathered.ids()) if index[str(id_)] != i}
        for i in sorted({*twice, *self._wrong_kinds}):
            if i in twice:
                text = f"buffer {i} has the same name {quoted(self._gathered.row(i).id)} as buffer {twice[i]}"
                report.add(Code.DUPLICATE_ID, ("buffers", i, "name_hint"), text)
            if i in self._wrong_kinds:
                text = f"must be from 0 to {len(KINDS) - 1}, not {self._wrong_kinds[i]}"
                report.add(Code.OUT_OF_RANGE, ("buffers", i, "kind"), text)

    def conflicts(self, report: Report) -> Constraints:
        """Return the conflicts that the lists name; unknown names are reported."""
        if not self._number:
            return Constraints()
        names, listed, ends = (np.frombuffer(column, np.int64) for column in (self._names, self._listed, self._ends))
        rows = np.full(len(self._number), -1)
        rows[names[::-1]] = np.arange(len(names))[::-1]  # of two with one name, the first
        whose = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        others = rows[listed]
        unknown = np.flatnonzero(others < 0).tolist()
        texts = [*self._number] if unknown else []
        for k in unknown:
            i = int(whose[k])
            text = f"there is no buffer {quoted(texts[listed[k]])}"
            report.add(Code.UNKNOWN_BUFFER, ("buffers", i, "conflicts", k - int(ends[i - 1] if i else 0)), text)
        self._number.clear()
        return named_in_lists(self._gathered.all_ids(), whose[others >= 0], others[others >= 0])

    def all(self, more: Sequence[Buffer], report: Report) -> Sequence[Buffer]:
        """Return the buffers, and more of them behind them. No more can be added."""
        if self._data:
            rows = enumerate(self._gathered.rows())
            return (*(replace(buffer, data=self._data_of(i, report)) for i, buffer in rows), *more)
        for buffer in more:
            self._gathered.add(buffer)
        return self._gathered.all()

    def _data_of(self, i: int, report: Report) -> bytes | None:
        return read_data(self._data.get(i), ("buffers", i, "data"), report)

"""Sound JSON as Python objects; the long lists of a long document are loaded in pieces, at each iteration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ...checks.report import Place
from .pieces import PIECE, Path, Span, long_lists, pieces, require_room, shortened

LOADED = (100, 40)
"""The memory of Python objects: of a list or object, and of each entry."""


class LongList(list[Any]):
    """A list that is never in memory as a whole."""

    def __init__(self, data: bytes, span: Span, place: Place) -> None:
        super().__init__()
        self._data, self._span, self._place = data, span, place

    def __iter__(self) -> Iterator[Any]:
        for piece in pieces(self._data, self._span):
            text = self._data[piece.begin : piece.end]
            if piece.is_large:
                require_room(text, len(self._data), (*self._place, piece.first), LOADED)
            yield from json.loads(b"[" + text + b"]")

    def __len__(self) -> int:
        return sum(piece.children for piece in pieces(self._data, self._span))

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "a list"


def loaded(data: bytes, paths: Sequence[Path] = ()) -> Any:
    """Return the document with LongLists at these places. Raises BadInput if the rest would take more memory than a document of this length should."""
    lists = [*long_lists(data, paths)] if len(data) > PIECE else []
    rest = shortened(data, [span for _, span in lists])
    require_room(rest, len(data), (), LOADED)
    document = json.loads(rest)
    for path, span in lists:
        found = LongList(data, span, tuple(str(step) if step is None else step for step in path))
        if not path:
            return found
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = found
    return document

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

    def __init__(self, data: bytes, span: Span, place: Place, inner: Sequence[Path]) -> None:
        super().__init__()
        self._data, self._span, self._place, self._inner = data, span, place, inner

    def __iter__(self) -> Iterator[Any]:
        for piece in pieces(self._data, self._span):
            text = self._data[piece.begin : piece.end]
            if piece.is_large:
                yield _loaded(text, self._inner, len(self._data), (*self._place, piece.first))
            else:
                yield from json.loads(b"[" + text + b"]")

    def __len__(self) -> int:
        return sum(piece.children for piece in pieces(self._data, self._span))

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "a list"


def loaded(data: bytes, paths: Sequence[Path] = ()) -> Any:
    """Return the document with LongLists at these places, which may lie in each other.

    Raises BadInput if the rest would take more memory than a document of this length should.
    """
    return _loaded(data, paths, len(data), ())


def _loaded(data: bytes, paths: Sequence[Path], length: int, place: Place) -> Any:
    """Return the same of a part of a document of this length."""
    lists = [*long_lists(data, paths)] if len(data) > PIECE else []
    spans = {span for _, span in lists}
    rest = shortened(data, spans, emptied=spans)  # they are read when they are gone through
    require_room(rest, length, place, LOADED)
    document = json.loads(rest)
    for path, span in lists:
        begin = len(path) + 1
        inner = [other[begin:] for other in paths if len(other) > begin and (*path, None) == other[:begin]]
        found = LongList(data, span, (*place, *(str(step) if step is None else step for step in path)), inner)
        if not path:
            return found
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = found
    return document

"""Looks through a whole FlatBuffer, also at what no reader asks for, so that a file that breaks off is refused wherever it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from .flatbuffer import Table, damaged

TEXT = "text"
Kind: TypeAlias = "str | int | Schema | Many | Choice"
"""A field: a text, a vector of items of so many bytes, a table, a vector of tables, or a table of a kind that the field before says. Others, whose
size is in the table, are left out.
"""


class Schema:
    """The fields of a table, by their numbers: names and kinds."""

    def __init__(self, fields: Mapping[int, tuple[str, Kind]]) -> None:
        self.fields = fields


class Many(NamedTuple):
    """A vector of tables."""

    of: Schema


class Choice(NamedTuple):
    """One of several tables."""

    of: Mapping[int, Schema]


def require_whole(table: Table, schema: Schema) -> None:
    """Raise BadInput with the place if anything in the table, or in what it leads to, lies beyond the file."""
    for number, (name, kind) in schema.fields.items():
        if number >= table.fields:
            continue
        if isinstance(kind, int):
            table.span(number, name, kind)
        elif isinstance(kind, Many):
            for each in table.tables(number, name):
                require_whole(each, kind.of)
        elif isinstance(kind, str):
            _require_text(table, number, name)
        else:
            wanted = kind.of.get(table.byte(number - 1, name)) if isinstance(kind, Choice) else kind
            inner = None if wanted is None else table.table(number, name)
            if wanted is not None and inner is not None:
                require_whole(inner, wanted)


def _require_text(table: Table, number: int, name: str) -> None:
    """Require a text with the zero behind it."""
    start, count = table.span(number, name, 1)
    if start and start + count >= len(table.buffer.data):
        raise damaged((*table.place, name), start, "the file ends within a text")

"""JSON that people can read and programs can compare: short things on one line, long lists with one item on each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_encode_escaped = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode
_HALF_PAIR = re.compile("[\\ud800-\\udfff]")


def compact(value: Any) -> str:
    """One value on one line. Half surrogates, which UTF-8 cannot carry, stay escaped."""
    text = _encode(value)
    return text if text.isascii() or not _HALF_PAIR.search(text) else _encode_escaped(value)


ITEM = ",\n  "
"""Between items of a list."""


class Written(list[str]):
    """Items of a list that are JSON already; several may be one string, with ITEM between them."""


def document(fields: Mapping[str, Any], *, listed: Sequence[str]) -> bytes:
    """An object with one field a line, and the named fields' items on lines of their own."""
    pieces = ["{\n"]  # joined but once: the text may be long
    for name, value in fields.items():
        pieces.append(f" {compact(name)}: ")
        pieces.extend(_spread(value) if name in listed else [compact(value)])
        pieces.append(",\n")
    pieces[-1] = "\n}\n"
    return "".join(pieces).encode("utf-8")


def _spread(value: Any) -> Iterator[str]:
    """In pieces."""
    if isinstance(value, Mapping) and value:
        yield "{\n  " + ITEM.join(f"{compact(k)}: {compact(v)}" for k, v in value.items()) + "\n }"
    elif isinstance(value, list) and value:
        before = "[\n  "
        for item in value if isinstance(value, Written) else map(compact, value):
            yield before
            yield item
            before = ITEM
        yield "\n ]"
    else:
        yield compact(value)

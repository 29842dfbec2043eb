"""JSON that people can read and programs can compare: short things on one line, long lists with one item on each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
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
    parts = [
        f" {compact(name)}: {_spread(value) if name in listed else compact(value)}" for name, value in fields.items()
    ]
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode("utf-8")


def _spread(value: Any) -> str:
    if isinstance(value, Mapping) and value:
        return "{\n" + ",\n".join(f"  {compact(k)}: {compact(v)}" for k, v in value.items()) + "\n }"
    if isinstance(value, list) and value:
        items = value if isinstance(value, Written) else map(compact, value)
        return "[\n  " + ITEM.join(items) + "\n ]"
    return compact(value)

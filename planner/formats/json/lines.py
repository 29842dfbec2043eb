"""JSON for people and for comparison by programs: short things on one line, long lists with one item per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_encode_escaped = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode
_HALF_PAIR = re.compile("[\\ud800-\\udfff]")


def compact(value: Any) -> str:
    """Return one value on one line. Half surrogates, which UTF-8 cannot encode, stay escaped."""
    text = encode_basestring(value) if type(value) is str else _encode(value)
    return text if text.isascii() or not _HALF_PAIR.search(text) else _encode_escaped(value)


ITEM = ",\n  "
"""The separator of list items."""


class Written(list[str]):
    """Items of a list that are JSON already; one string may hold several, separated by ITEM."""


def document(fields: Mapping[str, Any], *, listed: Sequence[str]) -> bytes:
    """Return an object with one field per line, and the named fields' items on separate lines."""
    pieces = ["{\n"]  # joined only once: the text may be long
    for name, value in fields.items():
        pieces.append(f" {compact(name)}: ")
        pieces.extend(_spread(value) if name in listed else [compact(value)])
        pieces.append(",\n")
    pieces[-1] = "\n}\n"
    return "".join(pieces).encode("utf-8")


def _spread(value: Any) -> Iterator[str]:
    """Yield the text in pieces."""
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

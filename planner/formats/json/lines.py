"""JSON for people and for comparison by programs: short things on one line, long lists with one item per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from math import inf
from typing import Any

from ...checks.report import Place, bad_input
from ...model.errors import Code

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_encode_escaped = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode
_HALF_PAIR = re.compile("[\\ud800-\\udfff]")


def compact(value: Any, place: Place = ()) -> str:
    """Return one value on one line. Half surrogates, which UTF-8 cannot encode, stay escaped. Raises BadInput for numbers that JSON does not have."""
    try:
        text = encode_basestring(value) if type(value) is str else _encode(value)
    except ValueError:
        for where, number in _floats(value, place):
            if not abs(number) < inf:
                text = f"must be a finite number, since JSON has no others, not {number}"
                raise bad_input(Code.NOT_FINITE, where, text) from None
        raise
    return text if text.isascii() or not _HALF_PAIR.search(text) else _encode_escaped(value)


def _floats(value: Any, place: Place) -> Iterator[tuple[Place, float]]:
    """Yield every number that is none of integers, with its place."""
    if isinstance(value, float):
        yield place, value
    for step, part in (
        value.items() if isinstance(value, Mapping) else enumerate(value if isinstance(value, list | tuple) else ())
    ):
        yield from _floats(part, (*place, step))


ITEM = ",\n  "
"""The separator of list items."""


class Written(list[str]):
    """Items of a list that are JSON already; one string may hold several, separated by ITEM."""


def document(fields: Mapping[str, Any], *, listed: Sequence[str]) -> bytes:
    """Return an object with one field per line, and the named fields' items on separate lines."""
    pieces = ["{\n"]  # joined only once: the text may be long
    for name, value in fields.items():
        pieces.append(f" {compact(name)}: ")
        pieces.extend(_spread(value, (name,)) if name in listed else [compact(value, (name,))])
        pieces.append(",\n")
    pieces[-1] = "\n}\n"
    return "".join(pieces).encode("utf-8")


def _spread(value: Any, place: Place) -> Iterator[str]:
    """Yield the text in pieces."""
    if isinstance(value, Mapping) and value:
        yield "{\n  " + ITEM.join(f"{compact(k)}: {compact(v, (*place, k))}" for k, v in value.items()) + "\n }"
    elif isinstance(value, list) and value:
        before = "[\n  "
        for i, item in enumerate(value):
            yield before
            yield item if isinstance(value, Written) else compact(item, (*place, i))
            before = ITEM
        yield "\n ]"
    else:
        yield compact(value, place)

"""Types of columns that never fail to return a value: what is not of the declared type comes back as Damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, Dialect, Float, Integer, LargeBinary, String
from sqlalchemy.types import TypeDecorator, TypeEngine


class Damaged:
    """A value that is not what was written."""

    __slots__ = ("found",)

    def __init__(self, found: object) -> None:
        self.found = found
        """What there is instead, as far as it can be read."""

    def __repr__(self) -> str:
        return f"damaged: {self.found!r}"


class Checked(TypeDecorator[Any]):
    """A column whose values are of these types of Python. SQLite returns whatever a disk has made of them."""

    impl = String
    cache_ok = True

    def __init__(self, stored: TypeEngine[Any], *kinds: type) -> None:
        super().__init__()
        self.impl = stored  # type: ignore[assignment]
        self.stored, self.kinds = stored, kinds

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        decoded, kinds = super().result_processor(dialect, coltype), self.kinds

        def checked(value: Any) -> Any:
            if value is None:
                return None
            if bytes in kinds and not isinstance(value, (bytes, memoryview)):
                return Damaged(value)
            try:
                found = value if decoded is None else decoded(value)
            except (TypeError, ValueError):
                return Damaged(value)
            return found if isinstance(found, kinds) else Damaged(value)

        return checked


def text(length: int) -> Checked:
    return Checked(String(length), str)


WHOLE, LARGE_WHOLE = (Checked(each, int, Decimal) for each in (Integer(), BigInteger()))  # sums are Decimal
NUMBER = Checked(Float(), float)
FLAG = Checked(Boolean(), bool)
BYTES = Checked(LargeBinary(), bytes)
DOCUMENT = Checked(JSON(none_as_null=True), dict)


def utf8(data: bytes) -> str | Damaged:
    """Return text as a database has it."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return Damaged(data)


def document(data: bytes) -> Any:
    """Return a JSON document as a database has it."""
    try:
        return json.loads(data)
    except ValueError:
        return Damaged(data)

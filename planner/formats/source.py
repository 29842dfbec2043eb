"""Bytes that are to be read, and what a first look at them shows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .json.scan import Scanned


class Source:
    """Bytes that are to be read, the name of the file they come from, and what a first look at them shows."""

    def __init__(self, data: bytes, name: str | None = None) -> None:
        self.data = data
        self.name = name

    @cached_property
    def scanned(self) -> Scanned:
        """The first look at JSON. Raises BadInput unless it is sound."""
        from .json.scan import scan

        return scan(self.data)

    @property
    def top(self) -> dict[str, Any]:
        """The keys of a JSON document, if it is an object."""
        return self.scanned.top or {}

    @cached_property
    def may_be_json(self) -> bool:
        """True if the first character that counts opens an object or a list."""
        return self.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")

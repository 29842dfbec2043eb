"""What the ending of a file's name says of what is written into it: the same for every table of formats."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Protocol, TypeVar

from ...checks.report import bad_input, quoted
from ...model.errors import Code

JSON_ENDINGS = (".json",)


class _Row(Protocol):
    @property
    def endings(self) -> tuple[str, ...]: ...


Row = TypeVar("Row", bound=_Row)


def require_ending(file: str, endings: Iterable[str], instead: str | None = None) -> None:
    """Raise BadInput for a file with another ending; a name without one says nothing of what is in the file."""
    known = tuple(dict.fromkeys(endings))
    ending = PurePath(file).suffix
    if ending and not file.lower().endswith(known):
        text = f"the ending {quoted(ending)} does not say what is written, but {', '.join(known)} would"
        raise bad_input(Code.INVALID_OPTION, (), text if instead is None else f"{text}; {instead}")


def of_ending(file: str, rows: Iterable[Row], usual: Row, instead: str | None = None) -> Row:
    """Return the format of the file's ending, or the usual one for a name without an ending. Raises BadInput for other endings.

    The longest ending counts (`.trace.json` before `.json`); of formats with the same, the first in the table.
    """
    listed = [*rows]
    require_ending(file, [ending for row in listed for ending in row.endings], instead)
    fitting = [(len(end), row) for row in listed for end in row.endings if file.lower().endswith(end)]
    return max(fitting, key=lambda each: each[0])[1] if fitting else usual

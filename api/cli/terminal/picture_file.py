"""Picture files: what kind of picture a file's ending asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from planner.drawing import Sheet, Theme, pdf, png, require_typst
from planner.options.options import bad_option

from .output_file import STANDARD_OUTPUT, OutputFile


def _as_it_is(picture: bytes) -> bytes:
    return picture


DRAWN: dict[str, Callable[[bytes], bytes]] = {".svg": _as_it_is, ".png": png, ".pdf": pdf}
"""Ending -> what makes such a picture of an SVG."""
PAGE = ".html"
"""A page to zoom and search in."""


@dataclass(frozen=True, slots=True)
class PictureFile:
    """Where a picture goes, and as what."""

    file: OutputFile
    ending: str

    @classmethod
    def checked(cls, name: str, option: str, *inputs: str, pages: bool = False) -> PictureFile:
        """The file of that name. Raises BadInput if its ending says nothing, or it could not be drawn or written."""
        ending = ".svg" if name == STANDARD_OUTPUT else PurePath(name).suffix.lower()
        known = [*DRAWN, *([PAGE] if pages else [])]
        if ending not in known:
            raise bad_option(option, f"the file must end in {', '.join(known[:-1])} or {known[-1]}")
        if ending in (".png", ".pdf"):
            require_typst()
        file = OutputFile(name)
        if name != STANDARD_OUTPUT:
            file.check(*inputs)
        return cls(file, ending)

    @property
    def is_page(self) -> bool:
        return self.ending == PAGE

    def sheet(self, sheet: Sheet) -> Sheet:
        """What to draw on. Only a browser knows what its reader's system is like; elsewhere the theme is light unless it is said."""
        if self.ending == ".svg" or sheet.theme is not Theme.SYSTEM:
            return sheet
        return Sheet(sheet.width, Theme.LIGHT)

    def write(self, picture: bytes) -> None:
        """The SVG picture, as what the file is."""
        self.file.write(DRAWN[self.ending](picture))

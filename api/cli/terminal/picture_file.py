"""Picture files: the kind of picture by the file's ending."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from planner.planning.options.options import bad_option

from .output_file import OutputFile
from .standard_output import STANDARD_OUTPUT

if TYPE_CHECKING:
    from planner.drawing import Sheet

SVG, PNG, PDF, PAGE = ".svg", ".png", ".pdf", ".html"


@dataclass(frozen=True, slots=True)
class PictureFile:
    """The file of a picture, and its kind."""

    file: OutputFile
    ending: str
    """`.svg`, `.png`, `.pdf`, or `.html`: a page to zoom and search in."""

    @classmethod
    def checked(cls, name: str, option: str, *inputs: str, pages: bool = False) -> PictureFile:
        """Return the file of that name. Raises BadInput for an unknown ending, or if it could not be drawn or written."""
        ending = SVG if name == STANDARD_OUTPUT else PurePath(name).suffix.lower()
        known = [SVG, PNG, PDF, *([PAGE] if pages else [])]
        if ending not in known:
            raise bad_option(option, f"the file must end in {', '.join(known[:-1])} or {known[-1]}")
        if ending in (PNG, PDF):
            from planner.drawing import require_typst

            require_typst()
        file = OutputFile(name)
        if name != STANDARD_OUTPUT:
            file.check(*inputs)
        return cls(file, ending)

    @property
    def is_page(self) -> bool:
        return self.ending == PAGE

    def sheet(self, sheet: Sheet) -> Sheet:
        """Return the sheet to draw on. Only a browser knows its reader's system; elsewhere the theme is light by default."""
        from planner.drawing import Sheet, Theme

        if self.ending == SVG or sheet.theme is not Theme.SYSTEM:
            return sheet
        return Sheet(sheet.width, Theme.LIGHT)

    def write(self, picture: bytes) -> None:
        """Write the SVG picture in the file's kind."""
        from planner.drawing import pdf, png

        self.file.write({PNG: png, PDF: pdf}[self.ending](picture) if self.ending != SVG else picture)

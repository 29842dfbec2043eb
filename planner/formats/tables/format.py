"""The description of a format of problems, and its media types."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ...model.errors import BadInput
from ..documents import Source
from .settings import ALIGNMENT, NOTHING, Setting

if TYPE_CHECKING:
    from ...graph.problem import ProgramFile
    from ...model.problem import Problem
    from ...planning.shapes.shaped import ShapedProblem
    from ..contents import Contents

JSON = "application/json"
CSV = "text/csv"
SVG = "image/svg+xml"
BYTES = "application/octet-stream"
"""Does not determine the format, so no format owns it."""
LINES = "application/jsonl"
LOG = "text/x-log"
TEXT = "text/plain"
"""Only tells that it is text, so no format owns it either."""
LARGEST = "sizes that depend on symbols are at their largest; `memplan shapes` plans them otherwise"


class Memory(NamedTuple):
    """Bytes of memory for each byte of a long file; docs/other-formats.md shows them, and a test enforces them."""

    read: int
    cut_off: int
    """For a file that is refused because its end is missing."""
    besides: int = 8
    """MiB in addition, for a file of any length."""


class Format(NamedTuple):
    """One way to write a problem."""

    name: str
    title: str
    """In a few words, for help and lists."""
    endings: tuple[str, ...]
    media_types: tuple[str, ...]
    """Its media types, the usual one first."""
    recognises: Callable[[Source], bool]
    """True if the content is in this format, and in no other."""
    reader: str
    """module:function, from a Source to the Problem, or ShapedProblem, and warnings; imported on first use."""
    example: str
    """A small document: for the HTTP interface's description, and for the tests. Base64 if it is binary."""
    memory: Memory
    """The most memory that reading takes."""
    writer: str | None = None
    """module:function, from a Problem to bytes."""
    is_text: bool = True
    settings: tuple[Setting, ...] = ()
    contents: str | None = None
    """module:function, from a Source to the Contents of a program."""
    program: str | None = None
    """module:function, from a Source to a ProgramFile and warnings, if such files are programs. It and the reader see to the setting `alignment`."""
    program_writer: str | None = None
    """module:function, from a program, its memories and options to bytes."""
    arguments: Mapping[str, Any] = NOTHING
    """The given settings."""

    @property
    def document(self) -> bytes:
        """Return the example as in a file."""
        return self.example.encode() if self.is_text else b64decode(self.example)

    @property
    def is_json(self) -> bool:
        return JSON in self.media_types

    @property
    def is_program(self) -> bool:
        """True if files of this format are programs, of which `program` reads the functions and operators."""
        return self.program is not None

    def fits(self, media_type: str) -> bool:
        """True if it may be sent with that media type."""
        return media_type in self.media_types or media_type == BYTES or (self.is_text and media_type == TEXT)

    def read(self, source: Source) -> tuple[Problem, tuple[str, ...]]:
        """Return the Problem and warnings; sizes that depend on symbols are at their largest. Raises BadInput."""
        from ...model.problem import Problem

        found, warnings = self.read_with_symbols(source)
        return (found, warnings) if isinstance(found, Problem) else (found.largest, (LARGEST, *warnings))

    def read_with_symbols(self, source: Source) -> tuple[Problem | ShapedProblem, tuple[str, ...]]:
        """Return the same with sizes as written."""
        if self.program is not None:
            problem, warnings = self._read_by(self.reader, source, self.arguments)
            return problem, warnings
        for_reader = {name: value for name, value in self.arguments.items() if name != ALIGNMENT.name}
        problem, warnings = self._read_by(self.reader, source, for_reader)
        alignment = self.arguments.get(ALIGNMENT.name)
        return (problem if alignment is None else _aligned(problem, alignment)), warnings

    def read_program(self, source: Source) -> tuple[ProgramFile, tuple[str, ...]]:
        """Return the program, its memories and options, and warnings. Raises BadInput, also if files of this format are no programs."""
        if self.program is None:
            raise found("planner.formats.tables.problems:no_program")(self)
        file, warnings = self._read_by(self.program, source, self.arguments)
        return file, warnings

    def _read_by(self, reader: str, source: Source, arguments: Mapping[str, Any]) -> tuple[Any, tuple[str, ...]]:
        try:
            made: tuple[Any, tuple[str, ...]] = found(reader)(source, **arguments)
        except BadInput:
            if not self.is_json and source.name is not None and source.name.lower().endswith(self.endings):
                found("planner.formats.tables.problems:require_no_other")(self, source)
            raise
        return made

    def contained(self, source: Source) -> Contents | None:
        """Return the contents besides the problem; None if there are none. Raises BadInput."""
        made: Contents | None = None if self.contents is None else found(self.contents)(source, **self.arguments)
        return made

    def write(self, problem: Problem) -> bytes:
        """Return the problem in this format, which must have a writer. Raises BadInput for what the format cannot express."""
        assert self.writer is not None, f"{self.name} is read only"
        written: bytes = found(self.writer)(problem)
        return written

    def write_program(self, file: ProgramFile) -> bytes:
        """Return the program in this format, which must have a writer of programs."""
        assert self.program_writer is not None, f"{self.name} writes no programs"
        written: bytes = found(self.program_writer)(*file)
        return written


def _aligned(found: Problem | ShapedProblem, alignment: int) -> Problem | ShapedProblem:
    """Return the problem with memories of this alignment."""
    from ...checks import sound_as_read
    from ...facts.colocation import aligned
    from ...model.problem import Problem

    if isinstance(found, Problem):
        return sound_as_read(aligned(found, alignment))
    return replace(found, largest=sound_as_read(aligned(found.largest, alignment)))


def found(path: str) -> Callable[..., Any]:
    """Return the function at module:function."""
    module, _, name = path.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function

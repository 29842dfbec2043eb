"""Output files: checked before the work, then written whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from planner.model.errors import MAX_FINDINGS, BadAnswer, BadInput, Code, Finding, PlannerError

from ..exit_codes import ExitCode
from .standard_output import escaped

_FILES = frozenset({".json", ".jsonl", ".csv", ".svg", ".png", ".pdf", ".html", ".h", ".tflite", ".onnx"})
"""Endings that no folder is given on purpose."""


class OutputFile:
    """A file that will be written later. An existing one is replaced in one step, so half a file is never seen."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = Path(name)
        if not self._is_special():  # /dev/stdout leads to what has no path: a pipe
            # a symbolic link is followed: its target is replaced, not the link
            self._path = Path(os.path.realpath(name))

    def check(self, *inputs: str) -> None:
        """Raise BadInput if writing could not work, before hours of solving."""
        try:
            self._check(inputs)
        except (OSError, ValueError) as error:
            raise self._refused(error) from error

    def write(self, data: bytes) -> None:
        """Write the data. Raises BadInput if the disk is full, or the folder is gone by now. If it is a pipe whose reader left, the command ends."""
        self.write_pieces((data,))

    def write_pieces(self, pieces: Iterable[bytes]) -> None:
        """Write data that is made meanwhile."""
        try:
            if self._is_special():
                with self._path.open("wb") as stream:
                    stream.writelines((escaped(b"".join(pieces)),) if stream.isatty() else pieces)
            else:
                self._replace(pieces)
        except BrokenPipeError:
            raise typer.Exit(ExitCode.READER_GONE) from None
        except OSError as error:
            raise self._refused(error) from error

    def beside(self, ending: str) -> OutputFile | None:
        """Return the file of this name with a further ending; None if there is one already, or this is no file itself."""
        other = OutputFile(f"{self.name}{ending}")
        return None if self._is_special() or os.path.lexists(other.name) else other

    def _check(self, inputs: tuple[str, ...]) -> None:
        with suppress(FileNotFoundError):
            self._path.stat()  # a name that no file can have: too long, or a link to itself
        if self._path.is_dir():
            raise IsADirectoryError("it is a directory")
        if any(self._is(other) for other in inputs):
            raise ValueError("it is the input")
        if self._path.exists() and not os.access(self._path, os.W_OK):
            raise PermissionError("it is write-protected")
        if self._is_special():
            return
        if not self._path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self._path.parent}")
        handle, probe = self._temporary()
        os.close(handle)
        probe.unlink()

    def _is_special(self) -> bool:
        """True for devices and named pipes, which are written to directly; a rename would put a file in the place of /dev/null."""
        with suppress(OSError, ValueError):  # a name that no file can have, of which the check tells
            return self._path.exists() and not self._path.is_file()
        return False

    def _is(self, other: str) -> bool:
        try:
            return self._path.samefile(other)
        except (OSError, ValueError):
            return False

    def _temporary(self) -> tuple[int, Path]:
        handle, name = tempfile.mkstemp(prefix=".memplan-", suffix=".tmp", dir=self._path.parent)
        return handle, Path(name)

    def _replace(self, pieces: Iterable[bytes]) -> None:
        handle, temporary = self._temporary()
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.writelines(pieces)
                stream.flush()
                os.fchmod(stream.fileno(), self._mode())
                os.fsync(stream.fileno())
            temporary.replace(self._path)
        except BaseException:
            temporary.unlink()
            raise

    def _mode(self) -> int:
        """Return the permissions of the replaced file, or those of a new file."""
        try:
            return stat.S_IMODE(self._path.stat().st_mode)
        except FileNotFoundError:
            mask = os.umask(0)
            os.umask(mask)
            return 0o666 & ~mask

    def _refused(self, error: OSError | ValueError) -> BadInput:
        return unwritable(f"cannot write {self.name}: {reason(error)}")


@contextmanager
def kept(document: Callable[[], bytes], output: OutputFile | None) -> Iterator[None]:
    """If the block cannot write an answer as it was asked for, keep it as JSON, and say where beside the reasons."""
    try:
        yield
    except PlannerError as error:
        file = _keep(document(), output)
        if file is None:
            raise
        text = f"what was found is not lost: it is in {file} as JSON, of which `memplan write` makes other files"
        reasons = error.findings[: MAX_FINDINGS - 1]
        more = error.more + len(error.findings) - len(reasons)
        kind = BadAnswer if isinstance(error, BadAnswer) else BadInput
        raise kind(*reasons, Finding(Code.UNWRITABLE, "", text), more=more) from error


def _keep(document: bytes, output: OutputFile | None) -> str | None:
    """Write a new file: the output's name and .json, or, if that is there or cannot be written, a temporary one; return its name, None if neither can be."""
    with suppress(BadInput, OSError):
        beside = None if output is None else output.beside(".json")
        if beside is not None:
            beside.write(document)
            return beside.name
    with suppress(BadInput, OSError):
        temporary = OutputFile(str(Path(tempfile.mkdtemp(prefix="memplan-"), "answer.json")))
        temporary.write(document)
        return temporary.name
    return None


def make_folder(name: str, option: str = "") -> Path:
    """Return the folder, which is made if it is missing. `option`: the pointer to it. Raises BadInput."""
    path = Path(name)
    if path.suffix.lower() in _FILES and not path.exists():
        raise BadInput(Finding(Code.INVALID_OPTION, option, f"{name} is named like a file, and a folder is meant"))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(f"cannot make the folder {name}: {reason(error)}", option) from error
    return path


def unwritable(text: str, option: str = "") -> BadInput:
    return BadInput(Finding(Code.UNWRITABLE, option, text))


def reason(error: OSError | ValueError) -> str:
    """Return the system's reason, without number and path, which are given elsewhere."""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno).lower()
    return str(error)

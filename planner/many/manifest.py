"""memplan-manifest/1: the result for each problem, a line of JSON each, with the settings in the first line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, get_type_hints

from ..formats.json.pieces import MAX_DEPTH, deepest
from ..model.errors import BadInput, Code, Finding
from ..model.versions import MEMPLAN
from ..planning.options.options import Options
from .lines_file import LinesFile

FORMAT = "memplan-manifest/1"
FILE_NAME = "manifest.jsonl"
LARGEST = 1 << 63
"""No number in a manifest reaches it."""


def plan_name(file: str) -> str:
    """Return where in the folder the plan of the file of this name is."""
    return f"{file}.plan.json"


class EntryStatus(StrEnum):
    """The result for a problem."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"
    """No plan was found in time."""
    REFUSED = "refused"
    """It is not a problem, or not one for that solver."""
    FAILED = "failed"
    """The process that planned it died or did not end."""

    @property
    def has_plan(self) -> bool:
        return self in (EntryStatus.OPTIMAL, EntryStatus.FEASIBLE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One problem."""

    file: str
    sha256: str
    """The file's."""
    status: EntryStatus
    digest: str | None = None
    """The problem's: equal for every way of writing it down."""
    plan: str | None = None
    """The plan's file in the folder."""
    plan_sha256: str | None = None
    source: str | None = None
    """The plan's origin: `solved`, `same` (as another file's problem), `baseline`, or `store`."""
    stop: str | None = None
    peak: int | None = None
    bound: int | None = None
    buffers: int | None = None
    seconds: float | None = None
    moved: int | None = None
    """The number of buffers that moved since the baseline's plan of the file."""
    moved_bytes: int | None = None
    peak_before: int | None = None
    """The peak of that plan."""
    reason: str | None = None
    """Why there is no plan."""

    def line(self) -> str:
        fields = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps({**fields, "status": str(self.status)}, ensure_ascii=False, allow_nan=False)

    @classmethod
    def of_line(cls, line: str) -> Entry | None:
        """Return the entry in a line; None if it is damaged."""
        try:
            content = _document(line)
            entry = cls(**{**content, "status": EntryStatus(content["status"])})
        except (ValueError, TypeError, KeyError):
            return None
        return entry if entry._is_sound() else None

    def _is_sound(self) -> bool:
        """True if every value is of its field's type, and there is a plan exactly if the status says so."""
        if not all(_is_of_type(getattr(self, name), kind) for name, kind in KINDS.items()):
            return False
        wanted = plan_name(self.file) if self.status.has_plan else None
        return self.plan == wanted and (self.plan_sha256 is None) == (wanted is None)


KINDS = get_type_hints(Entry)
"""The type of each field."""


def _is_of_type(value: object, kind: Any) -> bool:
    """True for a value of the type, and for numbers only if they can be added up and written again."""
    if not isinstance(value, (int, float)):
        return isinstance(value, kind)
    is_one = not isinstance(value, bool) and abs(value) < LARGEST
    return is_one and (isinstance(value, kind) or isinstance(float(value), kind))


def _document(line: str) -> dict[str, Any]:
    """Return the object in a line. Raises ValueError."""
    try:
        content = json.loads(line)
    except RecursionError:
        content = None
    if not isinstance(content, dict):
        raise ValueError("it is no object that can be read")
    return content


class Manifest:
    """The manifest in a folder. Nothing of it is known before it is read or begun."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings: Mapping[str, Any] = {}
        self.entries: dict[str, Entry] = {}
        self._file = LinesFile(folder / FILE_NAME)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Return what exists. Raises BadInput."""
        manifest = cls(folder)
        manifest._take(manifest._file.read())
        return manifest

    def _take(self, lines: Sequence[str]) -> None:
        """Take the contents from these lines. A damaged one is ignored, so that its file is planned again. Raises BadInput."""
        if lines:
            self.settings = self._settings_in(lines[0])
        found = [entry for line in lines[1:] if (entry := Entry.of_line(line)) is not None]
        self.entries = {entry.file: entry for entry in found}

    def _settings_in(self, line: str) -> Mapping[str, Any]:
        """Return the settings in the first line. Raises BadInput."""
        try:
            content = _document(line)
            settings = content["settings"]
            is_flat = deepest(line.encode(errors="replace")) <= MAX_DEPTH
            if content["format"] == FORMAT and isinstance(settings, dict) and is_flat:
                return settings
        except (ValueError, KeyError):
            pass
        raise self._file.refused(f"line 1 is none of {FORMAT}; name another folder, or say --anew")

    def begin(self, settings: Mapping[str, Any], *, anew: bool) -> None:
        """Continue or begin it; from then on no other run can. Raises BadInput if it has other settings, OSError if it cannot be written."""
        lines = self._file.open()
        if not anew:
            self._take(lines)
        if anew or not self.settings:
            self.entries.clear()
            self._file.clear()
            self.settings = settings
            self._file.append(json.dumps({"format": FORMAT, "settings": settings}))
        elif self.settings != settings:
            other = sorted(
                name for name in {*self.settings, *settings} if self.settings.get(name) != settings.get(name)
            )
            what = ", ".join(_setting(name, self.settings) for name in other)
            message = f"{self.folder} holds plans made with {what}; name another folder, or say --anew"
            raise BadInput(Finding(Code.INVALID_OPTION, "/options/out", message))

    def add(self, entry: Entry) -> None:
        """Record a problem's result. Raises OSError."""
        self.entries[entry.file] = entry
        self._file.append(entry.line())

    def close(self) -> None:
        self._file.close()

    def plan_of(self, entry: Entry) -> bytes | None:
        """Return an entry's plan; None if it is missing or incomplete."""
        if entry.plan is None:
            return None
        try:
            data = (self.folder / entry.plan).read_bytes()
        except (OSError, ValueError):  # no file can have that name
            return None
        return data if hashlib.sha256(data).hexdigest() == entry.plan_sha256 else None

    def is_done(self, name: str, sha256: str) -> bool:
        """True if the file was planned in its present form and the plan exists."""
        entry = self.entries.get(name)
        if entry is None or entry.sha256 != sha256 or entry.status is EntryStatus.FAILED:
            return False
        return entry.plan is None or self.plan_of(entry) is not None


def settings_of(options: Options) -> dict[str, Any]:
    """Return what decides a plan: memplan's version, and the options that are not at their defaults."""
    given = {name: value for name, value in asdict(options).items() if value != getattr(Options(), name)}
    return {"memplan": MEMPLAN, **json.loads(json.dumps(given, default=str))}


def _setting(name: str, settings: Mapping[str, Any]) -> str:
    """Return a setting in words; one that is not there is at its default."""
    if name in settings:
        return f"{name} {json.dumps(settings[name])}"
    default = getattr(Options(), name, None)
    return f"no {name}" if default is None else f"{name} {json.dumps(default, default=str)} (the default)"

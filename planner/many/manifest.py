"""memplan-manifest/1: the result for each problem, a line of JSON each, with the settings in the first line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ..model.errors import BadInput, Code, Finding
from ..model.versions import MEMPLAN
from ..planning.options.options import Options
from .lines_file import LinesFile

FORMAT = "memplan-manifest/1"
FILE_NAME = "manifest.jsonl"


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


class Manifest:
    """The manifest in a folder."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], entries: dict[str, Entry], file: LinesFile) -> None:
        self.folder, self.settings, self.entries, self._file = folder, settings, entries, file

    @classmethod
    def read(cls, folder: Path, *, anew: bool = False) -> Manifest:
        """Return what exists, unless everything is made anew. A damaged line is ignored, so that its file is planned again. Raises BadInput."""
        file = LinesFile(folder / FILE_NAME)
        lines = [] if anew else file.read()
        settings: Mapping[str, Any] = {}
        entries: dict[str, Entry] = {}
        for number, line in enumerate(lines, 1):
            try:
                content = json.loads(line)
                if number == 1:
                    if content["format"] != FORMAT:
                        raise ValueError
                    settings = content["settings"]
                    continue
                entries[content["file"]] = Entry(**{**content, "status": EntryStatus(content["status"])})
            except (ValueError, TypeError, KeyError) as error:
                if number == 1:
                    raise file.refused(f"line 1 is none of {FORMAT}; name another folder, or say --anew") from error
        return cls(folder, settings, entries, file)

    def begin(self, settings: Mapping[str, Any], *, anew: bool) -> None:
        """Continue or begin it. Raises BadInput if it has other settings, OSError if it cannot be written."""
        self._file.open()
        if anew or not self.settings:
            self.entries.clear()
            self._file.close()
            self._file.path.write_bytes(b"")
            self._file.open()
            self.settings = settings
            self._file.append(json.dumps({"format": FORMAT, "settings": settings}))
        elif self.settings != settings:
            other = sorted(
                name for name in {*self.settings, *settings} if self.settings.get(name) != settings.get(name)
            )
            what = ", ".join(f"{name} {json.dumps(self.settings.get(name))}" for name in other)
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
        except OSError:
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

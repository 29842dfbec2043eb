"""memplan-manifest/1: what became of each problem, a line of JSON each, and how all were planned in the first."""

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
    """What became of a problem."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"
    """No plan was found in time."""
    REFUSED = "refused"
    """It is no problem, or none for that solver."""
    FAILED = "failed"
    """The process that planned it ended, or would not."""

    @property
    def has_plan(self) -> bool:
        return self in (EntryStatus.OPTIMAL, EntryStatus.FEASIBLE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One problem."""

    file: str
    sha256: str
    """Of the file."""
    status: EntryStatus
    digest: str | None = None
    """Of the problem: equal for every way of writing it down."""
    plan: str | None = None
    """The plan's file in the folder."""
    plan_sha256: str | None = None
    source: str | None = None
    """What the plan is of: `solved`, `same` (as another file's problem), `baseline`, or `store`."""
    stop: str | None = None
    peak: int | None = None
    bound: int | None = None
    buffers: int | None = None
    seconds: float | None = None
    moved: int | None = None
    """Buffers that are not where the baseline's plan of the file had them."""
    moved_bytes: int | None = None
    peak_before: int | None = None
    """Of that plan."""
    reason: str | None = None
    """Why there is no plan."""

    def line(self) -> str:
        fields = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps({**fields, "status": str(self.status)}, ensure_ascii=False, allow_nan=False)


class Manifest:
    """The manifest in a folder."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], entries: dict[str, Entry], file: LinesFile) -> None:
        self.folder, self.settings, self.entries, self._file = folder, settings, entries, file
        self._is_new = not file.path.exists()

    @classmethod
    def read(cls, folder: Path, *, anew: bool = False) -> Manifest:
        """What is there already, unless all is made anew: a damaged line counts for nothing, so that its file is planned again. Raises BadInput."""
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
        """Go on with it, or begin it. Raises BadInput where it was made otherwise, OSError where it cannot be written."""
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
        """Note what became of a problem. Raises OSError."""
        self.entries[entry.file] = entry
        self._file.append(entry.line())

    def close(self) -> None:
        self._file.close()

    def plan_of(self, entry: Entry) -> bytes | None:
        """The plan that an entry tells of; None if it is not there, or not whole."""
        if entry.plan is None:
            return None
        try:
            data = (self.folder / entry.plan).read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == entry.plan_sha256 else None

    def is_done(self, name: str, sha256: str) -> bool:
        """Whether the file was planned as it is now, and the plan is there."""
        entry = self.entries.get(name)
        if entry is None or entry.sha256 != sha256 or entry.status is EntryStatus.FAILED:
            return False
        return entry.plan is None or self.plan_of(entry) is not None


def settings_of(options: Options) -> dict[str, Any]:
    """What decides a plan: memplan's version, and the options that are not left to themselves."""
    given = {name: value for name, value in asdict(options).items() if value != getattr(Options(), name)}
    return {"memplan": MEMPLAN, **json.loads(json.dumps(given, default=str))}

"""Reads as much of the Dockerfile as the tests need."""

from __future__ import annotations

import fnmatch
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction: its name, its flags such as --from, and the rest."""

    name: str
    flags: dict[str, str]
    rest: str

    @property
    def words(self) -> list[str]:
        """The words after the instruction, written as JSON or with spaces."""
        return [str(word) for word in json.loads(self.rest)] if self.rest.startswith("[") else self.rest.split()


@dataclass(slots=True)
class Stage:
    """The instructions between one FROM and the next."""

    image: str
    name: str | None
    steps: list[Step] = field(default_factory=list)

    def of(self, name: str) -> list[Step]:
        """Return the instructions of one kind."""
        return [step for step in self.steps if step.name == name]

    def only(self, name: str) -> Step:
        """Return the only instruction of this kind."""
        (step,) = self.of(name)
        return step

    @property
    def environment(self) -> dict[str, str]:
        """The variables that ENV sets."""
        pairs = (re.fullmatch(r'(\w+)="?(.*?)"?', word) for step in self.of("ENV") for word in step.words)
        return {pair[1]: pair[2] for pair in pairs if pair is not None}


def read_dockerfile() -> list[Stage]:
    """Return the stages of the Dockerfile, in order."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    stages: list[Stage] = []
    for line in (line.strip() for line in text.splitlines()):
        if not line or line.startswith("#"):
            continue
        name, _, rest = line.partition(" ")
        flags = {}
        while match := re.match(r"--([\w-]+)=(\S+)\s+", rest):
            flags[match[1]] = match[2]
            rest = rest[match.end() :]
        if name == "FROM":
            image, _, alias = rest.partition(" AS ")
            stages.append(Stage(image, alias or None))
        else:
            stages[-1].steps.append(Step(name, flags, rest.strip()))
    return stages


def copied_from_here(stage: Stage) -> list[str]:
    """Return the paths that a stage copies from the source tree."""
    return [source for step in stage.of("COPY") if "from" not in step.flags for source in step.words[:-1]]


def is_sent(path: str) -> bool:
    """Return whether .dockerignore lets a file or folder of the source tree through."""
    sent = True
    for rule in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if not rule or rule.startswith("#"):
            continue
        pattern = rule.removeprefix("!").rstrip("/")
        below = pattern.removeprefix("**/")
        hit = path == pattern or path.startswith(f"{pattern}/") or fnmatch.fnmatch(path, pattern)
        if pattern.startswith("**/"):
            hit = any(fnmatch.fnmatch(part, below) for part in path.split("/"))
        if hit:
            sent = rule.startswith("!")
    return sent

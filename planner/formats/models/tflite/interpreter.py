"""Runs TFLite Micro's own interpreter on a model, to learn how much of its arena it uses, and its outputs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ....model.errors import CannotSolve, Code, Finding
from .interpreter_process import END

SCRIPT = Path(__file__).with_name("interpreter_process.py")
INSTALL = "TFLite Micro's interpreter is not installed: pip install 'memplan[tflm]'"
_LINE = re.compile(r"Arena allocation (total|head|tail) (\d+) bytes")
_PART = re.compile(r"'([^']+)' used (\d+) bytes")
MOST_SAID = 400
"""The most characters of its message about a refused model."""


@dataclass(frozen=True, slots=True)
class MicroRun:
    """The interpreter's findings."""

    head: int | None = None
    """Bytes of the arena for tensors and scratch memory; None: it refuses the model."""
    tail: int | None = None
    parts: tuple[tuple[str, int], ...] = ()
    """The parts of the tail that it distinguishes."""
    outputs: tuple[tuple[str, ...], ...] = ()
    """A digest of every output of every run; inputs are equal for models with the same inputs."""
    refusal: str | None = None
    """Why it refuses the model."""


def is_installed() -> bool:
    return find_spec("tflite_micro") is not None


def run_micro(models: Sequence[bytes], arena: int, seconds: float | None = None) -> list[MicroRun]:
    """Run the models in a separate process, so that nothing in them can harm this one. Raises CannotSolve if there is no interpreter."""
    if not is_installed():
        raise CannotSolve(Finding(Code.UNAVAILABLE, "", INSTALL))
    command = [sys.executable, "-I", str(SCRIPT), str(arena), *(str(len(data)) for data in models)]
    try:
        done = subprocess.run(command, input=b"".join(models), capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return [MicroRun(refusal=f"it did not end within {seconds:g} seconds")] * len(models)
    outputs = done.stderr.decode("utf-8", "replace").split(END)
    if done.returncode != 0:
        return [MicroRun(refusal=f"it ended with code {done.returncode}: {_last(outputs[-1])}")] * len(models)
    return [_understood(answer, text) for answer, text in zip(json.loads(done.stdout), outputs, strict=False)]


def _understood(answer: dict[str, Any], output: str) -> MicroRun:
    if "error" in answer:
        return MicroRun(refusal=f"{answer['error']}: {_last(output)}")
    sizes = {name: int(size) for name, size in _LINE.findall(output)}
    parts = tuple((name, int(size)) for name, size in _PART.findall(output))
    return MicroRun(sizes["head"], sizes["tail"], parts, tuple(map(tuple, answer["outputs"])))


def _last(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return " ".join(lines)[-MOST_SAID:]

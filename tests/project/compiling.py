"""Builds that take what has been compiled or downloaded before from where scripts/setup.sh keeps it, too."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILED = Path(os.environ.get("MEMPLAN_COMPILED") or ROOT / ".compiled")
LAUNCHER = ROOT / "scripts" / "steps" / "compile_once.py"


def compiling_once(python: str = sys.executable, launcher: Path = LAUNCHER, kept: Path = COMPILED) -> dict[str, str]:
    """The variables with which a build compiles only what nobody has compiled before."""
    return {"CMAKE_CXX_COMPILER_LAUNCHER": f"{python};{launcher}", "MEMPLAN_COMPILED": str(kept)}

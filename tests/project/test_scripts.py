"""What the scripts name is there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [
    ROOT / ".ci/run",
    *(path for path in (ROOT / "scripts").iterdir() if path.suffix in ("", ".sh") and path.is_file()),
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_path_among_the_tests_that_it_names_exists(script: Path) -> None:
    named = set(
        re.findall(
            r"(?<![\w./])tests/[\w{][\w./{},-]*", re.sub(r"^\s*#.*", "", script.read_text("utf-8"), flags=re.MULTILINE)
        )
    )
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_of_what_was_made_within_a_package_nothing_is_compiled(tmp_path: Path) -> None:
    """A source distribution holds the site, and would hold that too."""
    (called,) = re.findall(r'"\$python" (-m compileall .*)\)', (ROOT / "scripts/steps/setup.sh").read_text("utf-8"))
    for folder in ("api/site/examples", "api/routes", "memplan", "planner", "solvers"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "module.py").write_text("", "utf-8")
    subprocess.run([sys.executable, *shlex.split(called)], cwd=tmp_path, check=True)
    found = {path.parents[1].relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.pyc")}
    assert found == {"api/routes", "memplan", "planner", "solvers"}

"""The files that the scripts name exist, and the set-up compiles and chooses what it should."""

from __future__ import annotations

import os
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
def test_every_named_path_of_tests_exists(script: Path) -> None:
    named = set(
        re.findall(
            r"(?<![\w./])tests/[\w{][\w./{},-]*", re.sub(r"^\s*#.*", "", script.read_text("utf-8"), flags=re.MULTILINE)
        )
    )
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_tests_for_the_newest_python_exist() -> None:
    (named,) = re.findall(r"depends=\(.*?\n    \)\n", (ROOT / ".ci" / "run").read_text("utf-8"), flags=re.DOTALL)
    printed = subprocess.run(
        ["bash", "-c", f'{named}printf "%s\\n" "${{depends[@]}}"'], capture_output=True, text=True, check=True
    )
    paths = printed.stdout.split()
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / "tests" / path).exists()] == []


def test_generated_files_within_a_package_are_not_compiled(tmp_path: Path) -> None:
    """A source distribution contains the site, and would also contain files compiled in it."""
    (called,) = re.findall(r'"\$python" (-m compileall .*)\)', (ROOT / "scripts/steps/setup.sh").read_text("utf-8"))
    for folder in ("api/site/examples", "api/routes", "memplan", "planner", "solvers"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "module.py").write_text("", "utf-8")
    subprocess.run([sys.executable, *shlex.split(called)], cwd=tmp_path, check=True)
    found = {path.parents[1].relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.pyc")}
    assert found == {"api/routes", "memplan", "planner", "solvers"}


@pytest.mark.parametrize(
    ("found", "oldest", "newest"),
    [
        (["12 0 0.001 /new", "11 0 0.004 /slow", "11 0 0.0028 /a fast one"], "/a fast one", "/new"),
        (["11 0 0.0030 /first", "11 0 0.0026 /hardly faster"], "/first", "/first"),
        (["11 1 0.002 /without headers", "11 0 0.004 /whole"], "/whole", "/whole"),
        (["11 2 0.002 /makes no environments", "12 1 0.004 /without headers"], "/without headers", "/without headers"),
    ],
)
def test_the_clearly_faster_interpreter_of_a_version_is_taken(found: list[str], oldest: str, newest: str) -> None:
    for function, taken in (("choose_python", oldest), ("newest_python", newest)):
        code = f"source scripts/steps/setup.sh; list_pythons() {{ cat; }}; {function}"
        env = {name: value for name, value in os.environ.items() if name != "MEMPLAN_PYTHON"}
        lines = "".join(f"{line}\n" for line in found).encode()
        done = subprocess.run(["bash", "-c", code], cwd=ROOT, env=env, input=lines, capture_output=True, check=True)
        assert done.stdout.decode() == f"{taken}\n"

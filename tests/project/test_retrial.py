"""In CI, tests that fail beside others run once more, alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.retrial import MOST

ROOT = Path(__file__).resolve().parents[2]

SUITE = """
import pathlib, pytest

@pytest.mark.parametrize("i", range({flaky}))
def test_flaky(i):
    seen = pathlib.Path(__file__).with_name(f"seen{{i}}")
    before = seen.exists()
    seen.touch()
    assert before

@pytest.mark.parametrize("i", range({broken}))
def test_broken(i):
    assert False
"""


def run(folder: Path, *, flaky: int, broken: int = 0, ci: bool = True) -> tuple[int, list[str]]:
    """Run a small suite; return its exit code, and the tests that it names as failed once."""
    (folder / "test_it.py").write_text(SUITE.format(flaky=flaky, broken=broken), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    quick = ["-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:hypothesispytest"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.running.retrial", *quick],
        cwd=folder,
        env={"CI": "true" if ci else "", "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, [line.split(": ")[1] for line in done.stdout.splitlines() if line.startswith("FAILED ONCE")]


def test_tests_that_pass_alone_are_named_and_forgiven(tmp_path: Path) -> None:
    assert run(tmp_path, flaky=2) == (0, ["test_it.py::test_flaky[0]", "test_it.py::test_flaky[1]"])


@pytest.mark.parametrize(
    ("flaky", "broken", "ci"),
    [(1, 1, True), (MOST + 1, 0, True), (1, 0, False)],
    ids=["one fails again", "too many", "not in CI"],
)
def test_all_other_failures_stay_red(tmp_path: Path, flaky: int, broken: int, ci: bool) -> None:
    assert run(tmp_path, flaky=flaky, broken=broken, ci=ci) == (1, [])

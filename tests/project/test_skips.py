"""In CI no test is skipped that could run, and Python's kernels never run unnoticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import kernels_missing, may_skip

ROOT = Path(__file__).resolve().parents[2]

SUITE = """
import pytest

def test_that_runs():
    assert True

def test_that_skips():
    pytest.skip({reason!r})

@pytest.mark.xfail(reason="known")
def test_that_is_known_to_fail():
    assert False
"""


def run(folder: Path, reason: str, *, ci: bool) -> subprocess.CompletedProcess[bytes]:
    """Run a small suite with this project's conftest, in which one test skips for this reason."""
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "test_it.py").write_text(SUITE.format(reason=reason), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:schemathesis",
            str(folder),
        ],
        cwd=folder,
        env={
            "CI": "true" if ci else "",
            "MEMPLAN_CORPUS": str(folder),
            "MEMPLAN_KERNELS": "reference",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def test_a_skip_fails_the_run_in_ci_and_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, "the corpus is absent, allegedly", ci=True)
    assert done.returncode == 1
    assert b"test_that_skips: Skipped: the corpus is absent, allegedly" in done.stdout


@pytest.mark.parametrize(
    ("reason", "ci"), [("Docker: no engine", True), ("ExecuTorch is not installed", True), ("no compiler", False)]
)
def test_other_skips_pass(tmp_path: Path, reason: str, ci: bool) -> None:
    done = run(tmp_path, reason, ci=ci)
    assert done.returncode == 0, done.stdout.decode()
    assert b"1 passed, 1 skipped, 1 xfailed" in done.stdout


def test_only_a_missing_corpus_excuses_its_skips(tmp_path: Path) -> None:
    assert may_skip("Skipped: no corpus at ../shared/corpus", tmp_path / "nowhere")
    assert not may_skip("Skipped: no corpus at ../shared/corpus", tmp_path)
    assert not may_skip("Skipped: too slow", tmp_path / "nowhere")


def test_missing_compiled_kernels_are_reported_unless_others_were_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MEMPLAN_KERNELS", raising=False)
    monkeypatch.setattr("solvers.kernels.selection._native", lambda: "they are older than the rest")
    assert kernels_missing() == [
        "slow, without compiled kernels: they are older than the rest. `./scripts/check` compiles them"
    ]
    monkeypatch.setenv("MEMPLAN_KERNELS", "reference")
    assert kernels_missing() == []

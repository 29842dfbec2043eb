"""Tests in several processes: each runs once, and the first process reports all results and failures."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SUITE = """
import os, pathlib, signal, sys
import pytest

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    yield tmp_path_factory.mktemp("shared")
    with (pathlib.Path(__file__).parent / "log").open("a") as log:
        log.write(f"{os.getpid()} end of {__name__}\\n")

@pytest.mark.parametrize("number", range(5))
def test_it(number, shared, capfd):
    with (pathlib.Path(__file__).parent / "log").open("a") as log:
        log.write(f"{os.getpid()} {__name__} {number}\\n")
    print("said", __name__, number, flush=True)
    assert capfd.readouterr().out == f"said {__name__} {number}\\n"
"""
FORKING = """
import multiprocessing

def test_that_forks_of_a_process_of_its_own():
    child = multiprocessing.get_context("forkserver").Process(target=print)
    child.start()
    child.join()
    assert child.exitcode == 0
"""
WRONG = """
import os, signal
import pytest

def test_that_fails():
    print("what was said before")
    assert 1 == 2

def test_that_kills_its_process():
    os.kill(os.getpid(), signal.SIGKILL)

def test_after_it():
    pass

@pytest.mark.skip(reason="not now")
def test_that_skips():
    pass
"""


def run(folder: Path, files: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    for name, text in {"pytest.ini": "[pytest]\n", **files}.items():
        (folder / name).write_text(text, encoding="utf-8")
    quick = [
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.running.side_by_side",
        "--import-mode=importlib",
        "--processes",
        "3",
    ]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *quick, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "TMPDIR": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_test_runs_once_and_those_of_a_file_in_one_process(tmp_path: Path) -> None:
    done = run(tmp_path, {f"test_{n}.py": SUITE for n in range(6)})
    assert (done.returncode, "30 passed" in done.stdout) == (0, True), done.stdout + done.stderr
    log = [line.split(" ", 1) for line in (tmp_path / "log").read_text().splitlines()]
    logged = Counter(what for _, what in log)
    assert (len(logged), set(logged.values())) == (36, {1})
    assert {len({pid for pid, what in log if f"test_{n}" in what}) for n in range(6)} == {1}


def test_the_longest_and_the_last_files_are_named_at_the_end(tmp_path: Path) -> None:
    done = run(tmp_path, {f"test_{n}.py": SUITE for n in range(3)})
    for name in ("Longest files, seconds", "Last to end, seconds after the beginning"):
        named = re.search(rf"^{name}: (.*)$", done.stdout, re.MULTILINE)
        assert named, done.stdout
        assert {each.split()[0] for each in named[1].split(", ")} == {f"test_{n}.py" for n in range(3)}


def test_failures_are_reported_and_a_dead_process_costs_one_test(tmp_path: Path) -> None:
    done = run(tmp_path, {"test_right.py": SUITE, "test_wrong.py": WRONG}, "-rsf")
    assert done.returncode == 1
    assert "2 failed, 6 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "what was said before" in done.stdout
    failed = re.findall(r"^FAILED (\S+) - (.*)$", done.stdout, flags=re.MULTILINE)
    assert sorted(failed) == [
        ("test_wrong.py::test_that_fails", "assert 1 == 2"),
        ("test_wrong.py::test_that_kills_its_process", "the process that ran it has died (-9)"),
    ]
    assert "not now" in done.stdout


def test_the_run_ends_with_the_first_failure_on_request(tmp_path: Path) -> None:
    done = run(tmp_path, {"test_wrong.py": WRONG}, "-x")
    assert (done.returncode, "1 failed in" in done.stdout) == (1, True), done.stdout + done.stderr


def test_a_process_leaves_nothing_of_its_children(tmp_path: Path) -> None:
    done = run(tmp_path, {"test_forking.py": FORKING, "test_right.py": SUITE})
    assert (done.returncode, "6 passed" in done.stdout) == (0, True), done.stdout + done.stderr
    assert not list(tmp_path.glob("pymp-*"))

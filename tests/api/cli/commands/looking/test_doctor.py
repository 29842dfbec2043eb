"""The doctor finds each fault, names the remedy, and is quick."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from api.cli.commands.looking import doctor
from api.cli.commands.looking.doctor import Check
from api.process import machine
from solvers.kernels import selection
from solvers.kernels.selection import KernelsUnavailable, Origin, Selection


def check(name: str) -> Check:
    return next(each for each in doctor.run() if each.name == name)


def test_everything_is_checked_once() -> None:
    names = [each.name for each in doctor.run()]
    assert names[:3] == ["Python", "memplan", "kernels"]
    assert {"numpy", "pydantic", "OR-Tools", "PuLP", "CBC", "HiGHS", "cores", "memory"} <= set(names)
    assert len(names) == len(set(names))


def test_each_extra_is_checked() -> None:
    with (Path(__file__).resolve().parents[5] / "pyproject.toml").open("rb") as file:
        declared = tomllib.load(file)["project"]["optional-dependencies"]
    assert {each.extra for each in doctor.EXTRAS} == set(declared)
    known = {(each.extra, each.distribution) for each in doctor.EXTRAS}
    assert all(any(line.startswith(name) for line in declared[extra]) for extra, name in known)


def test_every_fault_has_a_remedy() -> None:
    assert all(each.remedy for each in doctor.run() if not each.ok)


def test_no_solver_library_is_loaded() -> None:
    code = "import sys; from api.cli.commands.looking.doctor import run; run(); print([m for m in ('ortools', 'pulp', 'highspy', 'pandas') if m in sys.modules])"
    root = Path(doctor.__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, check=True)
    assert done.stdout.strip() == b"[]"


def test_a_missing_library_is_named_with_the_command_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name in ("ortools", "highspy") else find_spec(name))
    missing = check("OR-Tools")
    assert not missing.ok
    assert missing.remedy == "run `pip install 'memplan'`"
    extra = check("HiGHS")
    assert extra.ok
    assert extra.is_absent
    assert extra.remedy == "run `pip install 'memplan[highs]'`"


def test_a_folder_called_like_an_extra_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "EXTRAS", (doctor.Extra("None", "tests", "no-such-distribution", "none", "nothing"),))
    assert (check("None").ok, check("None").is_absent) == (True, True)


@pytest.mark.parametrize(("variable", "ok"), [("auto", False), ("reference", True)])
def test_the_reference_kernels_are_reported_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, variable: str, ok: bool
) -> None:
    fallback = Selection(Origin.REFERENCE, selection.select("reference").kernels, "there was no compiler")
    monkeypatch.setattr(selection, "active", lambda: fallback)
    monkeypatch.setenv(selection.VARIABLE, variable)
    found = check("kernels")
    assert found.ok is ok
    assert found.detail == "reference in Python (same answers, slower): there was no compiler"
    assert ("MEMPLAN_KERNELS" if ok else "install a C++20 compiler") in (found.remedy or "")


def test_native_kernels_that_are_demanded_in_vain_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Selection:
        raise KernelsUnavailable("MEMPLAN_KERNELS=native, but there are none")

    monkeypatch.setattr(selection, "active", refuse)
    found = check("kernels")
    assert not found.ok
    assert found.detail == "MEMPLAN_KERNELS=native, but there are none"


def test_a_probe_that_breaks_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> machine.Cores:
        raise OSError("out of order")

    monkeypatch.setattr(machine, "cores", broken)
    assert check("cores") == Check("cores", False, "cannot be examined: OSError: out of order", "reinstall memplan")


def test_the_version_of_the_cbc_in_use_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "cbc"
    program.write_text("#!/bin/sh\necho 'Welcome to the CBC MILP Solver'\necho 'Version: 2.10.99'\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("MEMPLAN_CBC", str(program))
    assert check("CBC") == Check("CBC", True, f"2.10.99 at {program}")


def test_a_cbc_that_does_not_run_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "cbc"
    program.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("MEMPLAN_CBC", str(program))
    found = check("CBC")
    assert not found.ok
    assert "does not run" in found.detail


def test_a_cbc_that_is_named_but_absent_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMPLAN_CBC", str(tmp_path / "absent"))
    assert check("CBC").detail == "MEMPLAN_CBC names no program"

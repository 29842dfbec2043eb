"""Time limits hold outside the solvers, too; the error states where time ran out; the wall clock has no influence."""

from __future__ import annotations

import ast
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from api.cli.invocation import invoke
from planner import (
    BadInput,
    Buffer,
    Options,
    OutOfTime,
    Plan,
    Pool,
    Problem,
    plan,
    read_plan,
    read_problem,
    share,
    sweep,
    time_limit,
    verify,
    write_plan,
    write_problem,
)
from planner.drawing import memory_map, svg
from planner.model import deadline
from planner.model.deadline import (
    FINISH_SECONDS,
    GRACE_SECONDS,
    LOOK_EVERY,
    finish,
    granting,
    in_time,
    leaving,
    look,
    tick,
)
from planner.planning.placing import solving as placing
from planner.planning.sharing import solving as sharing
from planner.reporting.report import memory_report
from solvers.model.interruption import ASK_EVERY, interrupted_by, interruptible

ROOT = Path(__file__).resolve().parents[3]
LONG_AGO = 10.0
PROBLEM = Problem(tuple(Buffer(i, 8 + i % 7, live=((i, i + 3),)) for i in range(5000)))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the processor time that even the smallest problem is granted after its limit."""
    monkeypatch.setattr(deadline, "LEAST_SECONDS", 0.0)


def document(count: int) -> dict[str, object]:
    buffers = [{"id": i, "size": 8, "live": [[i, i + 2]]} for i in range(count)]
    return {"format": "memplan/1", "lifetimes": "half_open", "buffers": buffers}


def out_of_time(caught: pytest.ExceptionInfo[OutOfTime]) -> str:
    (finding,) = caught.value.findings
    assert finding.code == "out_of_time"
    assert "time_limit" in finding.message, "it says what to do"
    return finding.message


READABLE = {
    "JSON": json.dumps(document(10_000)).encode(),
    "JSON that is broken": json.dumps(document(10_000)).encode().replace(b"[9999,", b"[NaN,"),
    "buffers that lack everything": b'{"format": "memplan/1", "buffers": [' + b"{}, " * 10_000 + b"{}]}",
    "a list of lists": b"[" + b"[1, 2], " * 10_000 + b"[]]",
    "CSV": b"id,lower,upper,size\n" + b"".join(b"%d,1,2,8\n" % i for i in range(10_000)),
}


@pytest.mark.parametrize("data", READABLE.values(), ids=READABLE)
def test_reading_is_given_up_at_the_time_limit(data: bytes) -> None:
    with pytest.raises(OutOfTime) as caught, time_limit(1, time.monotonic() - LONG_AGO):
        read_problem(data)
    assert "1 s" in out_of_time(caught)


def test_what_is_no_time_is_refused_and_a_very_long_one_never_ends() -> None:
    with pytest.raises(BadInput, match=r"^/seconds"), time_limit(nan):
        pass
    with time_limit(10**400):
        assert plan(PROBLEM, Options(solver="greedy")).placements


@pytest.mark.parametrize("function", [plan, share])
def test_planning_is_given_up_at_the_time_limit(function: object) -> None:
    assert callable(function)
    with pytest.raises(OutOfTime) as caught:
        function(PROBLEM, Options(time_limit=1), begun=time.monotonic() - LONG_AGO)
    out_of_time(caught)


def test_a_run_late_within_the_grace_has_a_plan() -> None:
    small = replace(PROBLEM, buffers=PROBLEM.buffers[:5])
    assert plan(small, Options(time_limit=1e-9, workers=1)).status.has_plan


def test_small_problems_are_planned_however_busy_the_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(PROBLEM, buffers=PROBLEM.buffers[:5])
    late = time.monotonic() - LONG_AGO
    with pytest.raises(OutOfTime):
        plan(small, Options(time_limit=1, workers=1), begun=late)
    monkeypatch.undo()
    assert plan(small, Options(time_limit=1, workers=1), begun=late).status.has_plan


@pytest.mark.parametrize(
    ("left", "share", "owed"),
    [(0.5, 1.0, 0.8), (0.0, 1.0, 0.3), (-9.0, 0.0, 0.3), (60.0, 0.1, 2.3), (-0.2, 1.0, 0.1), (-0.2, 0.5, 0.2)],
)
def test_a_busy_machine_does_not_take_the_time_to_finish(
    monkeypatch: pytest.MonkeyPatch, left: float, share: float, owed: float
) -> None:
    """Once there is a plan, the processor time that remained until the limit, and a little more, is granted for it."""
    now, had = [0.0], [5.0]
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: now[0], thread_time=lambda: had[0]))
    with time_limit(100.0, begun=0.0):
        now[0] = 100.0 - left
        had[0] += now[0] * share
        finish()
        now[0] += 1000.0
        had[0] += owed - 0.01
        look("verifying")
        finish()  # a second plan, as in a sweep, gains no time
        had[0] += 0.02
        with pytest.raises(OutOfTime):
            look("verifying")


@pytest.mark.parametrize(("function", "path"), [(plan, placing), (share, sharing)])
def test_verification_gets_more_time_than_the_solvers(
    function: Callable[..., object], path: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []
    findings = path.Verification.findings

    def verified(verification: object) -> object:
        limit = deadline._current.get()
        assert limit is not None
        given.append(limit.grace)
        return findings(verification)

    monkeypatch.setattr(path.Verification, "findings", verified)
    function(replace(PROBLEM, buffers=PROBLEM.buffers[:5]), Options(time_limit=3600, workers=1))
    assert given == [FINISH_SECONDS]


def test_time_can_be_left_or_granted_for_another_way_to_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    now, had = [0.0], [0.0]
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: now[0], thread_time=lambda: had[0]))
    with leaving(1.0), granting(1.0):
        look("without a limit")
    with time_limit(10.0):
        now[0] = had[0] = 9.5
        with leaving(2.0), pytest.raises(OutOfTime):
            look("proving")
        look("adding up")
        now[0] = 100.0
        with granting(0.5):
            now[0] += 50.0
            had[0] += 0.4
            look("adding up")
            had[0] += 0.2
            with pytest.raises(OutOfTime):
                look("adding up")


def test_the_error_names_the_place_where_time_ran_out() -> None:
    with time_limit(0.0):
        sheep = iter(in_time(range(10 * LOOK_EVERY), "counting", "sheep"))
        for _ in range(3 * LOOK_EVERY):
            next(sheep)
        time.sleep(GRACE_SECONDS)
        with pytest.raises(OutOfTime) as caught:
            next(sheep)
    assert f"counting the problem, at sheep {3 * LOOK_EVERY} of {10 * LOOK_EVERY}" in out_of_time(caught)


def test_the_outer_of_nested_limits_holds() -> None:
    with time_limit(inf), time_limit(0.0, time.monotonic() - LONG_AGO):
        look("counting")
    with time_limit(0.0, time.monotonic() - LONG_AGO), time_limit(inf):
        for _ in range(LOOK_EVERY - 1):
            tick("counting")
        with pytest.raises(OutOfTime):
            tick("counting")


def test_loops_of_solvers_check_for_interrupts() -> None:
    calls = []
    with interrupted_by(lambda: calls.append(1)):
        assert list(interruptible(range(3 * ASK_EVERY))) == list(range(3 * ASK_EVERY))
    assert len(calls) == 3
    assert interruptible(calls) is calls


def test_a_sweep_out_of_time_returns_the_settled_points() -> None:
    problem = replace(PROBLEM, buffers=PROBLEM.buffers[:3000], pools=(Pool("arena"),))
    found = sweep(problem, {"arena": (1000, 2000, 3000)}, Options(time_limit=1), begun=time.monotonic() - LONG_AGO)
    assert len(found.points) == 3
    assert all(point.plan is None for point in found.points)


def test_a_command_out_of_time_exits_with_4(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "GRACE_SECONDS", 0.0)
    file = tmp_path / "long.json"
    file.write_bytes(json.dumps(document(20_000)).encode())
    assert invoke(["plan", str(file), "--time-limit", "0.001", "--json"]) == 4
    out, err = capfdbinary.readouterr()
    assert [each["code"] for each in json.loads(out)["errors"]] == ["out_of_time"]
    assert err == b""


LOOKS: dict[str, Callable[[Problem, Plan], object]] = {
    "verify": verify,
    "draw": lambda problem, made: svg(memory_map(problem, made)),
    "report": memory_report,
}


@pytest.mark.parametrize("name", LOOKS)
def test_functions_that_examine_a_plan_keep_the_limit(name: str) -> None:
    made = plan(PROBLEM, Options(solver="greedy", time_limit=None, work_limit=0))
    LOOKS[name](PROBLEM, made)
    with pytest.raises(OutOfTime) as caught, time_limit(1, time.monotonic() - LONG_AGO):
        LOOKS[name](PROBLEM, made)
    assert "before there was an answer" in out_of_time(caught)


@pytest.mark.parametrize("command", [["verify", "--json"], ["report", "--json"], ["draw", "-o", "-"]])
def test_commands_that_examine_plans_have_their_own_limits(
    command: list[str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, made = tmp_path / "problem.json", tmp_path / "plan.json"
    problem.write_bytes(write_problem(PROBLEM))
    made.write_bytes(write_plan(plan(PROBLEM, Options(solver="greedy", time_limit=None, work_limit=0))))
    name, *rest = command
    arguments = [name, str(problem), str(made), *rest, "--time-limit"]
    assert invoke([*arguments, "3600"]) == 0
    capfdbinary.readouterr()
    monkeypatch.setattr(deadline, "GRACE_SECONDS", 0.0)
    assert invoke([*arguments, "0"]) == 4
    assert b"out_of_time" in b"".join(capfdbinary.readouterr())


def test_an_older_plan_is_named_where_time_ran_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, old = tmp_path / "problem.json", tmp_path / "old.json"
    problem.write_bytes(write_problem(PROBLEM))
    old.write_bytes(write_plan(plan(PROBLEM, Options(solver="greedy", time_limit=None, work_limit=0))))

    def late(data: bytes) -> Plan:
        with time_limit(0.0, time.monotonic() - LONG_AGO):
            return read_plan(data)

    monkeypatch.setattr("api.cli.terminal.reading.read_plan", late)
    assert invoke(["verify", str(problem), str(old), "--stability", "ties", "--baseline", str(old)]) == 4
    said = "".join(capfd.readouterr())
    assert f"--baseline: {old}" in said.replace("\n", "")
    assert "while reading the plan" in said.replace("\n", " ")


CLOCKS = re.compile(r"\b(?:time|datetime|date)\s*\.|\bfrom\s+(?:time|datetime)\b")
"""What a module that reads a clock contains, and others may: only such modules are parsed."""


def modules() -> Iterator[Path]:
    for package in ("planner", "solvers"):
        yield from sorted((ROOT / package).rglob("*.py"))


def test_the_wall_clock_does_not_affect_planning() -> None:
    """No module reads the wall clock, which may jump; tests/property/test_growth.py makes it jump during planning."""
    walls = {("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow"), ("date", "today")}
    looked = 0
    for path in modules():
        text = path.read_text()
        if not CLOCKS.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                looked += (node.value.id, node.attr) == ("time", "monotonic")
                assert (node.value.id, node.attr) not in walls, path
            assert not (isinstance(node, ast.ImportFrom) and node.module in ("time", "datetime")), path
    assert looked > 10
    kernels = sorted((ROOT / "solvers" / "kernels" / "native").rglob("*.[ch]pp"))
    assert any("steady_clock" in path.read_text() for path in kernels)
    assert not any("system_clock" in path.read_text() for path in kernels)


def test_the_service_uses_the_wall_clock_only_for_days() -> None:
    """Only two modules compute with time stamps: which stored things are too old, and the header Age."""
    reckoning = set()
    for path in sorted((ROOT / "api").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.BinOp | ast.Compare) and "time.time()" in ast.unparse(node):
                reckoning.add(str(path.relative_to(ROOT)))
    assert reckoning == {"api/service.py", "api/routes/http/answers.py"}

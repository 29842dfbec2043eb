"""`memplan plan -o FILE`: what a file cannot express is refused before planning; what shows only then costs no plan."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import planner
from api.cli.invocation import invoke
from planner import Buffer, Pool, Problem
from planner.checks.report import bad_answer
from planner.formats.firmware import headers
from planner.formats.models.tflite.model import read_model
from planner.formats.models.tflite.write import with_metadata
from planner.formats.tables.plans import PLAN_FORMATS
from planner.model.errors import Code
from planner.model.problem import Alternative, VariantGroup, Variants
from tests.planner.formats.firmware.test_firmware import MODEL

LIVE = ((0, 1),)
TWINS = Problem((Buffer(1, 8, live=LIVE), Buffer("1", 8, live=LIVE)))
ODD = Problem((Buffer("a", 8, 48, live=LIVE), Buffer("b", 8, live=LIVE)), (Pool("fast", 8), Pool("slow")))
HIGH = Problem((Buffer("a", 8, 16, live=LIVE),), (Pool("sram", base=8),))
PLAIN = Problem((Buffer("a", 8, live=LIVE),), (Pool("t"),))
CHOICE = Variants((VariantGroup("g", (Alternative("one"), Alternative("two"))),))
PLACED = with_metadata(read_model(MODEL), [0, -1, 64, 128])
LATE = Problem((Buffer("a", 8, 16, live=LIVE), Buffer("b", 99, 16, live=LIVE)), (Pool("low", 64), Pool("high", base=8)))
"""That a buffer must be in the memory whose base is not aligned follows from sizes, which the writers do not look at."""


@pytest.mark.parametrize(
    ("problem", "arguments", "says"),
    [
        *(
            (TWINS, [f"--as={name}"], "ids are texts there")
            for name, row in PLAN_FORMATS.items()
            if row.ids_are_texts and row.read_as is None
        ),
        (Problem(TWINS.buffers, variants=CHOICE), ["--as=csv"], "ids are texts there"),
        *(
            (Problem(ODD.buffers, pools), [f"--as={name}"], "powers of two")
            for name in ("c", "cpp", "ld")
            for pools in ((Pool("one"),), (Pool("one", alignment=48), Pool("two")))
        ),
        (HIGH, ["--as=c"], "move the base"),
        (HIGH, ["--as=cpp"], "move the base"),
        (PLAIN, ["--as=c:prefix=size"], "choose another prefix"),
        (PLAIN, ["--as=cpp:prefix=pool"], "choose another prefix"),
        (PLAIN, ["--as=cpp:prefix=main"], "choose another prefix"),
        (PLAIN, ["--as=ld:prefix=1"], "prefix must be a name of C"),
        (Problem((Buffer("a", 8),)), ["--as=chrome-trace"], "a trace needs times"),
        (MODEL, ["--as=tflm:prefix=main"], "choose another prefix"),
        (MODEL, ["--as=tflm", "--format=tflite"], "plan the model with --like tflm"),
        (MODEL, ["--as=tflite", "--format=tflite"], "plan the model with --like tflm"),
        (PLACED, ["--as=tflm"], "the model places 'x' itself"),
    ],
)
def test_what_no_plan_can_be_written_as_is_refused_before_planning(
    problem: Problem | bytes,
    arguments: list[str],
    says: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "problem"
    file.write_bytes(problem if isinstance(problem, bytes) else planner.write_problem(problem))
    monkeypatch.setattr(planner, "plan", lambda *_, **__: pytest.fail("it was planned"))
    assert invoke(["plan", str(file), "-o", str(tmp_path / "out"), *arguments]) == 2
    assert says in capfd.readouterr().err
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("where", ["x.h", "x.h with x.h.json there already", "-", os.devnull])
def test_a_plan_that_cannot_be_written_as_wanted_is_kept(
    where: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file, header = tmp_path / "problem.json", tmp_path / "x.h"
    file.write_bytes(planner.write_problem(LATE))
    if "already" in where:
        (tmp_path / "x.h.json").write_text("mine")
    out = str(header) if where.startswith("x.h") else where
    assert invoke(["plan", str(file), "-o", out, "--as", "c"]) == 2
    printed, said = capfd.readouterr()
    assert (printed, "move the base" in said) == ("", True)
    kept = Path(said.partition("it is in ")[2].partition(" as JSON")[0])
    assert (kept == tmp_path / "x.h.json") == (where == "x.h")
    assert planner.verify(LATE, planner.read_plan(kept.read_bytes())) == ()
    assert "already" not in where or (tmp_path / "x.h.json").read_text() == "mine"
    assert not header.exists()
    assert invoke(["write", str(file), str(kept), "-o", str(tmp_path / "x.csv")]) == 0


def test_of_programs_the_reason_comes_first(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "problem.json"
    file.write_bytes(planner.write_problem(LATE))
    assert invoke(["plan", str(file), "-o", str(tmp_path / "x.h"), "--json"]) == 2
    codes = [error["code"] for error in json.loads(capfd.readouterr().out)["errors"]]
    assert codes == ["unsupported", "unwritable"]


@pytest.mark.parametrize(("out", "named"), [("x.h", "x.h"), ("-", "the answer")])
def test_what_a_plan_cannot_be_written_as_is_said_of_the_output(
    out: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise bad_answer(Code.UNSUPPORTED, ("placements",), "it has no addresses")

    monkeypatch.setattr(headers, "c_header", refuse)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.json").write_bytes(planner.write_problem(PLAIN))
    assert invoke(["plan", "problem.json", "--as", "c", "-o", out]) == 2
    assert capfd.readouterr().err.splitlines()[0].startswith(f"error: {named}: /placements: it has no addresses")

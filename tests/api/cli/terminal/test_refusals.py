"""Bad input is reported in one line per finding, or as JSON."""

from __future__ import annotations

import json

import pytest
import typer

from api.cli.terminal.refusals import line, refusing
from planner.model.errors import BadInput, CannotSolve, Code, Finding


def test_people_get_a_line_per_finding(capsys: pytest.CaptureFixture[str]) -> None:
    finding = Finding(Code.OUT_OF_RANGE, "/buffers/0/si\x1bze", "a size is at least 0")
    with pytest.raises(typer.Exit) as caught, refusing("prob\nlem.json", as_json=False):
        raise BadInput(finding)
    assert caught.value.exit_code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: prob\\nlem.json: /buffers/0/si\\x1bze: a size is at least 0 [out_of_range]\n"


def test_at_most_twenty_findings_are_listed_and_the_rest_counted(capsys: pytest.CaptureFixture[str]) -> None:
    findings = [Finding(Code.WRONG_TYPE, f"/buffers/{i}", "wrong") for i in range(25)]
    with pytest.raises(typer.Exit), refusing("p", as_json=False):
        raise BadInput(*findings, more=10)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "error: and 15 more"


def test_programs_get_findings_as_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(typer.Exit), refusing("p", as_json=True):
        raise BadInput(Finding(Code.WRONG_TYPE, "/a", "wrong"), more=1)
    out, err = capfdbinary.readouterr()
    assert json.loads(out) == {
        "errors": [{"code": "wrong_type", "file": "p", "pointer": "/a", "message": "wrong"}],
        "more": 1,
    }
    assert err == b""


def test_findings_about_options_have_no_file_in_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(typer.Exit), refusing("p", as_json=True):
        raise BadInput(Finding(Code.INVALID_OPTION, "/options/capacity", "no"), Finding(Code.UNREADABLE, "", "gone"))
    assert [error["file"] for error in json.loads(capfdbinary.readouterr()[0])["errors"]] == [None, "p"]


def test_findings_about_options_do_not_name_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), refusing("p.json", as_json=False):
        raise CannotSolve(
            Finding(Code.UNKNOWN_SOLVER, "/options/solver", "no solver is named 'x'"),
            Finding(Code.INVALID_OPTION, "/options/memory_limit_bytes", "is too small"),
            Finding(Code.INVALID_OPTION, "", "cannot write x"),
        )
    assert capsys.readouterr().err.splitlines() == [
        "error: --solver: no solver is named 'x' [unknown_solver]",
        "error: --memory-limit: is too small [invalid_option]",
        "error: cannot write x [invalid_option]",
    ]


@pytest.mark.parametrize(
    ("pointer", "source", "expected"),
    [
        ("/buffers/0/pools", "p.json", "p.json: /buffers/0/pools: no [unsupported]"),
        ("/options/solver", "p.json", "--solver: no [unsupported]"),
        ("", "p.json", "no [unsupported]"),
    ],
)
def test_unsupported_fields_are_named_with_the_file_that_has_them(pointer: str, source: str, expected: str) -> None:
    assert line(Finding(Code.UNSUPPORTED, pointer, "no"), source) == expected


def test_an_option_that_names_a_file_is_spelt_as_on_the_command_line() -> None:
    assert line(Finding(Code.UNKNOWN_FORMAT, "/options/baseline", "old.json: no"), None).startswith(
        "--baseline: old.json"
    )
    missing = Finding(Code.UNREADABLE, "/options/baseline", "old.json: cannot be read")
    assert line(missing, "p.json") == "--baseline: old.json: cannot be read [unreadable]"
    assert line(Finding(Code.UNREADABLE, "", "cannot be read"), "p.json") == "p.json: cannot be read [unreadable]"
    of_a_file = line(Finding(Code.MISSING_FIELD, "/options/plan_inputs", "no"), "graph.json")
    assert of_a_file.startswith("graph.json: /options/plan_inputs")

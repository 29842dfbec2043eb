"""Bad input, from usage errors to garbage, ends with exit code 2 and clear sentences or JSON, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from api.cli.invocation import invoke

Captured = pytest.CaptureFixture[bytes]
THREE = b'{"format": "memplan/1", "lifetimes": "half_open", "buffers": [{"id": "a", "size": 8, "live": [[0, 2]]}]}'

CHOOSING = json.dumps(
    {
        **json.loads(THREE),
        "variants": {"groups": [{"name": "g", "alternatives": [{"name": "one"}, {"name": "two"}]}]},
    }
).encode()


def refused(arguments: list[str], capture: Captured) -> tuple[list[str], list[dict[str, Any]]]:
    """Run the command with and without --json; return the lines on stderr, and the errors in the JSON on stdout."""
    assert invoke(arguments) == 2
    out, err = capture.readouterr()
    assert out == b""
    assert b"\x1b" not in err
    assert invoke([*arguments, "--json"]) == 2
    out, nothing = capture.readouterr()
    assert nothing == b""
    errors = json.loads(out)["errors"]
    assert all(set(error) == {"code", "file", "pointer", "message"} for error in errors)
    return err.decode().splitlines(), errors


def written(folder: Path, content: bytes) -> str:
    path = folder / "problem.json"
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "invalid_json"),
        (b"\x00\xff\xfe\x80garbage", "invalid_json"),
        (b'{"format": "memplan/1", "buffers": [', "invalid_json"),
        ('{"format": "memplan/1", "buffers": []}'.encode("utf-16"), "invalid_json"),
        (b'{"format": "memplan/1", "buffers": [{"id": "a", "size": -1}]}', "out_of_range"),
        (b'{"format": "memplan/1", "buffers": [], "\\u001b[31m": 1}', "unknown_field"),
    ],
)
def test_bad_problems_are_refused(content: bytes, code: str, tmp_path: Path, capfdbinary: Captured) -> None:
    problem = written(tmp_path, content)
    lines, errors = refused(["plan", problem], capfdbinary)
    assert len(lines) == len(errors) == 1
    assert lines[0].startswith(f"error: {problem}: ")
    assert lines[0].endswith(f" [{code}]")
    assert errors[0]["code"] == code


@pytest.mark.parametrize("name", ["p.json", "p.csv", "p", "p.log"])
def test_empty_files_are_told_so(name: str, tmp_path: Path, capfdbinary: Captured) -> None:
    for content in (b"", b" \n"):
        (tmp_path / name).write_bytes(content)
        lines, _ = refused(["plan", str(tmp_path / name)], capfdbinary)
        assert lines[0].startswith(f"error: {tmp_path / name}: is empty [")


def test_many_findings_are_counted(tmp_path: Path, capfdbinary: Captured) -> None:
    buffers = [{"id": i, "size": True} for i in range(1000)]
    problem = written(tmp_path, json.dumps({"format": "memplan/1", "buffers": buffers}).encode())
    lines, errors = refused(["plan", problem], capfdbinary)
    assert len(lines) == 21
    assert lines[-1].startswith("error: and ")
    assert len(errors) == 20


@pytest.mark.parametrize(
    ("name", "why"),
    [("absent.json", "no such file or directory"), (".", "is a directory"), ("n" * 300, "name too long")],
)
def test_unreadable_files_are_refused(name: str, why: str, tmp_path: Path, capfdbinary: Captured) -> None:
    lines, errors = refused(["plan", str(tmp_path / name)], capfdbinary)
    assert why in lines[0]
    assert errors[0]["code"] == "unreadable"


def test_errors_in_json_say_which_file_is_at_fault(tmp_path: Path, capfdbinary: Captured) -> None:
    problem, plan, absent = written(tmp_path, THREE), str(tmp_path / "plan.json"), str(tmp_path / "absent.json")
    assert invoke(["plan", problem, "-o", plan, "-q"]) == 0
    broken = tmp_path / "broken.json"
    broken.write_text(Path(plan).read_text(encoding="utf-8").replace('"offset": 0', '"offset": -1'), encoding="utf-8")
    for arguments, file, pointer in (
        ([absent, plan], absent, ""),
        ([problem, absent], absent, ""),
        ([problem, plan, "--proof", absent], absent, ""),
        ([problem, str(broken)], str(broken), "/placements/0/offset"),
        ([problem, plan, "--stability", "first", "--baseline", str(broken)], str(broken), "/placements/0/offset"),
        ([problem, plan, "--stability", "first", "--baseline", absent], absent, ""),
        ([problem, plan, "--capacity", "x=3"], None, "/options/capacity"),
    ):
        lines, errors = refused(["verify", *arguments], capfdbinary)
        assert [(error["file"], error["pointer"]) for error in errors] == [(file, pointer)], arguments
        assert file is None or f"{file}: " in lines[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan"],
        ["plan", "p", "--bogus"],
        ["plan", "p", "--seed", "-1"],
        ["plan", "p", "--goal", "least\x1b[31m"],
        ["plan", "p", "--time-limit", "nan"],
        ["plan", "p", "--capacity", "many"],
        ["plan", "p", "--quiet", "--verbose"],
        ["paint\x1b[31m"],
        ["verify", "-", "-"],
        ["export-model", "p", "-o", "model.xyz"],
    ],
)
def test_usage_errors_are_reported(arguments: list[str], capfdbinary: Captured) -> None:
    lines, errors = refused(arguments, capfdbinary)
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("try 'memplan")
    assert [error["code"] for error in errors] == ["invalid_option"]


@pytest.mark.parametrize(
    ("arguments", "start", "code"),
    [
        (["--solver", "abacus\x1b[31m"], "error: --solver: ", "unknown_solver"),
        (["--solver", "abacus", "--work-limit", "9"], "error: --solver: ", "unknown_solver"),
        (["--capacity", "dram=2KiB"], "error: --capacity: ", "invalid_option"),
        (["--format", "excel"], "error: ", "invalid_option"),
        (["-o", "no/such/folder/plan.json"], "error: cannot write no/such/folder/plan.json: ", "unwritable"),
        (["-o", "/"], "error: cannot write /: it is a directory", "unwritable"),
    ],
)
def test_unsuitable_options_are_refused(
    arguments: list[str], start: str, code: str, tmp_path: Path, capfdbinary: Captured
) -> None:
    problem = written(tmp_path, b'{"format": "memplan/1", "buffers": [{"id": 1, "size": 8}]}')
    lines, errors = refused(["plan", problem, *arguments], capfdbinary)
    assert lines[0].startswith(start)
    assert errors[0]["code"] == code


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["pareto", "-o"], "--out"),
        (["sweep", "--capacity", "8..9", "--plans"], "--plans"),
        (["plan-many", "-o"], "--out"),
    ],
)
def test_a_folder_that_cannot_be_made_is_unwritable(
    arguments: list[str], option: str, tmp_path: Path, capfdbinary: Captured
) -> None:
    problem = written(tmp_path, THREE if arguments[0] != "pareto" else CHOOSING)
    lines, errors = refused([arguments[0], problem, *arguments[1:], f"{problem}/folder"], capfdbinary)
    assert lines == [f"error: {option}: cannot make the folder {problem}/folder: not a directory [unwritable]"]
    assert [(error["code"], error["file"]) for error in errors] == [("unwritable", None)]


def test_a_full_disk_is_unwritable_and_the_plan_is_kept(
    tmp_path: Path, capfdbinary: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    lines, errors = refused(["plan", written(tmp_path, THREE), "-o", "/dev/full"], capfdbinary)
    assert lines[0] == "error: cannot write /dev/full: no space left on device [unwritable]"
    assert [error["code"] for error in errors] == ["unwritable", "unwritable"]
    kept = [json.loads(path.read_bytes())["format"] for path in tmp_path.glob("memplan-*/answer.json")]
    assert kept == ["memplan-plan/1", "memplan-plan/1"]


@pytest.mark.parametrize("option", ["--alignment", "--like"])
def test_settings_of_formats_are_named_as_options(option: str, tmp_path: Path, capfdbinary: Captured) -> None:
    lines, errors = refused(["plan", written(tmp_path, THREE), option, "16KiB"], capfdbinary)
    assert lines[0].startswith(f"error: Invalid value for {option}: must be ")
    assert lines[0].endswith("not '16KiB'")
    assert errors[0]["code"] == "invalid_option"


def test_pictures_with_an_unknown_ending_are_refused(tmp_path: Path, capfdbinary: Captured) -> None:
    problem = written(tmp_path, THREE)
    assert invoke(["plan", problem, "-o", str(tmp_path / "plan.json"), "-q"]) == 0
    for name in ("map.jpg", "map", "map.svg.txt"):
        assert invoke(["draw", problem, str(tmp_path / "plan.json"), "-o", str(tmp_path / name)]) == 2
        _, err = capfdbinary.readouterr()
        assert err.decode() == "error: --out: the file must end in .svg, .png, .pdf or .html [invalid_option]\n"
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize("goal", ["minimise", "minimize", "fit"])
def test_a_goal_may_have_other_usual_spellings(goal: str, tmp_path: Path, capfdbinary: Captured) -> None:
    assert invoke(["plan", written(tmp_path, THREE), "--goal", goal]) == 0
    assert json.loads(capfdbinary.readouterr()[0])["status"] == "optimal"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--goal", "minimse"],
        ["--report", "fool"],
        ["--prefer", "x"],
        ["--seed", "-1"],
        ["--seed", "x"],
        ["--workers", "0"],
        ["--work-limit", "1.5"],
        ["--memory-limit", "much"],
        ["--memory-limit", "99999999999999999999"],
    ],
)
def test_allowed_choices_are_listed_in_plain_words(arguments: list[str], tmp_path: Path, capfdbinary: Captured) -> None:
    assert invoke(["plan", written(tmp_path, THREE), *arguments]) == 2
    errors = capfdbinary.readouterr()[1].decode()
    assert arguments[0] in errors
    assert arguments[1] in errors
    assert "Value error" not in errors
    assert "nput should" not in errors


@pytest.mark.parametrize(
    ("arguments", "file", "place"),
    [
        (["draw", "--what", "profile", "-o", "x.svg"], "problem.json", "/buffers"),
        (["draw", "--what", "convergence", "-o", "x.svg"], "plan.json", "/run/trace"),
        (["write", "-o", "x.trace"], "problem.json", "/buffers"),
        (["draw", "-o", "x.svg", "--compare", "other.json"], "other.json", "/placements/0/id"),
    ],
)
def test_what_is_wrong_with_a_problem_and_its_plan_names_the_file_that_it_is_in(
    arguments: list[str], file: str, place: str, tmp_path: Path, capfdbinary: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, b'{"format": "memplan/1", "buffers": [{"id": "a", "size": 8}]}')
    assert invoke(["plan", "problem.json", "-o", "plan.json", "-q"]) == 0
    plan = json.loads(Path("plan.json").read_bytes())
    plan["run"]["trace"] = []
    Path("plan.json").write_text(json.dumps(plan), "utf-8")
    plan["placements"][0]["id"] = "b"
    Path("other.json").write_text(json.dumps(plan), "utf-8")
    assert invoke([arguments[0], "problem.json", "plan.json", *arguments[1:]]) == 2
    assert capfdbinary.readouterr()[1].decode().startswith(f"error: {file}: {place}: ")

"""`memplan shapes` turns a file into expressions, C and pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from api.cli.commands.planning import shapes
from api.cli.exit_codes import ExitCode
from planner import Options, ShapesPlan, plan_shapes
from tests.running.command import ROOT, run, run_on_terminal

PREFILL = str(ROOT / "examples" / "prefill.json")


def test_expressions_in_a_pipe_are_json() -> None:
    done = run("shapes", PREFILL, "--at", "n=1", "--at", "n=2048")
    assert (done.returncode, done.stderr) == (0, b"")
    made = json.loads(done.stdout)
    assert made["mode"] == "expressions"
    assert made["exact"]
    assert [(row["at"], row["used"] == row["optimum"]) for row in made["shapes"]] == [
        ({"n": 1}, True),
        ({"n": 2048}, True),
    ]


def test_c_json_and_pictures_are_written(tmp_path: Path) -> None:
    out, c, plot = (str(tmp_path / name) for name in ("s.json", "s.c", "s.svg"))
    done = run("shapes", PREFILL, "-o", out, "--c", c, "--prefix", "net", "--plot", plot, "--theme", "dark")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert b"int64_t net_peak(int64_t s_n)" in Path(c).read_bytes()
    assert Path(plot).read_bytes().startswith(b"<svg")
    assert json.loads(Path(out).read_bytes())["format"] == "memplan-shapes/1"
    assert run("shapes", PREFILL, "--c", "-", "--prefix", "net").stdout == Path(c).read_bytes()


@pytest.mark.parametrize("mode", ["expressions", "buckets", "maximum"])
def test_a_terminal_gets_tables(mode: str) -> None:
    code, shown = run_on_terminal("shapes", PREFILL, "--mode", mode, "--at", "n=16")
    assert code == 0
    assert "n=16" in shown
    assert ("nothing overlaps in any shape" in shown) == (mode == "expressions")


def test_plan_takes_the_largest_sizes() -> None:
    done = run("plan", PREFILL)
    assert done.returncode == 0
    assert b"largest" in done.stderr or "largest" in " ".join(json.loads(done.stdout)["warnings"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--at", "n=0"], b"must be from 1 to 2048"),
        (["--at", "n=0", "--c", "-", "--prefix", "1x"], b"a prefix is a letter"),
        (["--at", "k=1"], b"the symbol n has no value"),
        (["--at", "n"], b"is not of the form"),
        (["--mode", "buckets"], b"say which shapes"),
        (["--mode", "maximum", "--c", "x.c"], b"C functions are for offsets that are expressions"),
        (["--plot", "x.html"], b"must end in .svg, .png or .pdf"),
        (["-o", "x.PNG"], b".json would; the option --plot draws"),
        (["--prefix", "1", "--c", "x.c"], b"a prefix is"),
    ],
)
def test_bad_input_names_the_option(arguments: list[str], says: bytes) -> None:
    done = run("shapes", PREFILL, *arguments)
    assert done.returncode == 2
    assert says in done.stderr


@pytest.mark.parametrize("mode", ["expressions", "buckets", "maximum"])
def test_verify_accepts_its_files_and_finds_changes(mode: str, tmp_path: Path) -> None:
    out = tmp_path / "s.json"
    assert run("shapes", PREFILL, "--mode", mode, "--at", "n=16", "-o", str(out)).returncode == 0
    done = run("verify", PREFILL, str(out))
    assert (done.returncode, json.loads(done.stdout)["valid"]) == (0, True)
    out.write_bytes(out.read_bytes().replace(b'"used": ', b'"used": 1'))
    done = run("verify", PREFILL, str(out))
    assert (done.returncode, json.loads(done.stdout)["valid"]) == (1, False)


def test_a_plan_with_other_sizes_of_memory_is_verified(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    request = shapes.Request(PREFILL, "expressions", ["n=16"], None, None, "memplan", None, "light", True, False)
    options = Options(capacity=1 << 30, workers=1)
    assert shapes.run(request, options) is ExitCode.OK
    capsys.readouterr()

    def wrong(*arguments: Any, **more: Any) -> ShapesPlan:
        found = plan_shapes(*arguments, **more)
        return replace(found, behind=tuple(replace(each, after=()) for each in found.behind))

    monkeypatch.setattr(shapes, "plan_shapes", wrong)
    with pytest.raises(typer.Exit) as ended:
        shapes.run(request, options)
    assert ended.value.exit_code == ExitCode.UNKNOWN
    [error] = json.loads(capsys.readouterr().out)["errors"]
    assert error["code"] == "plan_withheld"
    assert "failed verification and is withheld" in error["message"]


def test_nothing_that_fits_is_no_fault_of_the_input() -> None:
    done = run("shapes", PREFILL, "--mode", "maximum", "--at", "n=16", "--capacity", "1000", "--json")
    assert (done.returncode, json.loads(done.stdout)["errors"][0]["code"]) == (3, "infeasible")

"""`memplan draw`, run as users run it."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.running.command import planned, run

PROBLEM = {
    "format": "memplan/1",
    "lifetimes": "half_open",
    "pools": [{"name": "sram", "size": 128}],
    "buffers": [{"id": "a\x1b[31m", "size": 64, "live": [[0, 2]]}, {"id": "b", "size": 32, "live": [[1, 2]]}],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return planned(tmp_path_factory.mktemp("draw"), PROBLEM)


def test_the_picture_goes_into_the_file_or_the_pipe(files: tuple[str, str], tmp_path: Path) -> None:
    picture = tmp_path / "map.svg"
    written = run("draw", *files, "-o", str(picture))
    assert (written.returncode, written.stdout, written.stderr) == (0, b"", b"")
    assert ET.fromstring(picture.read_bytes()).tag.endswith("svg")
    piped = run("draw", *files, "-o", "-")
    assert (piped.returncode, piped.stdout) == (0, picture.read_bytes())


@pytest.mark.parametrize("options", [["--prefer", "speed"], ["--prefer", "balanced"], ["--capacity", "96"]])
def test_a_plan_made_with_options_is_drawn_with_the_same_options(
    files: tuple[str, str], tmp_path: Path, options: list[str]
) -> None:
    plan = str(tmp_path / "plan.json")
    assert run("plan", files[0], *options, "-o", plan).returncode == 0
    assert run("draw", files[0], plan, "-o", "-").returncode == 1
    drawn = run("draw", files[0], plan, *options, "-o", "-")
    assert (drawn.returncode, drawn.stderr) == (0, b"")


def test_a_wrong_plan_is_drawn_and_its_faults_named(files: tuple[str, str], tmp_path: Path) -> None:
    plan = json.loads(Path(files[1]).read_text())
    for place in plan["placements"]:
        place["offset"] = 0
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(plan))
    done = run("draw", files[0], str(wrong), "-o", str(tmp_path / "map.svg"))
    assert done.returncode == 1
    assert b"wrong with it, and marked" in done.stderr
    assert b"\x1b" not in done.stderr
    assert b"bad" in (tmp_path / "map.svg").read_bytes()


def test_a_plan_of_another_problem_is_refused(files: tuple[str, str], tmp_path: Path) -> None:
    plan = json.loads(Path(files[1]).read_text())
    plan["placements"][0]["id"] = "stranger"
    other = tmp_path / "other.json"
    other.write_text(json.dumps(plan))
    done = run("draw", files[0], str(other), "-o", str(tmp_path / "map.svg"))
    assert done.returncode == 2
    assert b"/placements/0/id: buffer 'stranger' is not in the problem [unknown_buffer]" in done.stderr
    assert not (tmp_path / "map.svg").exists()


def test_impossible_outputs_are_refused_first(files: tuple[str, str], tmp_path: Path) -> None:
    for out in (files[0], files[1], str(tmp_path / "nowhere" / "map.svg")):
        done = run("draw", *files, "-o", out)
        assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert run("draw", "-", "-", "-o", "-").returncode == 2


def test_the_convergence_of_a_run_is_drawn(files: tuple[str, str]) -> None:
    done = run("draw", *files, "--what", "convergence", "--theme", "dark", "--width", "800", "-o", "-")
    assert (done.returncode, done.stderr) == (0, b"")
    picture = ET.fromstring(done.stdout)
    assert picture.attrib["width"] == "800"
    assert b"best plan so far" in done.stdout
    assert b"prefers-color-scheme" not in done.stdout


def test_a_plan_without_a_record_of_its_run_is_refused(files: tuple[str, str], tmp_path: Path) -> None:
    plan = json.loads(Path(files[1]).read_text())
    del plan["run"]
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(plan))
    done = run("draw", files[0], str(bare), "--what", "convergence", "-o", "-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"/run/trace" in done.stderr


@pytest.mark.parametrize(
    ("ending", "begins"), [(".png", b"\x89PNG\r\n\x1a\n"), (".PDF", b"%PDF-"), (".html", b"<!DOCTYPE html>")]
)
def test_the_ending_decides_the_kind_of_picture(
    files: tuple[str, str], tmp_path: Path, ending: str, begins: bytes
) -> None:
    picture = tmp_path / f"map{ending}"
    done = run("draw", *files, "-o", str(picture))
    assert (done.returncode, done.stderr) == (0, b"")
    assert picture.read_bytes().startswith(begins)


def test_two_plans_are_drawn_together(files: tuple[str, str], tmp_path: Path) -> None:
    other, picture = tmp_path / "other.json", tmp_path / "both.svg"
    plan = json.loads(Path(files[1]).read_text())
    for place in plan["placements"]:
        place["offset"] = {0: 32, 64: 0}[place["offset"]] if place["id"] != "b" else 0
    plan["placements"][0]["offset"] = 32
    other.write_text(json.dumps(plan))
    assert run("draw", *files, "--compare", str(other), "-o", str(picture)).returncode == 0
    assert "2 of 2 buffers lie elsewhere in B" in picture.read_text()
    same = run("draw", files[0], files[1], "--compare", files[1], "-o", "-").stdout
    assert b'moved"' not in same, "nor in the legend"


@pytest.mark.parametrize(
    "options",
    [["--profile", "--what", "convergence"], ["--profile", "--compare", "other.json"]],
)
def test_contradictory_options_are_refused(files: tuple[str, str], options: list[str]) -> None:
    done = run("draw", *files, "-o", "x.svg", *options)
    assert (done.returncode, done.stdout) == (2, b"")


def test_the_profile_is_drawn_by_either_name(files: tuple[str, str]) -> None:
    done = run("draw", *files, "--profile", "-o", "-")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"bytes in use over time" in done.stdout
    assert run("draw", *files, "--what", "profile", "-o", "-").stdout == done.stdout


def test_a_page_shows_the_profiles_above_the_maps(files: tuple[str, str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    options = ("--profile", "--compare", files[1], "--theme", "dark")
    done = run("draw", *files, *options, "-o", str(page))
    assert (done.returncode, done.stderr) == (0, b"")
    figures = re.findall(r'<figure class="above">.*?</figure>', page.read_text())
    pictures = [each for figure in figures for each in re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', figure)]
    assert [re.findall(r'class="letter">(.)<', figure) for figure in figures] == [["A"], ["B"]]
    system = run("draw", *files, "--profile", "-o", "-").stdout
    assert [base64.b64decode(each) for each in pictures] == [system] * 2, "with both themes, whichever the page has"


LOOP = str(Path(__file__).resolve().parents[5] / "examples" / "loop.json")


def test_nested_arenas_are_drawn_one_below_the_other(tmp_path: Path) -> None:
    made, picture = tmp_path / "nested.json", tmp_path / "nested.svg"
    assert run("plan", LOOP, "--arenas", "nested", "-o", str(made)).returncode == 0
    drawn = run("draw", LOOP, str(made), "-o", str(picture))
    assert (drawn.returncode, drawn.stderr) == (0, b"")
    texts = [each.text or "" for each in ET.fromstring(picture.read_bytes()).iter() if each.tag.endswith("}text")]
    fields = [text for text in texts if text.endswith(":   sram")]
    assert fields == ["block:   sram", "main:   sram"]
    assert run("draw", LOOP, str(made), "-o", "-").stdout == picture.read_bytes()
    document = json.loads(made.read_text())
    document["arenas"][0]["plan"]["placements"][0]["offset"] = 1
    made.write_text(json.dumps(document))
    wrong = run("draw", LOOP, str(made), "-o", str(picture))
    assert (wrong.returncode, b"marked" in wrong.stderr) == (1, True)


@pytest.mark.parametrize(
    "broken",
    [
        {"arenas": 3},
        {"peak": "x"},
        {"arenas": [3]},
        {"arenas": [{"function": "block"}]},
        {"arenas": [{"function": "block", "plan": {}}]},
    ],
)
def test_false_nested_arenas_are_refused(tmp_path: Path, broken: dict[str, object]) -> None:
    made = tmp_path / "nested.json"
    made.write_text(json.dumps({"format": "memplan-nested/1", "peak": None, "arenas": [], **broken}))
    refused = run("draw", LOOP, str(made), "-o", "-")
    assert (refused.returncode, b"Traceback" in refused.stderr) == (2, False)
    assert refused.stderr.startswith(b"error: ")

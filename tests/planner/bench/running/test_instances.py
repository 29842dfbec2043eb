"""`collect` finds the files that are problems, and names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import BadInput
from planner.bench import collect
from planner.bench.running.suites import SUITES
from planner.formats import read_problem, schema, write_problem
from planner.generate import KINDS, Request, generate


def test_a_folder_gives_its_problems_and_names_the_rest(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.json").write_bytes(write_problem(generate("random", Request(3))))
    (folder / "deep" / "b.64.csv").write_text("id,lower,upper,size\n1,0,2,4\n", encoding="utf-8")
    (folder / "MANIFEST.csv").write_text("name,count\na,3\n", encoding="utf-8")
    (folder / "schema.json").write_text(str(schema()).replace("'", '"'), encoding="utf-8")
    (folder / "notes.txt").write_text("nothing", encoding="utf-8")
    files, passed_over = collect([str(folder), str(folder / "a.json")], tmp_path)
    assert [file.name for file in files] == ["kernels/a.json", "deep/b.64.csv"]
    assert [Path(name).name for name in passed_over] == ["MANIFEST.csv", "schema.json"]


def test_missing_files_and_unknown_suites_are_refused(tmp_path: Path) -> None:
    for path, message in ((str(tmp_path / "absent.json"), "no such file"), ("@nothing", "there is no suite @nothing")):
        with pytest.raises(BadInput, match=message):
            collect([path], tmp_path)


def test_a_suite_is_written_down_and_can_be_read(tmp_path: Path) -> None:
    files, _ = collect(["@smoke"], tmp_path)
    assert len(files) == len(SUITES["smoke"])
    for file in files:
        problem, _ = read_problem(file.path.read_bytes(), name=file.path.name)
        assert problem.buffers
    assert collect(["@smoke"], tmp_path)[0] == files


def test_suites_name_kinds_that_exist_and_keep_the_seeds_for_checking_apart() -> None:
    assert {kind for kind, _ in SUITES["smoke"]} == set(KINDS)
    for name, suite in SUITES.items():
        assert all(kind in KINDS for kind, _ in suite)
        assert all((request.seed >= 1000) == (name == "check") for _, request in suite)

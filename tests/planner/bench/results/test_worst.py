"""The worst runs: which runs are listed, which plans are kept for them, and the maps on the page."""

from __future__ import annotations

import re
from base64 import b64decode
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from planner.bench import Record, Results, Settings, collect, grid, run, write_reports
from planner.bench.results.worst import Why, worst
from planner.bench.running.process import CellProcesses
from planner.formats import write_problem
from planner.generate import Request, generate
from tests.planner.bench.made_records import failed, made
from tests.planner.bench.report.test_reports import Balanced


def valued(value: int, **fields: Any) -> Record:
    return made(**{"value": value, "values": [value], "bound": 100, **fields})


def test_runs_far_behind_wide_open_or_slow_are_listed() -> None:
    runs = [
        valued(100, instance="a", seconds=1.0),
        valued(150, solver="greedy", instance="a", seconds=9.0),
        valued(130, solver="other", instance="a", seconds=0.1),
        valued(105, instance="b", seconds=2.0),
        valued(110, solver="greedy", instance="b", seconds=1.0),
        failed(instance="c", status=made().status),
    ]
    found = [(one.why, one.record.instance, one.record.solver, one.best.solver) for one in worst(runs)]
    assert found == [
        (Why.BEHIND, "a", "greedy", "auto"),
        (Why.BEHIND, "b", "greedy", "auto"),
        (Why.OPEN, "b", "auto", "auto"),
        (Why.SLOW, "a", "greedy", "auto"),
        (Why.SLOW, "b", "auto", "auto"),
    ]
    assert [one.behind for one in worst(runs)][:1] == [0.5]
    assert worst(runs)[2].gap == pytest.approx(0.05)
    assert [one.why for one in worst(runs, each=1)] == list(Why)


def test_extreme_plans_of_each_problem_are_kept_in_any_order(tmp_path: Path) -> None:
    runs = [
        valued(120, seed=0, seconds=1.0),
        valued(110, seed=1, seconds=5.0),
        valued(150, seed=2, seconds=2.0),
        valued(100, seed=3, seconds=1.0),
        valued(100, seed=4, seconds=1.0),
        valued(130, seed=5, seconds=1.0),
        failed(made().status, seed=6),
    ]
    runs = [replace(each, key=f"run{each.seed}", plan="{}") for each in runs]
    for order in (runs, runs[::-1]):
        folder = tmp_path / str(order[0].seed)
        folder.mkdir()
        for each in order:  # as if the process had been killed after each record
            results = Results.read(folder)
            results.add(each)
            results.close()
        kept = {path.stem for path in (folder / "plans").iterdir()}
        best = runs[3] if order is runs else runs[4]
        assert kept == {best.key, runs[2].key, runs[1].key}
        assert '"plan"' not in (folder / "results.jsonl").read_text()


def test_the_page_has_the_maps_of_the_worst_beside_the_best(tmp_path: Path) -> None:
    path = tmp_path / "packing.json"
    path.write_bytes(write_problem(generate("packing", Request(20, 1))))
    files, _ = collect([str(path)], tmp_path)
    results = Results.read(tmp_path)
    with closing(CellProcesses()) as processes:
        run(grid(files, ["search", "exir_naive"], [0], Settings()), results, processes.start)
    results.close()
    write_reports(Results.read(tmp_path), files)
    page = (tmp_path / "report.html").read_text()
    Balanced().feed(page)
    pictures = re.findall(r'<img alt="([^"]*)" src="([^"]*)">', page)
    assert [alt.split(": ")[1].split(",")[0] for alt, _ in pictures] == ["exir_naive", "search"]
    assert "http" not in page
    fields = []
    for _, source in pictures:
        kind, data = source.split(",")
        assert kind == "data:image/svg+xml;base64"
        drawn = ET.fromstring(b64decode(data))
        labels = [each.text for each in drawn.iter() if each.tag.endswith("}text") and "right" in each.get("class", "")]
        fields.append([label for label in labels if label and re.fullmatch(r"0|[\d.]+ [KM]iB", label)])
    assert fields[0] == fields[1], "the same scales"
    assert re.search(r"<a href='#(map-\w+)'>", page)[1] in page.split("<h3 id='")[1]  # type: ignore[index]
    (tmp_path / "packing.json").unlink()
    write_reports(Results.read(tmp_path), files)
    assert "<img" not in (tmp_path / "report.html").read_text()

"""Reports are complete and well formed, and names in them cannot inject code."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from planner.bench import CellStatus, Record, Results, write_reports
from planner.bench.report.curves import gap_over_time, performance_profile, proven_over_time
from planner.bench.report.figures import (
    figure_in,
    megabytes,
    number,
    numbers,
    percent,
    seconds,
    short_number,
    short_seconds,
)
from planner.bench.report.html import html
from planner.bench.report.markdown import markdown
from planner.bench.report.scales import linear, logarithmic
from planner.bench.report.style import SCRIPT
from planner.bench.report.writing import summary
from planner.bench.results.tallies import contradictions, per_solver
from tests.planner.bench.made_records import failed, made

NASTY = 'x/<script>alert("1")</script>|\n.json'
RECORDS = [
    made("auto"),
    made("auto", seed=1, seconds_to_proof=4.0),
    made("greedy", status=CellStatus.FEASIBLE, value=150, bound=75, gap=1.0, seconds_to_proof=None),
    made("auto", instance="nets/b.json", buffers=1000, seconds=0.5, seconds_to_proof=0.5),
    failed(CellStatus.CRASHED, solver="greedy", instance="nets/b.json"),
    failed(CellStatus.KILLED, solver="auto", instance=NASTY),
]


class Balanced(HTMLParser):
    """A parser that fails on tags closed in the wrong order, and collects the open tags and those seen."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in ("meta", "circle", "path", "line", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("circle", "path", "line"):
            return
        assert self.open.pop() == tag


@pytest.mark.parametrize("records", [RECORDS, RECORDS[:1], RECORDS[-1:], []])
def test_the_page_is_well_formed_and_needs_nothing_else(records: list[Record]) -> None:
    page = html(records)
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert not parser.seen & {"link", "img", "iframe"}
    assert re.findall("<script.*?</script>", page, re.DOTALL) == [f"<script>{SCRIPT}</script>"], (
        "the page has only its own script"
    )
    assert "http" not in page
    assert "nan" not in page.lower().replace("finance", "")
    for chart in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ET.fromstring(chart)


def test_markdown_keeps_its_tables_whatever_names_are() -> None:
    text = markdown(RECORDS)
    assert "<script>" not in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in table} == {10, 11, 15}
    assert "| auto | 4 | 3 |" in text
    assert "- greedy, nets/b.json, seed 0: crashed: it is gone" in text


def test_both_reports_have_a_table_of_the_worst_runs() -> None:
    behind, best = made("greedy", value=150, values=[150]), made()
    row = "| nets/a.json | 10 | far behind the best | greedy | 0 | 150 | 50.00 % | 50.00 % | 2 s | auto |"
    assert row in markdown([behind, best])
    assert "far behind the best" in html([behind, best])
    refused = made(status=CellStatus.REFUSED, value=None, bound=None)
    assert "The worst" not in markdown([refused]), "there is none"


def test_frontiers_have_a_table() -> None:
    whole = made(points=[(10, 10, 200, 200), (20, 20, 100, 100)])
    open_ = made("greedy", status=CellStatus.FEASIBLE, points=[(10, 8, 210, 200), (30, None, 100, 100)])
    for text in (markdown([*RECORDS, whole, open_]), html([*RECORDS, whole, open_])):
        assert "Frontiers" in text
    text = markdown([whole, open_])
    assert "| nets/a.json | auto | 2 | 2 | yes | 0.00 % | 0.00 % | 2 s |" in text
    assert "| nets/a.json | greedy | 2 | 0 | no | 5.00 % | – | 2 s |" in text
    assert "Frontiers" not in markdown(RECORDS)


def test_the_summary_is_a_table() -> None:
    rows = list(csv.DictReader(io.StringIO(summary(RECORDS))))
    assert [(row["instance"], row["solver"], row["runs"]) for row in rows] == [
        ("nets/a.json", "auto", "2"),
        ("nets/a.json", "greedy", "1"),
        ("nets/b.json", "auto", "1"),
        ("nets/b.json", "greedy", "1"),
        (NASTY, "auto", "1"),
    ]
    assert (rows[0]["optimal"], rows[0]["median_seconds_to_proof"]) == ("2", "3.0")


def test_all_reports_are_written(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(made())
    results.close()
    assert {path.name for path in write_reports(results)} == {"summary.csv", "report.md", "report.html"}
    assert {path.name for path in tmp_path.iterdir()} == {"summary.csv", "report.md", "report.html", "results.jsonl"}


def test_contradictory_answers_are_named() -> None:
    assert contradictions(RECORDS) == []
    (text,) = contradictions([made("auto", value=100), made("greedy", value=120, bound=110)])
    assert text == "nets/a.json: greedy (seed 0) claims a bound of 110, auto (seed 0) reaches 100"
    assert contradictions([made(wrong="too good")]) == ["nets/a.json, auto, seed 0: too good"]
    other_size = made("greedy", value=120, bound=110, capacity=64)
    assert contradictions([made("auto"), other_size]) == []


def test_curves_are_computed_from_the_runs() -> None:
    proven = {series.name: list(series.points)[1:] for series in proven_over_time(RECORDS)}
    assert proven == {"auto": [(0.5, 0.25), (2.0, 0.5), (4.0, 0.75)], "greedy": []}
    profile = performance_profile([made("a"), made("b", seconds_to_proof=6.0)])
    assert [list(series.points)[1:] for series in profile] == [[(1.0, 1.0)], [(3.0, 1.0)]]
    (gaps,) = gap_over_time([made(trace=[(0.5, 150, 100), (1.0, 100, 100)])])
    assert list(gaps.points)[1:] == [(0.5, 0.5), (1.0, 1e-4)]


def test_tallies_count_runs_proofs_and_gaps() -> None:
    auto, greedy = per_solver(RECORDS)
    assert (auto.runs, auto.statuses[CellStatus.OPTIMAL], auto.statuses[CellStatus.KILLED]) == (4, 3, 1)
    assert (auto.mean_gap, auto.median_seconds_to_proof, greedy.mean_gap) == (0.0, 2.0, 0.75)


def test_gaps_are_compared_where_all_solvers_have_tried() -> None:
    refusing = [
        failed(CellStatus.REFUSED, solver="fussy", instance="nets/b.json"),
        made("fussy", value=200, values=[200]),
    ]
    records = [made("auto"), made("auto", instance="nets/b.json", value=300, values=[300]), *refusing]
    assert [line.mean_gap for line in per_solver(records)] == [0.0, 1.0]
    useless = failed(CellStatus.REFUSED, solver="useless")
    assert [line.mean_gap for line in per_solver([*records, useless])] == [0.0, 1.0, None]
    assert {series.name: bool(series.points) for series in gap_over_time([*records, useless])} == {
        "auto": True, "fussy": True, "useless": False,
    }  # fmt: skip
    assert "on the one problem that every solver takes" in markdown(records)


def test_one_failure_of_many_runs_is_listed_once() -> None:
    records = [failed(CellStatus.REFUSED, instance=f"nets/{n}.json") for n in range(3)]
    assert "- auto, 3 runs, nets/0.json, seed 0 the first of them: refused: it is gone\n" in markdown(records)


def test_all_terms_have_their_values() -> None:
    page = markdown([made(value=5, values=[5, 1200], bound=4, gap=0.25)])
    assert "| 5; 1 200 | 5; 1 200 | 4 |" in page


def test_scales_have_round_ends_and_ticks() -> None:
    log = logarithmic([0.02, 3.0], short_seconds)
    assert (log.low, log.high, log.at(0.001), log.at(1.0), log.at(99.0)) == (0.01, 10.0, 0.0, 2 / 3, 1.0)
    assert [log.label(tick) for tick in log.ticks] == ["10 ms", "100 ms", "1 s", "10 s"]
    assert logarithmic([], short_number).ticks[0] == 1.0
    straight = linear(0.9, short_number)
    assert (straight.high, straight.at(0.5)) == (1.0, 0.5)
    assert [short_number(n) for n in (5, 2000, 3e6, 4e9)] == ["5", "2 k", "3 M", "4 G"]


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        (number(1_048_576), 1_048_576.0),
        (numbers((1_500, 7)), 1_500.0),
        (percent(0.125), 12.5),
        (percent(0.000012), 0.001),
        (seconds(0.0125), 0.0125),
        (seconds(250.0), 250.0),
        (megabytes(12_000_000), 12.0),
        ("3 of 12", 3.0),
        ("–", None),
        ("", None),
        ("nets/12.json", None),
    ],
)
def test_figures_in_texts_are_sorted_by_value(text: str, worth: float | None) -> None:
    assert figure_in(text) == worth

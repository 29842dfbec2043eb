"""Reports as JSON and CSV."""

from __future__ import annotations

import csv
import io
import json

from planner import Options, plan
from planner.formats.answers.write_report import COLUMNS, write_report_csv, write_report_json
from planner.model.problem import Buffer, Pool, Problem
from planner.reporting.report import memory_report

PROBLEM = Problem(
    (
        Buffer('a "quoted", name', 8, live=((0, 2),), pools=("sram",)),
        Buffer(7, 4, live=((1, 3),), pools=("sram",)),
        Buffer("\x7f\n\x1b[2J", 4, live=((5, 6),), pools=("dram",)),
    ),
    (Pool("sram", 20, base=0x2000), Pool("dram")),
    name="n",
)
REPORT = memory_report(PROBLEM, plan(PROBLEM, Options(solver="greedy", workers=1)))


def test_the_json_report_has_every_field() -> None:
    given = json.loads(write_report_json(REPORT))
    assert list(given) == ["format", "problem", "status", "peak", "bound", "pools", "live", "untimed", "shortage"]
    assert (given["format"], given["problem"], given["status"]) == ("memplan-report/1", "n", "optimal")
    sram = given["pools"][0]
    assert (sram["name"], sram["base"], sram["size"], sram["peak"], sram["bound"], sram["free"]) == (
        "sram",
        "0x2000",
        20,
        12,
        12,
        8,
    )
    assert sram["cause"] == {"proven": True, "step": 1, "buffers": ['a "quoted", name', 7]}
    assert given["pools"][1]["base"] is None
    live = given["live"]
    assert (live["bytes"], live["step"], live["moments"]) == (12, 1, 1)
    assert live["throughout"] == ['a "quoted", name', 7]
    assert live["buffers"][1] == {"id": 7, "pool": "sram", "offset": 8, "size": 4, "live": [[1, 3]]}


def test_csv_has_a_row_for_each_memory_and_one_for_all() -> None:
    rows = list(csv.DictReader(io.StringIO(write_report_csv(REPORT).decode("utf-8", "surrogatepass"))))
    assert [(row["scope"], row["name"], row["base"], row["peak"]) for row in rows] == [
        ("memory", "sram", "0x2000", "12"),
        ("memory", "dram", "", "4"),
        ("all", "", "", "16"),
    ]
    assert tuple(rows[0]) == COLUMNS
    assert json.loads(rows[0]["buffers"]) == ['a "quoted", name', 7]
    assert json.loads(rows[1]["buffers"]) == ["\x7f\n\x1b[2J"]
    assert (rows[2]["size"], rows[2]["most_live"], rows[2]["step"]) == ("", "12", "1")


def test_names_in_csv_can_be_made_harmless() -> None:
    text = write_report_csv(REPORT, lambda name: name.encode("unicode_escape").decode()).decode()
    assert text.replace("\n", "").isprintable()
    assert len(text.splitlines()) == 4


def test_one_report_is_always_written_alike() -> None:
    assert write_report_json(REPORT) == write_report_json(REPORT)
    assert write_report_json(REPORT).endswith(b"}\n")

"""Results survive being written, cut off, and continued."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import BadInput
from planner.bench import CellStatus, Results
from planner.bench.results.folder import FILE_NAME
from planner.bench.results.records import parse
from tests.planner.bench.made_records import failed, made


def test_a_record_survives_its_line() -> None:
    for record in (made(), failed(CellStatus.KILLED)):
        assert parse(record.line()) == record
        assert "\n" not in record.line()


def test_a_record_cut_off_is_ignored_and_overwritten(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(made(seed=0))
    results.add(made(seed=1))
    results.close()
    file = tmp_path / FILE_NAME
    file.write_bytes(file.read_bytes()[:-20])
    again = Results.read(tmp_path)
    assert [record.seed for record in again.records] == [0]
    again.add(made(seed=2))
    again.close()
    assert [record.seed for record in Results.read(tmp_path).records] == [0, 2]


def test_the_later_of_two_records_of_one_run_counts(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(failed(CellStatus.CRASHED))
    results.forget([made().key])
    assert made().key not in results
    results.add(made())
    results.close()
    assert [record.status for record in Results.read(tmp_path).records] == [CellStatus.OPTIMAL]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('{"no": "record"}\n' + made().line() + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match="line 1 holds no record"):
        Results.read(tmp_path)

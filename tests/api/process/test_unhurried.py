"""What is logged to somebody who does not read waits, or is lost and counted; nobody waits for it."""

from __future__ import annotations

import fcntl
import os
import pty
from collections.abc import Callable
from pathlib import Path

import pytest

from api.process import unhurried
from api.process.unhurried import MOST_WAITING, Unhurried

LINE = "x" * 99 + "\n"


def pipe() -> tuple[int, int]:
    ours, its = os.pipe()
    fcntl.fcntl(its, fcntl.F_SETPIPE_SZ, 4096)
    return ours, its


def terminal() -> tuple[int, int]:
    ours, its = pty.openpty()
    return ours, its


@pytest.mark.parametrize("made", [pipe, terminal])
def test_nobody_waits_for_a_reader_that_stands_still(
    made: Callable[[], tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[int] = []
    monkeypatch.setattr(unhurried.log, "warning", lambda _, lines: lost.append(lines), raising=False)
    ours, its = made()
    count = 2 * MOST_WAITING // len(LINE)
    with os.fdopen(ours, "rb", buffering=0) as reader, os.fdopen(its, "w") as stream:
        out = Unhurried(stream)
        for _ in range(count):
            out.write(LINE)
        lines = 0
        while lines + sum(lost) < count:
            lines += reader.read(1 << 16).count(b"\n")
        assert sum(lost) > 0
        out.finish()
        out.write("the last\n")
        out.finish()
        assert b"the last" in reader.read(1 << 16)


def test_what_can_be_written_is_written_at_once(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as stream:
        out = Unhurried(stream)
        out.write(LINE)
        assert (tmp_path / "log").read_text() == LINE


def test_a_reader_that_has_left_is_no_fault() -> None:
    ours, its = os.pipe()
    os.close(ours)
    with os.fdopen(its, "w") as stream:
        Unhurried(stream).write(LINE)

"""Live progress on a terminal: its text, the stream it is written to, and its removal at the end."""

from __future__ import annotations

import io
import threading

import pytest

from api.cli.terminal.progress import planning as progress
from api.cli.terminal.progress.planning import Lines, Silent, StatusLine, describe, progress_on
from planner import Progress


class Terminal(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.drawn = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if "best 7 B" in text:
            self.drawn.set()
        return super().write(text)


def test_the_line_names_best_bound_gap_and_solver() -> None:
    moment = Progress(1.0, 110, 100)
    assert describe(moment, in_bytes=True) == "best 110 B   bound 100 B   gap 10.0 %"
    assert describe(moment, in_bytes=False).startswith("best 110   bound 100 ")


def test_a_missing_value_is_shown_as_none_yet() -> None:
    assert describe(None, in_bytes=True) == "best none yet   bound none yet"
    assert describe(Progress(1.0, 5, 0), in_bytes=True) == "best 5 B   bound 0 B"


def test_only_a_terminal_gets_a_status_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")

    def kind(stream: io.StringIO | None, *, verbose: bool = False) -> type[Silent]:
        return type(progress_on(stream, in_bytes=True, time_limit=10, stopping=lambda: False, verbose=verbose))

    assert kind(Terminal()) is StatusLine
    assert kind(io.StringIO()) is Silent
    assert kind(None) is Silent
    assert kind(Terminal(), verbose=True) is Lines


def test_the_line_fits_the_terminal_and_mentions_a_stop() -> None:
    line = StatusLine(Terminal(), in_bytes=True, time_limit=10.0, stopping=lambda: True)
    assert line.line(80).startswith("stopping   ")
    assert " of 10 s   best none yet" in line.line(80)
    assert len(line.line(20)) == 19
    assert line.line(0) == ""


def test_the_line_is_drawn_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST_SHOWN_SECONDS", 0.001)
    monkeypatch.setattr(progress, "REDRAWN_SECONDS", 0.001)
    terminal = Terminal()
    with StatusLine(terminal, in_bytes=True, time_limit=None, stopping=lambda: False) as line:
        line(Progress(1.0, 7, None))
        assert terminal.drawn.wait(60)
    assert terminal.getvalue().endswith(progress.ERASE_LINE)


def test_a_quick_run_shows_no_progress() -> None:
    terminal = Terminal()
    with StatusLine(terminal, in_bytes=True, time_limit=None, stopping=lambda: False):
        pass
    assert terminal.getvalue() == ""


def test_verbose_progress_is_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines(in_bytes=True) as lines:
        lines(Progress(1.5, 7, 7))
    assert capsys.readouterr().err == "    1.50 s   best 7 B   bound 7 B   gap 0.0 %\n"

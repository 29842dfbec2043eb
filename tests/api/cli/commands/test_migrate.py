"""`memplan migrate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.cli.exit_codes import ExitCode
from api.cli.invocation import invoke
from api.store.opening import open_store


def test_migrating_twice_makes_the_tables_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    for _ in range(2):
        assert invoke(["migrate", "--store", url]) == ExitCode.OK
        assert capsys.readouterr().err == "the store's tables are up to date\n"
    store = open_store(url)
    assert sum(store.counts().by_state.values()) == 0
    store.close()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "which store?"),
        (["--store", "mysql://here/there"], "only sqlite:/// and postgresql:// URLs"),
        (["--store", "sqlite:////nowhere/to/be/found.sqlite"], "unable to open"),
        (["--store", "sqlite:///"], "names no file"),
        (["--store", "sqlite+nonsense:///:memory:"], "names no file"),
        (["--store", "sqlite://here/x.sqlite"], "names no file"),
        (["--store", "sqlite:///x.sqlite?timeout=soon"], "after '?'"),
        (["--store", "sqlite:///x.sqlite?timeout=1&timeout=2"], "after '?'"),
        (["--store", "sqlite:///x.sqlite?cached_statements=99999999999"], "after '?'"),
        (["--store", "postgresql://here/there?port=abc"], "after '?'"),
        (["--store", "sqlite:///x.sqlite?colour=red"], "after '?'"),
        (["--store", "postgresql://me@here:port/there"], "URL cannot be read"),
    ],
)
def test_a_store_that_cannot_be_opened_is_refused(
    options: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["migrate", *options]) == ExitCode.BAD_INPUT
    errors = capsys.readouterr().err
    assert errors.startswith("error: store_url: ")
    assert why in errors

"""Settings: their sources, which values are refused, and that the page about them lists all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.settings import (
    FILE_VARIABLE,
    Settings,
    WrongSettings,
    read_settings,
    unknown_variables,
)
from planner.formats.tables.problems import FORMATS

DOCS = Path(__file__).resolve().parents[2] / "docs" / "service.md"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"MEMPLAN_{name.upper()}", raising=False)
    monkeypatch.delenv(FILE_VARIABLE, raising=False)


def test_the_page_ends_with_the_table_of_all_settings() -> None:
    page = DOCS.read_text(encoding="utf-8")
    assert page.endswith(table()), "put what table() returns at the end of docs/service.md"
    assert all(field.description for field in Settings.model_fields.values())


def table() -> str:
    """Return all settings as docs/service.md lists them."""
    rows = ["| setting | default | |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        rows.append(f"| `{name}` | {shown(field.default)} | {field.description} |")
    return "\n".join(rows) + "\n"


def shown(default: object) -> str:
    if default is None or default in ((), {}):
        return ""
    if default == tuple(FORMATS):
        return "all"
    if isinstance(default, tuple):
        return f"`{','.join(map(str, default))}`"
    if isinstance(default, bool):
        return "`1`" if default else "`0`"
    if isinstance(default, float):
        return f"`{default:g}`"
    return f"`{default}`"


def test_options_come_before_variables_and_variables_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('port = 1\nhost = "localhost"\nworkers = 3\nallowed_hosts = ["a", "b"]\n')
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    monkeypatch.setenv("MEMPLAN_PORT", "2")
    monkeypatch.setenv("MEMPLAN_WORKERS", "4")
    found = read_settings(workers=5)
    assert (found.host, found.port, found.workers, found.allowed_hosts) == ("localhost", 2, 5, ("a", "b"))


def test_lists_and_tokens_are_read_from_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMPLAN_ALLOWED_HOSTS", "a.example, b.example,")
    monkeypatch.setenv("MEMPLAN_TOKENS", f"ann={'0' * 64}, bob={'f' * 64}")
    found = read_settings()
    assert found.allowed_hosts == ("a.example", "b.example")
    assert list(found.tokens) == ["ann", "bob"]


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("DATA_DIR", "", "is empty"),
        ("PORT", "65536", "port"),
        ("WORKERS", "0", "workers"),
        ("MAX_TIME_LIMIT", "nan", "max_time_limit"),
        ("MAX_TIME_LIMIT", "inf", "max_time_limit"),
        ("FORMATS", "memplan,mdl", "no format 'mdl'"),
        ("ALLOWED_SOLVERS", "greedy,gredy", "no solver 'gredy'"),
        ("ALLOWED_ORIGINS", "https://pages.example,pages.example", "'pages.example' is no origin"),
        ("ALLOWED_ORIGINS", "https://pages.example/maps", "is no origin"),
        ("TOKENS", "ann=123", "64 hexadecimal digits"),
        ("TOKENS", f"ann={'0' * 64},ann={'1' * 64}", "given twice"),
        ("LOG_FORMAT", "xml", "log_format"),
        ("ANONYMOUS", "perhaps", "anonymous"),
        ("WORKER", "1", "there is no setting MEMPLAN_WORKER; is it MEMPLAN_WORKERS?"),
        ("TIME_LIMIT", "1", "is it MEMPLAN_MAX_TIME_LIMIT?"),
    ],
)
def test_wrong_settings_are_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str, word: str) -> None:
    monkeypatch.setenv(f"MEMPLAN_{name}", value)
    with pytest.raises(WrongSettings, match=re.escape(word)):
        read_settings()


@pytest.mark.parametrize("value", ["5ecret", "ann=5ecret", "5ecret,ann=123", "=5ecret"])
def test_a_token_that_stands_where_its_digest_should_is_not_shown(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MEMPLAN_TOKENS", value)
    with pytest.raises(WrongSettings) as caught:
        read_settings()
    assert "5ecret" not in str(caught.value)


def test_unknown_variables_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = unknown_variables()
    for name in ("", "PROT", "SERVICE_HOST", "KERNELS", "SETTINGS", "PORT"):
        monkeypatch.setenv(f"MEMPLAN_{name}", "1")
    unknown = ("", "PROT; is it MEMPLAN_PORT?", "SERVICE_HOST")
    more = [f"there is no setting MEMPLAN_{each}" for each in unknown]
    assert sorted(before + more) == sorted(unknown_variables())


@pytest.mark.parametrize("text", ["prot = 1\n", "port = \n", "\x00", "x=" + "[" * 2000])
def test_a_wrong_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text)
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    with pytest.raises(WrongSettings, match=r"prot; is it port\?|cannot be read"):
        read_settings()


def test_a_file_with_an_impossible_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILE_VARIABLE, "x" * 5000)
    with pytest.raises(WrongSettings, match="no settings file"):
        read_settings()


@pytest.mark.parametrize(
    ("host", "safe"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("LOCALHOST", True),
        ("0.0.0.0", False),
        ("::", False),
        ("x.example", False),
    ],
)
def test_only_loopback_is_served_without_tokens(host: str, safe: bool) -> None:
    if safe:
        Settings(host=host).require_safe_host()
    else:
        with pytest.raises(WrongSettings, match="tokens"):
            Settings(host=host).require_safe_host()
    Settings(host=host, anonymous=True).require_safe_host()
    Settings(host=host, tokens={"ann": "0" * 64}).require_safe_host()


def test_only_named_owners_may_see_figures_of_all_jobs() -> None:
    digest = "0" * 64
    assert Settings().may_see_metrics("anonymous")
    assert Settings(tokens={"ann": digest}).may_see_metrics("ann")
    assert not Settings(tokens={"ann": digest}, anonymous=True).may_see_metrics("anonymous")
    two = {"ann": digest, "bob": digest}
    assert not any(Settings(tokens=two).may_see_metrics(name) for name in two)
    named = Settings(tokens=two, metrics_tokens=("bob",))
    assert [named.may_see_metrics(name) for name in two] == [False, True]
    with pytest.raises(ValueError, match="there is no token 'eve'"):
        Settings(tokens=two, metrics_tokens=("eve",))

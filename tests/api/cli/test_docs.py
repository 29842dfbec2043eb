"""docs/cli.md and --help name every command and option, and no others; each option is described in one place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from api.cli.app import app
from api.cli.invocation import invoke
from api.jobs.requests.endpoints import PLANS
from api.routes.http.parameters import PLAN_QUERY
from planner.formats import FORMATS
from planner.formats.tables.plans import PLAN_FORMATS
from planner.planning.options.options import DECLARED
from tests.running.command import CliRunner

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "cli.md").read_text("utf-8")
ELSEWHERE = {
    "plan-many": "many.md",
    "diff": "many.md",
    "bench": "bench.md",
    "generate": "bench.md",
    "serve": "service.md",
    "worker": "service.md",
    "migrate": "service.md",
}
"""Commands whose options another page explains."""


def commands(group: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command with the words that call it."""
    for name, command in getattr(group, "commands", {}).items():
        if getattr(command, "commands", None):
            yield from commands(command, *path, name)
        else:
            yield (*path, name), command


COMMANDS = dict(commands(typer.main.get_command(app)))


def options(command: Any) -> set[str]:
    """Return the long names of a command's options."""
    params = command.get_params(command.make_context(command.name, [], resilient_parsing=True))
    every = (word for param in params for word in (*param.opts, *param.secondary_opts))
    return {word for word in every if word.startswith("--")} - {"--help"}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_names_each_option_and_nothing_is_left_to_fill_in(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*words, "--help"])
    assert shown.exit_code == 0
    assert options(COMMANDS[words]) <= set(re.findall(r"--[a-z-]+", shown.stdout))
    assert not re.search(r"\{[a-z_]+\}", shown.stdout)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_usage_error_points_to_the_help_of_its_command(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    takes_a_value = [param for param in COMMANDS[words].params if param.opts[0].startswith("--") and not param.is_flag]
    for wrong in ("--no-such-option", *(param.opts[0] for param in takes_a_value[:1])):  # an option without its value
        assert invoke([*words, wrong]) == 2
        assert capsys.readouterr().err.splitlines()[-1] == f"try 'memplan {' '.join(words)} --help'"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_page_names_each_command_and_each_of_its_options(words: tuple[str, ...]) -> None:
    text = PAGE + ((DOCS / ELSEWHERE[words[0]]).read_text("utf-8") if words[0] in ELSEWHERE else "")
    called = " ".join(word for word in words if word != "run")
    assert f"memplan {called}" in text
    missing = {option for option in options(COMMANDS[words]) if option not in text}
    if words[0] in ("serve", "worker", "migrate"):  # the page explains these options by their settings' names
        missing = {each for each in missing if each[2:].replace("-", "_") not in text}
    assert not missing


def test_the_page_names_each_format_of_plans() -> None:
    (row,) = re.findall(r"^\| `--as NAME` .*$", PAGE, re.MULTILINE)
    assert [name for name in PLAN_FORMATS if f"`{name}`" not in row] == []


def test_the_page_names_no_option_that_is_not_there() -> None:
    known = {option for command in COMMANDS.values() for option in options(command)} | {"--help", "--version"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) <= known


def test_every_door_offers_the_options_of_the_library() -> None:
    library = {row.public_name for row in DECLARED.values()}
    over_http = {row.public_name for row in DECLARED.values() if row.over_http}
    assert library - over_http == {"verbose"}
    assert set(PLANS.loose.model_fields) - set(PLANS.own) == over_http
    assert set(PLAN_QUERY.model.model_fields) - {*PLANS.own, "format", "name", "require"} == over_http
    offered = {option[2:].replace("-", "_") for option in options(COMMANDS[("plan",)])}
    settings = {setting.name for row in FORMATS.values() for setting in row.settings}
    assert (
        offered - {"out", "as", "json", "quiet", "report", "map", "arenas", "proof", "baseline", "format"}
        == library | settings
    )


def test_help_at_every_door_is_the_library_s() -> None:
    shown = " ".join(CliRunner().invoke(app, ["plan", "--help"]).stdout.split())
    for row in DECLARED.values():
        assert row.help
        assert row.help in shown
        if row.over_http:
            assert row.help in str(PLANS.loose.model_fields[row.public_name].description)
            assert row.help in str(PLAN_QUERY.model.model_fields[row.public_name].description)


@pytest.mark.parametrize("words", [(), *{words[:-1] for words in COMMANDS if len(words) > 1}], ids=" ".join)
def test_lists_of_commands_cut_no_sentence(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*words, "--help"], terminal_width=80).stdout
    assert "..." not in shown.split("Commands:")[1]

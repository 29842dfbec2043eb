"""Sizes, seconds, capacities and names of files are read from the command line."""

from __future__ import annotations

import pytest
import typer

from api.cli.app import app
from api.cli.arguments import parse_capacities, parse_seconds, parse_size
from api.cli.invocation import invoke
from api.cli.planner_options import FILES, FOLDERS


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("1048576", 1 << 20),
        ("1_048_576", 1 << 20),
        ("0x100000", 1 << 20),
        ("64KiB", 1 << 16),
        ("2 MiB", 1 << 21),
        ("64k", 1 << 16),
        ("64K", 1 << 16),
        ("1 M", 1 << 20),
        ("1g", 1 << 30),
    ],
)
def test_sizes_are_parsed(text: str, size: int) -> None:
    assert parse_size(text, "--capacity") == size


@pytest.mark.parametrize(
    "text",
    ["", "-1", "1.5", "1e6", "64KB", "64kB", "64kib", "k", "kib", "0x", "0x_", "_", "٣", "9" * 25, "8388608TiB", "1\n"],
)
def test_wrong_sizes_are_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_size(text, "--capacity")


def test_no_capacity_keeps_the_problem_s() -> None:
    assert parse_capacities([]) is None


def test_one_capacity_is_that_of_the_only_pool() -> None:
    assert parse_capacities(["64KiB"]) == 65536


def test_capacities_are_parsed_by_name() -> None:
    assert parse_capacities(["sram=0x10", "a=b=2KiB"]) == {"sram": 16, "a=b": 2048}


@pytest.mark.parametrize("texts", [["1", "2"], ["1", "a=2"], ["a=1", "a=2"], ["a="], ["a=x"]])
def test_wrong_capacities_are_refused(texts: list[str]) -> None:
    with pytest.raises(typer.BadParameter):
        parse_capacities(texts)


@pytest.mark.parametrize(("text", "seconds"), [("10", 10.0), ("0.5", 0.5), ("none", None), ("None", None)])
def test_seconds_are_parsed(text: str, seconds: float | None) -> None:
    assert parse_seconds(text, "--time-limit") == seconds


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "ten", ""])
def test_wrong_numbers_of_seconds_are_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_seconds(text, "--time-limit")


OTHER_VALUES = {
    *("NAME", "NAMES", "N", "WHERE", "URL", "ADDRESS", "SECONDS", "BYTES", "KIND", "NAME=NUMBER", "SEEDS", "PERCENT"),
    *("SHAPE", "[POOL=]SIZES", "from-name|BYTES|none"),
}
"""What help calls values that are neither files nor folders."""


def named_values() -> list[tuple[str, str, str]]:
    """Return command, parameter and metavar of every value that has a name in help."""
    top = typer.main.get_command(app)
    commands = {name: each for name, each in getattr(top, "commands", {}).items() if name != "bench"}
    commands |= {f"bench {name}": each for name, each in getattr(top, "commands", {})["bench"].commands.items()}
    return [
        (name, param.opts[0], param.metavar)
        for name, command in commands.items()
        for param in command.params
        if param.metavar is not None
    ]


def test_help_has_one_word_for_each_kind_of_value() -> None:
    assert {metavar for _, _, metavar in named_values()} == {*FILES, *FOLDERS} | OTHER_VALUES


@pytest.mark.parametrize(("command", "given"), [each[:2] for each in named_values() if each[2] in (*FILES, *FOLDERS)])
def test_empty_names_of_files_are_refused(command: str, given: str) -> None:
    found = typer.main.get_command(app)
    for word in command.split():
        found = getattr(found, "commands", {})[word]
    arguments = [param.opts[0] for param in found.params if param.param_type_name == "argument"]
    words = ["" if name == given else "random" for name in arguments]
    needed = [param.opts[0] for param in found.params if param.required and param.opts[0].startswith("-")]
    options = dict.fromkeys(needed, "1") | ({given: ""} if given.startswith("-") else {})
    with pytest.raises(typer.BadParameter, match=r"^the name of the (file|folder) is empty; name a (file|folder)"):
        found.make_context(command, [*words, *(word for pair in options.items() for word in pair)])


def test_the_refusal_names_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "x.json", "-o", ""]) == 2
    assert capsys.readouterr().err == (
        "error: Invalid value for --out: the name of the file is empty; name a file, or leave the option out\n"
        "try 'memplan plan --help'\n"
    )
    assert invoke(["plan", ""]) == 2
    assert "Invalid value for FILE: the name of the file is empty; name a file\n" in capsys.readouterr().err

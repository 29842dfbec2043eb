"""Sizes, seconds and capacities are read from the command line."""

from __future__ import annotations

import pytest
import typer

from api.cli.arguments import parse_capacities, parse_seconds, parse_size


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

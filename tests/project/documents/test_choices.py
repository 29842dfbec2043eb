"""Where the page and the documentation list what an option may be, they list what the library's table of options does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planner.planning.options.options import CHOICES as ROWS
from planner.planning.options.options import Preference, Stability

ROOT = Path(__file__).parents[3]
PAGES = {path.name: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")}
FORM = (ROOT / "api" / "web" / "index.html").read_text("utf-8")
CHOICES = {row.public_name: list(map(str, row.choices or ())) for row in ROWS}


def rows(page: str, column: str) -> list[str]:
    """Return the words in code style in the first column of the table with such a heading."""
    table = PAGES[page].split(f"\n| {column} |", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^\| `(\w+)`", table, re.MULTILINE)


def test_options_with_choices_are_known() -> None:
    assert {"goal", "warm", "prefer", "stability"} <= set(CHOICES)


@pytest.mark.parametrize("option", CHOICES)
def test_every_row_of_a_command_lists_the_choices(option: str) -> None:
    listed = [each for text in PAGES.values() for each in re.findall(rf"`--{option} ([\w\\|]+)`", text) if "|" in each]
    assert {tuple(each.split(r"\|")) for each in listed} == {tuple(CHOICES[option])}


@pytest.mark.parametrize("option", CHOICES)
def test_the_form_offers_the_choices(option: str) -> None:
    for field in re.findall(rf'<select name="{option}">(.*?)</select>', FORM, re.DOTALL):
        offered = re.findall(
            r'<option(?: value="(\w+)")?>(.*?)</option>', field
        )  # not the one without a value, for none
        assert [value or words for value, words in offered] == CHOICES[option]


def test_the_form_has_such_fields() -> None:
    assert set(CHOICES) & set(re.findall(r'<select name="(\w+)"', FORM)) == {"goal", "prefer", "warm"}


@pytest.mark.parametrize(("option", "call"), [("prefer", "with_preference"), ("stability", "with_stability")])
def test_the_library_names_the_choices(option: str, call: str) -> None:
    (row,) = re.findall(rf"^\| `{call}\(.*", PAGES["library.md"], re.MULTILINE)
    assert re.findall(r"`([a-z]+)`", row.split(":", 1)[1]) == CHOICES[option]


def test_what_each_choice_means_has_a_row() -> None:
    assert rows("memories.md", "preset") == list(Preference)
    assert rows("many.md", "`--stability`") == list(Stability)

"""Tables of names and figures that fit a terminal: names are cut to the width that figures leave, and rows to the height."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from planner.model.problem import BufferId

from ..text import grouped, visible

FEWEST_ROWS, MAX_ROWS = 6, 40
SHORTEST_NAME = 8
LONGEST_NAME = 400
"""Names are cut to this before they are measured, whatever the terminal's width."""
BYTES = " (B)"
"""The end of headings, left out where nothing else helps."""
WRITTEN_BY_OPTION, WRITTEN, IN_JSON = "-o FILE writes all", "the file has all", "--json lists all"
"""Where all rows of a shortened table are."""
COLUMN_GAP, NARROW_GAP = 3, 2
"""Between columns; and where the terminal is narrow, still more than within a figure."""


def shown_id(identifier: BufferId, *, quoting: bool = True) -> str:
    """Return an id for a terminal. If ids are mixed, strings that look like numbers are quoted: 1 is not "1"."""
    if isinstance(identifier, int):
        return str(identifier)
    text = visible(identifier[:LONGEST_NAME])
    return f'"{text}"' if not text.strip() or (quoting and text.lstrip("-").isdigit()) else text


def more(total: int, rows: int = MAX_ROWS, whole: str = WRITTEN_BY_OPTION) -> str | None:
    """Return the line below a shortened table, which says where all rows are."""
    return f"… and {grouped(total - rows)} more; {whole}" if total > rows else None


def rows_for(console: Console, beside: int) -> int:
    """Return how many rows a table may have so that other output stays visible, with the prompt below."""
    return max(FEWEST_ROWS, min(MAX_ROWS, console.height - 1 - beside)) if console.is_terminal else MAX_ROWS


def new_table() -> Table:
    return Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")


def fill(
    table: Table,
    names: Sequence[tuple[str, Sequence[str]]],
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
) -> None:
    """Fill the table: names on the left, cut to the width that figures leave; figures on the right, never cut."""
    count = len(names) + len(headings) - 1
    shortest = sum(min(SHORTEST_NAME, max(map(cell_len, (heading, *column)))) for heading, column in names)
    short = [heading.removesuffix(BYTES) for heading in headings]
    for gap, heads in ((COLUMN_GAP, headings), (NARROW_GAP, headings), (NARROW_GAP, short)):
        figures = sum(
            max(map(len, (head, *column))) for head, column in zip(heads, columns(rows, len(heads)), strict=True)
        )
        gaps = gap * count
        if shortest + figures + gaps <= width:
            break
    if gap == NARROW_GAP:
        table.padding = (0, 1, 0, 0)
    rooms = shares([max(map(cell_len, (heading, *column))) for heading, column in names], width - figures - gaps)
    needed = figures + gaps + sum(rooms)
    if needed > width:
        # a narrow terminal wraps the lines; cut figures would be wrong figures
        table.width = needed
    for heading, _ in names:
        table.add_column(heading, no_wrap=True, overflow="ellipsis")
    for heading in heads:
        table.add_column(heading, justify="right", no_wrap=True)
    for i, row in enumerate(rows):
        cut = (shortened(column[i], room) for (_, column), room in zip(names, rooms, strict=True))
        table.add_row(*map(Text, cut), *map(Text, row))


def known_columns(
    names: Sequence[tuple[str, Sequence[str]]], figures: Sequence[tuple[str, Sequence[str]]], width: int
) -> Table:
    """Return a table without columns of figures that are unknown in every row."""
    known = [(heading, cells) for heading, cells in figures if any(cells)]
    table = new_table()
    fill(table, names, [heading for heading, _ in known], list(zip(*(cells for _, cells in known), strict=True)), width)
    return table


def shares(needs: Sequence[int], width: int) -> list[int]:
    """Share out the width among columns: narrow ones get all they need, wide ones the rest in equal parts."""
    given = [0] * len(needs)
    for done, i in enumerate(sorted(range(len(needs)), key=needs.__getitem__)):
        given[i] = min(needs[i], max(width // (len(needs) - done), SHORTEST_NAME))
        width -= given[i]
    return given


def columns(rows: Sequence[Sequence[str]], count: int) -> Iterable[Sequence[str]]:
    return [[row[i] for row in rows] for i in range(count)]


def shortened(text: str, cells: int) -> str:
    """Return the text cut in the middle: layer names differ at their ends more than at their beginnings."""
    if cell_len(text) <= cells:
        return text
    tail = (cells - 1) // 2
    end = text[len(text) - tail :]
    while cell_len(end) > tail:
        end = end[1:]
    beginning = text[: cells - 1 - tail]
    while cell_len(beginning) > cells - 1 - tail:
        beginning = beginning[:-1]
    return f"{beginning}…{end}"

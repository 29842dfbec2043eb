"""The report as a self-contained page: sortable tables and charts; no network, light or dark as the reader's system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from ..results.records import Record
from ..results.tallies import contradictions, per_instance, per_solver
from ..results.worst import worst
from .charts import Series, dots, dots_in_rows, lines
from .curves import (
    LEAST_GAP,
    QUICKEST,
    gap_over_time,
    growth,
    performance_profile,
    proven_over_time,
    times_per_instance,
)
from .figures import figure_in, short_number, short_percent, short_seconds
from .maps import ABOUT_MAPS, Maps, anchor, shown
from .markdown import (
    ABOUT_FRONTIERS,
    ABOUT_WORST,
    FRONTIER_HEADINGS,
    INSTANCE_HEADINGS,
    SOLVER_HEADINGS,
    WORST_HEADINGS,
    about_gaps,
    conditions,
    failures,
    frontier_row,
    instance_row,
    solver_row,
    with_frontiers,
    worst_row,
)
from .scales import linear, logarithmic
from .style import SCRIPT, STYLE

NONE: Mapping[str, str] = {}
MOST_ROWS = 60
"""The instances in the chart of times: the slowest."""


def html(records: Sequence[Record], maps: Maps | None = None) -> str:
    """Return the page, with the maps that can be drawn."""
    wrong = contradictions(records)
    failed = failures(records)
    parts = [
        "<h1>Benchmark</h1>",
        *(f"<p class='how'>{escape(line)}</p>" for line in conditions(records)),
        *(["<h2>Wrong</h2>", _list(wrong, "wrong")] if wrong else []),
        "<h2>Solvers</h2>",
        _table(SOLVER_HEADINGS, map(solver_row, per_solver(records))),
        f"<p class='how'>{escape(about_gaps(records))}</p>",
        "<div class='charts'>",
        *_charts(records),
        "</div>",
        *_worst(records, maps),
        "<h2>Instances</h2>",
        _table(INSTANCE_HEADINGS, map(instance_row, per_instance(records))),
        *_frontiers(records),
        *(["<h2>Without an answer</h2>", _list(failed, "failed")] if failed else []),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>memplan benchmark</title>'
    body = "\n".join(parts)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>{body}<script>{SCRIPT}</script></body></html>\n'


def _worst(records: Sequence[Record], maps: Maps | None) -> Iterable[str]:
    found = worst(records)
    if found:
        drawn = [] if maps is None else maps.of(found)
        anchors = {each.one.record.instance: anchor(each.one) for each in drawn}
        yield "<h2>The worst</h2>"
        yield _table(WORST_HEADINGS, map(worst_row, found), anchors)
        yield f"<p class='how'>{escape(ABOUT_WORST)} {escape(ABOUT_MAPS)}</p>"
        yield from map(shown, drawn)


def _frontiers(records: Sequence[Record]) -> Iterable[str]:
    fronts = with_frontiers(records)
    if fronts:
        yield "<h2>Frontiers</h2>"
        yield _table(FRONTIER_HEADINGS, map(frontier_row, fronts))
        yield f"<p class='how'>{escape(ABOUT_FRONTIERS)}</p>"


def _charts(records: Sequence[Record]) -> Iterable[str]:
    proven = proven_over_time(records)
    times = logarithmic(_after_the_start(proven), short_seconds)
    share = linear(1.0, short_percent)
    yield _figure(
        "Proven over time",
        lines(proven, times, share, "seconds of planning", "runs proven"),
        "share of the solver's runs",
    )
    if len(proven) > 1:
        profile = performance_profile(records)
        ratios = logarithmic([1.0, *_xs(profile)], lambda value: f"{value:g}×")
        drawn = lines(profile, ratios, share, "times the quickest solver's time to the proof", "runs proven")
        yield _figure("Performance profile", drawn, "share of the solver's runs that are proven")
    gaps = gap_over_time(records)
    if any(one.points for one in gaps):
        span = logarithmic(_after_the_start(gaps), short_seconds)
        size = logarithmic((LEAST_GAP, 1.0), lambda gap: f"{'≤ ' if gap <= LEAST_GAP else ''}{short_percent(gap)}")
        drawn = lines(gaps, span, size, "seconds of planning", "mean gap")
        yield _figure("Mean gap over time", drawn, "of what every solver takes; no plan yet counts as 100 %")
    slowest = _slowest(records)
    if slowest:
        series = times_per_instance(records, slowest)
        drawn = dots_in_rows(slowest, series, logarithmic(_xs(series), short_seconds), "seconds to the proof")
        left_out = len({r.instance for r in records}) - len(slowest)
        note = f"slowest first; {left_out} more not shown, or not proven" if left_out else "slowest first"
        yield _figure("Time to optimum", drawn, note)
    for title, memory in (("Time by size", False), ("Memory by size", True)):
        series = growth(records, memory=memory)
        sizes = logarithmic(_xs(series), short_number)
        label = (lambda value: f"{short_number(value)}B") if memory else short_seconds
        amounts = logarithmic(_ys(series), label)
        axis = "bytes of the largest process" if memory else "seconds of planning"
        yield _figure(title, dots(series, sizes, amounts, "buffers", axis), axis)


def _slowest(records: Sequence[Record]) -> list[str]:
    times: dict[str, float] = {}
    for record in records:
        if record.seconds_to_proof is not None:
            times[record.instance] = max(times.get(record.instance, 0.0), record.seconds_to_proof)
    return sorted(times, key=lambda name: (-times[name], name))[:MOST_ROWS]


def _xs(series: Sequence[Series]) -> list[float]:
    return [x for one in series for x, _ in one.points]


def _after_the_start(series: Sequence[Series]) -> list[float]:
    """Return the points without those at which steps begin before anything happens."""
    return [x for x in _xs(series) if x > QUICKEST]


def _ys(series: Sequence[Series]) -> list[float]:
    return [y for one in series for _, y in one.points]


def _figure(title: str, drawn: str, note: str = "") -> str:
    shown_note = f" <small>{escape(note)}</small>" if note else ""
    return f"<figure><figcaption>{escape(title)}{shown_note}</figcaption>{drawn}</figure>"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], anchors: Mapping[str, str] = NONE) -> str:
    """Return a table with a line above every row whose name differs from the one before; repeated names show only after sorting otherwise.

    `anchors`: the links of names within the page.
    """
    head = "".join(f"<th><button>{escape(heading)}</button></th>" for heading in headings)
    body, before = [], None
    for row in rows:
        kind = " class=again" if row[0] == before else " class=named"
        cells = "".join(f"<td{_sorted_by(text)}>{_linked(text, anchors)}</td>" for text in row)
        body.append(f"<tr{kind}>{cells}</tr>")
        before = row[0]
    return f"<div class='wide'><table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"


def _linked(text: str, anchors: Mapping[str, str]) -> str:
    to = anchors.get(text)
    return escape(text) if to is None else f"<a href='#{escape(to)}'>{escape(text)}</a>"


def _sorted_by(text: str) -> str:
    worth = figure_in(text)
    return "" if worth is None else f" data-worth={worth!r}"


def _list(items: Sequence[str], kind: str) -> str:
    return f"<ul class='{kind}'>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"

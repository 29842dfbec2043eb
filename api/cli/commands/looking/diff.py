"""`memplan diff`: compares two plans, as a table, JSON or a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import NamedTuple

from planner.facts.variants import as_chosen
from planner.formats import read_plan, read_problem
from planner.model.errors import BadInput, Code, Finding, echo
from planner.model.plan import Placement, Plan
from planner.model.problem import Problem
from planner.reporting.difference import Difference, difference

from ...exit_codes import ExitCode
from ...terminal.picture_file import PictureFile
from ...terminal.reading import read_bytes, require_one_standard_input, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import print_json, prints_json, say_written
from ...terminal.tables.columns import IN_JSON, MAX_ROWS, fill, more, new_table, shown_id
from ...terminal.tables.consoles import console_on, plain
from ...terminal.text import both, counted, exact, grouped, percent

KINDS = ("moved", "resized", "added", "removed")


class Request(NamedTuple):
    """What to compare."""

    before: str
    after: str
    problem_before: str | None
    problem: str | None
    plot: str | None
    input_format: str | None
    as_json: bool


def run(request: Request) -> ExitCode:
    """Compare; exit code 1 if they differ."""
    require_one_standard_input(request.before, request.after, *{request.problem_before, request.problem})
    plot = None
    with refusing(None, as_json=request.as_json):
        if request.plot is not None:
            plot = PictureFile.checked(request.plot, "plot", request.before, request.after)
    before, after = (_plan(request, file) for file in (request.before, request.after))
    found = difference(before, after)
    if plot is not None:
        _draw(request, plot, before, after)
    if prints_json(as_json=request.as_json):
        print_json({**asdict(found), "bytes": found.bytes})
    else:
        _show(found)
        say_written(request.plot)
    return ExitCode.FINDINGS if found.changes else ExitCode.OK


def _plan(request: Request, file: str) -> Plan:
    with refusing(shown_name(file), as_json=request.as_json):
        return read_plan(read_bytes(file))


def _draw(request: Request, plot: PictureFile, before: Plan, after: Plan) -> None:
    from planner.drawing import STANDARD, compared, memory_map

    first = _problem(request, request.problem_before)
    second = first if request.problem == request.problem_before else _problem(request, request.problem)
    maps = []
    for file, problem, plan in ((request.before, first, before), (request.after, second, after)):
        with refusing(shown_name(file), as_json=request.as_json):
            _require_same_sizes(problem, plan)
            maps.append(memory_map(problem, plan))
    with refusing(None, as_json=request.as_json):
        plot.write(compared(maps[0], maps[1], plot.sheet(STANDARD)))


def _problem(request: Request, file: str | None) -> Problem:
    assert file is not None
    with refusing(shown_name(file), as_json=request.as_json):
        return read_problem(read_bytes(file), name=file, format=request.input_format)[0]


def _require_same_sizes(problem: Problem, plan: Plan) -> None:
    """Raise BadInput for a plan of another problem, which would be drawn with the wrong sizes."""
    sizes = {buffer.id: buffer.size for buffer in as_chosen(problem, plan).buffers}
    for number, place in enumerate(plan.placements):
        size = sizes.get(place.id)
        if size != place.size:
            field, what = (
                ("id", "is not in the problem") if size is None else ("size", f"has {size} bytes in the problem")
            )
            text = f"buffer {echo(place.id)} {what}; --problem-before names that of the older plan, if it was another"
            raise BadInput(Finding(Code.CONTRADICTION, f"/placements/{number}/{field}", text))


def _show(found: Difference) -> None:
    """Print the buffers first and the totals last, where the reader looks."""
    console, table = console_on(), new_table()
    shown = found.changes[:MAX_ROWS]
    rows = [(change.kind, _place(change.before), _place(change.after), grouped(change.bytes)) for change in shown]
    if rows:
        names = [("Buffer", [shown_id(change.id) for change in shown])]
        fill(table, names, ("Change", "Before", "After", "Size (B)"), rows, console.width)
        console.print(table)
    if rest := more(len(found.changes), whole=IN_JSON):
        console.print(rest)
    for line in _figures(found):
        console.print(plain(line))


def _place(place: Placement | None) -> str:
    return "" if place is None else f"{place.pool} {grouped(place.offset)}"


def _figures(found: Difference) -> Iterator[str]:
    kinds = {kind: sum(change.kind == kind for change in found.changes) for kind in KINDS}
    counts = [f"{grouped(count)} {kind}" for kind, count in kinds.items() if count]
    count = (
        f"{counted(found.unchanged, 'buffer')} {'is where it was' if found.unchanged == 1 else 'are where they were'}"
    )
    yield f"{', '.join(counts)} ({both(found.bytes)}); {count}" if counts else f"no difference: {count}"
    if not found.same_problem:
        yield "the plans are of two problems"
    if len(found.pools) > 1:
        for pool in found.pools:
            yield f"  {pool.name}   {_peaks(pool.before, pool.after)}"
    yield f"  peak   {_peaks(found.before, found.after)}"


def _peaks(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return f"{'no plan' if before is None else exact(before)} -> {'no plan' if after is None else exact(after)}"
    if before == after:
        return f"{exact(before)}, as before"
    share = f" ({'+' if after > before else '-'}{percent(abs(after - before) / before)})" if before else ""
    return f"{exact(before)} -> {exact(after)}{share}"

"""`memplan draw`: a picture of a plan: its memory map, alone or beside another's, bytes in use over time, or the convergence; of a frontier the curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple

from planner.drawing import (
    MemoryMap,
    Sheet,
    compared,
    convergence,
    frontier_curve,
    memory_map,
    nested_maps,
    profile,
    svg,
)
from planner.formats import is_frontier, read_plan, read_program
from planner.formats.answers.nested import is_nested, read_nested
from planner.model.columns import BufferColumns
from planner.model.plan import Plan
from planner.model.problem import Problem
from planner.planning.options.capacity import with_capacity
from planner.planning.options.options import bad_option
from planner.planning.options.preference import Preference, Stability
from planner.verifying.findings import VerifyFinding
from planner.verifying.frontier import verify_frontier
from planner.verifying.verify import verify

from ...exit_codes import ExitCode
from ...terminal.output_file import STANDARD_OUTPUT
from ...terminal.picture_file import PictureFile
from ...terminal.reading import (
    read_bytes,
    read_frontier_file,
    read_planned_problem,
    require_one_standard_input,
    shown_name,
)
from ...terminal.refusals import refusing
from ...terminal.standard_output import write_out
from ...terminal.text import grouped, say, visible

SHOWN = {"profile": "bytes in use over time", "convergence": "value and bound while it was planned"}


class Request(NamedTuple):
    """What to draw, and where."""

    problem_file: str
    plan_file: str
    out: str
    what: str
    """`map`, `profile` or `convergence`."""
    other_file: str | None
    """Another plan, for comparison."""
    sheet: Sheet
    input_format: str | None

    @property
    def plan_files(self) -> list[str]:
        return [self.plan_file, *([] if self.other_file is None else [self.other_file])]


class Checked(NamedTuple):
    """A plan that was read, its faults and its map."""

    file: str
    data: bytes
    plan: Plan
    findings: tuple[VerifyFinding, ...]
    drawn: MemoryMap


def run(
    request: Request,
    *,
    capacity: int | Mapping[str, int] | None,
    prefer: Preference | None,
    stability: Stability | None,
    baseline: str | None,
) -> ExitCode:
    """Read everything, draw, and report a plan's faults, if any: a picture may help to see them."""
    require_one_standard_input(request.problem_file, *request.plan_files)
    with refusing(shown_name(request.problem_file), as_json=False):
        out = PictureFile.checked(request.out, "out", request.problem_file, *request.plan_files, pages=True)
    data = [_read(file) for file in request.plan_files]
    if is_nested(data[0]):
        plans = _draw_nested(request, data[0], capacity, out)
    else:
        with refusing(shown_name(request.problem_file), as_json=False):
            problem = read_planned_problem(
                request.problem_file, request.input_format, capacity, prefer, stability, baseline
            )
        if is_frontier(data[0]):
            return _draw_frontier(request, problem, data[0], out)
        problem = _kept(problem)
        plans = [_checked(problem, file, each) for file, each in zip(request.plan_files, data, strict=True)]
        with refusing(shown_name(request.plan_file), as_json=False):
            if out.is_page:
                out.file.write(_page(problem, plans, request.what, request.sheet))
            else:
                _write(_picture(problem, plans, request.what, out.sheet(request.sheet)), request, out)
    for each in plans:
        if each.findings:
            _say_what_is_wrong(each.file, "plan", each.findings, marked=request.what == "map")
    return ExitCode.FINDINGS if any(each.findings for each in plans) else ExitCode.OK


def _kept(problem: Problem) -> Problem:
    """Return the problem with buffers that are made once: drawing looks at them many times."""
    if not isinstance(problem.buffers, BufferColumns):
        return problem
    made = replace(problem, buffers=problem.buffers.kept())
    made.facts.is_sound = problem.facts.is_sound
    return made


def _read(file: str) -> bytes:
    with refusing(shown_name(file), as_json=False):
        return read_bytes(file)


def _write(picture: bytes, request: Request, out: PictureFile) -> None:
    if request.out == STANDARD_OUTPUT:
        write_out(picture)
    else:
        out.write(picture)


def _draw_nested(
    request: Request, data: bytes, capacity: int | Mapping[str, int] | None, out: PictureFile
) -> list[Checked]:
    """Draw the arenas of a program, one below the other."""
    from planner.graph.nested import arenas_of  # imported here: most plans do not need it

    with refusing(shown_name(request.problem_file), as_json=False):
        file = read_program(read_bytes(request.problem_file))
        pools = with_capacity(Problem((), file.pools), capacity).pools
    with refusing(shown_name(request.plan_file), as_json=False):
        if request.what != "map" or request.other_file is not None or out.is_page:
            raise bad_option("what", "nested arenas are drawn as maps, one below the other, as SVG, PNG or PDF")
        answer = read_nested(data)
        arenas = arenas_of(file.program, pools, file.options, answer.plans.values())
        checked = [_drawn(each.problem, request.plan_file, data, each.plan) for each in arenas]
        maps = [(arena.function, each.drawn) for arena, each in zip(arenas, checked, strict=True)]
        _write(nested_maps(file.program.name, maps, answer.peak, out.sheet(request.sheet)), request, out)
    return checked


def _draw_frontier(request: Request, problem: Problem, data: bytes, out: PictureFile) -> ExitCode:
    """Draw memory over cost."""
    with refusing(shown_name(request.plan_file), as_json=False):
        if request.what != "map" or request.other_file is not None or out.is_page:
            raise bad_option("what", "a frontier is drawn as its curve alone, as SVG, PNG or PDF")
        found = read_frontier_file(request.plan_file, data)
        findings = verify_frontier(problem, found)
        _write(frontier_curve(problem, found, out.sheet(request.sheet)), request, out)
    if findings:
        _say_what_is_wrong(request.plan_file, "frontier", findings, marked=False)
    return ExitCode.FINDINGS if findings else ExitCode.OK


def _checked(problem: Problem, file: str, data: bytes) -> Checked:
    with refusing(shown_name(file), as_json=False):
        return _drawn(problem, file, data, read_plan(data))


def _drawn(problem: Problem, file: str, data: bytes, plan: Plan) -> Checked:
    """Verify and draw a plan. Raises BadInput if it is of another problem."""
    findings = verify(problem, plan)
    return Checked(file, data, plan, findings, memory_map(problem, plan, findings))


def _picture(problem: Problem, plans: Sequence[Checked], what: str, sheet: Sheet) -> bytes:
    if what == "convergence":
        return convergence(problem, plans[0].plan, sheet)
    if what == "profile":
        return profile(problem, plans[0].plan, sheet)
    maps = [each.drawn for each in plans]
    return svg(maps[0], sheet) if len(maps) == 1 else compared(maps[0], maps[1], sheet)


def _page(problem: Problem, plans: Sequence[Checked], what: str, sheet: Sheet) -> bytes:
    """Return the page with the maps and, above them, what else was asked for."""
    from api.map_page import MapOfPlan, map_page

    maps = [each.drawn for each in plans]
    names = [None] if len(plans) == 1 else [PurePath(each.file).name for each in plans]
    follows = Sheet(sheet.width)
    above = [None if what == "map" else (SHOWN[what], _picture(problem, [each], what, follows)) for each in plans]
    return map_page(
        problem.name,
        [
            MapOfPlan(name, each.data, drawn, svg(drawn, sheet), other)
            for name, each, drawn, other in zip(names, plans, maps, above, strict=True)
        ],
        sheet.theme,
    )


def _say_what_is_wrong(file: str, kind: str, findings: Sequence[VerifyFinding], *, marked: bool) -> None:
    count = f"{grouped(len(findings))} thing{' is' if len(findings) == 1 else 's are'} wrong with it{', and marked' * marked}"
    say(f"error: {visible(file)}: is no {kind} of this problem: {count}; the first: {visible(findings[0].message)}")

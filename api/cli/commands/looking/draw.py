"""`memplan draw`: a picture of a plan: its memory map, alone or beside another's, bytes in use over time, or the convergence; of other answers what there is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple

from planner.drawing import MemoryMap, Sheet, compared, convergence, profile, svg
from planner.formats.answers.opened import Asked, OpenedPlan, SaidFinding
from planner.formats.tables.answers import USUAL, answer_kind
from planner.model.columns.buffers import BufferColumns
from planner.model.plan import Plan
from planner.model.problem import Problem
from planner.planning.options.options import bad_option
from planner.verifying.findings import AnswerFinding

from ...exit_codes import ExitCode
from ...terminal.picture_file import PictureFile
from ...terminal.reading import PlannedFile, beside, read_asked, read_bytes, require_one_standard_input, shown_name
from ...terminal.refusals import refusing
from ...terminal.repeating import advice
from ...terminal.standard_output import STANDARD_OUTPUT, say_written, write_out
from ...terminal.text import counted_wrong, say, visible

SHOWN = {"profile": "bytes in use over time", "convergence": "value and bound while it was planned"}


class Request(NamedTuple):
    """What to draw, and where."""

    problem: PlannedFile
    plan_file: str
    out: str
    what: str
    """`map`, `profile` or `convergence`."""
    other_file: str | None
    """Another plan, for comparison."""
    sheet: Sheet

    @property
    def plan_files(self) -> list[str]:
        return [self.plan_file, *([] if self.other_file is None else [self.other_file])]


def run(request: Request) -> ExitCode:
    """Read everything, draw, and report what is wrong, if anything is: a picture may help to see it."""
    require_one_standard_input(request.problem.name, *request.plan_files)
    with refusing(request.problem.shown_name, as_json=False):
        out = PictureFile.checked(request.out, "out", request.problem.name, *request.plan_files, pages=True)
    data = [_read(file) for file in request.plan_files]
    with refusing(request.problem.shown_name, as_json=False):
        asked = read_asked(request.problem)
        asked = replace(asked, problem=_kept(asked.problem))
    with refusing(shown_name(request.plan_file), as_json=False):
        kind = answer_kind(data[0])
        is_plan = kind.name == USUAL
        if not is_plan and (request.what != "map" or request.other_file is not None or out.is_page):
            text = f"of a {kind.title} there is {kind.picture} alone, as SVG, PNG or PDF"
            raise bad_option("what" if request.what != "map" else "compare" if request.other_file else "out", text)
        if not is_plan:
            answer = kind.open(asked, data[0], beside(request.plan_file))
    if not is_plan:
        with _beside(request, request.plan_file):
            findings = answer.findings
            _write(answer.picture(out.sheet(request.sheet)), request, out)
        if findings:
            _say_what_is_wrong(request.plan_file, kind.title, findings, marked=answer.marks_faults)
        return ExitCode.FINDINGS if findings else ExitCode.OK
    plans = [_checked(asked, request, file, each) for file, each in zip(request.plan_files, data, strict=True)]
    with _beside(request, request.plan_file):
        if out.is_page:
            out.file.write(_page(asked.problem, plans, request.what, request.sheet))
            say_written(request.out)
        else:
            _write(_picture(asked.problem, plans, request.what, out.sheet(request.sheet)), request, out)
    for each in plans:
        if each.findings:
            _say_what_is_wrong(each.file, "plan", each.findings, marked=request.what == "map")
            if (told := advice(asked.problem, each.plan)) is not None:
                say(f"  {visible(told)}")
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


def _beside(request: Request, plan_file: str) -> AbstractContextManager[None]:
    """Refuse what is wrong with the problem or, beside it, with that plan."""
    return refusing(request.problem.shown_name, as_json=False, answer=shown_name(plan_file))


def _write(picture: bytes, request: Request, out: PictureFile) -> None:
    if request.out == STANDARD_OUTPUT:
        write_out(picture)
    else:
        out.write(picture)
        say_written(request.out)


class Checked(NamedTuple):
    """A plan that was read, its faults and its map."""

    file: str
    data: bytes
    plan: Plan
    findings: Sequence[AnswerFinding]
    drawn: MemoryMap


def _checked(asked: Asked, request: Request, file: str, data: bytes) -> Checked:
    """Read, verify and draw a plan."""
    with refusing(shown_name(file), as_json=False):
        opened = OpenedPlan(asked, data)
    with _beside(request, file):
        return Checked(file, data, opened.plan, opened.findings, opened.drawn)


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


def _say_what_is_wrong(file: str, kind: str, findings: Sequence[AnswerFinding | SaidFinding], *, marked: bool) -> None:
    count = f"{counted_wrong(len(findings))} with it{', and marked' * marked}"
    say(f"error: {visible(file)}: is no {kind} of this problem: {count}; the first: {visible(findings[0].message)}")

"""`memplan plan` and `memplan share`: read a problem, solve it with progress shown, and deliver the answer, whatever its status is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Generic, NamedTuple, TypeVar

import planner
from planner.formats import read_problem, write_plan, write_sharing
from planner.formats.documents import Source
from planner.formats.tables.endings import JSON_ENDINGS, require_ending
from planner.formats.tables.plans import USUAL, PlanFormat, plan_format
from planner.model.deadline import time_limit
from planner.model.plan import Plan, PlanStatus
from planner.model.problem import Problem, measures_bytes
from planner.planning.options.options import Options, Stability
from planner.planning.options.preference import PRESETS
from solvers.model.errors import StopReason
from solvers.model.registry import SolverKind, entry_of

from ...exit_codes import ExitCode
from ...terminal.interrupt import Interrupt
from ...terminal.output_file import OutputFile, kept
from ...terminal.progress.planning import Silent, progress_on
from ...terminal.reading import STANDARD_INPUT, read_baseline, read_bytes, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import STANDARD_OUTPUT, print_document, prints_json, write_out
from ...terminal.text import is_terminal, say, say_warnings, visible

EXIT_CODES = {
    PlanStatus.OPTIMAL: ExitCode.OK,
    PlanStatus.FEASIBLE: ExitCode.OK,
    PlanStatus.INFEASIBLE: ExitCode.INFEASIBLE,
    PlanStatus.UNKNOWN: ExitCode.UNKNOWN,
}


class Request(NamedTuple):
    """What to read, where to write, and what to show."""

    file: str
    begun: float
    """When the command was called, on time.monotonic()."""
    out: str | None = None
    input_format: str | None = None
    as_json: bool = False
    explain: bool = False
    quiet: bool = False
    verbose: bool = False
    report: str | None = None
    """The tables of `memplan report` to show instead of the usual output."""
    block_map: bool = False
    """Show the memory map instead of the table of placements, also in a pipe."""
    proof: str | None = None
    """Where to write a proof of the plan's bound."""
    output_format: str | None = None
    """The format of the plan; None: by the target's ending."""
    baseline: str | None = None
    """An older plan."""

    @property
    def target(self) -> str | None:
        """Return the file to write; `-o -` means the same as --json."""
        return None if self.out == STANDARD_OUTPUT else self.out

    @property
    def prints_as_asked(self) -> bool:
        """True if the plan is printed in the named format instead of JSON."""
        return self.out == STANDARD_OUTPUT and self.output_format is not None

    @property
    def prints_json(self) -> bool:
        if self.prints_as_asked:
            return False
        shown = self.report is not None or self.block_map
        return prints_json(self.out, as_json=self.as_json, nothing_else=not shown)

    @property
    def prints_tables(self) -> bool:
        if self.prints_json or self.prints_as_asked or self.quiet or self.report is not None:
            return False
        return self.block_map or is_terminal(sys.stdout)


def run(request: Request, options: Options) -> ExitCode:
    """Plan, deliver, and return the exit code."""

    def in_bytes(problem: Problem) -> bool:
        if options.stability not in (None, Stability.TIES):
            return False
        return measures_bytes(
            problem if options.prefer is None else replace(problem, terms=PRESETS[options.prefer].terms)
        )

    with refusing(None, as_json=request.as_json):
        old = read_baseline(request.baseline)
    hand_over = partial(deliver, options=options)
    if request.proof is None:
        way = planner.plan if old is None else partial(planner.plan, start=old)
        return carry_out(request, options, Work(plan_format_of, way, in_bytes, for_the_file, write_plan, hand_over))
    from .proof import Proving

    proving = Proving(request.proof, options)
    with refusing(shown_name(request.file), as_json=request.as_json):
        proving.check(request.file, request.target)
    work = Work(plan_format_of, partial(proving.plan, start=old), in_bytes, for_the_file, write_plan, hand_over)
    code = carry_out(request, options, work)
    with refusing(None, as_json=request.as_json):
        written = proving.write()
    if proving.is_interrupted:
        return ExitCode.INTERRUPTED
    return code if written or code is ExitCode.INTERRUPTED else ExitCode.UNKNOWN


def share(request: Request, options: Options) -> ExitCode:
    """Find a sharing, deliver it, and return the exit code."""
    work = Work(_is_json, planner.share, lambda _: True, _written_sharing, write_sharing, _deliver_sharing)
    return carry_out(request, options, work)


def _is_json(request: Request) -> None:
    """Raise BadInput if the file's ending says that it is something else."""
    require_ending(request.target or "", JSON_ENDINGS)


def _written_sharing(_request: Request, _given: Input, sharing: planner.Sharing) -> bytes:
    return write_sharing(sharing)


def _deliver_sharing(request: Request, problem: Problem, sharing: planner.Sharing) -> None:
    """Print the sharing as JSON or as tables; if only its absence matters, as one line."""
    if request.prints_json:
        print_document(write_sharing(sharing))
    if request.prints_tables:
        from ...terminal.tables.sharing import print_sharing

        print_sharing(problem, sharing, written_to=request.target)
    elif not request.as_json:
        say_what_is_wrong(sharing, quiet=request.quiet)


def _heeds_work_limit(options: Options) -> bool:
    """Was one asked for, of a solver that would go on for longer with a greater one? Other systems' methods end by their own rules."""
    return options.work_limit is not None and entry_of(options.solver).kind is not SolverKind.PUBLISHED


Answer = TypeVar("Answer", bound="Plan | planner.Sharing")


class Input(NamedTuple):
    """What was read."""

    problem: Problem
    warnings: tuple[str, ...]
    begun: float
    """When the time began that its limit counts."""
    data: bytes


def for_the_file(request: Request, given: Input, plan: Plan) -> bytes | None:
    """The plan as the file is to have it; None if there is no plan, and the format has no way to say so."""
    row = plan_format_of(request)
    if not plan.status.has_plan and row.name != USUAL:
        return None
    return row.write(given.problem, plan, given.data)


class Work(NamedTuple, Generic[Answer]):
    """The functions of a command that makes an answer to a problem."""

    format_of: Callable[[Request], PlanFormat | None]
    """Returns the format of the plan in the file of -o. Raises BadInput if that cannot be what its name says."""
    make: Callable[..., Answer]
    in_bytes: Callable[[Problem], bool]
    write: Callable[[Request, Input, Answer], bytes | None]
    """Returns the contents of the file of -o. Raises BadInput."""
    document: Callable[[Answer], bytes]
    """Returns the answer as JSON."""
    deliver: Callable[[Request, Problem, Answer], None]


def carry_out(request: Request, options: Options, work: Work[Answer]) -> ExitCode:
    """Read the file, make the answer, deliver it; return the exit code."""
    written = "the answer" if request.target in (None, STANDARD_OUTPUT) else request.target
    with refusing(shown_name(request.file), as_json=request.as_json, answer=written):
        output = checked_output(request)
        given = read_input(request, work.format_of(request), options.time_limit)
        problem = given.problem
        # From here to the last byte written, Ctrl-C must not cost the best answer.
        with Interrupt() as interrupt:
            with progress(request, options, interrupt, in_bytes=work.in_bytes(problem)) as show:
                found = work.make(
                    problem,
                    options,
                    on_progress=show,
                    cancelled=interrupt.requested,
                    on_log=log if request.verbose else None,
                    begun=given.begun,
                )
            made = replace(found, warnings=(*given.warnings, *found.warnings))
            with kept(partial(work.document, made), output):
                content = None if output is None and not request.prints_as_asked else work.write(request, given, made)
                if content is not None:
                    write_out(content) if output is None else output.write(content)
            work.deliver(request, problem, made)
    return ExitCode.INTERRUPTED if made.stop is StopReason.CANCELLED else EXIT_CODES[made.status]


def checked_output(request: Request) -> OutputFile | None:
    """The file to write, if one was named. Raises BadInput if it could not be written."""
    if request.target is None:
        return None
    output = OutputFile(request.target)
    output.check(request.file)
    return output


def plan_format_of(request: Request) -> PlanFormat:
    """Return the format in which the plan is written. Raises BadInput if no plan is written so."""
    return plan_format(request.output_format, request.target or "")


def read_input(request: Request, wanted: PlanFormat | None, seconds: float | None) -> Input:
    """The problem, if no format was named in the one that the plan's needs. Raises BadInput, also if no plan of it can be written as wanted, and OutOfTime."""
    ready = time.monotonic()
    data = read_bytes(request.file)
    begun = request.begun
    if request.file == STANDARD_INPUT:
        begun += time.monotonic() - ready  # waiting for somebody to write the input does not count
    usual = None
    with time_limit(seconds, begun):
        if wanted is not None:
            wanted.require_source(Source(data, request.file))
            usual = wanted.read_as
        problem, warnings = read_problem(data, name=request.file, format=request.input_format or usual)
        if wanted is not None:
            wanted.require_expressible(problem, data)
    return Input(problem, warnings, begun, data)


def progress(request: Request, options: Options, interrupt: Interrupt, *, in_bytes: bool) -> Silent:
    """Return the display of progress on stderr; silent unless that is a terminal."""
    if request.quiet:
        return Silent()
    return progress_on(
        sys.stderr,
        in_bytes=in_bytes,
        time_limit=options.time_limit,
        stopping=interrupt.requested,
        verbose=request.verbose,
    )


def log(text: str) -> None:
    """Print a solver's log line by line."""
    for line in text.splitlines():
        say(f"  {visible(line)}")


def deliver(request: Request, problem: Problem, plan: Plan, *, options: Options) -> None:
    """Print the plan as JSON, as tables, or, where only its absence matters, as one line."""
    if request.prints_json:
        print_document(write_plan(plan))
    if request.prints_tables:
        from ...terminal.tables.plan import print_report

        print_report(
            problem,
            plan,
            explain=request.explain,
            written_to=request.target,
            as_map=request.block_map,
            has_work_limit=_heeds_work_limit(options),
        )
    elif not request.as_json:
        say_what_is_wrong(plan, quiet=request.quiet)
    if request.report is not None:
        from ..looking import report as report_command

        report_command.show(problem, plan, report_command.View(request.report))


def say_what_is_wrong(plan: Plan | planner.Sharing, *, quiet: bool) -> None:
    """On stderr, for people who see no tables."""
    if not quiet:
        say_warnings(plan.warnings)
    if plan.status is PlanStatus.INFEASIBLE:
        reason = "" if plan.shortage is None else f": {visible(plan.shortage.message)}"
        say(f"infeasible{reason}")
    elif plan.status is PlanStatus.UNKNOWN:
        say(f"no plan found ({plan.stop.value.replace('_', ' ')})")

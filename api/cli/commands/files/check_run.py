"""`memplan check-run`: a model is planned, written, and run by TFLite Micro's interpreter, beside the original."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import planner
from planner.formats.documents import Source
from planner.formats.models.tflite.arena import Tail, estimated_tail, most_scratch
from planner.formats.models.tflite.given import planned_offsets
from planner.formats.models.tflite.interpreter import INSTALL, MicroRun, is_installed, run_micro
from planner.formats.models.tflite.micro import micro_problem
from planner.formats.models.tflite.model import Model, read_model
from planner.formats.models.tflite.write import offsets_of, with_metadata
from planner.formats.tables.endings import require_ending
from planner.formats.tables.plans import PLAN_FORMATS
from planner.formats.tables.problems import require_content
from planner.model.errors import CannotSolve, Code, Finding
from planner.model.plan import Plan
from planner.model.problem import Problem
from planner.planning.options.options import Options

from ...exit_codes import ExitCode
from ...terminal.output_file import OutputFile
from ...terminal.reading import read_bytes, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import print_json, prints_json, say_written, write_out
from ...terminal.text import grouped, visible

SPARE = 4 << 20
"""The arena's bytes besides all tensors, for the tail."""
LARGEST_ARENA = 1 << 30


@dataclass(frozen=True, slots=True)
class Findings:
    """What was planned, and the interpreter's findings."""

    model: Model
    problem: Problem
    plan: Plan
    tail: Tail
    small_tail: Tail
    """The same on a 32-bit processor."""
    before: MicroRun | None = None
    """With the interpreter's own plan; None: it was not run."""
    after: MicroRun | None = None
    """With the plan written into the model."""

    @property
    def identical(self) -> bool | None:
        """Return whether all outputs are equal bit for bit; None if nothing was run."""
        if self.before is None or self.after is None or self.before.head is None or self.after.head is None:
            return None
        return self.before.outputs == self.after.outputs

    @property
    def verdict(self) -> str:
        if self.plan.peak is None:
            return "no plan"
        if self.before is None or self.after is None:
            return "estimated"
        if self.before.refusal is not None:
            return "not taken by the interpreter"
        if self.after.refusal is not None:
            return "not taken with the plan"
        if not self.identical:
            return "outputs differ"
        return "as planned" if self.after.head == self.plan.peak else "head differs"


EXIT_CODES = {
    "as planned": ExitCode.OK,
    "estimated": ExitCode.OK,
    "no plan": ExitCode.UNKNOWN,
    "not taken by the interpreter": ExitCode.UNKNOWN,
}
"""The exit codes of verdicts; all others mean that something is wrong."""


def run(file: str, options: Options, *, out: str | None, estimate: bool, as_json: bool) -> ExitCode:
    """Plan, write and run a model, and report whether the run matches the plan."""
    with refusing(shown_name(file), as_json=as_json):
        output = None if out is None else OutputFile(out)
        if out is not None and output is not None:
            require_ending(out, PLAN_FORMATS["tflite"].endings)
            output.check(file)
        if not estimate and not is_installed():
            raise CannotSolve(Finding(Code.UNAVAILABLE, "", f"{INSTALL}; --estimate does without"))
        data = read_bytes(file)
        require_content("tflite", Source(data), "what TFLite Micro runs are")
        found = examined(data, options, estimate=estimate)
        if output is not None and found.plan.peak is not None:
            output.write(written(found.model, found.plan))
    if prints_json(as_json=as_json):
        print_json(document(file, found))
    else:
        write_out(("\n".join(lines(file, found)) + "\n").encode())
        say_written(out if found.plan.peak is not None else None)
    return EXIT_CODES.get(found.verdict, ExitCode.FINDINGS)


def examined(data: bytes, options: Options, *, estimate: bool = False) -> Findings:
    """Return the findings. Raises BadInput for an invalid model, and CannotSolve if there is no interpreter."""
    model = read_model(data)
    problem = micro_problem(model)
    found = Findings(model, problem, planner.plan(problem, options), estimated_tail(model), estimated_tail(model, 32))
    if estimate or found.plan.peak is None:
        return found
    arena = min(sum(buffer.size for buffer in problem.buffers) + 2 * found.tail.size + SPARE, LARGEST_ARENA)
    own = with_metadata(model, [-1] * model.first_tensors[-1]) if planned_offsets(model) is not None else data
    before, after = run_micro((own, written(model, found.plan)), arena, options.time_limit)
    return replace(found, before=before, after=after)


def written(model: Model, plan: Plan) -> bytes:
    return with_metadata(model, [offset for _, offset in offsets_of(model, plan)])


def document(file: str, found: Findings) -> dict[str, Any]:
    """Return all findings for JSON."""
    before, after, plan = found.before or MicroRun(), found.after or MicroRun(), found.plan
    return {
        "model": PurePath(file).name,
        "verdict": found.verdict,
        "status": plan.status.value,
        "bound": plan.bound,
        "head": {
            "planned": plan.peak,
            "of_which_scratch": most_scratch(found.problem),
            "before": before.head,
            "after": after.head,
        },
        "tail": {
            "estimated": found.tail.size,
            "estimated_32_bit": found.small_tail.size,
            "measured": after.tail,
            "parts": dict(found.tail.parts),
            "unknown": list(found.tail.unknown),
        },
        "arena": {
            "estimated": None if plan.peak is None else plan.peak + found.tail.size,
            "estimated_32_bit": None if plan.peak is None else plan.peak + found.small_tail.size,
            "measured": total(after),
            "before": total(before),
        },
        "outputs_identical": found.identical,
        "refusal": before.refusal or after.refusal,
    }


def total(ran: MicroRun) -> int | None:
    return None if ran.head is None or ran.tail is None else ran.head + ran.tail


def lines(file: str, found: Findings) -> list[str]:
    """Return the findings for people."""
    run = document(file, found)
    rows = [
        ("bytes", "planned", *(("run", "its own plan") if found.after else (None, None))),
        ("head: tensors and scratch", run["head"]["planned"], run["head"]["after"], run["head"]["before"]),
        ("  of which scratch (estimate)", run["head"]["of_which_scratch"], None, None),
        ("tail (estimate)", run["tail"]["estimated"], run["tail"]["measured"], (found.before or MicroRun()).tail),
        ("arena", run["arena"]["estimated"], run["arena"]["measured"], run["arena"]["before"]),
        ("on 32 bits: tail (estimate)", run["tail"]["estimated_32_bit"], None, None),
        ("on 32 bits: arena", run["arena"]["estimated_32_bit"], None, None),
    ]
    least = "" if found.plan.peak == found.plan.bound else f", no plan below {grouped(found.plan.bound)}"
    shown = [f"{visible(PurePath(file).name)}: {found.verdict} ({found.plan.status.value}{least})"]
    for name, *figures in rows:
        cells = ("" if each is None else grouped(each) if isinstance(each, int) else each for each in figures)
        shown.append(f"  {name:<30}" + "".join(f"{cell:>14}" for cell in cells).rstrip())
    if found.tail.unknown:
        names = visible(", ".join(found.tail.unknown))
        shown.append(f"  not counted in the estimates, since nothing is known of their kernels: {names}")
    if found.identical is not None:
        shown.append("  outputs identical, bit for bit" if found.identical else "  OUTPUTS DIFFER")
    if run["refusal"]:
        shown.append(f"  {visible(run['refusal'])}")
    return shown

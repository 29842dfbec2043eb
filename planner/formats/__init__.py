"""Bytes to Problems and Plans, and back. All input comes in here, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.deadline import about
from .documents import PLAN_FORMAT, SHARING_FORMAT, Source
from .tables.format import Format
from .tables.problems import FORMATS, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..graph.operators import Graph
    from ..graph.problem import GraphOptions, ProgramFile
    from ..graph.program import Program
    from ..model.plan import Frontier, Plan
    from ..model.problem import Pool, Problem
    from ..model.storage import Sharing
    from ..planning.shapes import ShapedProblem, ShapesPlan
    from ..planning.sweeping import Sweep
    from .memplan.programs.read_cascade import CascadeFile
    from .tables.plans import PlanFormat


def read_problem(
    data: bytes,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that users know
) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem in the bytes, and warnings. Without `format`, the file's name and content determine it."""
    source = Source(data, name)
    return chosen(source, format).read(source)


def read_shaped(
    data: bytes,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that users know
) -> tuple[ShapedProblem, tuple[str, ...]]:
    """Return the ShapedProblem in the bytes, and warnings. One without symbols has one shape."""
    from ..planning.shapes.shaped import as_shaped

    source = Source(data, name)
    found, warnings = chosen(source, format).read_with_symbols(source)
    return as_shaped(found), warnings


@about("plan for all shapes")
def read_shapes_plan(data: bytes) -> ShapesPlan:
    """Return the ShapesPlan in the bytes (JSON, format memplan-shapes/1)."""
    from .answers.shapes_reader import read_shapes_plan_json
    from .documents import SHAPES_FORMAT, require_format
    from .json.scan import scan

    require_format(scan(data), SHAPES_FORMAT, "a plan for all shapes")
    return read_shapes_plan_json(data)


def write_shapes_plan(found: ShapesPlan, warnings: Sequence[str] = (), c: bytes | None = None) -> bytes:
    """Return the plan for all shapes as JSON, format memplan-shapes/1, with its C functions if `c` is set."""
    from .answers.shapes_writer import write_shapes_plan as write

    return write(found, warnings, c)


def write_shaped(problem: ShapedProblem) -> bytes:
    """Return the problem as JSON, format memplan/1 with symbols; reading it gives the same one."""
    from .memplan.shapes import write_shaped as write

    return write(problem)


def write_problem(problem: Problem) -> bytes:
    """Return the problem as JSON, format memplan/1; reading it gives the same Problem."""
    from .memplan.write import write_memplan

    return write_memplan(problem)


@about("plan")
def read_plan(data: bytes) -> Plan:
    """Return the Plan in the bytes (JSON, format memplan-plan/1)."""
    from .answers.plan_reader import read_plan_json
    from .documents import require_format
    from .json.scan import scan

    scanned = scan(data)
    require_format(scanned, PLAN_FORMAT, "a plan")
    return read_plan_json(data, scanned)


@about("sharing")
def read_sharing(data: bytes) -> Sharing:
    """Return the Sharing in the bytes (JSON, format memplan-sharing/1)."""
    from .answers.sharing.reader import read_sharing_json
    from .documents import require_format
    from .json.scan import scan

    scanned = scan(data)
    require_format(scanned, SHARING_FORMAT, "a sharing")
    return read_sharing_json(data, scanned)


def write_sharing(sharing: Sharing) -> bytes:
    """Return the sharing as JSON, format memplan-sharing/1: the same bytes for the same Sharing, with what depends on the clock at the end."""
    from .answers.sharing.writer import write_sharing_json

    return write_sharing_json(sharing)


def read_graph(data: bytes) -> Graph:
    """Return the Graph in the bytes (JSON, format memplan-graph/1)."""
    from .json.scan import scan
    from .memplan.programs.read_graph import read_graph_json

    return read_graph_json(data, scan(data))


def read_program(data: bytes) -> ProgramFile:
    """Return the program in the bytes (JSON, format memplan-graph/2; a memplan-graph/1 is a program of one function), its pools and options."""
    from .memplan.programs.read_graph import read_file

    return read_file(Source(data))


def read_model(
    data: bytes,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that users know
) -> tuple[ProgramFile, tuple[str, ...]]:
    """Return the model or graph in the bytes as a program with its memories and options, and warnings. The format is determined as by `read_problem`."""
    source = Source(data, name)
    return chosen(source, format).read_program(source)


def write_program(program: Program, pools: Sequence[Pool] | None = None, options: GraphOptions | None = None) -> bytes:
    """Return the program as JSON, format memplan-graph/2; reading it gives the same program, pools and options."""
    from ..checks.arguments import checked
    from ..graph.problem import DEFAULT_POOLS
    from .memplan.programs.write_graph import USUAL, write

    written: bytes = checked(write)(program, DEFAULT_POOLS if pools is None else pools, options or USUAL)
    return written


def read_cascade(data: bytes) -> CascadeFile:
    """Return the network in the bytes (JSON, format memplan-cascade/1), its pools and options."""
    from .memplan.programs.read_cascade import read_file

    return read_file(Source(data))


def write_plan(plan: Plan) -> bytes:
    """Return the plan as JSON, format memplan-plan/1: the same bytes for the same Plan, with what depends on the clock at the end."""
    from .answers.plan_writer import write_plan_json

    return write_plan_json(plan)


def write_frontier(frontier: Frontier, files: Sequence[str] | None = None, warnings: Sequence[str] = ()) -> bytes:
    """Return the frontier as JSON, format memplan-frontier/1: each point's figures, and its plan or that plan's file."""
    from .answers.frontier import write_frontier_json

    return write_frontier_json(frontier, files, warnings)


def read_frontier(data: bytes, read_file: Callable[[str], bytes] | None = None) -> Frontier:
    """Return the Frontier in the bytes (JSON, format memplan-frontier/1). `read_file` reads plans in separate files."""
    from .answers.frontier import read_frontier_json

    return read_frontier_json(data, read_file)


def is_frontier(data: bytes) -> bool:
    """True if the bytes claim to be a Frontier."""
    from .answers.frontier import is_frontier as is_one

    return is_one(data)


def read_sweep(data: bytes, read_file: Callable[[str], bytes] | None = None) -> Sweep:
    """Return the Sweep in the bytes (JSON, format memplan-sweep/1), with its plans. `read_file` reads plans in separate files."""
    from .answers.sweep import read_sweep_json

    return read_sweep_json(data, read_file)


def write_usmp(problem: Problem, plan: Plan | None = None) -> bytes:
    """Return the problem as JSON in the field names of TVM's USMP, with the plan's addresses if given. Raises BadInput for what it cannot express."""
    from .planners.usmp_writer import usmp_document

    return usmp_document(problem, plan)


def plan_format(name: str) -> PlanFormat:
    """Return the named format for writing plans, including settings (`c:prefix=net`)."""
    from .tables.plans import plan_format as found

    return found(name)


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of memplan/1."""
    from .memplan.schema import problem_schema

    return problem_schema()


__all__ = [
    "FORMATS",
    "Format",
    "is_frontier",
    "plan_format",
    "read_cascade",
    "read_frontier",
    "read_graph",
    "read_model",
    "read_plan",
    "read_problem",
    "read_program",
    "read_shaped",
    "read_shapes_plan",
    "read_sharing",
    "read_sweep",
    "schema",
    "write_frontier",
    "write_plan",
    "write_problem",
    "write_program",
    "write_shaped",
    "write_shapes_plan",
    "write_sharing",
    "write_usmp",
]

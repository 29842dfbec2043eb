"""Every format of problems. Whatever reads, recognises, names or explains formats reads this table.

A format is a module that reads it and a row here; docs/other-formats.md explains each, and tests/planner/formats/tables/test_every_format.py tries each.
"""

from __future__ import annotations

from contextlib import suppress

from ...checks.report import bad_input, quoted
from ...model.errors import BadInput, Code
from ..documents import Source
from . import examples, signs
from .format import CSV, JSON, LINES, LOG, Format, Memory
from .settings import ALIGNMENT, Setting, parsed_settings

IN_PLACE = Setting(
    "in_place",
    "Of a model: elementwise operators may write over an input, and reshaped tensors (of .onnx files, slices and concatenations too) stay where they are.",
)
GRAPH, CASCADE = "memplan-graph/", "memplan-cascade/"
"""The values of `format`, without the version."""

FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        Format(
            "memplan",
            "memplan/1 JSON",
            (".json",),
            (JSON,),
            lambda source: source.may_be_json and "format" in source.top and not signs.is_named(source, GRAPH, CASCADE),
            "planner.formats.memplan.read:read",
            '{"format": "memplan/1", "lifetimes": "half_open", "buffers": [{"id": "a", "size": 64, "live": [[0, 2]]}, {"id": "b", "size": 32, "live": [[1, 3]]}]}',
            Memory(6, 6),
            "planner.formats.memplan.write:write_memplan",
        ),
        Format(
            "minimalloc",
            "minimalloc CSV",
            (".csv",),
            (CSV,),
            signs.is_minimalloc,
            "planner.formats.planners.minimalloc:read",
            "id,lower,upper,size\na,0,2,64\nb,1,3,32\n",
            Memory(6, 7),
            "planner.formats.planners.minimalloc_writer:write_csv",
            settings=(
                Setting(
                    "inclusive",
                    "Of a .csv file: the last time of a lifetime counts as well, as IREE writes them.",
                ),
            ),
        ),
        Format(
            "columns",
            "columns of numpy",
            (".npz",),
            ("application/x-npz",),
            signs.is_columns,
            "planner.formats.memplan.columns:read",
            examples.COLUMNS,
            Memory(8, 2, besides=2),
            "planner.formats.memplan.columns:write",
            is_text=False,
        ),
        Format(
            "dsa",
            "dsa-solver JSON",
            (".json",),
            (JSON,),
            lambda source: (
                source.may_be_json and "format" not in source.top and {"schema_version", "problem"} <= source.top.keys()
            ),
            "planner.formats.planners.dsa:read",
            examples.DSA,
            Memory(6, 5),
            "planner.formats.planners.dsa_writer:write_dsa",
        ),
        Format(
            "usmp",
            "TVM USMP JSON",
            (".json",),
            (JSON,),
            signs.is_usmp,
            "planner.formats.planners.usmp:read",
            '{"buffers": [{"name_hint": "a", "size_bytes": 64, "conflicts": ["b"]}, {"name_hint": "b", "size_bytes": 32, "conflicts": ["a"]}]}',
            Memory(6, 6),
            "planner.formats.planners.usmp_writer:usmp_document",
        ),
        Format(
            "graph",
            "memplan-graph JSON: operators and tensors",
            (".json", ".graph.json"),
            (JSON,),
            lambda source: source.may_be_json and signs.is_named(source, GRAPH),
            "planner.formats.memplan.programs.read_graph:read",
            examples.GRAPH,
            Memory(10, 8, besides=3),
            contents="planner.formats.contents:of_graph",
            program="planner.formats.memplan.programs.read_graph:read_with_warnings",
            program_writer="planner.formats.memplan.programs.write_graph:write",
        ),
        Format(
            "cascade",
            "memplan-cascade/1 JSON: operators with shapes",
            (".json",),
            (JSON,),
            lambda source: source.may_be_json and signs.is_named(source, CASCADE),
            "planner.formats.memplan.programs.read_cascade:read",
            examples.CASCADE,
            Memory(8, 6, besides=40),
            contents="planner.formats.contents:of_cascade",
        ),
        Format(
            "trace",
            "memplan-trace/1: a JSON event a line",
            (".jsonl",),
            (LINES,),
            lambda source: source.is_trace,
            "planner.formats.memplan.programs.read_trace:read",
            examples.TRACE,
            Memory(8, 8, besides=2),
        ),
        Format(
            "tflite",
            "TensorFlow Lite models",
            (".tflite", ".lite"),
            ("application/vnd.tflite",),
            lambda source: source.data[4:8] == b"TFL3",
            "planner.formats.models.tflite.read:read",
            examples.TFLITE,
            Memory(7, 2, besides=2),
            is_text=False,
            contents="planner.formats.contents:of_tflite",
            program="planner.formats.models.tflite.read:read_file",
            settings=(
                Setting(
                    "like",
                    "Of a .tflite file: lifetimes, sizes and scratch memory as TFLite Micro has them.",
                    ("tflm",),
                ),
                IN_PLACE,
                ALIGNMENT,
            ),
        ),
        Format(
            "onnx",
            "ONNX models",
            (".onnx",),
            ("application/onnx",),
            lambda source: source.data[:1] == b"\x08" and b"\x00" < source.data[1:2] < b"\x40",
            "planner.formats.models.onnx.read:read",
            examples.ONNX,
            Memory(7, 2, besides=2),
            is_text=False,
            contents="planner.formats.contents:of_onnx",
            program="planner.formats.models.onnx.read:read_file",
            settings=(
                Setting(
                    "dim",
                    "Of an .onnx file: the size of a dimension (batch=4), its range (batch=1..16), or a number that an input holds (size.0=4).",
                    metavar="NAME=SIZE",
                    repeats=True,
                ),
                IN_PLACE,
                ALIGNMENT,
            ),
        ),
        Format(
            "tflm-log",
            "TFLite Micro's printed memory plan",
            (".log",),
            (LOG,),
            lambda source: b"first_used=" in source.data and b"(id=" in source.data,
            "planner.formats.dumps.micro_log:read",
            examples.MICRO_LOG,
            Memory(5, 5, besides=3),
            settings=(ALIGNMENT,),
        ),
        Format(
            "vela-log",
            "Vela's --verbose-allocation",
            (".log",),
            (LOG,),
            lambda source: b"Allocation, memory " in source.data or b"Tensor Allocation for mem_area " in source.data,
            "planner.formats.dumps.vela:read",
            examples.VELA,
            Memory(5, 5, besides=3),
            contents="planner.formats.contents:of_vela",
            settings=(ALIGNMENT,),
        ),
        Format(
            "torch-snapshot",
            "PyTorch's memory snapshots as JSON",
            (".json",),
            (JSON,),
            lambda source: source.may_be_json and "device_traces" in source.top and "format" not in source.top,
            "planner.formats.dumps.snapshot:read",
            examples.SNAPSHOT,
            Memory(6, 6),
            settings=(ALIGNMENT,),
        ),
        Format(
            "st-edge-ai",
            "ST Edge AI's network_c_info.json",
            ("_c_info.json",),
            (JSON,),
            signs.is_st_edge,
            "planner.formats.dumps.st_edge:read",
            examples.ST_EDGE,
            Memory(6, 6),
        ),
        Format(
            "chrome-trace",
            "Chrome traces with memory events",
            (".json", ".trace", ".trace.json"),
            (JSON,),
            signs.is_chrome,
            "planner.formats.dumps.chrome:read",
            examples.CHROME,
            Memory(5, 5),
            "planner.formats.dumps.chrome:write",
            settings=(ALIGNMENT,),
        ),
        Format(
            "executorch",
            "ExecuTorch programs",
            (".pte",),
            ("application/vnd.executorch",),
            lambda source: source.data[4:8] == b"ET12",
            "planner.formats.dumps.executorch:read",
            examples.EXECUTORCH,
            Memory(7, 4, besides=2),
            contents="planner.formats.contents:of_executorch",
            is_text=False,
            settings=(ALIGNMENT,),
        ),
        Format(
            "xla",
            "XLA's BufferAssignmentProto",
            (".pb", ".binpb"),
            ("application/x-protobuf",),
            signs.is_xla,
            "planner.formats.dumps.buffer_assignment:read",
            examples.XLA,
            Memory(8, 2, besides=2),
            is_text=False,
            settings=(ALIGNMENT,),
        ),
        Format(
            "xla-text",
            "XLA's buffer assignment as text",
            ("-buffer-assignment.txt",),
            (LOG,),
            lambda source: any(f"BufferAssignment:{end}allocation ".encode() in source.data for end in ("\n", "\r\n")),
            "planner.formats.dumps.assignment_text:read",
            examples.XLA_TEXT,
            Memory(6, 6, besides=2),
            settings=(ALIGNMENT,),
        ),
        Format(
            "xla-memory-space",
            "XLA's memory space assignment, CSV",
            (".csv",),
            (CSV,),
            signs.is_memory_space,
            "planner.formats.dumps.memory_space:read",
            examples.MEMORY_SPACE,
            Memory(6, 6),
            settings=(ALIGNMENT,),
        ),
        Format(
            "idealloc",
            "idealloc's binary files",
            (".plc",),
            ("application/vnd.idealloc",),
            signs.is_idealloc,
            "planner.formats.planners.idealloc:read",
            examples.IDEALLOC,
            Memory(5, 2, besides=2),
            "planner.formats.planners.idealloc:write",
            is_text=False,
        ),
    )
}
USUAL = "memplan"
"""The format used if no other is recognised: its errors tell what is missing."""


def format_named(name: str) -> Format:
    """Return the format NAME, or NAME:SETTING,SETTING=VALUE. Raises BadInput if there is no such format, or no such setting."""
    name, _, settings = name.partition(":")
    if name not in FORMATS:
        raise bad_input(Code.INVALID_OPTION, (), f"there is no format {quoted(name)}; known are {', '.join(FORMATS)}")
    return _with_settings(FORMATS[name], settings)


def _with_settings(row: Format, settings: str) -> Format:
    """Return the format with the settings after its name. Raises BadInput if it has no such setting."""
    return row._replace(arguments=parsed_settings(row.name, row.settings, settings)) if settings else row


def chosen(source: Source, name: str | None, media_type: str | None = None) -> Format:
    """Return the named format, or the recognised one; `:SETTINGS` apply to the latter. Raises BadInput."""
    if name is None or name.startswith(":"):
        return _with_settings(recognised(source, media_type), (name or "")[1:])
    return format_named(name)


def recognised(source: Source, media_type: str | None = None) -> Format:
    """Return the format by file name and content; otherwise one that reports what is wrong: the only one of the ending or media type, that of tables or JSON.

    JSON, which many formats share, and names without a known ending are no evidence: only the content counts. Raises BadInput if nothing says what it is.
    """
    ending = [row for row in FORMATS.values() if source.name and source.name.lower().endswith(row.endings)]
    says = [row for row in ending if not row.is_json]
    if len(says) == 1:
        return says[0]
    what = signs.wrapped(source.data[:8])
    if what is not None and source.may_be_json:  # which would be told that it is not valid
        raise bad_input(Code.UNKNOWN_FORMAT, (), f"the content is {what}")
    for row in says or FORMATS.values():
        if row.recognises(source):
            return row
    sent = [row for row in FORMATS.values() if media_type in row.media_types and not row.is_json]
    reports = [row for row in says or sent if CSV in row.media_types or len(says or sent) == 1]
    if reports:
        return reports[0]
    if not says and not sent and (source.may_be_json or ending or media_type == JSON):
        return FORMATS[USUAL]
    from ..json.scan import EMPTY, is_empty

    if is_empty(source.data):
        raise bad_input(Code.UNKNOWN_FORMAT, (), EMPTY)
    if what is not None:
        raise bad_input(Code.UNKNOWN_FORMAT, (), f"the content is {what}")
    known = ", ".join(row.name for row in says or sent or FORMATS.values())
    raise bad_input(Code.UNKNOWN_FORMAT, (), f"the format is not recognised: the content is none of {known}")


def of_content(source: Source) -> Format | None:
    """Return the format of the content, whatever the file is called; None if none is recognised."""
    for row in FORMATS.values():
        with suppress(BadInput):  # JSON that is not sound is nothing's
            if row.recognises(source):
                return row
    return None


def require_no_other(row: Format, source: Source) -> None:
    """Raise BadInput if the content is in another format than this one, which the ending says."""
    other = of_content(source)
    if other is not None and other.name != row.name:
        text = f"the ending says {row.title}, but the content says {other.title}: rename the file, or name its format (--format {other.name})"
        raise bad_input(Code.UNKNOWN_FORMAT, (), text)


def require_content(name: str, source: Source, why: str) -> None:
    """Raise BadInput, which says why, unless the content is in the format of that name."""
    other = of_content(source)
    if other is None or other.name != name:
        this = other.title if other is not None else "not of any format that memplan reads" if source.data else "empty"
        raise bad_input(
            Code.UNKNOWN_FORMAT, (), f"{why} {FORMATS[name].title} only, and this is {this}: give the model's file"
        )


def no_program(row: Format) -> BadInput:
    """Return the refusal of what is no program."""
    known = ", ".join(each.name for each in FORMATS.values() if each.program is not None)
    text = f"only models and graphs ({known}) are programs, and this is {row.title}: write it in a format of problems, such as {USUAL}, or plan it in one arena"
    return bad_input(Code.UNKNOWN_FORMAT, (), text)


def names() -> str:
    """Return all names, with commas, for help."""
    return ", ".join(FORMATS)


def written() -> dict[str, Format]:
    """Return the formats in which any problem can be written, as far as they can express it, by name."""
    return {row.name: row for row in FORMATS.values() if row.writer is not None}


def converted_to() -> dict[str, Format]:
    """Return the formats in which files can be written, by name: problems, or programs."""
    return {row.name: row for row in FORMATS.values() if row.writer is not None or row.program_writer is not None}

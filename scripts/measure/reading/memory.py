"""Measures the memory that reading takes beyond that of the idle process, for each byte of the file. Prints a Markdown table.

python -m scripts.measure.reading.memory [--mib 8] [--only WORD]...

Each file is read by a process of its own, which has read a small file of the format before. The figure is its largest resident set after that,
including the file's own bytes. Files that end in a problem also hold the problem's memory; the others are refused.
"""

from __future__ import annotations

import gc
import multiprocessing
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from planner.formats import FORMATS, read_problem
from planner.model.errors import BadInput
from scripts.measure.arguments import Arguments
from scripts.measure.reading.files import FILES
from scripts.measure.reading.short_rows import SHORT_ROWS
from scripts.measure.spent import memory

MIB = 1 << 20
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(
    [
        *([spec.name] if (spec := sys.modules["__main__"].__spec__) else []),
        "scripts.measure.reading.memory",
        "pydantic",
        *{row.reader.partition(":")[0] for row in FORMATS.values()},
    ]
)
"""Each process is forked from one that has imported the readers and has read nothing, and what every process would import first: the main module."""


def measure(format_: str, path: str, back: Connection) -> None:
    """Runs in a process of its own."""
    for row in FORMATS.values():
        if row.name == format_:
            read_problem(row.document, format=format_)
            for broken in (row.document[:-3], b"{}", b"x"):
                with suppress(BadInput):
                    read_problem(broken, format=format_)
    gc.freeze()  # as in a service; looking through all that was imported took a third of the time
    before = memory()
    Path("/proc/self/clear_refs").write_text("5")
    data = Path(path).read_bytes()
    try:
        problem, _ = read_problem(data, format=format_)
        result = f"{len(problem.buffers)} buffers"
    except BadInput as error:
        result = f"{error.findings[0].code}"
    back.send((memory("VmHWM") - before, result))
    back.close()


def taken(format_: str, data: bytes, folder: Path) -> tuple[int, str]:
    """The bytes that reading takes beyond the idle process, and the result."""
    path = folder / "measured"
    path.write_bytes(data)
    here, there = multiprocessing.Pipe(duplex=False)
    child = FORKING.Process(target=measure, args=(format_, str(path), there))
    child.start()
    there.close()
    try:
        more, result = here.recv()
    except EOFError:
        more, result = 0, "DIED"
    here.close()
    child.join()
    child.close()
    path.unlink()
    return more, result


def row(name: str, format_: str, data: bytes, folder: Path) -> str:
    more, result = taken(format_, data, folder)
    length = len(data)
    return f"| {format_} | {name} | {length / MIB:.1f} | {result} | {more / MIB:.0f} | {more / length:.1f} |"


def main() -> None:
    import tempfile

    parser = Arguments(__doc__)
    parser.add_argument("--mib", type=float, default=8)
    parser.add_argument("--only", action="append", help="formats and files with this word in their names")
    arguments = parser.parse_args()
    print(
        "| format | file | MiB | what comes of it | MiB more | for each byte |\n|---|---|---|---|---|---|", flush=True
    )
    with tempfile.TemporaryDirectory() as folder:
        for (format_, name), make in (FILES | SHORT_ROWS).items():
            if arguments.only and not any(word in f"{format_} {name}" for word in arguments.only):
                continue
            print(row(name, format_, make(int(arguments.mib * MIB)), Path(folder)), flush=True)


if __name__ == "__main__":
    main()

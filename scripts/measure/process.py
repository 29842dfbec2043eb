"""Measures everything except solving: starting up, reading, checking, lowering, verifying, writing. Prints Markdown tables.

python -m scripts.measure.process [--repeats 9] [--buffers 100000]... [--time-limit 5]...

Processor seconds, as the machine may have other work; only time limits are measured by the clock. Medians; the problems are generated.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from planner import Options, plan, read_problem, verify, write_plan, write_problem
from planner.checks import examine
from planner.facts.digest import digest
from planner.formats.json.scan import scan
from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from scripts.measure.arguments import Arguments
from scripts.measure.spent import Used, by_command

IMPORTS = [sys.executable, "-c", "import numpy, pydantic, typer, rich"]
COMMAND = [sys.executable, "-m", "api.cli", "plan"]
EASY = 200
"""Buffers of the small problem."""
WARM_CALLS = 200

Answer = TypeVar("Answer")


def medians(repeats: int, *commands: Sequence[str]) -> list[Used]:
    """The medians for each command; commands take turns, so that other load on the machine affects all alike."""
    runs = [[by_command(command) for command in commands] for _ in range(repeats)]
    return [
        Used(
            *(
                statistics.median(values)
                for values in zip(*((u.wall, u.processor, u.peak_bytes) for u in those), strict=True)
            )
        )
        for those in zip(*runs, strict=True)
    ]


def easy(folder: Path, repeats: int) -> Iterator[Sequence[str]]:
    """A small problem that greedy solves: the whole process, and a repeated call within a process."""
    file = folder / "easy.json"
    file.write_bytes(write_problem(generate("random", Request(EASY, 1))))
    imports, whole = medians(repeats, IMPORTS, [*COMMAND, str(file), "-o", str(folder / "plan.json")])
    yield "importing numpy, pydantic, typer, rich", f"{imports.processor:.3f}", f"{imports.wall:.3f}", "1.00"
    ratio = whole.processor / imports.processor
    yield f"memplan plan, {EASY} easy buffers", f"{whole.processor:.3f}", f"{whole.wall:.3f}", f"{ratio:.2f}"
    for kind in ("random", "transformer", "unet"):
        data = write_problem(generate(kind, Request(EASY, 1)))
        read = [read_problem(data)[0] for _ in range(WARM_CALLS)]
        by_hand = [replace(problem) for problem in read]
        for what, problems in (("just read", read), ("made in Python", by_hand)):
            warm = statistics.median(timed(partial(plan, problem, Options(time_limit=10)))[0] for problem in problems)
            yield f"planner.plan, warm: {kind}, {what}", f"{warm:.4f}", "", f"{warm / imports.processor:.3f}"


def timed(work: Callable[[], Answer]) -> tuple[float, Answer]:
    begun = time.process_time()
    answer = work()
    return time.process_time() - begun, answer


def stages(file: Path, repeats: int) -> Iterator[tuple[str, float]]:
    """The time of each stage alone, in this process."""
    data = file.read_bytes()
    problem, _ = read_problem(data)
    quick = Options(time_limit=None, work_limit=0, solver="greedy")
    made = plan(problem, quick)
    todo: list[tuple[str, Callable[[], object]]] = [
        ("first look at the JSON", lambda: scan(data)),
        ("reading, whole", lambda: read_problem(data)),
        ("checking", lambda: examine(problem)),
        ("lowering", lambda: lower(problem)),
        ("digest", lambda: digest(replace(problem))),
        ("planning with greedy, whole", lambda: plan(replace(problem), quick)),
        ("verifying", lambda: verify(problem, made, made.problem_digest)),
        ("writing", lambda: write_plan(made)),
    ]
    for name, work in todo:
        yield name, statistics.median(timed(work)[0] for _ in range(repeats))


def large(folder: Path, buffers: int, limits: Sequence[float], repeats: int) -> Iterator[Sequence[str]]:
    """Many buffers: every stage, and whole processes with time limits."""
    file = folder / f"{buffers}.json"
    file.write_bytes(write_problem(generate("random", Request(buffers, 1))))
    for name, seconds in stages(file, repeats):
        yield name, f"{seconds:.3f}", "", ""
    for limit in limits:
        command = [*COMMAND, str(file), "-o", str(folder / "plan.json"), "--time-limit", str(limit)]
        (used,) = medians(repeats, command)
        beyond = f"{used.wall:.2f} of {limit:g}"
        yield f"whole process, limit {limit:g} s", f"{used.processor:.3f}", beyond, f"{used.peak_bytes / 1e6:.0f}"


def table(headings: Sequence[str], rows: Iterator[Sequence[str]]) -> None:
    print(f"\n| {' | '.join(headings)} |\n|{'---|' * len(headings)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--buffers", type=int, action="append", help="of a large problem; default 100000")
    parser.add_argument("--time-limit", type=float, action="append", help="of whole processes; default 5 and 10")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table(("a small problem", "processor s", "wall s", "ratio"), easy(folder, arguments.repeats))
        for buffers in arguments.buffers or [100_000]:
            rows = large(folder, buffers, arguments.time_limit or [5, 10], min(arguments.repeats, 3))
            table((f"{buffers} buffers", "processor s", "wall s", "peak MB"), rows)


if __name__ == "__main__":
    main()

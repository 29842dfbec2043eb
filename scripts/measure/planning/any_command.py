"""Measures commands other than `plan` on problems that are long in one way, against their time limits.

    python -m scripts.measure.planning.any_command [--count N] [--limit SECONDS] [CASE ...]

CASE is a command and what is long, such as `sweep.pools`; by default all. Each problem is written by a process of its own, so that its memory is
not counted. Prints for each the exit code (0: an answer, 2: refused, 4: none in time), seconds of the wall and of the processor, MiB, the
file's MB, and what was said last.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from scripts.measure.arguments import Arguments
from scripts.measure.spent import by_command

Document: TypeAlias = dict[str, Any]


def problem(count: int, chance: random.Random, *, most: int = 400, pools: int = 1, size: int | None = None) -> Document:
    """Return random buffers that live up to `most` of ten times as many steps."""
    starts = [chance.randrange(10 * count) for _ in range(count)]
    buffers = [
        {"id": f"b{i}", "size": chance.randrange(1, 4096), "live": [[start, start + chance.randrange(1, most)]]}
        for i, start in enumerate(starts)
    ]
    named = [{"name": f"p{p}", "size": size} for p in range(pools)]
    return {"format": "memplan/1", "lifetimes": "half_open", "pools": named, "buffers": buffers}


def shaped(count: int, chance: random.Random) -> Document:
    """Return buffers of 39 different sizes in n."""
    document = problem(count, chance)
    for buffer in document["buffers"]:
        buffer["size"] = f"{chance.randrange(1, 40)}*n"
    return document | {"symbols": {"n": [1, 2048]}}


def excluded(count: int, chance: random.Random) -> Document:
    """Return a problem with as many exclusions as buffers."""
    pairs = [[f"b{k}" for k in chance.sample(range(count), 2)] for _ in range(count)]
    return problem(count, chance) | {"constraints": {"exclusions": pairs}}


def varied(groups: int, alternatives: int, count: int, chance: random.Random) -> Document:
    """Return buffers, and groups with that many alternatives each."""
    made = [
        {
            "name": f"g{g}",
            "alternatives": [
                {
                    "name": f"a{a}",
                    "costs": {"c": chance.randrange(1000)},
                    "buffers": [{"id": f"v{g}", "size": chance.randrange(1, 40_960), "live": [[g, g + 20]]}],
                }
                for a in range(alternatives)
            ],
        }
        for g in range(groups)
    ]
    return problem(count, chance, size=10**9) | {"variants": {"costs": [{"name": "c"}], "groups": made}}


def tensors(*names: str) -> list[Document]:
    """Return tensors of eight bytes; the first is an input."""
    return [{"id": name, "shape": [8]} | ({} if i else {"kind": "input"}) for i, name in enumerate(names)]


def compute(source: str, result: str) -> Document:
    return {"kind": "compute", "inputs": [source], "outputs": [result]}


def program(kind: str, count: int, _: random.Random) -> Document:
    """Return that many operators, calls of one function, calls of a function each, or arms of a branch."""
    bodies = 1 if kind == "calls" else 0 if kind == "operators" else count
    functions: list[Document] = [
        {
            "name": f"f{i}",
            "inputs": ["h"],
            "outputs": ["n"],
            "tensors": tensors("h", "n"),
            "operators": [compute("h", "n")],
        }
        for i in range(bodies)
    ]
    names = ["x", *(f"t{i}" for i in range(1 if kind == "arms" else count))]
    steps = [compute(*names[i : i + 2]) for i in range(len(names) - 1)]
    if kind == "arms":
        every = [function["name"] for function in functions]
        steps = [{"kind": "branch", "inputs": ["x", "x"], "outputs": ["t0"], "functions": every}]
    elif bodies:
        steps = [step | {"kind": "call", "functions": [f"f{i % bodies}"]} for i, step in enumerate(steps)]
    main = {"name": "main", "inputs": ["x"], "outputs": names[-1:], "tensors": tensors(*names), "operators": steps}
    return {"format": "memplan-graph/2", "functions": [*functions, main], "entries": ["main"]}


Case: TypeAlias = tuple[str, Callable[[int, random.Random], Document]]
"""The command, with `{n}` for the count, and its input."""

SWEEP = "sweep --capacity p0=1000..20000 --step 1000"
CASES: dict[str, Case] = {
    "sweep.buffers": (
        "sweep --capacity p0=1000000..2000000 --step 100000",
        lambda n, chance: problem(n, chance, size=10**9),
    ),
    "sweep.long": (
        "sweep --capacity p0={n}000..{n}0000 --step {n}000",
        lambda n, chance: problem(n, chance, most=5 * n, size=10**12),
    ),
    "sweep.pools": (SWEEP, lambda n, chance: problem(n, chance, pools=n, size=10**5)),
    "shapes.expressions": ("shapes", shaped),
    "shapes.maximum": ("shapes --mode maximum", shaped),
    "shapes.buckets": ("shapes --mode buckets --at n=128 --at n=512", shaped),
    **{
        f"{name}.{kind}": (f"plan --arenas {name}", lambda n, chance, kind=kind: program(kind, n, chance))  # type: ignore[misc]
        for name in ("global", "nested")
        for kind in ("operators", "calls", "functions", "arms")
    },
    "share.buffers": ("share", problem),
    "share.long": ("share", lambda n, chance: problem(n, chance, most=5 * n)),
    "share.exclusions": ("share", excluded),
    "pareto.buffers": ("pareto", lambda n, chance: varied(3, 2, n, chance)),
    "pareto.groups": ("pareto", lambda n, chance: varied(n, 2, 10, chance)),
    "pareto.alternatives": ("pareto", lambda n, chance: varied(1, n, 10, chance)),
}


def measure(name: str, count: int, limit: str, folder: Path) -> None:
    """Run one case and print its row."""
    text, make = CASES[name]
    if not (child := os.fork()):
        folder.joinpath("made.json").write_text(json.dumps(make(count, random.Random(1))), "utf-8")
        os._exit(0)
    os.waitpid(child, 0)
    command, *options = text.format(n=count).split()
    said = folder / "said"
    answer = folder / ("answer" if command == "pareto" else "answer.json")
    line = (sys.executable, "-m", "memplan", command, str(folder / "made.json"), *options)
    with said.open("wb") as errors:
        used = by_command((*line, "--time-limit", limit, "--out", str(answer)), errors=errors)
    last = said.read_text("utf-8", "replace").strip().rpartition("made.json: ")[2]
    size = folder.joinpath("made.json").stat().st_size / 1e6
    taken = (
        f"{used.wall:6.2f} of the wall, {used.processor:6.2f} s, {used.peak_bytes / 1048576:4.0f} MiB of {size:4.1f} MB"
    )
    print(f"{name:20} {used.code} {taken} {last[:110]}", flush=True)


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], metavar="CASE")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--limit", default="3")
    given = parser.parse_args()
    for name in given.cases or CASES:
        with tempfile.TemporaryDirectory() as folder:
            measure(name, given.count, given.limit, Path(folder))


if __name__ == "__main__":
    main()

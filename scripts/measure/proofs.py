"""Plans problems and proves the plans' bounds: a Markdown table of how many have a proof, how long it is, and how long the check takes.

python -m scripts.measure.proofs ../shared/corpus [--seconds 10] [--only corpus|generated|tight|cases] [--each]

Each problem is planned first, with the work of --plan-seconds; its proof then gets --seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from planner import Buffer, Options, PlanStatus, Pool, Problem, check_proof, plan, prove
from planner.generate import Request, generate
from planner.verifying.proofs.cases import can_be_claimed, has_cases
from scripts.measure.arguments import Arguments, by_work
from scripts.measure.corpus import problems

KINDS = ("random", "packing", "transformer", "convnet", "unet", "recurrent", "training", "pangu")
HEADINGS = (
    "problems", "planned", "optimal", "proven by one step", "proven by search", "no proof in time", "longest proof", "slowest search", "slowest check",
)  # fmt: skip


class Made(NamedTuple):
    """The result for one problem."""

    status: PlanStatus
    text: bytes | None
    lines: int
    prove_seconds: float
    check_seconds: float


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each proof")
    parser.add_argument("--plan-seconds", type=float, default=2.0, help="work for each plan")
    parser.add_argument("--only", choices=tuple(SETS))
    parser.add_argument("--each", action="store_true", help="a line for each problem that needs a search, too")
    arguments = parser.parse_args()
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    for name, sets in SETS.items():
        if arguments.only in (None, name):
            for title, problems in sets(arguments.corpus):
                row(title, problems, arguments)


def row(title: str, problems: Iterable[Problem], arguments: argparse.Namespace) -> None:
    made = []
    for problem in problems:
        here = proven(problem, by_work(arguments.plan_seconds, None), arguments.seconds)
        made.append(here)
        if arguments.each and (here.lines > STEPS_OF_SUMS or here.text is None):
            print(problem.name, here._replace(text=None), file=sys.stderr)
    with_proof = [each for each in made if each.text is not None]
    by_search = [each for each in with_proof if each.lines > STEPS_OF_SUMS]
    cells = [
        title,
        str(len(made)),
        str(sum(each.status is PlanStatus.OPTIMAL for each in made)),
        str(len(with_proof) - len(by_search)),
        str(len(by_search)),
        str(len(made) - len(with_proof)),
        f"{max((len(each.text or b'') for each in with_proof), default=0):,} bytes".replace(",", " "),
        f"{max((each.prove_seconds for each in with_proof), default=0):.2f} s",
        f"{max((each.check_seconds for each in with_proof), default=0):.2f} s",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


STEPS_OF_SUMS = 5
"""Lines of a proof that names one clique and its sum."""


def proven(problem: Problem, options: Options, seconds: float) -> Made:
    """Plans and proves one problem; processor seconds, as the machine may be busy."""
    answer = plan(problem, options)
    begun = time.process_time()
    end = begun + seconds
    proof = prove(problem, answer, lambda: time.process_time() > end)
    found = time.process_time()
    lines = 0 if proof.text is None else check_proof(problem, proof.text).lines
    return Made(answer.status, proof.text, lines, found - begun, time.process_time() - found)


def corpus(folder: Path) -> Iterator[tuple[str, Iterable[Problem]]]:
    for each in sorted(path for path in folder.iterdir() if path.is_dir()):
        problems = list(read(each))
        if problems:
            yield each.name, problems


def read(folder: Path, *, several: bool = False) -> Iterator[Problem]:
    """The problems with one memory in the folder and below it; with `several`, those with several memories or alternatives."""
    for path, problem in problems(folder, "**/*"):
        if has_cases(problem) is several and can_be_claimed(problem):
            yield replace(problem, name=path.name)


def generated(_: Path) -> Iterator[tuple[str, Iterable[Problem]]]:
    for size in (30, 300):
        for alignment in (1, 64):
            made = [generate(kind, Request(size, seed, alignment)) for kind in KINDS for seed in range(10)]
            yield f"{len(KINDS)} kinds of `memplan generate`, {size} buffers, alignment {alignment}, 10 seeds", made


def tight(_: Path) -> Iterator[tuple[str, Iterable[Problem]]]:
    for size in (20, 30, 40):
        yield f"{size} buffers of mixed alignments, 20 seeds", [mixed(size, seed) for seed in range(20)]
        yield f"{size} buffers around reserved ranges, 20 seeds", [holed(size, seed) for seed in range(20)]
    for size in (100, 200, 400):
        made = [mixed(size, seed, times=16 * size // 20) for seed in range(10)]
        yield f"{size} buffers of mixed alignments, as many live at a time as of 20, 10 seeds", made
    for size in (100, 200, 400):
        made = [joined(size // 20, seed) for seed in range(10)]
        yield f"{size} buffers: {size // 20} times 20 of mixed alignments, one after the other, 10 seeds", made


def mixed(count: int, seed: int, times: int = 16) -> Problem:
    """Alignments of up to about the size leave gaps that sums do not show."""
    draw = Random(seed)
    buffers = []
    for number in range(count):
        start = draw.randrange(times)
        size, alignment = draw.randint(1, 100), draw.choice((1, 2, 4, 8, 16, 32))
        buffers.append(Buffer(number, size, alignment=alignment, live=((start, start + draw.randint(1, 10)),)))
    return Problem(tuple(buffers), name=f"mixed {count} {seed}")


def joined(parts: int, seed: int) -> Problem:
    """Several problems one after the other, each connected to the next by a byte that lives in both.

    The highest needs a search, and the others are in its way.
    """
    buffers: list[Buffer] = []
    for part in range(parts):
        later = 40 * part
        for buffer in mixed(20, 1000 * seed + part).buffers:
            ((start, end),) = buffer.live or ()
            buffers.append(replace(buffer, id=len(buffers), live=((start + later, end + later),)))
        buffers.append(Buffer(len(buffers), 1, live=((later, later + 41),)))
    return Problem(tuple(buffers), name=f"joined {parts} {seed}")


def holed(count: int, seed: int) -> Problem:
    draw = Random(seed)
    spans = [(start, start + draw.randint(1, 10)) for start in (draw.randrange(16) for _ in range(count))]
    reserved = tuple((at + draw.randint(0, 9), at + draw.randint(12, 60)) for at in range(80, 800, 80))
    buffers = tuple(Buffer(number, draw.randint(1, 40), live=(span,)) for number, span in enumerate(spans))
    return Problem(buffers, (Pool("p", reserved=reserved),), name=f"holed {count} {seed}")


def cases(folder: Path) -> Iterator[tuple[str, Iterable[Problem]]]:
    """Problems with several memories or alternatives."""
    found = [problem for each in folder.iterdir() if each.is_dir() for problem in read(each, several=True)]
    yield "corpus: several memories, 100 buffers at most", [each for each in found if len(each.buffers) <= 100]
    for kind in ("pools", "memories"):
        for size in (8, 12, 16, 24):
            yield f"`{kind}`, {size} buffers, 10 seeds", [generate(kind, Request(size, seed)) for seed in range(10)]
    for groups in (2, 4, 6):
        requests = [Request(5 * groups, seed, parameters={"groups": groups, "alternatives": 3}) for seed in range(10)]
        yield f"`variants`, {groups} groups of 3, 10 seeds", [generate("variants", each) for each in requests]


SETS = {"corpus": corpus, "generated": generated, "tight": tight, "cases": cases}

if __name__ == "__main__":
    main()

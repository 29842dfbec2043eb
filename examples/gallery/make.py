#!/usr/bin/env python
"""Builds well-known networks as ONNX files, plans them, and writes one table and one page of maps.

    pip install onnx
    python examples/gallery/make.py -o gallery

The folder then holds NAME.onnx, NAME.plan.json and NAME.svg for each, table.md, and index.html with everything on one page.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from networks import NETWORKS

from memplan import Options, Plan, Problem, plan, read_problem, write_plan
from planner.drawing import Sheet, memory_map, svg

OTHERS = {
    "tflm_greedy": "TFLite Micro",
    "usmp_hill_climb": "TVM USMP",
    "exir_greedy": "ExecuTorch",
    "xla_heap": "XLA",
    "vela_hill_climb": "Vela",
}
"""Planners of other systems, as memplan has them, and what people call them."""
HEADS = (
    "network",
    "operators",
    "tensors",
    "all tensors",
    "worst of the others",
    "best of the others",
    "memplan",
    "bound",
    "time",
    "in place",
)


@dataclass(frozen=True)
class Planned:
    """One network."""

    name: str
    title: str
    operators: int
    problem: Problem
    plan: Plan
    seconds: float
    others: dict[str, int]
    """Their peaks."""
    in_place: int
    """The peak where results may lie where their inputs did."""


def planned(name: str, folder: Path, seconds: float) -> Planned:
    model = NETWORKS[name]()
    data = model.SerializeToString()
    (folder / f"{name}.onnx").write_bytes(data)
    begun = time.perf_counter()
    problem, _ = read_problem(data, name=f"{name}.onnx")
    made = plan(problem, Options(workers=1))
    spent = time.perf_counter() - begun
    (folder / f"{name}.plan.json").write_bytes(write_plan(made))
    (folder / f"{name}.svg").write_bytes(picture(problem, made))
    peaks = {said: plan(problem, Options(solver=other, time_limit=seconds)).peak for other, said in OTHERS.items()}
    found = {said: peak for said, peak in peaks.items() if peak is not None}
    within = plan(read_problem(data, name=f"{name}.onnx", format="onnx:in_place")[0], Options(workers=1)).peak
    assert within is not None
    return Planned(name, model.graph.name, len(model.graph.node), problem, made, spent, found, within)


def picture(problem: Problem, made: Plan) -> bytes:
    """The map, without tips, which no page of pictures shows."""
    return re.sub(rb"><title>[^<]*</title></rect>", b"/>", svg(memory_map(problem, made), Sheet(800)))


def who(others: dict[str, int], peak: int) -> str:
    """`9 633 792 (XLA, Vela)`"""
    those = [said for said, each in others.items() if each == peak]
    return f"{grouped(peak)} ({'all' if len(those) == len(OTHERS) else ', '.join(those)})"


def rows(all_: Sequence[Planned]) -> Iterator[tuple[str, ...]]:
    for each in all_:
        total = sum(buffer.size for buffer in each.problem.buffers)
        assert each.plan.peak is not None
        yield (
            each.title,
            str(each.operators),
            str(len(each.problem.buffers)),
            grouped(total),
            who(each.others, max(each.others.values())),
            who(each.others, min(each.others.values())),
            grouped(each.plan.peak),
            grouped(each.plan.bound),
            f"{each.seconds:.2f} s",
            grouped(each.in_place),
        )


def table(all_: Sequence[Planned]) -> str:
    lines = [HEADS, ("---",) * len(HEADS), *rows(all_)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page(all_: Sequence[Planned]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in HEADS)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows(all_))
    maps = "".join(
        f'<figure><figcaption>{escape(each.title)}</figcaption><img alt="" src="{each.name}.svg"></figure>\n'
        for each in all_
    )
    return f"""<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>memplan: a gallery</title>
<style>body{{font:14px system-ui,sans-serif;max-width:1200px;margin:24px auto;padding:0 16px}}table{{border-collapse:collapse;width:100%}}
td,th{{padding:4px 8px;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}}td:nth-child(5),td:nth-child(6){{white-space:normal}}td:first-child,th:first-child{{text-align:left}}
figure{{margin:24px 0}}figcaption{{font-weight:600}}img{{width:100%}}</style>
<h1>A gallery</h1>
<p>Bytes. Planned by memplan, and by the planners of other systems; the bound is what no plan can beat.</p>
<table><tr>{head}</tr>
{body}</table>
{maps}</html>
"""


def grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, default=Path("gallery"))
    parser.add_argument("--seconds", type=float, default=10.0, help="for each of the other planners and each network")
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(NETWORKS)}; by default all")
    wanted = parser.parse_args()
    wanted.out.mkdir(parents=True, exist_ok=True)
    all_ = [planned(name, wanted.out, wanted.seconds) for name in wanted.names or NETWORKS]
    (wanted.out / "table.md").write_text(table(all_), encoding="utf-8")
    (wanted.out / "index.html").write_text(page(all_), encoding="utf-8")
    print(table(all_), end="")


if __name__ == "__main__":
    main()

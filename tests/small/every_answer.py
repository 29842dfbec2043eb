"""An answer of each kind, as memplan writes it, beside its problem."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import planner
from planner import Options, Sharing, read_problem, read_shaped, write_plan
from planner.formats import read_program, write_frontier, write_shapes_plan, write_sharing
from planner.formats.answers.nested import write_nested_json
from planner.formats.answers.sweep import write_sweep_json
from planner.graph import nested_plan
from planner.model.problem import Problem

QUICK = Options(workers=1)


def document(*sizes: tuple[str, Any], **more: Any) -> dict[str, Any]:
    """Return a problem in which each buffer meets the next."""
    buffers = [{"id": id_, "size": size, "live": [[i, i + 2]]} for i, (id_, size) in enumerate(sizes)]
    return {"format": "memplan/1", "lifetimes": "half_open", "pools": [{"name": "sram"}], "buffers": buffers, **more}


def plain() -> dict[str, Any]:
    return document(("a", 64), ("b", 32), ("c", 48))


def choosing() -> dict[str, Any]:
    ways = [("whole", 100, 40), ("stripes", 20, 90)]
    alternatives = [
        {"name": name, "costs": {"cycles": cost}, "buffers": [{"id": "t", "size": size, "live": [[1, 3]]}]}
        for name, size, cost in ways
    ]
    costs = [{"name": "cycles"}]
    return document(
        ("a", 64), ("b", 32), variants={"costs": costs, "groups": [{"name": "g", "alternatives": alternatives}]}
    )


def shaped() -> dict[str, Any]:
    return document(("a", "4*n"), ("b", "n*n"), ("c", 48), symbols={"n": [1, 16]})


def program() -> dict[str, Any]:
    def function(name: str, *operators: dict[str, Any]) -> dict[str, Any]:
        tensors = [{"id": "x", "shape": [8], "kind": "input"}, {"id": "t", "shape": [64]}, {"id": "y", "shape": [8]}]
        return {"name": name, "inputs": ["x"], "outputs": ["y"], "tensors": tensors, "operators": list(operators)}

    def compute(given: str, made: str) -> dict[str, Any]:
        return {"kind": "compute", "inputs": [given], "outputs": [made]}

    inner = function("inner", compute("x", "t"), compute("t", "y"))
    call = {"kind": "call", "inputs": ["t"], "outputs": ["y"], "functions": ["inner"]}
    inner["tensors"][0]["shape"] = [64]
    main = function("main", compute("x", "t"), call)
    pools = [{"name": "sram"}]
    return {"format": "memplan-graph/2", "pools": pools, "functions": [inner, main], "entries": ["main"]}


def problem_of(given: dict[str, Any]) -> Problem:
    return read_problem(json.dumps(given).encode())[0]


def proved() -> bytes:
    """Return what the service answers when asked for a plan and its proof."""
    problem = problem_of(plain())
    made = planner.plan(problem, QUICK)
    found = planner.prove(problem, made, lambda: False)
    assert found.text is not None
    fields = {
        "height": found.height,
        "proof": found.text.decode(),
        "why_not": None,
        "plan": json.loads(write_plan(made)),
    }
    return json.dumps({"format": "memplan-proved/1", **fields}).encode()


@cache
def every_answer() -> dict[str, tuple[bytes, bytes]]:
    """Return by kind the bytes of a problem and of its answer."""
    sharing = planner.share(problem_of(plain()), QUICK)
    assert isinstance(sharing, Sharing)
    swept = planner.sweep(problem_of(plain()), {"sram": [64, 96, 128]}, QUICK, processes=1)
    at = [{"n": n} for n in (2, 8, 16)]
    found = planner.plan_shapes(read_shaped(json.dumps(shaped()).encode())[0], shapes=at, options=QUICK)
    file = read_program(json.dumps(program()).encode())
    nested = nested_plan(file.program, file.pools, file.options, lambda problem: planner.plan(problem, QUICK))
    made = {
        "plan": (plain(), write_plan(planner.plan(problem_of(plain()), QUICK))),
        "sharing": (plain(), write_sharing(sharing)),
        "frontier": (choosing(), write_frontier(planner.pareto(problem_of(choosing()), QUICK))),
        "sweep": (plain(), write_sweep_json(swept, with_plans=True)),
        "shapes": (shaped(), write_shapes_plan(found)),
        "nested": (program(), write_nested_json(nested)),
        "proof": (plain(), proved()),
    }
    return {kind: (json.dumps(given).encode(), answer) for kind, (given, answer) in made.items()}

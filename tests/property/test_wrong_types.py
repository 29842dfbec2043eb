"""A value of another type than declared either works or is refused with a typed error that names its place."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from itertools import islice
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import memplan
from memplan import cascades, formats, generate, graph, shapes
from planner.model.errors import shown_bare
from planner.model.problem import Was

WRONG: tuple[Any, ...] = (
    object(), None, 2.5, "word", b"bytes", (None,), [3], {"key": 3}, True, np.array(5), 10**5000,
)  # fmt: skip
REFUSED, ANSWERS = "refused", "answers"
OPTIONS = memplan.Options(workers=1, time_limit=None, work_limit=2_000, solver="greedy")
INTO_OPTIONS = ("plan", "session_plan")
"""The functions whose options are changed field by field; those of the others are changed as a whole."""
LENIENT = ("session_plan", "session_memory")
"""These look for wrong types only when something fails."""
MODULES = (memplan, cascades, formats, generate, graph, shapes)


def bare() -> memplan.Problem:
    return memplan.Problem((memplan.Buffer("a", 8, live=((0, 2),)), memplan.Buffer("b", 8, live=((1, 3),))))


def rich() -> memplan.Problem:
    """A problem that contains an object of every class that may be in one."""
    speed = memplan.Speed(1_000_000, 4, 4)
    constraints = memplan.Constraints(
        (("a", "b"),), (("a", "c"),), (memplan.Colocation("d", "a", 0),), (("a", "d"),), (("b", "c"),),
        (memplan.ReusePenalty("a", "b", 3),),
    )  # fmt: skip
    return memplan.Problem(
        (
            memplan.Buffer("a", 8, live=((0, 2),), pools=("fast", "slow"), hint=0, max_offset=64, kind="state"),
            memplan.Buffer("b", 8, live=((1, 3),), fixed=memplan.Fixed("fast", 16), device="npu", dtype="int8"),
            memplan.Buffer("c", 8, live=((1, 3),), data=b"12345678", kind="constant"),
            memplan.Buffer("d", 4, live=((0, 1),)),
        ),
        (memplan.Pool("fast", 128, 1, 0, ((64, 72),), speed=speed), memplan.Pool("slow", rank=1, cost=2)),
        constraints,
        steps=((0, "begin"),),
        was=(Was("a", "fast", 0),),
        terms=(memplan.Term.SUM_OF_PEAKS, memplan.Term.MOVED_BYTES),
    )


def chosen() -> memplan.Problem:
    """A problem with variants."""
    more = memplan.Alternative(
        "more", (1,), (memplan.Buffer("m", 9, live=((0, 1),)),), live=(memplan.MoreLife("a", ((2, 3),)),)
    )
    less = memplan.Alternative("less", (5,), (memplan.Buffer("l", 2, live=((0, 1),)),))
    groups = (
        memplan.VariantGroup("g", (more, less)),
        memplan.VariantGroup("h", (replace(less, name="one", buffers=()),)),
    )
    costs = (memplan.CostTerm("cycles"),)
    variants = memplan.Variants(groups, costs, ((("g", "more"), ("h", "one")),), ((("g", "more"), ("g", "less")),)[:0])
    return replace(bare(), variants=variants)


def flat() -> graph.Graph:
    tensors = (
        graph.Tensor("x", (4,), kind=graph.TensorKind.INPUT, pools=("default",)),
        graph.Tensor("y", (4,), is_output=True, items=None),
    )
    return graph.Graph(
        tensors, (graph.Operator(graph.OperatorKind.COMPUTE, ("x",), ("y",), workspaces=(graph.Workspace(4),)),)
    )


def calling() -> graph.Program:
    given = flat()
    function = graph.Function("f", given.tensors, given.operators, ("x",), ("y",))
    call = graph.Operator(graph.OperatorKind.CALL, ("x",), ("y",), functions=("f",))
    return graph.Program(
        (function, replace(function, name="main", operators=(call,))), ("main",), devices={"cpu": ("default",)}
    )


def network() -> cascades.Network:
    tensors = tuple(cascades.Tensor(id_, (1, 8, 8, 4), is_output=id_ == "z") for id_ in "xyz")
    pool = cascades.Operator(
        cascades.Kind.POOLING, ("x",), "y", kernel=(2, 2), stride=(1, 1), padding=cascades.Padding.SAME
    )
    return cascades.Network(tensors, (pool, cascades.Operator(cascades.Kind.ELEMENTWISE, ("y",), "z")))


@cache
def symbolic() -> shapes.ShapedProblem:
    return shapes.shaped(bare(), {"n": (1, 4)}, {"a": "4*n"})


@cache
def planned() -> memplan.Plan:
    return memplan.plan(rich(), OPTIONS)


def arenas() -> dict[str, Any]:
    """A program with the plans of its functions, as they are verified."""
    fine, options = (memplan.Pool("default", 4096), memplan.Pool("home", rank=1)), graph.GraphOptions()
    nested = graph.nested_plan(calling(), fine, options, lambda problem: memplan.plan(problem, OPTIONS))
    return {"program": calling(), "pools": fine, "options": options, "answer": nested.answer}


@cache
def made() -> Mapping[str, Any]:
    """Answers of the library by name, for functions that take them."""
    return {
        "plan": memplan.plan(bare(), OPTIONS),
        "frontier": memplan.pareto(chosen(), OPTIONS),
        "sweep": memplan.sweep(bare(), {"default": (8, 16)}, OPTIONS, processes=1),
        "sharing": memplan.share(bare(), OPTIONS),
        "shapes": memplan.plan_shapes(symbolic(), options=OPTIONS),
    }


def calls() -> dict[str, Callable[[], tuple[Callable[..., Any], dict[str, Any]]]]:
    """Return functions by name, each with arguments to which it gives an answer. Nothing is planned before one is asked for."""
    pools = (memplan.Pool("default", 4096), memplan.Pool("home", rank=1))
    column = [1, 2]
    return {
        "plan": lambda: (memplan.plan, {"problem": rich(), "options": OPTIONS, "start": planned(), "on_progress": None, "begun": None}),
        "plan_chosen": lambda: (memplan.plan, {"problem": chosen(), "options": OPTIONS}),
        "pareto": lambda: (memplan.pareto, {"problem": chosen(), "options": OPTIONS, "points": 3, "start": ()}),
        "plan_arrays": lambda: (memplan.plan_arrays, {"size": column, "start": [0, 1], "end": [2, 3], "alignment": 1, "capacity": 9, "options": OPTIONS}),
        "plan_memory": lambda: (memplan.plan_memory, {"pools": [("p", 96)], "buffers": [memplan.BufferInfo("i", 4, live=((0, 1),))], "options": OPTIONS}),
        "session_plan": lambda: (memplan.Session().plan, {"problem": rich(), "options": OPTIONS}),
        "session_memory": lambda: (memplan.Session().plan_memory, {"pools": [("p", 96)], "buffers": [memplan.Buffer("i", 4)], "options": OPTIONS}),
        "session": lambda: (memplan.Session, {"max_bytes": 100, "afresh": True}),
        "share": lambda: (memplan.share, {"problem": bare(), "options": OPTIONS, "start": made()["sharing"]}),
        "sweep": lambda: (memplan.sweep, {"problem": bare(), "sizes": {"default": (8, 16)}, "options": OPTIONS, "processes": 1}),
        "capacity_range": lambda: (memplan.capacity_range, {"first": 1, "last": 9, "step": 4}),
        "verify": lambda: (memplan.verify, {"problem": bare(), "plan": made()["plan"]}),
        "verify_frontier": lambda: (memplan.verify_frontier, {"problem": chosen(), "frontier": made()["frontier"]}),
        "verify_sweep": lambda: (memplan.verify_sweep, {"problem": bare(), "found": made()["sweep"]}),
        "verify_sharing": lambda: (memplan.verify_sharing, {"problem": bare(), "sharing": made()["sharing"]}),
        "verify_shapes": lambda: (memplan.verify_shapes, {"problem": symbolic(), "found": made()["shapes"]}),
        "plan_shapes": lambda: (memplan.plan_shapes, {"problem": symbolic(), "mode": shapes.Mode.BUCKETS, "shapes": [{"n": 2}], "options": OPTIONS}),
        "plan_at": lambda: (shapes.plan_at, {"problem": symbolic(), "found": made()["shapes"], "row": made()["shapes"].rows[0]}),
        "require_right": lambda: (shapes.require_right, {"problem": symbolic(), "found": made()["shapes"]}),
        "write_shaped": lambda: (memplan.write_shaped, {"problem": symbolic()}),
        "c_source": lambda: (shapes.c_source, {"found": made()["shapes"], "ids": ["a", "b"], "prefix": "net"}),
        "usual_shapes": lambda: (shapes.usual_shapes, {"problem": symbolic()}),
        "shaped": lambda: (shapes.shaped, {"problem": bare(), "symbols": {"n": (1, 4)}, "sizes": {"a": "4*n"}}),
        "memory_report": lambda: (memplan.memory_report, {"problem": bare(), "plan": made()["plan"]}),
        "prove": lambda: (memplan.prove, {"problem": bare(), "plan": made()["plan"], "stopped": lambda: True}),
        "check_proof": lambda: (memplan.check_proof, {"problem": bare(), "proof": b"no proof"}),
        "export_model": lambda: (memplan.export_model, {"problem": bare(), "kind": "lp", "plain": False}),
        "with_capacity": lambda: (memplan.with_capacity, {"problem": bare(), "capacity": {"default": 3}}),
        "with_preference": lambda: (memplan.with_preference, {"problem": bare(), "prefer": memplan.Preference.SIZE}),
        "with_stability": lambda: (memplan.with_stability, {"problem": bare(), "stability": memplan.Stability.TIES, "old": made()["plan"]}),
        "read_problem": lambda: (memplan.read_problem, {"data": memplan.write_problem(bare()), "name": "p", "format": "memplan"}),
        "read_plan": lambda: (memplan.read_plan, {"data": memplan.write_plan(made()["plan"])}),
        "read_shaped": lambda: (memplan.read_shaped, {"data": memplan.write_problem(bare())}),
        "read_frontier": lambda: (formats.read_frontier, {"data": b"{}"}),
        "read_graph": lambda: (memplan.read_graph, {"data": b"{}"}),
        "read_program": lambda: (memplan.read_program, {"data": b"{}"}),
        "read_sharing": lambda: (memplan.read_sharing, {"data": b"{}"}),
        "read_cascade": lambda: (memplan.read_cascade, {"data": b"{}"}),
        "write_plan": lambda: (memplan.write_plan, {"plan": made()["plan"]}),
        "write_problem": lambda: (memplan.write_problem, {"problem": rich()}),
        "write_program": lambda: (memplan.write_program, {"program": calling(), "pools": pools, "options": graph.GraphOptions()}),
        "write_frontier": lambda: (formats.write_frontier, {"frontier": made()["frontier"], "files": None, "warnings": ()}),
        "write_sharing": lambda: (memplan.write_sharing, {"sharing": made()["sharing"]}),
        "write_usmp": lambda: (memplan.write_usmp, {"problem": bare(), "plan": made()["plan"]}),
        "time_limit": lambda: (memplan.time_limit, {"seconds": 3.0}),
        "generate": lambda: (generate.generate, {"kind": "random", "request": generate.Request(5)}),
        "graph_problem": lambda: (graph.graph_problem, {"graph": flat(), "pools": pools, "options": graph.GraphOptions()}),
        "generate_shaped": lambda: (generate.generate_shaped, {"kind": "random", "request": generate.Request(5)}),
        "verify_nested": lambda: (graph.verify_nested, arenas()),
        "program_problem": lambda: (graph.program_problem, {"program": calling(), "pools": pools}),
        "cascade_problem": lambda: (cascades.cascade_problem, {"network": network(), "pools": pools, "options": cascades.CascadeOptions()}),
        "tile_problem": lambda: (cascades.tile_problem, {"network": network(), "pools": pools, "options": cascades.TileOptions("home", (cascades.Level("default", 8),))}),
    }  # fmt: skip


def changes(value: Any) -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """Yield the name of each place in the value, a function that puts a wrong value there, and the wrong value."""
    for wrong in WRONG:
        yield "", partial(itself, wrong), wrong
    if is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            if each.init:
                for name, change, wrong in changes(getattr(value, each.name)):
                    yield f".{each.name}{name}", partial(with_field, value, each.name, change), wrong
    elif type(value) is tuple and value:
        for name, change, wrong in changes(value[0]):
            yield f"[0]{name}", partial(with_first, value, change), wrong


def itself(value: Any) -> Any:
    return value


def with_field(value: Any, name: str, change: Callable[[], Any]) -> Any:
    return replace(value, **{name: change()})


def with_first(value: tuple[Any, ...], change: Callable[[], Any]) -> tuple[Any, ...]:
    return change(), *value[1:]


def outcome(function: Callable[..., Any], arguments: dict[str, Any], name: str, change: Callable[[], Any]) -> str:
    """Return whether the call answers or refuses, otherwise Python's own error, which shows that a check is missing."""
    try:
        function(**{**arguments, name: change()})
    except memplan.PlannerError:
        return REFUSED
    except Exception as error:  # noqa: BLE001 - any but the library's own is a fault
        return repr(error)
    return ANSWERS


@pytest.mark.parametrize("name", sorted(calls()))
def test_a_wrong_type_anywhere_is_refused(name: str, nightly: bool) -> None:
    """By day every sixth case: each place with one or two of the eleven wrong values."""
    function, arguments = calls()[name]()
    wrongly: list[str] = []
    for argument, right in arguments.items():
        is_shallow = name == "export_model" or (isinstance(right, memplan.Options) and name not in INTO_OPTIONS)
        for place, change, wrong in islice(changes(None if is_shallow else right), 0, None, 1 if nightly else 6):
            found = outcome(function, arguments, argument, change)
            if found not in (REFUSED, ANSWERS) or (found == ANSWERS and type(wrong) is object and name not in LENIENT):
                wrongly.append(f"{argument}{place} = {shown_bare(wrong)}: {found}")
    assert not wrongly


@pytest.mark.parametrize("buffers", [np.array(5), [memplan.BufferInfo("a", 10**5000)]], ids=["array", "digits"])
def test_what_is_hardly_a_value_is_refused_as_any_other(buffers: Any) -> None:
    """An array without dimensions has no entries; Python writes no integer of more than 4 300 digits."""
    with pytest.raises(memplan.BadInput, match=r"^/buffers"):
        memplan.plan_memory([("arena", None)], buffers)


def test_functions_of_the_library_can_be_sent_to_other_processes() -> None:
    for module in MODULES:
        for name in module.__all__:
            exported = getattr(module, name)
            if inspect.isfunction(exported):
                assert pickle.loads(pickle.dumps(exported)) is exported


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_function_refuses_meaningless_arguments(module: ModuleType) -> None:
    for name in module.__all__:
        exported = getattr(module, name)
        if inspect.isfunction(exported) and (parameters := inspect.signature(exported).parameters):
            with pytest.raises(memplan.BadInput):
                exported(**{each: object() for each in parameters})


def test_arguments_may_be_named_or_in_their_order() -> None:
    assert (
        memplan.plan(bare(), OPTIONS, None, None, None, None).peak == memplan.plan(bare(), options=OPTIONS).peak == 16
    )


def test_a_wrong_number_of_arguments_names_the_function() -> None:
    plan: Any = memplan.plan
    for arguments, named in (((), {}), ((bare(), *[None] * 9), {}), ((bare(),), {"beside": 1})):
        with pytest.raises(TypeError, match=r"^plan\(\): "):
            plan(*arguments, **named)

"""Values that are like the declared ones: lists for tuples, numbers of numpy, sequences of other kinds, callers' own classes."""

from __future__ import annotations

import enum
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pytest

import memplan
from memplan import formats, generate, graph, shapes
from tests.property.test_wrong_types import (
    ANSWERS,
    OPTIONS,
    REFUSED,
    arenas,
    bare,
    calls,
    chosen,
    itself,
    made,
    outcome,
    rich,
    symbolic,
    with_field,
    with_first,
)

TWO_POOLS = memplan.Problem(
    (
        memplan.Buffer("a", 8, live=((0, 2), (3, 4)), pools=("x", "y")),
        memplan.Buffer("b", 8, live=((1, 3),), pools=("y",)),
        memplan.Buffer("c", 4, live=((1, 3),)),
    ),
    (memplan.Pool("x", 8, reserved=((0, 2),)), memplan.Pool("y")),
)


def with_lists(value: Any) -> Any:
    """Return the value with a list for each tuple."""
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{each.name: with_lists(getattr(value, each.name)) for each in fields(value) if each.init}
        )
    return [*map(with_lists, value)] if type(value) is tuple else value


@pytest.mark.parametrize("problem", [bare(), rich(), chosen(), TWO_POOLS], ids=["bare", "rich", "chosen", "two_pools"])
def test_lists_count_as_tuples(problem: memplan.Problem) -> None:
    listed, session = with_lists(problem), memplan.Session()
    usual = memplan.plan(problem, OPTIONS)
    session.plan(problem, OPTIONS)
    for found in (memplan.plan(listed, OPTIONS), session.plan(listed, OPTIONS), session.plan(listed, OPTIONS)):
        assert (found.status, found.objective.value) == (usual.status, usual.objective.value)
        assert not memplan.verify(problem, found)
        assert not memplan.verify(listed, usual)


def test_a_session_looks_again_at_a_list_that_has_changed() -> None:
    session, buffers = memplan.Session(), [memplan.Buffer("a", 8, live=((0, 2),))]
    problem = memplan.Problem(buffers)
    assert session.plan(problem, OPTIONS).peak == 8
    buffers.append(memplan.Buffer("b", 100, live=((0, 2),)))
    assert session.plan(problem, OPTIONS).peak == 108


def test_other_sequences_count_as_tuples_too() -> None:
    usual = memplan.plan(bare(), OPTIONS)
    a, b = bare().buffers
    other: Any = deque
    span: Any = array("q", (1, 3))
    for problem in (
        replace(bare(), buffers=deque((a, replace(b, live=other(((1, 3),)))))),
        replace(bare(), buffers=(a, replace(b, live=(span,)))),
        replace(bare(), terms=other(bare().terms)),
    ):
        found = memplan.plan(problem, OPTIONS)
        assert (found.placements, found.problem_digest) == (usual.placements, usual.problem_digest)


@dataclass
class Stopped:
    """A caller's class, which keeps something else in its fields than it declares."""

    calls: int = None  # type: ignore[assignment]
    told: memplan.nothing = None  # type: ignore[name-defined]

    def __call__(self) -> bool:
        return False


def test_classes_of_callers_are_not_judged() -> None:
    assert memplan.prove(bare(), memplan.plan(bare(), OPTIONS), stopped=Stopped())


def test_types_of_numpy_are_named_as_such() -> None:
    with pytest.raises(memplan.BadInput, match=r"must be true or false, not a numpy\.bool"):
        memplan.plan(bare(), replace(OPTIONS, explain=np.True_))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "answer",
    [
        lambda options: memplan.write_plan(replace(memplan.plan(bare(), options), run=memplan.plan(bare()).run)),
        lambda options: memplan.share(bare(), options).assignments,
    ],
    ids=["plan", "share"],
)
def test_options_may_be_numbers_of_numpy(answer: Callable[[memplan.Options], object]) -> None:
    number: Any = np.int64
    assert answer(replace(OPTIONS, seed=number(3), work_limit=number(2_000), workers=number(1)))


def test_a_capacity_may_be_a_number_of_numpy() -> None:
    capacity: Any = np.int64(32)
    assert memplan.plan(bare(), replace(OPTIONS, capacity=capacity)).pools[0].size == 32


def with_numpy(value: Any) -> Any:
    """Return the value with a number of numpy for each integer."""
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{each.name: with_numpy(getattr(value, each.name)) for each in fields(value) if each.init}
        )
    if type(value) is tuple:
        return tuple(map(with_numpy, value))
    return np.int64(value) if type(value) is int else value


def test_answers_made_by_hand_may_have_numbers_of_numpy() -> None:
    made, shared = memplan.plan(bare(), OPTIONS), memplan.share(bare(), OPTIONS)
    assert memplan.write_plan(with_numpy(made)) == memplan.write_plan(made)
    assert memplan.write_sharing(with_numpy(shared)) == memplan.write_sharing(shared)
    assert not memplan.verify(bare(), with_numpy(made))


def test_offsets_of_numpy_do_not_wrap_around() -> None:
    made = memplan.plan(bare(), OPTIONS)
    far: Any = np.int64((1 << 63) - 10)
    moved = replace(made.placements[0], offset=far)
    assert memplan.verify(bare(), replace(made, placements=(moved, *made.placements[1:])))


def alike(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name of each place in the value, and a function that puts something like its value there: another number, word or count."""
    if type(value) is int:
        yield "", partial(itself, np.int64(value))
    elif isinstance(value, enum.Enum):
        yield "", partial(itself, value.value)
    elif type(value) is tuple and value:
        yield "", partial(itself, ())
        yield "", partial(itself, value * 2)
        for name, change in alike(value[0]):
            yield f"[0]{name}", partial(with_first, value, change)
    elif type(value) is dict and value:
        yield "", dict
        yield "", partial(itself, {key: np.int64(part) if type(part) is int else part for key, part in value.items()})
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            if each.init:
                for name, change in alike(getattr(value, each.name)):
                    yield f".{each.name}{name}", partial(with_field, value, each.name, change)


@pytest.mark.parametrize("name", sorted(calls()))
def test_what_is_like_the_declared_is_taken_or_refused(name: str, nightly: bool) -> None:
    """By day every third case."""
    function, arguments = calls()[name]()
    wrongly: list[str] = []
    for argument, right in arguments.items():
        for place, change in islice(alike(right), 0, None, 1 if nightly else 3):
            found = outcome(function, arguments, argument, change)
            if found not in (REFUSED, ANSWERS):
                wrongly.append(f"{argument}{place} = {change()!r:.200}: {found}")
    assert not wrongly


def test_pools_beside_a_problem_may_have_numbers_of_numpy() -> None:
    given = arenas()
    assert graph.verify_nested(**{**given, "pools": with_numpy(given["pools"])}) == ()
    pool: Any = memplan.Pool("p", np.int64(96))  # type: ignore[arg-type]
    info: Any = memplan.BufferInfo("i", np.int64(4), live=((np.int64(0), 1),))  # type: ignore[arg-type]
    usual = memplan.plan_memory([memplan.Pool("p", 96)], [memplan.BufferInfo("i", 4, live=((0, 1),))], OPTIONS)
    assert memplan.plan_memory([pool], [info], OPTIONS) == usual
    assert memplan.Session().plan_memory([pool], [info], OPTIONS) == usual


def test_problems_with_numbers_of_numpy_are_refused_by_every_function() -> None:
    """Their sums could wrap around."""
    a, b = bare().buffers
    small: Any = np.uint8(8)
    narrow = replace(bare(), buffers=(a, replace(b, size=small)))
    plan = made()["plan"]
    for call in (memplan.verify, memplan.memory_report, memplan.prove):
        with pytest.raises(memplan.BadInput, match="/buffers/1/size: must be an integer, not uint8"):
            call(narrow, plan)


def test_symbols_may_be_numbers_of_numpy() -> None:
    problem, found = symbolic(), made()["shapes"]
    shape: Any = {"n": np.int64(3)}
    assert found.offsets(shape) == found.offsets({"n": 3})
    assert (problem.at(shape), problem.sizes_at(shape)) == (problem.at({"n": 3}), [12, 8])
    assert {*map(type, problem.sizes_at(shape))} == {int}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"sizes": symbolic().sizes[:1]}, "/sizes: must have one for each of the 2 buffers, not 1"),
        ({"sizes": symbolic().sizes * 2}, "/sizes: must have one for each of the 2 buffers, not 4"),
        ({"least": (None,)}, "/least: must have one for each of the 2 buffers, not 1"),
        ({"symbols": {}}, "/sizes/0: 'n' is no symbol that has a range"),
        ({"symbols": {"n": (4, 1)}}, "/symbols/n: from 4 to 1 is not a range"),
        (
            {"sizes": (replace(symbolic().sizes[0], parts=()), symbolic().sizes[1])},
            "/sizes/0: the part 'product' has 0",
        ),
    ],
)
def test_sizes_that_do_not_go_with_a_problem_are_refused(change: dict[str, Any], place: str) -> None:
    wrong = replace(symbolic(), **change)
    with pytest.raises(memplan.BadInput, match=place):
        memplan.write_shaped(wrong)
    if "least" not in change:
        with pytest.raises(memplan.BadInput, match=place):
            memplan.plan_shapes(wrong, shapes.Mode.MAXIMUM, options=OPTIONS)


def test_a_made_up_problem_without_symbols_has_one_shape() -> None:
    made_up = generate.generate_shaped("random", generate.Request(5))
    found = memplan.plan_shapes(made_up, shapes.Mode.MAXIMUM, options=OPTIONS)
    assert found.plan is not None
    assert found.plan.placements == memplan.plan(made_up.largest, OPTIONS).placements


@pytest.mark.parametrize("kind", ["LP", "", None, 3, lambda: None], ids=["case", "empty", "None", "number", "function"])
def test_a_model_is_written_in_a_known_format(kind: Any) -> None:
    with pytest.raises(memplan.BadInput, match=r"^/kind: must be one of 'lp', 'mps', 'cpsat', not "):
        memplan.export_model(bare(), kind)


def test_views_count_as_bytes() -> None:
    written = memplan.write_problem(bare())
    view: Any = memoryview(written)
    assert memplan.read_problem(view) == memplan.read_problem(written)
    changeable: Any = bytearray(b"no proof")
    with pytest.raises(memplan.BadProof):
        memplan.check_proof(bare(), changeable)


def test_generators_take_numbers_of_numpy() -> None:
    found = generate.generate("random", generate.Request(np.int64(5), np.uint64(7), np.int64(4)))  # type: ignore[arg-type]
    assert found == generate.generate("random", generate.Request(5, 7, 4))


def test_a_frontier_needs_a_file_for_each_point() -> None:
    found = memplan.pareto(chosen(), OPTIONS)
    with pytest.raises(memplan.BadInput, match="/files: must name a file for each of the "):
        formats.write_frontier(found, ())

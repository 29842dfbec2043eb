"""Groups of very many views: what a rule examines grows with the program, not with its square."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from planner.graph import Operator, OperatorKind, Tensor
from planner.graph.aliases import places
from planner.graph.aliases.places import Places
from tests.planner.graph.cadence_graphs import back, compute, given, made, problem_of

K = OperatorKind
Program = tuple[list[Tensor], list[Operator]]


def joined_views(count: int) -> Program:
    """Return views that are joined, and views of what they are joined to."""
    tensors, steps = [given("x", 4)], []
    for i in range(count):
        tensors += [made(f"a{i}", 4), made(f"b{i}", 4), made(f"c{i}", 4 * count)]
        steps += [compute("x", f"a{i}"), Operator(K.VIEW, (f"a{i}",), (f"b{i}",))]
    tensors += [made("z", 4 * count), back("y", 4)]
    steps.append(Operator(K.CONCATENATE, tuple(f"b{i}" for i in range(count)), ("z",), 0))
    steps += [Operator(K.VIEW, ("z",), (f"c{i}",)) for i in range(count)]
    return tensors, [*steps, compute(f"c{count - 1}", "y")]


def one_behind_the_other(count: int) -> Program:
    """Return concatenations, each of the one before and one more."""
    tensors, steps = [given("x", 4), made("z0", 4)], [compute("x", "z0")]
    for i in range(1, count):
        tensors += [made(f"a{i}", 4), made(f"z{i}", 4 * (i + 1))]
        steps += [compute("x", f"a{i}"), Operator(K.CONCATENATE, (f"z{i - 1}", f"a{i}"), (f"z{i}",), 0)]
    return [*tensors, back("y", 4)], [*steps, compute(f"z{count - 1}", "y")]


@pytest.mark.parametrize("program", [joined_views, one_behind_the_other])
def test_what_is_examined_grows_with_the_program(
    program: Callable[[int], Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    examined = [0]

    def counted(name: str, owner: object) -> None:
        usual = getattr(owner, name)

        def counting(*of: object) -> object:
            examined[0] += 1
            return usual(*of)

        monkeypatch.setattr(owner, name, counting)

    counted("_meet", places)
    counted("_offset", Places)
    counted("_group", Places)

    def taken() -> Iterator[int]:
        for count in (50, 200):
            examined[0] = 0
            tensors, steps = program(count)
            assert len(problem_of(tuple(tensors), *steps).applied) >= count - 1
            yield examined[0]

    few, many = taken()
    assert many < 8 * few

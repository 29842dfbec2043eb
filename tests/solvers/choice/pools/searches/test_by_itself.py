"""What rules tie to others, or keep apart from some, is put into pools at once: every placement of what is left is one of the whole."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given

from planner.model.problem import Problem
from planner.planning.placing.lowering import lower
from solvers.bounds.prices.market import Floats, costs_by_pool
from solvers.choice.pools.program.writing import ruled
from solvers.choice.pools.searches.weighing import by_itself
from solvers.model.instance import Instance, PoolSpec
from tests.small.instances import make_instance, plain
from tests.small.strategies import effort, problems


def costs(instance: Instance) -> Floats:
    number = instance.class_number
    return costs_by_pool(instance, number, int(number.max(initial=-1)) + 1)


@effort(200, 20_000)
@given(problems(max_buffers=7))
def test_rules_hold_whatever_is_chosen_afterwards(problem: Problem) -> None:
    instance = lower(problem).instance
    assume(instance.has_choice and instance.allowed.any(axis=1).all())
    alone = by_itself(instance, costs(instance))
    is_ruled = ruled(instance)
    assume(alone is not None)
    assert alone is not None
    assert (alone.allowed <= instance.allowed).all()
    assert (alone.allowed[~is_ruled] == instance.allowed[~is_ruled]).all()
    assert (alone.allowed[is_ruled].sum(axis=1) == 1).all()
    for one, other in instance.apart.tolist():
        assert not (alone.allowed[one] & alone.allowed[other]).any()
    for block, first in enumerate(instance.pool_class.tolist()):
        assert not is_ruled[block] or (alone.allowed[block] == alone.allowed[first]).all()
    assert not ruled(alone).any()


def of_three(pools: list[tuple[int, ...]]) -> Instance:
    blocks = [plain(0, 2, 4, pools=homes) for homes in pools]
    return make_instance(blocks, pools=[PoolSpec(8), PoolSpec(None)], apart=[(0, 1)])


def test_who_loses_most_elsewhere_chooses_first() -> None:
    alone = by_itself(of_three([(0, 1)] * 3), np.array([[0.0, 5.0], [0.0, 6.0], [0.0, 7.0]]))
    assert alone is not None
    assert alone.allowed.tolist() == [[False, True], [True, False], [True, True]]


def test_nothing_is_left_where_one_finds_no_pool() -> None:
    both = np.array([[0.0, np.inf], [0.0, np.inf], [0.0, 7.0]])
    assert by_itself(of_three([(0,), (0,), (0, 1)]), both) is None
    nowhere = np.array([[np.inf, np.inf], [0.0, 5.0], [0.0, 7.0]])
    assert by_itself(of_three([(), (0, 1), (0, 1)]), nowhere) is None

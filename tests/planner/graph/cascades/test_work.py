"""The machines that count cycles are refused where they would divide by nothing."""

from __future__ import annotations

from typing import Any

import pytest

from planner.graph.cascades import (
    CascadeOptions,
    Kind,
    Level,
    Network,
    Operator,
    Rates,
    Tensor,
    TileOptions,
    TileRates,
    cascade_problem,
    tile_problem,
)
from planner.model.errors import BadInput
from planner.model.problem import Pool

NETWORK = Network(
    (Tensor("x", (1, 8, 8, 4)), Tensor("y", (1, 8, 8, 4), is_output=True)), (Operator(Kind.ELEMENTWISE, ("x",), "y"),)
)
POOLS = (Pool("home", rank=1), Pool("near", 4096))
LEVELS = (Level("near"),)
WRONG = (0, -1, 1.5, None, 1 << 63)


def refused(make: Any, options: Any) -> str:
    with pytest.raises(BadInput) as caught:
        make(NETWORK, POOLS, options)
    return caught.value.findings[0].pointer


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("name", ["operations_per_cycle", "bytes_per_cycle", "cycles_per_run"])
def test_rates_of_networks_in_stripes_are_checked(name: str, value: Any) -> None:
    if (name, value) != ("cycles_per_run", 0):
        rates = Rates(**{name: value})
        assert refused(cascade_problem, CascadeOptions(cycles=rates)) == f"/cycles/{name}"


@pytest.mark.parametrize("value", WRONG)
def test_rates_of_networks_in_tiles_are_checked(value: Any) -> None:
    of_level = "/tiles/levels/0/bytes_per_cycle"
    assert refused(tile_problem, TileOptions("home", (Level("near", value),))) == of_level
    assert refused(tile_problem, TileOptions("home", LEVELS, cycles=TileRates((value,)))) == of_level
    rates = TileRates((8,), operations_per_cycle=value)
    assert refused(tile_problem, TileOptions("home", LEVELS, cycles=rates)) == "/cycles/operations_per_cycle"


@pytest.mark.parametrize("rates", [(), (8, 8)])
def test_each_level_has_a_rate(rates: tuple[int, ...]) -> None:
    assert refused(tile_problem, TileOptions("home", LEVELS, cycles=TileRates(rates))) == "/cycles/bytes_per_cycle"

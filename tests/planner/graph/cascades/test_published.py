"""Published figures of cascades: the example of TVM's RFC, and the figures in the tests of its Ethos-U cascader.

In the cascader's tests, tensors lie in blocks of 16 channels, and inputs and outputs are the caller's. Stripes are cut
along one axis in multiples of what the accelerator makes at once (2 x 2 x 8 elements, or 1 x 2 x 8). Weights are copied
beside the tensors; `constants` are the bytes that TVM's compiler made of them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner import Options, Preference, plan, read_cascade
from planner.graph.cascades import (
    CascadeOptions,
    Cutting,
    Kind,
    Mode,
    Network,
    Operator,
    Padding,
    Tensor,
    cascade_problem,
)
from planner.model.plan import PlanStatus
from scripts.measure.planning.cascades import mobilenet, vgg16

U55_256, U55_128 = (2, 2, 8), (1, 2, 8)

DOUBLE_CONVOLUTION = Network(
    (Tensor("x", (321, 212, 6)), Tensor("a", (317, 211, 10)), Tensor("y", (106, 106, 3))),
    (
        Operator(Kind.CONVOLUTION, ("x",), "a", kernel=(3, 2), dilation=(2, 1), constants=704),
        Operator(Kind.CONVOLUTION, ("a",), "y", kernel=(1, 1), stride=(3, 2), padding=Padding.SAME),
    ),
    channels_multiple=16,
)
DEPTHWISE_AND_POOLING = Network(
    (
        Tensor("x", (80, 75, 3)),
        Tensor("a", (78, 74, 7)),
        Tensor("b", (76, 72, 7)),
        Tensor("c", (76, 72, 2)),
        Tensor("y", (76, 72, 2)),
    ),
    (
        Operator(Kind.CONVOLUTION, ("x",), "a", kernel=(3, 2)),
        Operator(Kind.DEPTHWISE, ("a",), "b", kernel=(3, 3), constants=384),
        Operator(Kind.CONVOLUTION, ("b",), "c", kernel=(3, 2), padding=Padding.SAME),
        Operator(Kind.POOLING, ("c",), "y", kernel=(3, 3), padding=Padding.SAME),
    ),
    channels_multiple=16,
)


def least(network: Network, cutting: Cutting) -> int | None:
    made = cascade_problem(network, options=CascadeOptions(plan_inputs=False, plan_outputs=False, cutting=cutting))
    found = plan(made.problem, Options(work_limit=1_000_000))
    assert found.status is PlanStatus.OPTIMAL
    return found.peak


@pytest.mark.parametrize(
    ("network", "whole", "in_stripes"),
    [
        (DOUBLE_CONVOLUTION, 1_067_520, {U55_256: 14_208, U55_128: 4_080}),
        (DEPTHWISE_AND_POOLING, 180_288, {U55_256: 15_200, U55_128: 14_432}),
    ],
    ids=["double_conv2d", "depthwise2d_conv2d_pooling"],
)
def test_peaks_equal_those_of_tvm_s_cascader(
    network: Network, whole: int, in_stripes: dict[tuple[int, ...], int]
) -> None:
    assert least(network, Cutting(modes=())) == whole
    for blocks, expected in in_stripes.items():
        assert least(network, Cutting((Mode.RECOMPUTE,), most_axes=1, blocks=blocks)) == expected


def test_rolling_buffers_need_less_than_the_cascader_of_tvm() -> None:
    """Between two operators lie three rows of each tensor; the cascader's stripes hold 7, 5 and 3 rows."""
    assert least(DEPTHWISE_AND_POOLING, Cutting(most_axes=1, blocks=U55_128)) == 3 * (74 + 72 + 72) * 16 + 384


def test_the_example_of_the_rfc_is_reproduced() -> None:
    """Between a 3x3 and a 1x1 convolution lie 18.4 kB, and only 1.2 kB in 16 stripes of 6x6x32."""
    network = Network(
        (Tensor("x", (1, 26, 26, 3)), Tensor("a", (1, 24, 24, 32)), Tensor("y", (1, 24, 24, 8))),
        (
            Operator(Kind.CONVOLUTION, ("x",), "a", kernel=(3, 3)),
            Operator(Kind.CONVOLUTION, ("a",), "y", kernel=(1, 1)),
        ),
    )
    made = cascade_problem(network)
    sizes = {
        group.stripes.extents if group.stripes else None: group.own for path in made.ways.values() for group in path
    }
    assert sizes[1, 6, 6, 8] == 6 * 6 * 32 == 24 * 24 * 32 // 16
    (group,) = made.problem.variants.groups if made.problem.variants else ()
    (whole,) = (each.buffers for each in group.alternatives if each.name == "1: whole")
    assert [(each.id, each.size) for each in whole] == [("a", 18_432)]


@pytest.mark.parametrize("network", [mobilenet, vgg16], ids=["MobileNet v1", "VGG16"])
def test_a_third_of_the_memory_costs_little(network: Callable[[], bytes]) -> None:
    """As the RFC claims, the peak of both networks falls to about a third, with less than 5 % more cycles."""
    file = read_cascade(network())
    whole = cascade_problem(file.network, options=CascadeOptions(cutting=Cutting(modes=())))
    rolling = cascade_problem(file.network, options=CascadeOptions(cutting=Cutting((Mode.ROLLING,)))).problem
    before = plan(whole.problem)
    after = plan(rolling, Options(prefer=Preference.SPEED, capacity={"default": (before.peak or 0) // 3}))
    assert (before.status, after.status) == (PlanStatus.OPTIMAL, PlanStatus.OPTIMAL)
    assert before.choice is not None
    assert after.choice is not None
    assert after.choice.cost < 1.05 * before.choice.cost

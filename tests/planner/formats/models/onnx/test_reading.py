"""ONNX models are read as problems: shapes, symbols, control flow, sharing in place, refusals."""

from __future__ import annotations

import pytest

from planner import plan, plan_shapes, read_problem, read_shaped, verify, verify_shapes
from planner.model.problem import Problem
from planner.planning.shapes import Mode
from tests.planner.formats import reading
from tests.planner.formats.models.onnx.models import (
    BOOL,
    FLOAT,
    INT64,
    attribute,
    graph,
    inside,
    model,
    node,
    number,
    tensor,
    value,
)
from tests.planner.formats.reading import lives, sizes


def read(data: bytes, settings: str = "") -> Problem:
    return read_problem(data, format=f"onnx:{settings}" if settings else "onnx")[0]


def refused(data: bytes, settings: str = "") -> tuple[str, str, str]:
    return reading.refused(data, format=f"onnx:{settings}" if settings else "onnx")


def test_messages_repeat_names_cut_and_without_control_characters() -> None:
    for operator, domain in (("\x1b[2J\x00", ""), ("Odd", "\x1b[31m"), ("x" * 900, "y" * 900)):
        made = model(graph([node(operator, "x", "y", domain=domain)], [value("x", [4])], [value("y", None)]))
        code, place, message = refused(made)
        assert (code, place) == ("invalid_value", "/graph/node/0")
        assert message.isprintable()
        assert len(message) < 400


CHAIN = graph(
    [node("Relu", "x", "a", name="relu"), node("MaxPool", "a", "b", kernel_shape=[3, 3], strides=[2, 2])],
    [value("x", ["n", 8, 9, 9])],
    [value("b", ["n", 8, 4, 4])],
)


def test_tensors_live_from_the_first_to_the_last_use() -> None:
    problem = read(model(CHAIN), "dim=n=2")
    assert sizes(problem) == {"x": 2 * 8 * 81 * 4, "a": 2 * 8 * 81 * 4, "b": 2 * 8 * 16 * 4}
    assert lives(problem) == {"x": ((0, 1),), "a": ((0, 2),), "b": ((1, 3),)}
    assert [(buffer.id, buffer.kind) for buffer in problem.buffers] == [
        ("x", "input"),
        ("a", "intermediate"),
        ("b", "output"),
    ]
    assert problem.steps[0] == (0, "relu")


def test_a_dimension_is_a_number_or_a_range_and_never_guessed() -> None:
    code, place, message = refused(model(CHAIN))
    assert (code, place) == ("missing_field", "/graph/input/0")
    assert "'n' is not known" in message
    shaped, warnings = read_shaped(model(CHAIN), format="onnx:dim=n=1..16")
    assert [str(size) for size in shaped.sizes] == ["2592*n", "2592*n", "512*n"]
    assert warnings == ()
    assert sizes(shaped.at({"n": 2})) == sizes(read(model(CHAIN), "dim=n=2"))
    found = plan_shapes(shaped, Mode.EXPRESSIONS)
    assert verify_shapes(shaped, found) == ()
    largest, warnings = read_problem(model(CHAIN), format="onnx:dim=n=1..16")
    assert sizes(largest) == sizes(read(model(CHAIN), "dim=n=16"))
    assert "largest" in warnings[0]


@pytest.mark.parametrize("option", ["n", "n=", "=4", "n=4..2", "n=-1", "n=4,dim=n=5", "n=4,dim=m=5"])
def test_wrong_dimensions_in_options_are_refused(option: str) -> None:
    assert refused(model(CHAIN), f"dim={option}")[0] == "invalid_option"


ATTENTION = graph(
    [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "b"),
        node("Gather", "s one", "t"),
        node("Concat", "b t heads", "to", axis=0),
        node("Reshape", "x to", "r"),
        node("Transpose", "r", "q", perm=[0, 2, 1, 3]),
        node("Transpose", "r", "k", perm=[0, 2, 3, 1]),
        node("MatMul", "q k", "scores"),
        node("Softmax", "scores", "p"),
        node("MatMul", "p q", "y"),
    ],
    [value("x", ["batch", "seq", 64])],
    [value("y", None)],
    [tensor("zero", [0]), tensor("one", [1]), tensor("heads", [4, -1])],
)


def test_shapes_that_are_computed_are_followed_in_symbols() -> None:
    shaped, _ = read_shaped(model(ATTENTION), format="onnx:dim=batch=1,dim=seq=1..2048")
    found = {buffer.id: str(size) for buffer, size in zip(shaped.largest.buffers, shaped.sizes, strict=True)}
    assert found["scores"] == found["p"] == "16*seq*seq"
    assert found["q"] == found["k"] == found["y"] == "256*seq"


def test_values_computed_from_constants_are_constants() -> None:
    problem = read(model(ATTENTION), "dim=batch=2,dim=seq=8")
    assert set(sizes(problem)) == {"x", "r", "q", "k", "scores", "p", "y"}


def test_names_that_are_sums_are_worked_out() -> None:
    made = graph(
        [node("Relu", "m", "y")], [value("p", ["past"]), value("m", ["past + 1", "a b", None])], [value("y", None)]
    )
    problem = read(model(made), "dim=past=7,dim=a b=2,dim=m_2=3")
    assert sizes(problem) == {"p": 28, "m": 192, "y": 192}


def branches(then: bytes, otherwise: bytes, condition: bytes | None = None) -> bytes:
    return model(
        graph(
            [
                node("Neg", "x", "y"),
                node("If", "c", "z", then_branch=("graph", then), else_branch=("graph", otherwise)),
                node("Add", "z x", "o"),
            ],
            [*([] if condition else [value("c", [], BOOL)]), value("x", [4, 64])],
            [value("o", [4, 64])],
            [condition] if condition else [],
        )
    )


THEN = graph([node("Relu", "x", "t1"), node("Exp", "t1", "t2")], (), [value("t2", None)])
ELSE = graph([node("Tanh", "y", "e")], (), [value("e", None)])


def test_arms_of_a_branch_share_memory_and_see_outer_values() -> None:
    problem = read(branches(THEN, ELSE))
    assert plan(problem).peak == 3 * 1024
    assert sizes(problem).keys() == {"main/c", "main/x", "main/y", "main/z", "main/o", "If.then_branch/t1"}


def test_only_the_arm_known_to_run_counts() -> None:
    problem = read(branches(THEN, ELSE, tensor("c", [1], [], BOOL)))
    assert all("else" not in str(buffer.id) for buffer in problem.buffers)


def test_an_arm_may_return_an_outer_value() -> None:
    problem = read(branches(graph([], (), [value("x", None)]), ELSE))
    assert verify(problem, plan(problem)) == ()


def test_a_loop_carries_and_collects() -> None:
    body = graph(
        [node("MatMul", "h w", "next"), node("Identity", "go", "on"), node("Relu", "next", "part")],
        [value("i", [], INT64), value("go", [], BOOL), value("h", [8, 16])],
        [value("on", [], BOOL), value("next", [8, 16]), value("part", [8, 16])],
    )
    made = graph(
        [node("Loop", "m - h0", "last all", body=("graph", body))],
        [value("h0", [8, 16]), value("w", [16, 16])],
        [value("last", [8, 16]), value("all", [5, 8, 16])],
        [tensor("m", [5], [])],
    )
    problem = read(model(made))
    assert sizes(problem)["main/all"] == 5 * 512
    assert verify(problem, plan(problem)) == ()
    last = max(end for spans in lives(problem).values() for _, end in spans or ())
    assert lives(problem)["main/w"] == ((0, last - 1),)


def test_a_scan_takes_parts() -> None:
    body = graph(
        [node("Add", "s e", "s2"), node("Relu", "s2", "o")],
        [value("s", [16]), value("e", [16])],
        [value("s2", [16]), value("o", [16])],
    )
    for axis, shape in ((0, [6, 16]), (1, [16, 6])):
        made = graph(
            [node("Scan", "s0 x", "sn y", body=("graph", body), num_scan_inputs=1, scan_input_axes=[axis])],
            [value("s0", [16]), value("x", shape)],
            [value("sn", [16]), value("y", [6, 16])],
        )
        problem = read(model(made))
        assert sizes(problem)["main/y"] == 6 * 64
        assert verify(problem, plan(problem)) == ()


def test_a_scan_of_opset_8_takes_the_sequences_of_a_batch_in_turn() -> None:
    body = graph(
        [node("Add", "s e", "s2"), node("Relu", "s2", "o")],
        [value("s", [16]), value("e", [16])],
        [value("s2", [16]), value("o", [16])],
    )
    made = graph(
        [node("Scan", "- s0 x", "sn y", name="scan", body=("graph", body), num_scan_inputs=1)],
        [value("s0", [3, 16]), value("x", [3, 6, 16])],
        [value("sn", None), value("y", None)],
    )
    problem = read(model(made, opset=8))
    assert sizes(problem)["main/sn"] == 3 * 64
    assert sizes(problem)["main/y"] == 3 * 6 * 64
    assert verify(problem, plan(problem)) == ()
    end = max(end for spans in lives(problem).values() for _, end in spans or ())
    assert lives(problem)["main/x"] == lives(problem)["main/s0"] == ((0, end - 1),)
    ((begin, last),) = lives(problem)["main/sn"]
    assert (begin < end - 1, last) == (True, end)
    assert lives(problem)["main/y"] == lives(problem)["main/sn"]
    flat = graph(
        [node("Scan", "- s0 x", "sn y", body=("graph", body), num_scan_inputs=1)],
        [value("s0", []), value("x", [6])],
        [value("y", None)],
    )
    assert refused(model(flat, opset=8))[0] == "invalid_value"


def test_results_are_in_place_only_on_request() -> None:
    made = graph(
        [
            node("Relu", "x", "a"),
            node("Split", "a", "b c", axis=0),
            node("Tanh", "b", "d"),
            node("Concat", "d c", "e", axis=0),
            node("Reshape", "e to", "y"),
        ],
        [value("x", [4, 64])],
        [value("y", None)],
        [tensor("to", [256])],
    )
    assert plan(read(model(made))).peak == 2560
    assert plan(read(model(made), "in_place")).peak == 2048
    assert refused(model(CHAIN), "dim=n=1..4,in_place")[0] == "invalid_option"


@pytest.mark.parametrize("shape", [[2], [3, 2], [2, 2, 1]])
def test_parts_whose_shapes_do_not_fit_have_memory_of_their_own(shape: list[int]) -> None:
    """The sizes of parts are known only as it runs, and the file may say anything of them."""
    inputs = [value("x", [2, 6]), value("s", [2], INT64)]
    made = graph([node("Split", "x s", "p q", axis=1)], inputs, [value("p", [2, 2]), value("q", shape)])
    assert plan(read(model(made), "in_place")).peak == plan(read(model(made))).peak


def test_shapes_that_depend_on_data_get_their_largest_size() -> None:
    made = graph([node("NonZero", "x", "y")], [value("x", [3, 5])], [value("y", None)])
    problem, warnings = read_problem(model(made))
    assert sizes(problem) == {"x": 60, "y": 2 * 15 * 8}
    assert "depends on data" in warnings[0]


@pytest.mark.parametrize(
    ("keep", "axes", "shape", "most"),
    [
        (1, 1, [3, 5, 2], 3 * 5 * 2),
        (0, 1, [3, 5, 2], 5 * 5),
        (0, 2, [3, 5, 2], 5),
        (0, 3, [3, 5, 2], 1),
        (1, 1, [0, 5, 2], 5 * 2),
    ],
)
def test_axes_that_are_not_known_leave_room_for_the_most(keep: int, axes: int, shape: list[int], most: int) -> None:
    """It is not known which dimensions are left, so each is taken as large as it can be."""
    made = node("ReduceSum", "x axes", "y", keepdims=keep)
    given = [value("x", shape), value("axes", [axes], INT64)]
    problem, warnings = read_problem(model(graph([made], given, [value("y", None)])))
    assert sizes(problem)["y"] == 4 * most
    assert "depends on data" in warnings[0]
    known, warnings = read_problem(model(graph([made], given, [value("y", None)], known=[value("y", [3])])))
    assert (sizes(known)["y"], warnings) == (12, ())


def test_unknown_operators_need_their_shapes_in_the_file() -> None:
    made = [node("Mystery", "x", "a", domain="acme", name="m"), node("Relu", "a", "y")]
    ends = ([value("x", [4])], [value("y", None)])
    assert sizes(read(model(graph(made, *ends, known=[value("a", [2, 3])])))) == {"x": 16, "a": 24, "y": 24}
    code, place, message = refused(model(graph(made, *ends)))
    assert (code, place) == ("invalid_value", "/graph/node/0")
    assert "acme.Mystery" in message


def test_weights_are_neither_loaded_nor_planned() -> None:
    outside = number(1, 1 << 40) + number(2, FLOAT) + inside(8, "w") + number(14, 1)
    made = graph([node("Mul", "x w", "y")], [value("x", [1])], [value("y", None)], [outside])
    assert sizes(read(model(made))) == {"x": 4, "y": 1 << 42}


@pytest.mark.parametrize(
    ("made", "code", "place"),
    [
        (graph([node("Relu", "nobody", "y")]), "unknown_buffer", "/graph/node/0/input/0"),
        (graph([node("Relu", "x", "x")], [value("x", [4])]), "duplicate_id", "/graph/node/0/output/0"),
        (graph([node("", "x", "y")], [value("x", [4])]), "missing_field", "/graph/node/0"),
        (graph([], [value("x", None)]), "missing_field", "/graph/input/0"),
        (graph([], [value("x", [1 << 62])]), "out_of_range", "/graph/input/0"),
        (graph([], [value("x", [4], 99)]), "invalid_value", "/graph/input/0"),
        (graph([], [], [value("y", None)]), "unknown_buffer", "/graph/output/0"),
        (graph([node("MatMul", "x x", "y")], [value("x", [4, 5])]), "invalid_value", "/graph/node/0"),
        (graph([node("Relu", "x", "y", axis=("graph", b"\x0a\xff"))], [value("x", [4])]), "unreadable", "/bytes/"),
    ],
)
def test_wrong_models_are_refused_with_the_place(made: bytes, code: str, place: str) -> None:
    found = refused(model(made))
    assert (found[0], found[1][: len(place)]) == (code, place)


def test_models_cut_at_any_byte_are_refused() -> None:
    """Also where only the operators' versions are missing, but not those of the format's first versions, which had none."""
    made = graph([node("Relu", "x", "y")], [value("x", [4])], [value("y", None)])
    whole = model(made)
    for end in range(len(whole)):
        refused(whole[:end])
    assert refused(whole[: -len(inside(8, number(2, 18)))])[:2] == ("missing_field", "/opset_import")
    assert sizes(read(number(1, 2) + inside(7, made))) == sizes(read(whole))


def test_too_deeply_nested_graphs_are_refused() -> None:
    made = node("If", "c", "y")
    for _ in range(100):
        made = node("If", "c", "y") + inside(5, attribute("then_branch", ("graph", graph([made]))))
    assert refused(model(graph([made])))[0] == "too_deep"


ODD = graph(
    [node("Relu", "x", "a"), node("Cast", "b", "c", to=FLOAT)],
    [value("x", ["n"]), value("b", [101], BOOL)],
    [value("a", ["n"]), value("c", [101])],
)


def test_tensors_are_aligned_as_onnx_runtime_does_or_as_asked_for() -> None:
    for settings, alignment in (("", 64), (",alignment=4", 4), (",alignment=1", 1)):
        problem = read(model(ODD), f"dim=n=10{settings}")
        assert [pool.alignment for pool in problem.pools] == [alignment]
        assert {place.offset % alignment for place in plan(problem).placements} == {0}
        shaped, _ = read_shaped(model(ODD), format=f"onnx:dim=n=1..99{settings}")
        found = plan_shapes(shaped, Mode.EXPRESSIONS)
        assert shaped.largest.pools[0].alignment == alignment
        assert verify_shapes(shaped, found) == ()

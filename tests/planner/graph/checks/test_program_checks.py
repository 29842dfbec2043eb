"""Each fault of a program that contradicts itself is refused with its place."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace
from typing import Any

import pytest

from planner import BadInput, read_problem, read_program
from planner.formats import FORMATS
from planner.graph import (
    Graph,
    OperatorKind,
    Program,
    Tensor,
    TensorKind,
    graph_problem,
    program_problem,
)
from planner.model.problem import Pool
from tests.planner.graph.random_programs import random_program

X = {"id": "x", "shape": [4], "kind": "input"}
Y = {"id": "y", "shape": [4]}
INNER = {
    "name": "f",
    "inputs": ["x"],
    "outputs": ["y"],
    "tensors": [X, Y],
    "operators": [{"kind": "compute", "inputs": ["x"], "outputs": ["y"]}],
}


def operator(kind: str, inputs: list[str], outputs: list[str], **more: Any) -> dict[str, Any]:
    return {"kind": kind, "inputs": inputs, "outputs": outputs, **more}


def program(operators: list[dict[str, Any]], *more: dict[str, Any], inner: Any = INNER, **fields: Any) -> bytes:
    tensors = [X, Y, {"id": "z", "shape": [2, 4]}, {"id": "s", "shape": [4], "kind": "mutable"}, *more]
    used = {id_ for each in operators for id_ in each["outputs"]} | {"x", "s"}
    main = {"name": "main", "inputs": ["x"], "tensors": [t for t in tensors if t["id"] in used], "operators": operators}
    whole = {"format": "memplan-graph/2", "functions": [main, inner], "entries": ["main"], **fields}
    return json.dumps(whole).encode()


CALL = operator("call", ["x"], ["y"], functions=["f"])
LOOP = operator("loop", ["x"], ["y"], functions=["f"], carried=1)
CASES: dict[str, tuple[bytes, str, str]] = {
    "use before definition": (
        program([operator("compute", ["y"], ["z"]), operator("compute", ["x"], ["y"])]),
        "contradiction",
        "/functions/0/operators/0/inputs/0",
    ),
    "written twice": (program([CALL, CALL]), "contradiction", "/functions/0/operators/1/outputs/0"),
    "no such function": (
        program([CALL | {"functions": ["g"]}]),
        "invalid_value",
        "/functions/0/operators/0/functions",
    ),
    "a call of two functions": (
        program([CALL | {"functions": ["f", "f"]}]),
        "invalid_value",
        "/functions/0/operators/0/functions",
    ),
    "a call cycle": (
        program([CALL], inner=INNER | {"operators": [operator("call", ["x"], ["y"], functions=["f"])]}),
        "contradiction",
        "/functions/1/operators/0/functions",
    ),
    "an entry that is called": (
        program([CALL | {"functions": ["main"]}]),
        "contradiction",
        "/functions/0/operators/0/functions",
    ),
    "too few arguments": (program([CALL | {"inputs": []}]), "contradiction", "/functions/0/operators/0/inputs"),
    "an argument of another shape": (
        program([operator("compute", [], ["z"]), CALL | {"inputs": ["z"]}]),
        "contradiction",
        "/functions/0/operators/1/inputs/0",
    ),
    "a branch that gives out what the other does not": (
        program(
            [operator("branch", ["x", "x"], ["y"], functions=["f", "g"])],
            functions=[
                {
                    "name": "main",
                    "inputs": ["x"],
                    "tensors": [X, Y],
                    "operators": [operator("branch", ["x", "x"], ["y"], functions=["f", "g"])],
                },
                INNER,
                {"name": "g", "inputs": ["x"], "tensors": [X], "operators": []},
            ],
        ),
        "contradiction",
        "/functions/0/operators/0/outputs",
    ),
    "a branch on nothing": (
        program([operator("branch", [], ["y"], functions=["f"])]),
        "contradiction",
        "/functions/0/operators/0/inputs",
    ),
    "a carried value that changes size": (
        program([LOOP], inner=INNER | {"tensors": [X, {"id": "y", "shape": [5]}]}),
        "contradiction",
        "/functions/0/operators/0/functions",
    ),
    "more carried than there are inputs": (
        program([LOOP | {"carried": 2}]),
        "out_of_range",
        "/functions/0/operators/0/carried",
    ),
    "parts of something without parts": (
        program([operator("loop", ["x"], ["z"], functions=["f"], scanned=1)]),
        "contradiction",
        "/functions/0/operators/0/inputs/0",
    ),
    "a call with carried values": (
        program([CALL | {"carried": 1}]),
        "invalid_value",
        "/functions/0/operators/0/carried",
    ),
    "a result that is state": (
        program([CALL | {"outputs": ["s"]}]),
        "contradiction",
        "/functions/0/operators/0/outputs/0",
    ),
    "what is written is not mutable": (
        program(
            [CALL],
            inner=INNER
            | {"tensors": [X | {"kind": "mutable"}, Y], "operators": [operator("compute", ["x"], ["x", "y"])]},
        ),
        "contradiction",
        "/functions/0/operators/0/inputs/0",
    ),
    "state that is lent to be read, and written": (
        program(
            [CALL | {"inputs": ["g"]}],
            inner=INNER | {"operators": [operator("compute", ["x"], ["g", "y"])]},
            tensors=[{"id": "g", "shape": [4], "kind": "mutable"}],
        ),
        "contradiction",
        "/functions/0/operators/0",
    ),
    "an item that a tuple does not have": (
        program(
            [operator("tuple", ["x", "x"], ["t"]), operator("item", ["t"], ["y"], start=2)],
            {"id": "t", "items": [{"shape": [4]}, {"shape": [4]}]},
        ),
        "out_of_range",
        "/functions/0/operators/1/start",
    ),
    "a tuple of other shapes": (
        program([operator("tuple", ["x"], ["t"])], {"id": "t", "items": [{"shape": [5]}]}),
        "contradiction",
        "/functions/0/operators/0/outputs/0",
    ),
    "a view of a tuple": (
        program(
            [operator("tuple", ["x"], ["t"]), operator("view", ["t"], ["y"])], {"id": "t", "items": [{"shape": [4]}]}
        ),
        "wrong_type",
        "/functions/0/operators/1/inputs/0",
    ),
    "a tuple with a shape": (
        program([operator("tuple", ["x"], ["t"])], {"id": "t", "shape": [4], "items": [{"shape": [4]}]}),
        "contradiction",
        "/functions/0/tensors/2/shape",
    ),
    "no shape": (
        program([operator("compute", [], ["t"])], {"id": "t"}),
        "missing_field",
        "/functions/0/tensors/2/shape",
    ),
    "entries left out": (program([CALL], entries=[]), "invalid_value", "/entries"),
    "an unknown entry": (program([CALL], entries=["nobody"]), "invalid_value", "/entries/0"),
    "an output that nothing writes": (
        program([CALL], inner=INNER | {"operators": []}),
        "contradiction",
        "/functions/1/tensors/1",
    ),
    "an input that is not handed over": (
        program([CALL], inner=INNER | {"inputs": []}),
        "contradiction",
        "/functions/1/tensors/0/kind",
    ),
    "one operator's name twice": (
        program([CALL | {"name": "a"}, operator("compute", ["y"], ["z"], name="a")]),
        "duplicate_id",
        "/functions/0/operators/1/name",
    ),
    "a tensor twice": (
        program([CALL], {"id": "y", "shape": [4]}),
        "duplicate_id",
        "/functions/0/tensors/3/id",
    ),
    "a pool that there is not": (
        program([operator("compute", ["x"], ["t"])], {"id": "t", "shape": [4], "pools": ["nowhere"]}),
        "unknown_pool",
        "/functions/0/tensors/2/pools/0",
    ),
    "a device that reaches no pool that there is": (
        program([CALL], devices=[{"name": "npu", "pools": ["nowhere"]}]),
        "unknown_pool",
        "/devices/0/pools/0",
    ),
    "a tensor that may be nowhere": (
        program([operator("compute", ["x"], ["t"])], {"id": "t", "shape": [4], "pools": []}),
        "invalid_value",
        "/functions/0/tensors/2/pools",
    ),
    "a workspace in a pool that there is not": (
        program([operator("compute", ["x"], ["y"], workspaces=[{"size": 4, "pools": ["nowhere"]}])]),
        "unknown_pool",
        "/functions/0/operators/0/workspaces/0/pools/0",
    ),
    "a device that reaches nothing": (
        program([CALL], devices=[{"name": "npu", "pools": []}]),
        "invalid_value",
        "/devices/0/pools",
    ),
    "a tensor in a pool that its device does not reach": (
        program(
            [operator("compute", ["x"], ["t"])],
            {"id": "t", "shape": [4], "device": "npu", "pools": ["dram", "sram"]},
            pools=[{"name": "sram"}, {"name": "dram"}],
            devices=[{"name": "npu", "pools": ["dram"]}],
        ),
        "contradiction",
        "/functions/0/tensors/2/pools/1",
    ),
    "two devices of one name": (
        program([CALL], devices=[{"name": "npu", "pools": []}, {"name": "npu", "pools": []}]),
        "duplicate_id",
        "/devices/1/name",
    ),
    "an option that makes no sense": (
        program([CALL], options={"fastest": "nowhere"}),
        "invalid_option",
        "/options/fastest",
    ),
    "a field that there is not": (
        program([CALL | {"target": "f"}]),
        "unknown_field",
        "/functions/0/operators/0/target",
    ),
    "another version": (b'{"format": "memplan-graph/3"}', "unknown_format", "/format"),
}


@pytest.mark.parametrize(("data", "code", "place"), CASES.values(), ids=CASES)
def test_inconsistent_programs_are_refused(data: bytes, code: str, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_problem(data)
    assert (caught.value.findings[0].code, caught.value.findings[0].pointer) == (code, place)


def test_any_changed_program_is_read_or_refused() -> None:
    refused = 0
    for seed in range(400):
        chance = random.Random(seed)
        changed = changed_somewhere(random_program(seed % 100), chance)
        try:
            program_problem(changed, (Pool("sram"),))
        except BadInput as error:
            refused += all(finding.pointer and finding.message.isprintable() for finding in error.findings)
    assert refused > 100


def changed_somewhere(program: Program, chance: random.Random) -> Program:
    """Return the program with one field of one operator, tensor or function changed."""
    functions = list(program.functions)
    f = chance.randrange(len(functions))
    function = functions[f]
    ids: list[Any] = [tensor.id for tensor in (*function.tensors, *program.tensors)]
    some = tuple(chance.sample(ids, min(len(ids), chance.randrange(3))))
    if chance.random() < 0.2:
        field = chance.choice(("inputs", "outputs"))
        functions[f] = replace(function, **{field: some})  # type: ignore[arg-type]
    elif chance.random() < 0.2:
        tensors = list(function.tensors)
        t = chance.randrange(len(tensors))
        changes: list[dict[str, Any]] = [
            {"shape": (3,)},
            {"kind": chance.choice(list(TensorKind))},
            {"items": (tensors[0],)},
        ]
        tensors[t] = replace(tensors[t], **chance.choice(changes))
        functions[f] = replace(function, tensors=tuple(tensors))
    elif function.operators:
        operators = list(function.operators)
        o = chance.randrange(len(operators))
        named = chance.choice(program.functions).name
        options: list[dict[str, Any]] = [
            {"inputs": some},
            {"outputs": some},
            {"functions": (named,)},
            {"condition": named},
            {"carried": chance.randrange(3)},
            {"scanned": chance.randrange(3)},
            {"kind": chance.choice(list(OperatorKind))},
            {"start": chance.randrange(-2, 5)},
        ]
        operators[o] = replace(operators[o], **chance.choice(options))
        functions[f] = replace(function, operators=tuple(operators))
    return replace(program, functions=tuple(functions))


@pytest.mark.parametrize("kind", ["view", "in_place", "copy"])
def test_a_chain_of_thousands_in_one_place_is_read_fast(kind: str) -> None:
    """Each tensor is compared only with those needed at the same time."""
    count = 3000
    chain = {
        "name": "main",
        "inputs": [0],
        "outputs": [count],
        "tensors": [{"id": i, "shape": [16], "kind": "intermediate" if i else "input"} for i in range(count + 1)],
        "operators": [{"kind": kind, "inputs": [i], "outputs": [i + 1]} for i in range(count)],
    }
    begun = time.process_time()
    problem, _ = read_problem(json.dumps({"format": "memplan-graph/2", "functions": [chain]}).encode())
    assert (
        time.process_time() - begun < 5
    )  # it takes a third of a second, and ten seconds if each tensor is compared with all
    assert len(problem.constraints.colocations) == count


@pytest.mark.parametrize(
    "change",
    [
        {"shape": (4.0,)},
        {"shape": "44"},
        {"shape": (True,)},
        {"element_bits": "8"},
        {"alignment": "16"},
        {"kind": "weights"},
    ],
)
def test_wrong_types_are_refused_from_the_library_too(change: dict[str, Any]) -> None:
    tensor = replace(Tensor("x", (4,), kind=TensorKind.INPUT), **change)
    with pytest.raises(BadInput) as refused:
        graph_problem(Graph((tensor,), ()), (Pool("p"),))
    assert refused.value.findings[0].pointer.startswith("/tensors/0/")


@pytest.mark.parametrize(
    ("devices", "pools"),
    [({"devices": [{"name": "npu", "pools": ["dram"]}]}, ("dram",)), ({}, None)],
    ids=["where it reaches", "a label"],
)
def test_devices_say_which_pools_a_tensor_may_be_in(devices: dict[str, object], pools: tuple[str, ...] | None) -> None:
    """Without a list of devices, a device is a label that buffers keep, as in memplan/1."""
    data = program(
        [operator("compute", ["x"], ["t"])],
        {"id": "t", "shape": [4], "device": "npu"},
        pools=[{"name": "sram"}, {"name": "dram"}],
        **devices,
    )
    problem, _ = read_problem(data)
    assert {buffer.id: (buffer.pools, buffer.device) for buffer in problem.buffers}["main/t"] == (pools, "npu")


def test_a_program_can_be_read_as_such() -> None:
    file = read_program(FORMATS["graph"].example.encode())
    assert [function.name for function in file.program.functions] == ["main"]
    assert file.pools[0].name == "default"

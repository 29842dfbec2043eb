"""Programs, traces and networks of which one list is long, for every list that they may have."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

Document = dict[str, Any]
POOLS = [{"name": "first"}, {"name": "second", "size": 1 << 40}]


def _tensor(id_: str, **more: object) -> Document:
    return {"id": id_, "shape": [16], **more}


def _step(kind: str, inputs: list[str], outputs: list[str], **more: object) -> Document:
    return {"kind": kind, "inputs": inputs, "outputs": outputs, **more}


def _function(name: str, tensors: list[Document], operators: list[Document], **more: object) -> Document:
    """Return a function whose inputs are those tensors of which it says so, and whose output is the last."""
    inputs = [each["id"] for each in tensors if each.get("kind") == "input"]
    ends = {"inputs": inputs, "outputs": [tensors[-1]["id"]]}
    return {"name": name, "tensors": tensors, "operators": operators} | ends | more


def _program(*functions: Document, **more: object) -> Document:
    return {"format": "memplan-graph/2", "pools": POOLS, "functions": [*functions], "entries": ["main"], **more}


def _names(count: int) -> list[str]:
    return [f"t{i}" for i in range(count)]


def _chain(kind: str) -> Callable[[int], Document]:
    """Return what makes a program of a chain of operators of this kind."""

    def made(count: int) -> Document:
        names = _names(count + 1)
        tensors = [_tensor("x", kind="input"), *map(_tensor, names), _tensor("y")]
        steps = [_step("compute", ["x"], [names[0]], name="make")]
        steps += [_step(kind, [a], [b]) for a, b in pairwise(names)]
        return _program(_function("main", tensors, [*steps, _step("compute", [names[-1]], ["y"])]))

    return made


def _branching(count: int) -> Document:
    """Let each tensor be read once more at the end, in reverse order."""
    names, ends = _names(count // 2), [f"e{i}" for i in range(count // 2)]
    steps = [_step("compute", [a], [b]) for a, b in pairwise(["x", *names])]
    steps += [_step("compute", [last, name], [end]) for last, name, end in zip([names[-1], *ends], names[::-1], ends)]  # noqa: B905
    return _program(_function("main", [_tensor("x", kind="input"), *map(_tensor, [*names, *ends])], steps))


def _ends(count: int) -> Document:
    """Let an operator have many inputs, and another many outputs."""
    names = _names(count)
    steps = [_step("compute", ["x"], names), _step("compute", names, ["y"])]
    return _program(_function("main", [_tensor("x", kind="input"), *map(_tensor, names), _tensor("y")], steps))


def _joined(count: int) -> Document:
    names = _names(count)
    steps = [*(_step("compute", ["x"], [name]) for name in names), _step("concatenate", names, ["y"], dim=0)]
    tensors = [_tensor("x", kind="input"), *map(_tensor, names), {"id": "y", "shape": [16 * count]}]
    return _program(_function("main", tensors, steps))


def _slices(count: int) -> Document:
    names = _names(count)
    steps = [_step("compute", ["x"], ["whole"])]
    steps += [_step("slice", ["whole"], [name], dim=0, start=16 * i) for i, name in enumerate(names)]
    steps += [_step("compute", names, ["y"])]
    tensors = [_tensor("x", kind="input"), {"id": "whole", "shape": [16 * count]}, *map(_tensor, names), _tensor("y")]
    return _program(_function("main", tensors, steps))


def _workspaces(count: int) -> Document:
    spaces = [{"size": 8 + i % 100, "alignment": 1 << i % 4, "pools": ["first"]} for i in range(count)]
    steps = [_step("compute", ["x"], ["y"], workspaces=spaces)]
    return _program(_function("main", [_tensor("x", kind="input"), _tensor("y")], steps))


def _function_ends(count: int) -> Document:
    """Let a function have many inputs and outputs, and be run with them."""
    given, made = _names(count), [f"o{i}" for i in range(count)]
    inside = [_tensor(name, kind="input") for name in given] + [*map(_tensor, made)]
    called = _function("called", inside, [_step("compute", given, made)], outputs=made)
    tensors = [_tensor("x", kind="input"), *map(_tensor, [*given, *made]), _tensor("y")]
    steps = [_step("compute", ["x"], given), _step("call", given, made, functions=["called"])]
    return _program(_function("main", tensors, [*steps, _step("compute", made, ["y"])]), called)


SMALL = (_tensor("x", kind="input"), _tensor("a"), _tensor("y"))
TWO_STEPS = [_step("compute", ["x"], ["a"]), _step("compute", ["a"], ["y"])]


def _functions(count: int) -> Document:
    """Let many functions be run one after the other."""
    others = [_function(f"f{i}", [*SMALL], TWO_STEPS) for i in range(count)]
    names = _names(count)
    steps = [_step("call", [a], [b], functions=[f"f{i}"]) for i, (a, b) in enumerate(pairwise(["x", *names]))]
    return _program(_function("main", [_tensor("x", kind="input"), *map(_tensor, names)], steps), *others)


def _runs(count: int) -> Document:
    """Let one function be run from many places."""
    names = _names(count)
    steps = [_step("call", [a], [b], functions=["f"]) for a, b in pairwise(["x", *names])]
    main = _function("main", [_tensor("x", kind="input"), *map(_tensor, names)], steps)
    return _program(main, _function("f", [*SMALL], TWO_STEPS))


def _nested(count: int) -> Document:
    """Let each function run the next."""
    names = ["main", *(f"f{i}" for i in range(1, count))]
    callers = [
        _function(name, [*SMALL], [_step("compute", ["x"], ["a"]), _step("call", ["a"], ["y"], functions=[other])])
        for name, other in pairwise(names)
    ]
    return _program(*callers, _function(names[-1], [*SMALL], TWO_STEPS))


def _arms(count: int) -> Document:
    arms = [_function(f"f{i}", [*SMALL], TWO_STEPS) for i in range(count)]
    steps = [_step("compute", ["x"], ["a"]), _step("branch", ["a", "x"], ["y"], functions=[a["name"] for a in arms])]
    return _program(_function("main", [*SMALL], steps), *arms)


def _branches(count: int) -> Document:
    """Let many branches follow one another."""
    names, arms = _names(count), [_function(name, [*SMALL], TWO_STEPS) for name in ("one", "other")]
    steps = [_step("branch", ["x", a], [b], functions=["one", "other"]) for a, b in pairwise(["x", *names])]
    return _program(_function("main", [_tensor("x", kind="input"), *map(_tensor, names)], steps), *arms)


def _loops(count: int) -> Document:
    names = _names(count)
    steps = [_step("loop", [a], [b], functions=["f"], carried=1) for a, b in pairwise(["x", *names])]
    main = _function("main", [_tensor("x", kind="input"), *map(_tensor, names)], steps)
    return _program(main, _function("f", [*SMALL], TWO_STEPS))


def _carried(count: int) -> Document:
    """Let a loop carry many tensors."""
    given, made = _names(count), [f"o{i}" for i in range(count)]
    inside = [_tensor(name, kind="input") for name in given] + [*map(_tensor, made)]
    turn = _function("turn", inside, [_step("compute", given, made)], outputs=made)
    tensors = [_tensor("x", kind="input"), *map(_tensor, [*given, *made]), _tensor("y")]
    steps = [_step("compute", ["x"], given), _step("loop", given, made, functions=["turn"], carried=count)]
    return _program(_function("main", tensors, [*steps, _step("compute", made, ["y"])]), turn)


def _scanned(count: int) -> Document:
    """Let a loop take many tensors in parts, and put many together."""
    given, made = _names(count), [f"o{i}" for i in range(count)]
    inside = [_tensor(name, kind="input") for name in given] + [*map(_tensor, made)]
    turn = _function("turn", inside, [_step("compute", given, made)], outputs=made)
    tensors = [_tensor("x", kind="input"), *({"id": name, "shape": [4, 16]} for name in [*given, *made]), _tensor("y")]
    steps = [_step("compute", ["x"], given), _step("loop", given, made, functions=["turn"], scanned=count)]
    return _program(_function("main", tensors, [*steps, _step("compute", made, ["y"])]), turn)


def _entries(count: int) -> Document:
    functions = [_function(f"f{i}", [*SMALL], TWO_STEPS) for i in range(count)]
    return _program(*functions, entries=[each["name"] for each in functions])


def _state(count: int) -> Document:
    """Let all functions see many tensors, and write and read them."""
    names = [f"s{i}" for i in range(count)]
    shared = [_tensor(name, kind="mutable" if i % 2 else "constant") for i, name in enumerate(names)]
    tensors = [_tensor("x", kind="input"), *map(_tensor, _names(count)), _tensor("y")]
    steps = [_step("compute", ["x", name], [made]) for name, made in zip(names, _names(count), strict=True)]
    return _program(_function("main", tensors, [*steps, _step("compute", _names(count), ["y"])]), tensors=shared)


def _items(count: int) -> Document:
    """Let a tuple hold many tensors, and be taken apart again."""
    names, parts = _names(count), [f"p{i}" for i in range(count)]
    whole = {"id": "all", "items": [{"shape": [16]} for _ in names]}
    steps = [*(_step("compute", ["x"], [name]) for name in names), _step("tuple", names, ["all"])]
    steps += [_step("item", ["all"], [part], start=i) for i, part in enumerate(parts)]
    tensors = [_tensor("x", kind="input"), *map(_tensor, names), whole, *map(_tensor, parts), _tensor("y")]
    return _program(_function("main", tensors, [*steps, _step("compute", parts, ["y"])]))


def _inner_items(count: int) -> Document:
    """Let a tuple be an input that holds many tuples, of which one is used."""
    whole = {"id": "all", "items": [{"items": [{"shape": [16]}]} for _ in range(count)], "kind": "input"}
    inner = {"id": "one", "items": [{"shape": [16]}]}
    steps = [_step("item", ["all"], ["one"], start=count - 1), _step("item", ["one"], ["a"], start=0)]
    return _program(
        _function("main", [whole, inner, _tensor("a"), _tensor("y")], [*steps, _step("compute", ["a"], ["y"])])
    )


def _dimensions(count: int) -> Document:
    tensors = [{"id": id_, "shape": [1] * count, "kind": kind} for id_, kind in (("x", "input"), ("y", "intermediate"))]
    return _program(_function("main", tensors, [_step("compute", ["x"], ["y"])]))


def _memories(count: int) -> Document:
    """Let there be many pools, many devices that reach some, and a tensor that may be in all."""
    pools = [{"name": f"p{i}", "size": 1 << 20} for i in range(count)]
    devices = [{"name": f"d{i}", "pools": [f"p{(i + k) % count}" for k in range(3)]} for i in range(count)]
    tensors = [_tensor(name, device=f"d{i}") for i, name in enumerate(_names(count))]
    tensors[0] = _tensor("t0", pools=[pool["name"] for pool in pools][::-1], kind="input")
    steps = [_step("compute", [a], [b]) for a, b in pairwise(_names(count))]
    return _program(_function("main", tensors, steps), pools=pools, devices=devices)


def _reached(count: int) -> Document:
    """Let one device reach many pools."""
    pools = [{"name": f"p{i}", "size": 1 << 20, "reserved": [[0, 8]]} for i in range(count)]
    tensors = [_tensor("x", kind="input", device="d"), _tensor("a"), _tensor("y", device="d")]
    devices = [{"name": "d", "pools": [pool["name"] for pool in pools]}]
    return _program(_function("main", tensors, TWO_STEPS), pools=pools, devices=devices)


def _flat(count: int) -> Document:
    tensors = [_tensor(name) for name in _names(count)]
    tensors[0]["kind"], tensors[-1]["is_output"] = "input", True
    kinds = ("compute", "view", "in_place")
    steps = [_step(kinds[i % 3], [a], [b]) for i, (a, b) in enumerate(pairwise(_names(count)))]
    return {"format": "memplan-graph/1", "tensors": tensors, "operators": steps}


def _transfers(count: int) -> Document:
    """Let everything be brought by a transfer that is waited for."""
    names = _names(count // 2)
    steps = []
    for name in names:
        steps += [_step("idma_load", [f"far {name}"], [f"on its way {name}"])]
        steps += [_step("idma_wait", [f"on its way {name}"], [name])]
    tensors = [_tensor(f"far {name}", kind="constant") for name in names]
    tensors += [_tensor(each) for name in names for each in (f"on its way {name}", name)]
    made = [*tensors, _tensor("y", is_output=True)]
    return {"format": "memplan-graph/1", "tensors": made, "operators": [*steps, _step("compute", names, ["y"])]}


def _layers(count: int) -> Document:
    """Let a network have many layers."""
    names = _names(count)
    tensors = [{"id": name, "shape": [8, 8, 4]} for name in names]
    steps: list[Document] = []
    for i, (a, b) in enumerate(pairwise(names)):
        more = {} if i % 2 else {"kernel": [3, 3], "padding": "same"}
        steps.append({"kind": "elementwise" if i % 2 else "convolution", "inputs": [a], "output": b, **more})
    return {"format": "memplan-cascade/1", "tensors": tensors, "operators": steps}


def _tiles(count: int) -> Document:
    """Let a network of many layers be cut into tiles of two memories."""
    levels = [{"pool": "second"}, {"pool": "third"}]
    pools = [{"name": "first"}, {"name": "second", "size": 1 << 20}, {"name": "third", "size": 4000}]
    return _layers(count) | {"pools": pools, "tiles": {"home": "first", "levels": levels, "blocks": [1, 2, 4, 8]}}


def _blocks(count: int) -> Document:
    """Let a network of many layers be cut in as many ways as there may be."""
    return _layers(count) | {"stripes": {"blocks": [1, 2, 3, 4], "axes": [0, 1]}}


PROGRAMS: dict[str, Callable[[int], Document]] = {
    "chain": _chain("compute"),
    "view": _chain("view"),
    "in_place": _chain("in_place"),
    "copy": _chain("copy"),
    "branching": _branching,
    "ends": _ends,
    "joined": _joined,
    "slices": _slices,
    "workspaces": _workspaces,
    "function_ends": _function_ends,
    "functions": _functions,
    "runs": _runs,
    "nested": _nested,
    "arms": _arms,
    "branches": _branches,
    "loops": _loops,
    "carried": _carried,
    "scanned": _scanned,
    "entries": _entries,
    "state": _state,
    "items": _items,
    "inner_items": _inner_items,
    "dimensions": _dimensions,
    "memories": _memories,
    "reached": _reached,
    "flat": _flat,
    "transfers": _transfers,
    "layers": _layers,
    "blocks": _blocks,
    "tiles": _tiles,
}
"""Functions by name, each of which makes a program or a network with a long list."""


def _alloc(name: str, size: int = 64, **more: object) -> Document:
    return {"event": "alloc", "id": name, "size": size, **more}


def _use(*names: str) -> Document:
    return {"event": "use", "ids": [*names]}


def _each_freed(count: int) -> list[Document]:
    made: list[Document] = []
    for i, name in enumerate(_names(count // 3)):
        made += [_alloc(name, 8 + i % 100), _use(name), {"event": "free", "id": name}]
    return made


def _all_at_once(count: int) -> list[Document]:
    return [*map(_alloc, _names(count)), _use(*_names(count))]


def _uses(count: int) -> list[Document]:
    return [_alloc("a"), _alloc("b"), *(_use("ab"[i % 2]) for i in range(count))]


def _again(count: int) -> list[Document]:
    """Let one name be allocated again and again."""
    return [_alloc("a"), _use("a"), {"event": "free", "id": "a"}] * (count // 3)


def _shares(count: int) -> list[Document]:
    """Let many names stand for parts of one buffer."""
    names = _names(count)
    parts = [{"event": "share", "id": name, "base": "a", "offset": i, "size": 1} for i, name in enumerate(names)]
    return [_alloc("a", count), *parts, *map(_use, names)]


def _parts_of_parts(count: int) -> list[Document]:
    names = _names(count)
    shares = [{"event": "share", "id": b, "base": a, "offset": 0, "size": 64} for a, b in pairwise(["a", *names])]
    return [_alloc("a"), *shares, _use(names[-1])]


def _scopes(count: int) -> list[Document]:
    """Let scopes lie in scopes, with a buffer in each."""
    begun = [each for name in _names(count // 3) for each in ({"event": "begin"}, _alloc(name))]
    return [*begun, _use("t0"), *[{"event": "end"}] * (count // 3)]


def _calls(count: int) -> list[Document]:
    """Let a function be called many times."""
    once = [{"event": "call", "function": "f"}, _alloc("a"), _use("a", "x"), {"event": "return"}]
    return [_alloc("x"), *once * (count // 4)]


def _calls_in_calls(count: int) -> list[Document]:
    begun: list[Document] = []
    for i in range(count // 4):
        begun += [{"event": "call", "function": f"f{i}"}, _alloc("a"), _use("a", "x")]
    return [_alloc("x"), *begun, *[{"event": "return"}] * (count // 4)]


TRACES: dict[str, Callable[[int], list[Document]]] = {
    "each_freed": _each_freed,
    "all_at_once": _all_at_once,
    "uses": _uses,
    "again": _again,
    "shares": _shares,
    "parts_of_parts": _parts_of_parts,
    "scopes": _scopes,
    "calls": _calls,
    "calls_in_calls": _calls_in_calls,
}
"""The same for traces: their events."""


EVERY_PROGRAM = [f"program {name}" for name in (*PROGRAMS, *TRACES)]
"""How tests.property.growth calls all of these."""


def program(name: str, count: int) -> bytes:
    """Return the program, network or trace of this name with a list of this length."""
    if name in PROGRAMS:
        return json.dumps(PROGRAMS[name](count)).encode()
    head = {"format": "memplan-trace/1", "pools": POOLS}
    return b"".join(json.dumps(line).encode() + b"\n" for line in [head, *TRACES[name](count)])

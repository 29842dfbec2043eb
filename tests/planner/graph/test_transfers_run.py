"""Random programs whose functions begin transfers and wait for them, or leave that to their callers, or to nobody.

A transfer may read its source and write its result at any time until somebody waits for it, both begin again, or the entry ends. So until then these
bytes must belong to the same tensors.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from planner import Options, plan, verify
from planner.graph import Function, GraphOptions, Operator, OperatorKind, Program, Tensor, TensorKind, program_problem
from planner.model.problem import BufferId, Pool
from tests.planner.graph.machine import Cells, Location, Machine, Slot, Value
from tests.small.strategies import NIGHTLY

K = OperatorKind
RUNS = 10000 if NIGHTLY else 300
LIKE_VIEWS = (K.VIEW, K.COPY, K.IN_PLACE)


class Starter(NamedTuple):
    """A function, and whether its result is one of a transfer that its caller is to wait for."""

    function: Function
    is_unfinished: bool


class Maker:
    """Makes a function of two values. All tensors are alike."""

    def __init__(self, name: str, chance: random.Random, others: list[Starter]) -> None:
        self.name, self.chance, self.others = name, chance, others
        self.tensors = [Tensor(id_, (4,), kind=TensorKind.INPUT) for id_ in ("x", "y")]
        self.operators: list[Operator] = []
        self.values: list[BufferId] = ["x", "y"]
        self.unfinished: list[BufferId] = []

    def made(self, *, is_entry: bool) -> Starter:
        for _ in range(self.chance.randrange(2, 7)):
            self.step()
        is_unfinished = bool(self.unfinished) and not is_entry and self.chance.random() < 0.3
        output = self.chance.choice(self.unfinished if is_unfinished else self.values)
        return Starter(
            Function(self.name, tuple(self.tensors), tuple(self.operators), ("x", "y"), (output,)), is_unfinished
        )

    def add(self, kind: OperatorKind, *inputs: BufferId, carried: int = 0, functions: tuple[str, ...] = ()) -> BufferId:
        result = f"t{len(self.tensors)}"
        self.tensors.append(Tensor(result, (4,)))
        self.operators.append(Operator(kind, inputs, (result,), carried=carried, functions=functions))
        return result

    def step(self) -> None:
        chance = self.chance
        one, other = chance.choice(self.values), chance.choice(self.values)
        finished = [each.function.name for each in self.others if not each.is_unfinished]
        kinds = [K.COMPUTE, *LIKE_VIEWS, K.IDMA_LOAD, K.IDMA_LOAD, K.IDMA_STORE, K.IDMA_WAIT, K.IDMA_WAIT]
        kinds += [K.CALL] * 3 * bool(self.others) + [K.BRANCH, K.LOOP] * bool(finished)
        kind = chance.choice(kinds)
        if kind in (K.IDMA_LOAD, K.IDMA_STORE):
            self.unfinished.append(self.add(kind, one))
        elif kind is K.IDMA_WAIT:
            if self.unfinished:
                self.values.append(self.add(kind, self.unfinished.pop(chance.randrange(len(self.unfinished)))))
        elif kind is K.CALL:
            called = chance.choice(self.others)
            result = self.add(kind, one, other, functions=(called.function.name,))
            (self.unfinished if called.is_unfinished else self.values).append(result)
        elif kind is K.BRANCH:
            arms = (chance.choice(finished), chance.choice(finished))
            self.values.append(self.add(kind, chance.choice(self.values), one, other, functions=arms))
        elif kind is K.LOOP:
            self.values.append(self.add(kind, one, other, carried=1, functions=(chance.choice(finished),)))
        else:
            self.values.append(self.add(kind, *((one,) if kind in LIKE_VIEWS else (one, other))))


def program(chance: random.Random) -> Program:
    made: list[Starter] = []
    for name in ("first", "second", "third", "main"):
        made.append(Maker(name, chance, [*made]).made(is_entry=name == "main"))
    return Program(tuple(each.function for each in made), ("main",))


class Transfer(NamedTuple):
    """A transfer under way."""

    at: Location
    sides: dict[Location, set[object]]
    """To whom each byte of both sides belongs: to whoever wrote it, to the side, and to what that shows."""
    arrived: Cells


class TransferMachine(Machine):
    """Also knows transfers, and to which tensor each byte belongs."""

    owners: dict[Location, object]
    under_way: list[Transfer]

    def put(self, cells: Cells, owner: object) -> None:
        super().put(cells, owner)
        self.owners.update((at, owner) for at, _ in cells)

    def run_entry(self, name: str) -> None:
        self.owners, self.under_way = {}, []
        super().run_entry(name)

    def run(self, function: Function, given: list[Value], wanted: list[Value] | None) -> dict[BufferId, Value]:
        values = super().run(function, given, wanted)
        if wanted is None:
            while self.under_way:
                self.finish(self.under_way[0].at)
        return values

    def step(self, function: Function, index: int, operator: Operator, values: dict[BufferId, Value]) -> None:
        if operator.kind not in (K.IDMA_LOAD, K.IDMA_STORE, K.IDMA_WAIT):
            super().step(function, index, operator, values)
            return
        source, result = values[operator.inputs[0]], values[operator.outputs[0]]
        assert isinstance(source, Slot)
        assert isinstance(result, Slot)
        if operator.kind is K.IDMA_WAIT:
            self.finish(source.at)
            self.look(source, result)
            return
        self.finish(result.at)
        self.check(source, "a transfer's source")
        result.value = source.value.copy()
        arrived = self.cells(result)
        self.put([(at, (next(self.tokens), 0)) for at, _ in arrived], result.home)
        sides = {
            at: {self.owners[at], side.home, *side.shown} for side in (source, result) for at, _ in self.cells(side)
        }
        self.under_way.append(Transfer(result.at, sides, arrived))

    def finish(self, at: Location) -> None:
        """End the transfers to this place."""
        for transfer in [each for each in self.under_way if each.at == at]:
            self.under_way.remove(transfer)
            for side, owners in transfer.sides.items():
                assert self.owners[side] in owners, f"{self.owners[side]} overwrites {owners} during a transfer"
            self.put(transfer.arrived, self.owners[at])


@pytest.mark.parametrize("block", range(5))
def test_what_transfers_need_is_theirs_until_they_end(block: int) -> None:
    transfers = 0
    for seed in range(block, RUNS, 5):
        chance = random.Random(seed)
        made = program(chance)
        options = GraphOptions(plan_inputs=chance.random() < 0.8, opt_level=chance.choice((0, 2, 2)), offset_multiple=1)
        found = program_problem(made, (Pool("sram"),), options)
        answer = plan(found.problem, Options(solver="greedy", workers=1))
        assert verify(found.problem, answer) == ()
        machine = TransferMachine(
            made, found, {each.id: (each.pool, each.offset) for each in answer.placements}, chance
        )
        try:
            for _ in range(3):
                machine.run_entry("main")
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        transfers += sum(
            each.kind in (K.IDMA_LOAD, K.IDMA_STORE) for function in made.functions for each in function.operators
        )
    assert transfers > RUNS / 5

"""ExecuTorch programs (.pte): the tensors that each method has a place for, when they are used, and where the file places them.

Tensors that the file places over each other while both are used share on purpose (views, results in place), and do so in every plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ...checks import sound_as_read
from ...checks.limits import MAX_ADDRESS
from ...checks.report import Place, bad_input
from ...model.errors import Code
from ...model.problem import Buffer, Colocation, Constraints, Interval, Lifetimes, Pool, Problem
from ..tflite.flatbuffer import FlatBuffer, Table

if TYPE_CHECKING:
    from ..documents import Source

IDENTIFIER = b"ET12"
BITS = {
    0: 8,
    1: 8,
    2: 16,
    3: 32,
    4: 64,
    5: 16,
    6: 32,
    7: 64,
    8: 32,
    9: 64,
    10: 128,
    11: 8,
    12: 8,
    13: 8,
    14: 32,
    15: 16,
}
BITS |= {16: 8, 17: 8, 22: 8, 23: 8, 24: 8, 25: 8, 26: 8, 27: 16, 28: 32, 29: 64}
"""Of an element, by PyTorch's number of its type."""
TENSOR, LISTS = 4, (9, 10)
KERNEL, DELEGATE, MOVE, JUMP, FREE = range(1, 6)
MOST_PAIRS = 5_000_000
"""Of tensors that are looked at for whether they share."""


class _Tensor(NamedTuple):
    """A tensor with a place."""

    size: int
    memory: int
    offset: int


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """The Problem: methods run one after the other, each memory id is a memory. The file's own offsets are hints."""
    root = FlatBuffer(source.data, IDENTIFIER).root()
    plans = list(root.tables(1, "execution_plan"))
    if not plans:
        raise bad_input(Code.MISSING_FIELD, ("execution_plan",), "there is no method in it")
    buffers: list[Buffer] = []
    begun = 0
    taken: set[str] = set()
    for i, plan in enumerate(plans):
        method = plan.text(0, "name") or f"method{i}"
        while method in taken:
            method += "'"
        taken.add(method)
        made, begun = _method(plan, f"{method[:500]}/" if len(plans) > 1 else "", begun)
        buffers += made
    names = sorted({(buffer.pools or ("",))[0] for buffer in buffers})
    own = sum(max(_end(b) for b in buffers if b.pools == (name,)) for name in names)
    problem = Problem(
        tuple(buffers),
        tuple(Pool(name) for name in names) or (Pool("memory 1"),),
        Constraints(colocations=tuple(_shared(buffers))),
        name=f"ExecuTorch's own plan: {own} bytes",
        lifetimes=Lifetimes.HALF_OPEN,
    )
    return sound_as_read(problem), ()


def _end(buffer: Buffer) -> int:
    return (buffer.hint or 0) + buffer.size


def _method(plan: Table, prefix: str, begun: int) -> tuple[list[Buffer], int]:
    """The method's buffers, and the step after its last."""
    tensors: dict[int, _Tensor] = {}
    lists: dict[int, tuple[int, ...]] = {}
    count = 0
    for number, value in enumerate(plan.tables(2, "values")):
        count = number + 1
        kind, held = value.byte(0, "val_type"), value.table(1, "val")
        if held is not None and kind == TENSOR:
            found = _tensor(held)
            if found is not None:
                tensors[number] = found
        elif held is not None and kind in LISTS:
            lists[number] = held.signed_vector(0, "items")
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    loops: list[Interval] = []

    def use(number: int, step: int, place: Place) -> None:
        if not -1 <= number < count:
            raise bad_input(Code.OUT_OF_RANGE, place, f"value {number} is used, and there are {count}")
        for each in lists.get(number, (number,)):
            first.setdefault(each, step)
            last[each] = step

    for number in plan.signed_vector(3, "inputs"):
        use(number, begun, (*plan.place, "inputs"))
    step = begun
    for chain in plan.tables(5, "chains"):
        start = step
        for instruction in chain.tables(2, "instructions"):
            for number in _used(instruction, step - start, start, loops):
                use(number, step, instruction.place)
            step += 1
    for number in plan.signed_vector(4, "outputs"):
        use(number, step, (*plan.place, "outputs"))
    made = []
    for number, tensor in tensors.items():
        if number in first:
            live = _around(first[number], last[number] + 1, loops)
            pool = f"memory {tensor.memory}"
            made.append(Buffer(f"{prefix}{number}", tensor.size, live=(live,), pools=(pool,), hint=tensor.offset))
    return made, step + 1


def _tensor(table: Table) -> _Tensor | None:
    """None for constants, and for what gets its memory when it runs."""
    placed = table.table(6, "allocation_info")
    if placed is None:
        return None
    sizes, kind = table.signed_vector(2, "sizes"), table.byte(0, "scalar_type")
    if kind not in BITS:
        raise bad_input(Code.INVALID_VALUE, (*table.place, "scalar_type"), f"there is no type {kind}")
    bytes_ = -(-prod(sizes) * BITS[kind] // 8)
    if min(sizes, default=0) < 0 or bytes_ > MAX_ADDRESS:
        raise bad_input(Code.OUT_OF_RANGE, (*table.place, "sizes"), f"a tensor of {str(list(sizes))[:100]}")
    low, high = placed.unsigned(1, "memory_offset_low"), placed.unsigned(2, "memory_offset_high")
    offset = high << 32 | low
    if offset > MAX_ADDRESS:
        raise bad_input(Code.OUT_OF_RANGE, (*placed.place, "memory_offset_high"), f"an offset of {offset}")
    return _Tensor(bytes_, placed.unsigned(0, "memory_id"), offset)


def _used(instruction: Table, number: int, start: int, loops: list[Interval]) -> Iterator[int]:
    """The values that it touches. A jump backwards makes a loop of the steps between."""
    kind, said = instruction.byte(0, "instr_args_type"), instruction.table(1, "instr_args")
    if said is None or not KERNEL <= kind <= FREE:
        raise bad_input(Code.INVALID_VALUE, (*instruction.place, "instr_args_type"), f"there is no instruction {kind}")
    if kind in (KERNEL, DELEGATE):
        yield from said.signed_vector(1, "args")
    elif kind == MOVE:
        yield said.signed(0, "move_from")
        yield said.signed(1, "move_to")
    elif kind == JUMP:
        yield said.signed(0, "cond_value_index")
        to = said.signed(1, "destination_instruction")
        if 0 <= to <= number:
            loops.append((start + to, start + number + 1))


def _around(start: int, end: int, loops: list[Interval]) -> Interval:
    """The time with every loop that it reaches into: what is used in one turn may be needed in the next."""
    for low, high in sorted(loops, key=lambda loop: loop[1] - loop[0]):
        if start < high and low < end:
            start, end = min(start, low), max(end, high)
    return start, end


def _shared(buffers: list[Buffer]) -> Iterator[Colocation]:
    """What the file places over each other at a common time, tied to one of its group."""
    base: dict[int, int] = {}

    def root(i: int) -> int:
        while i in base:
            base[i] = base.get(base[i], base[i])
            i = base[i]
        return i

    ordered = sorted(range(len(buffers)), key=lambda i: (buffers[i].live or ((0, 0),))[0][0])
    active: dict[str, list[int]] = {}
    looked = 0
    for i in ordered:
        buffer = buffers[i]
        (start, _), *_ = buffer.live or ((0, 0),)
        there = active.setdefault((buffer.pools or ("",))[0], [])
        there[:] = [j for j in there if (buffers[j].live or ((0, 0),))[0][1] > start]
        looked += len(there)
        if looked > MOST_PAIRS:
            raise bad_input(Code.TOO_LARGE, ("execution_plan",), "too many tensors are used at once")
        for j in there:
            other = buffers[j]
            if (other.hint or 0) < _end(buffer) and (buffer.hint or 0) < _end(other) and root(i) != root(j):
                base[root(i)] = root(j)
        there.append(i)
    for i, buffer in enumerate(buffers):
        if i in base:
            top = buffers[root(i)]
            yield Colocation(buffer.id, top.id, (buffer.hint or 0) - (top.hint or 0))

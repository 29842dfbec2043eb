"""ExecuTorch programs (.pte): the tensors for which each method has a place, their uses, and the file's places.

Tensors that overlap in the file while both are used share on purpose (views, results in place), and do so in every plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from ...checks import sound_as_read
from ...checks.report import Place, bad_input
from ...facts.names import Names
from ...model.columns.gathered import Gathered
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, Buffer, Interval, Lifetimes, Problem
from ..binary.flatbuffer import FlatBuffer, Table
from .executorch_schema import (
    DELEGATE,
    FREE,
    IDENTIFIER,
    JUMP,
    KERNEL,
    LISTS,
    MOVE,
    TENSOR,
    Called,
    Steps,
    bytes_of,
    names_of,
    require_all,
)
from .executorch_state import Tensor, Used, shared_bytes
from .shared_places import OwnPlan, tied

if TYPE_CHECKING:
    from ..documents import Source

ALIGNMENT = 16
OWN, VIEW, OVERWRITES = "executorch_prim::", "executorch_prim::et_view", "::copy_"
"""Name prefixes of ExecuTorch's own kernels, which return nothing, and of the kernel that returns its input in another shape; and the suffix
of kernels that write over an argument regardless of its contents.
"""
MOST_LOOKS = 5_000_000
"""The most examinations of values in lists."""


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem: methods run one after the other, each memory id is a memory. The file's own offsets are hints."""
    require_all(source.data)
    root = FlatBuffer(source.data, IDENTIFIER).root()
    plans = list(root.tables(1, "execution_plan"))
    if not plans:
        raise bad_input(Code.MISSING_FIELD, ("execution_plan",), "there is no method in it")
    buffers, own, steps = Gathered(), OwnPlan(), Steps()
    found: list[Used] = []
    begun = 0
    methods = Names()
    for i, plan in enumerate(plans):
        method = methods.new(plan.text(0, "name") or f"method{i}")
        begun = _method(plan, i, f"{method[:500]}/" if len(plans) > 1 else "", begun, found, steps)
    shared = shared_bytes(found) if len(plans) > 1 else set[tuple[int, int, int]]()
    for id_, tensor, _, live, _ in found:
        pool = f"memory {tensor.memory}"
        own.add(pool, tensor.offset, tensor.size)
        live = (0, begun) if tensor.bytes in shared else live
        buffers.add(Buffer(id_, tensor.size, live=(live,), pools=(pool,), hint=tensor.offset))
    pools = tuple(sorted(own.pools(ALIGNMENT, "memory 1"), key=attrgetter("name")))
    every, rules = tied(buffers.all(pools), lambda _: ("execution_plan",))
    name = f"ExecuTorch's own plan: {own}"
    problem = Problem(every, pools, rules, name=name, lifetimes=Lifetimes.HALF_OPEN, steps=steps.all())
    return sound_as_read(problem), ()


def _method(plan: Table, method: int, prefix: str, begun: int, found: list[Used], steps: Steps) -> int:
    """Add what the method uses, and its steps; return the step after its last."""
    tensors: dict[int, Tensor] = {}
    lists: dict[int, tuple[int, ...]] = {}
    count = 0
    for number, value in enumerate(plan.tables(2, "values")):
        count = number + 1
        kind, held = value.byte(0, "val_type"), value.table(1, "val")
        if held is not None and kind == TENSOR:
            tensor = _tensor(held)
            if tensor is not None:
                tensors[number] = tensor
        elif held is not None and kind in LISTS:
            lists[number] = held.signed_vector(0, "items")
    called, named = Called(plan), names_of(plan)
    inputs = plan.signed_vector(3, "inputs")
    uses = _Uses(tensors, count, lists, called, inputs)
    uses.write(inputs, begun, (*plan.place, "inputs"))
    step = begun
    for chain in plan.tables(5, "chains"):
        uses.begin(step)
        for instruction in chain.tables(2, "instructions"):
            steps.add(step, uses.run(instruction, step))
            step += 1
        uses.end(step)
    uses.read(plan.signed_vector(4, "outputs"), step, (*plan.place, "outputs"))
    lives = uses.lives(begun, step + 1, (*plan.place, "chains"))
    found.extend(
        Used(f"{prefix}{named.get(n, n)}", each, method, lives[n], uses.is_state(n))
        for n, each in tensors.items()
        if n in lives
    )
    return step + 1


def _tensor(table: Table) -> Tensor | None:
    """Return the tensor; None for constants, and for what gets its memory at run time."""
    placed = table.table(6, "allocation_info")
    if placed is None:
        return None
    bytes_ = bytes_of(table)
    low, high = placed.unsigned(1, "memory_offset_low"), placed.unsigned(2, "memory_offset_high")
    offset = high << 32 | low
    if offset > MAX_ADDRESS:
        raise bad_input(Code.OUT_OF_RANGE, (*placed.place, "memory_offset_high"), f"an offset of {offset}")
    more = table.table(9, "extra_tensor_info")
    name = None if more is None else more.text(1, "fully_qualified_name")
    filled = table.unsigned(5, "data_buffer_idx") > 0
    return Tensor(bytes_, placed.unsigned(0, "memory_id"), offset, name or "", filled)


class _Uses:
    """The uses of values in one method, and which values share places."""

    def __init__(
        self,
        tensors: dict[int, Tensor],
        count: int,
        lists: dict[int, tuple[int, ...]],
        called: Called,
        inputs: tuple[int, ...],
    ) -> None:
        self._tensors, self._count, self._lists, self._called = tensors, count, lists, called
        self._inputs = frozenset(inputs)
        self._made = max(inputs, default=count - 1) + 1
        """Values are numbered as they come: state, inputs, then what instructions make. Below this number there may be state."""
        self._lowest: dict[tuple[int, int, int], int] = {}
        """The lowest number of the values that take the same bytes."""
        for number, tensor in tensors.items():
            self._lowest.setdefault(tensor.bytes, number)
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._loops: list[Interval] = []
        self._same: list[tuple[int, int]] = []
        """From this point on, the second lies where the first was written."""
        self._writers: dict[tuple[int, int], int] = {}
        """The last value written at each place."""
        self._kept: set[int] = set()
        """Values that are read but never written: they hold what an earlier run left."""
        self._looked = 0
        self._start = 0
        self._furthest: tuple[int, Place] = (0, ())
        """Where the chain begins, and how far one of its jumps goes."""

    def write(self, numbers: Collection[int], step: int, place: Place) -> None:
        """Record that the values, and the contents of lists, are written at that step."""
        for each in self._used(numbers, step, place):
            tensor = self._tensors.get(each)
            if tensor is not None:
                self._writers[tensor.memory, tensor.offset] = each

    def read(self, numbers: Collection[int], step: int, place: Place) -> None:
        """Record that the values are read at that step. A value that was not written is another shape of what was written at its place."""
        known = {each for number in numbers for each in self._inside(number, place) if each in self._first}
        for each in self._used(numbers, step, place):
            tensor = self._tensors.get(each)
            if tensor is not None and each not in known:
                known.add(each)
                writer = self._writers.get((tensor.memory, tensor.offset))
                if writer is None:
                    self._kept.add(each)
                else:
                    self._same.append((writer, each))

    def begin(self, step: int) -> None:
        """Begin a chain of instructions."""
        self._start, self._furthest = step, (0, ())

    def end(self, step: int) -> None:
        """End the chain. Raises BadInput if one of its instructions jumps further than behind the last."""
        to, place = self._furthest
        if to > step - self._start:
            raise bad_input(Code.OUT_OF_RANGE, place, f"it jumps to {to} in a chain of {step - self._start}")

    def run(self, instruction: Table, step: int) -> str:
        """Record an instruction of the chain; return its name. A jump backwards makes a loop of the steps between."""
        kind, fields, place = (
            instruction.byte(0, "instr_args_type"),
            instruction.table(1, "instr_args"),
            instruction.place,
        )
        if fields is None or not KERNEL <= kind <= FREE:
            raise bad_input(Code.INVALID_VALUE, (*place, "instr_args_type"), f"there is no instruction {kind}")
        if kind == KERNEL:
            self._call(fields.signed(0, "op_index"), fields.signed_vector(1, "args"), step, place)
        elif kind == DELEGATE:
            self._delegate(fields.signed_vector(1, "args"), step, place)
        elif kind == MOVE:
            source, target = fields.signed(0, "move_from"), fields.signed(1, "move_to")
            self.read((source,), step, place)
            self._lie(source, target, step, place)
        elif kind == JUMP:
            self.read((fields.signed(0, "cond_value_index"),), step, place)
            to = fields.signed(1, "destination_instruction")
            if to < 0:
                raise bad_input(Code.OUT_OF_RANGE, place, f"it jumps to {to}")
            self._furthest = max(self._furthest, (to, place), key=itemgetter(0))
            if to <= step - self._start:
                self._loops.append((self._start + to, step + 1))
        return self._called.name(kind, fields)

    def lives(self, begun: int, end: int, place: Place) -> dict[int, Interval]:
        """Return when each value is needed in a method of this length. Raises BadInput if it has too many loops for its values."""
        for source, target in reversed(self._same):
            self._last[source] = max(self._last[source], self._last[target])
        if len(self._loops) * len(self._first) > MOST_LOOKS:
            raise bad_input(
                Code.TOO_LARGE, place, f"{len(self._first)} values and {len(self._loops)} loops are too many"
            )
        loops = sorted(self._loops, key=lambda loop: loop[1] - loop[0])
        return {
            each: (begun, end) if each in self._kept else _around(first, self._last[each] + 1, loops)
            for each, first in self._first.items()
        }

    def is_state(self, number: int) -> bool:
        """True if the value is there before the method runs, other than as an input."""
        return number in self._kept or self._may_be_state(number)

    def _call(self, called: int, arguments: tuple[int, ...], step: int, place: Place) -> None:
        """Record a kernel. Its last argument is its result, or a list of results, which are also among the others."""
        kernels = self._called.kernels
        name = kernels[called] if 0 <= called < len(kernels) else ""
        if name.startswith(VIEW) and len(arguments) > 1:
            self.read(arguments[:-1], step, place)
            self._lie(arguments[0], arguments[-1], step, place)
        elif name.startswith(OWN):
            self.write(arguments, step, place)
        else:
            results = set(self._inside(arguments[-1], place)) if arguments else set()
            changes = name.endswith("_") and not name.endswith(OVERWRITES)
            given = [each for n in arguments[:-1] for each in self._inside(n, place)]
            twice = Counter(given)
            self.read([n for n in given if changes or n not in results or twice[n] > 1], step, place)
            if name.endswith("_"):
                self.write(results, step, place)
            else:
                self._make(results, step, place)

    def _make(self, numbers: Collection[int], step: int, place: Place) -> None:
        """Record that an instruction writes these results, which are its own."""
        self.write(numbers, step, place)
        if not self._inputs:
            self._made = min(self._made, min(numbers, default=self._made))

    def _delegate(self, arguments: tuple[int, ...], step: int, place: Place) -> None:
        """Record what a delegate reads and then makes: arguments are inputs and then results, and the file does not say how many of each.

        The last one that is new is a result, as are those which cannot have been there before, and all new ones behind them.
        """
        made: dict[int, None] = {}
        for number in arguments:
            tensor = self._tensors.get(number)
            if tensor is None or tensor.is_state or number in self._first:
                continue
            if made or number == arguments[-1] or not self._may_be_there(tensor):
                made[number] = None
        self.read([number for number in arguments if number not in made], step, place)
        self._make(made, step, place)

    def _may_be_there(self, tensor: Tensor) -> bool:
        """True if a value that no instruction has written may be state, or another shape of state or of what was written at its place."""
        writer = self._writers.get((tensor.memory, tensor.offset))
        if writer is not None and self._tensors[writer].size == tensor.size:
            return True
        return self._may_be_state(self._lowest[tensor.bytes])

    def _may_be_state(self, number: int) -> bool:
        return self._tensors[number].is_state or (number < self._made and number not in self._inputs)

    def _lie(self, source: int, target: int, step: int, place: Place) -> None:
        self.write((target,), step, place)
        for each, onto in zip(self._inside(source, place), self._inside(target, place), strict=False):
            self._same.append((each, onto))

    def _used(self, numbers: Collection[int], step: int, place: Place) -> Iterator[int]:
        for number in numbers:
            if not -1 <= number < self._count:
                text = f"value {number} is used, and there are {self._count}"
                raise bad_input(Code.OUT_OF_RANGE, place, text)
            for each in self._inside(number, place):
                self._first.setdefault(each, step)
                self._last[each] = step
                yield each

    def _inside(self, number: int, place: Place) -> tuple[int, ...]:
        found = self._lists.get(number, (number,))
        self._looked += len(found)
        if self._looked > MOST_LOOKS:
            raise bad_input(Code.TOO_LARGE, place, "long lists of values are used too often")
        return found


def _around(start: int, end: int, loops: list[Interval]) -> Interval:
    """Extend the time by every loop that it reaches into, the shortest first: what is used in one turn may be needed in the next."""
    for low, high in loops:
        if start < high and low < end:
            start, end = min(start, low), max(end, high)
    return start, end

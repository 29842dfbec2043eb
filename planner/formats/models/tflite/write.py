"""Writes a plan into its model: the metadata `OfflineMemoryAllocation`, which TFLite Micro obeys. All else stays byte for byte.

References in a FlatBuffer lead forwards only. So new parts (the root table, the lists of buffers and of metadata, and the offsets) come
first, and everything else follows unchanged.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ....checks.report import bad_answer, bad_input, quoted
from ....model.errors import Code
from ....model.plan import Plan
from ....model.problem import BufferId, Problem
from ....verifying.findings import FindingKind
from ....verifying.verify import verify
from .given import METADATA, UNPLANNED
from .micro import ARENA, SCRATCH, is_placed, micro_problem, place_of, placed_bytes, tensor_ids
from .model import IDENTIFIER, VERSION, Model, read_model
from .program import ALIGNMENT

MOST = (1 << 31) - 1
_WORD, _LONG = struct.Struct("<I"), struct.Struct("<Q")
_MODEL_FIELDS = 8
"""The number of fields in the root table; later ones are unknown."""
_REPLACED = frozenset((4, 6))
"""Its lists of buffers and of metadata."""
_HEADER = 8
_FAR = 1 << 31
_GRAIN = 64
"""The length of the new part is a multiple of this, so that everything keeps its alignment."""


def write_into(_problem: Problem, plan: Plan, source: bytes) -> bytes:
    """Return the model with the plan's offsets. Raises BadInput unless it is a plan of this model that TFLite Micro can follow."""
    model = read_model(source)
    return with_metadata(model, [offset for _, offset in offsets_of(model, plan)])


def check(problem: Problem, source: bytes) -> None:
    """Raise BadInput if no plan of the problem can be in the model."""
    model = read_model(source)
    require_tensors(model, problem)
    with_metadata(model, [UNPLANNED for _ in tensor_ids(model)])


def require_tensors(model: Model, problem: Problem) -> None:
    """Raise BadInput unless the problem has tensors of the model, as large as TFLite Micro takes them."""
    sizes = {buffer.id: buffer.size for buffer in problem.buffers}
    known = [(id_, need) for id_, need in tensor_needs(model) if need is not None and id_ in sizes]
    if not known:
        raise bad_input(Code.CONTRADICTION, (), "the problem has none of the model's tensors")
    for id_, need in known:
        if sizes[id_] < need:
            raise bad_input(Code.CONTRADICTION, (), _too_small(id_, sizes[id_], need))


def tensor_needs(model: Model) -> Iterator[tuple[BufferId, int | None]]:
    """Yield every tensor of the file with its bytes in the arena; None if TFLite Micro's planner does not place it. Raises BadInput for unknown types."""
    for number, id_ in enumerate(tensor_ids(model)):
        s, i = place_of(model, number)
        yield id_, placed_bytes(model.subgraphs[s].tensors[i], s, i) if is_placed(model, s, i) else None


def _too_small(id_: BufferId, size: int, need: int) -> str:
    return f"{quoted(id_)} has {size} bytes, TFLite Micro takes {need}: plan the model with --like tflm"


def offsets_of(model: Model, plan: Plan) -> list[tuple[BufferId, int]]:
    """Return every tensor of the file with its offset; -1 if TFLite Micro's planner does not place it. Raises BadInput."""
    if not plan.status.has_plan:
        raise bad_answer(Code.NO_PLAN_FOUND, ("status",), f"there is nothing to write: the plan is {plan.status.value}")
    placed = {placement.id: (number, placement) for number, placement in enumerate(plan.placements)}
    found: list[tuple[BufferId, int]] = []
    for id_, need in tensor_needs(model):
        if need is None or id_ not in placed:
            found.append((id_, UNPLANNED))
            continue
        at, placement = placed[id_]
        if placement.size < need:
            text = _too_small(id_, placement.size, need)
            raise bad_answer(Code.CONTRADICTION, ("placements", at, "size"), text)
        if placement.offset % ALIGNMENT or placement.offset > MOST:
            text = f"{quoted(id_)} is at {placement.offset}; TFLite Micro takes multiples of {ALIGNMENT} below 2^31"
            raise bad_answer(Code.INVALID_VALUE, ("placements", at, "offset"), text)
        found.append((id_, placement.offset))
    if all(offset == UNPLANNED for _, offset in found):
        raise bad_answer(Code.CONTRADICTION, ("placements",), "the plan places none of the model's tensors")
    _require_sound(model, plan)
    return found


_FAULTS = (FindingKind.OVERLAP, FindingKind.COLOCATION_BROKEN, FindingKind.MISSING_BUFFER)


def _require_sound(model: Model, plan: Plan) -> None:
    """Raise BadInput if tensors overlap that TFLite Micro needs at one time, or are not where a kernel finds them: it trusts the file."""
    problem = micro_problem(model)
    placed = {placement.id: placement for placement in plan.placements}
    needed = placed.keys() | {id_ for tie in problem.constraints.colocations for id_ in (tie.buffer, tie.base)}
    tensors = tuple(each for each in problem.buffers if each.kind != SCRATCH and each.id in needed)
    places = tuple(replace(placed[each.id], pool=ARENA, size=each.size) for each in tensors if each.id in placed)
    if len({placed[place.id].pool for place in places}) > 1:
        raise bad_answer(Code.UNSUPPORTED, ("placements",), "TFLite Micro has one arena, the plan several pools")
    for finding in verify(replace(problem, buffers=tensors), replace(plan, placements=places)):
        if finding.kind in _FAULTS:
            text = f"{finding.message}: plan the model with --like tflm"
            raise bad_answer(Code.CONTRADICTION, ("placements",), text)


def scratch_offsets(model: Model, plan: Plan) -> list[tuple[BufferId, int]]:
    """Return the plan's places besides tensors, in its order: what kernels need while they run."""
    tensors = set(tensor_ids(model))
    return [(placement.id, placement.offset) for placement in plan.placements if placement.id not in tensors]


def with_metadata(model: Model, offsets: Sequence[int]) -> bytes:
    """Return the file with these offsets in its metadata, replacing old ones."""
    numbers = (1, len(model.subgraphs), len(offsets), *offsets)
    content = struct.pack(f"<{len(numbers)}i", *numbers)
    place = _place(model)
    if place is not None and place[1] == len(content):
        return model.data[: place[0]] + content + model.data[sum(place) :]
    if not model.buffers:
        raise bad_input(Code.UNSUPPORTED, ("buffers",), "a model without any buffers has no place for metadata")
    if model.root.fields > _MODEL_FIELDS:
        text = f"the model has {model.root.fields} fields, and only {_MODEL_FIELDS} of them are known"
        raise bad_input(Code.UNSUPPORTED, (), text)
    return _Front(model, content).whole()


def _place(model: Model) -> tuple[int, int] | None:
    """Return begin and length of the file's only offsets; None if there are none, or something else shares the place."""
    rows = [row for row in model.metadata if row.name == METADATA]
    if len(rows) != 1:
        return None
    number = rows[0].buffer
    others = [row.buffer for row in model.metadata if row is not rows[0]]
    others += [tensor.buffer for subgraph in model.subgraphs for tensor in subgraph.tensors]
    return None if number in others else model.buffers[number]


class _Front:
    """The part before the file. Positions are those of the new file; the old file's are `shift` higher than before."""

    def __init__(self, model: Model, content: bytes) -> None:
        self._model = model
        self._content = content
        self._bytes = bytearray()

    def whole(self) -> bytes:
        """Return the new file."""
        self._lay_out(_FAR)  # its length does not depend on the shift
        shift = -(-(len(self._bytes) - _HEADER) // _GRAIN) * _GRAIN
        self._lay_out(shift)
        rest = bytearray(self._model.data[_HEADER:])
        for at in self._model.outside:
            (old,) = _LONG.unpack_from(rest, at - _HEADER)
            _LONG.pack_into(rest, at - _HEADER, old + shift)
        return bytes(self._bytes).ljust(shift + _HEADER, b"\0") + bytes(rest)

    def _lay_out(self, shift: int) -> None:
        """Lay everything out for this shift of the old file."""
        root, kept = self._model.root, {}
        for number in range(1, _MODEL_FIELDS):
            at = root.field(number, 4, str(number))
            if at is not None:
                kept[number] = root.buffer.follow(at, ()) + shift
        self._bytes[:] = bytes(4) + IDENTIFIER
        fields = self._table({0: VERSION, **dict.fromkeys((*kept, *_REPLACED), 0)})
        self._point(0, fields[0] - 4)
        for number in kept.keys() - _REPLACED:
            self._point(fields[number], kept[number])
        buffers = [to + shift for to in root.targets(4, "buffers")]
        others = [
            to + shift
            for to, row in zip(root.targets(6, "metadata"), self._model.metadata, strict=True)
            if row.name != METADATA
        ]
        self._point(fields[4], self._vector(buffers, self._buffer))
        self._point(fields[6], self._vector(others, self._metadata))

    def _table(self, words: Mapping[int, int]) -> dict[int, int]:
        """Write a table of fields of four bytes each; the first one is four bytes after its beginning."""
        count = max(words) + 1
        self._pad(4, count % 2 * 2)  # to align what follows the list of fields
        vtable = len(self._bytes)
        at = dict(zip(sorted(words), range(4, 4 + 4 * len(words), 4), strict=True))
        size = 4 + 4 * len(words)
        self._bytes += struct.pack(f"<{2 + count}H", 4 + 2 * count, size, *(at.get(i, 0) for i in range(count)))
        table = len(self._bytes)
        self._bytes += struct.pack("<i", table - vtable) + b"".join(_WORD.pack(words[i]) for i in at)
        return {i: table + offset for i, offset in at.items()}

    def _vector(self, targets: Sequence[int], make: Callable[[], int]) -> int:
        """Write a vector of the tables at these places, and of one made behind it."""
        self._pad(4)
        start = len(self._bytes)
        self._bytes += _WORD.pack(len(targets) + 1) + bytes(4 * len(targets) + 4)
        for i, to in enumerate((*targets, make())):
            self._point(start + 4 + 4 * i, to)
        return start

    def _buffer(self) -> int:
        fields = self._table({0: 0})
        self._pad(ALIGNMENT, ALIGNMENT - 4)
        self._point(fields[0], len(self._bytes))
        self._bytes += _WORD.pack(len(self._content)) + self._content
        return fields[0] - 4

    def _metadata(self) -> int:
        fields = self._table({0: 0, 1: len(self._model.buffers)})
        self._pad(4)
        self._point(fields[0], len(self._bytes))
        self._bytes += _WORD.pack(len(METADATA)) + METADATA.encode() + b"\0"
        return fields[0] - 4

    def _point(self, at: int, to: int) -> None:
        _WORD.pack_into(self._bytes, at, to - at)

    def _pad(self, alignment: int, rest: int = 0) -> None:
        """Pad until the length is `rest` above a multiple of the alignment."""
        self._bytes += bytes((rest - len(self._bytes)) % alignment)

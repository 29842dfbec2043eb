"""The plan in a model (`OfflineMemoryAllocation`), and what other plans have to keep of it.

Vela compiles operators into commands for Arm's Ethos-U, which contain the places of what they read and write, counted from the beginning of one tensor:
the operator's memory, within which they lie. TFLite Micro hands that tensor's address to the processor, so that all of it can move as one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from ....checks.report import Place, bad_input, quoted
from ....model.errors import Code
from ....model.problem import Buffer, Colocation, Problem
from ...dumps.shared_places import tied
from .kernels import unknown_kernels
from .model import ETHOS_U, Model
from .program import ALIGNMENT

METADATA = "OfflineMemoryAllocation"
"""The name of a plan in a model."""
UNPLANNED = -1
_AT: Place = ("metadata", METADATA)


def planned_offsets(model: Model) -> tuple[int, ...] | None:
    """Return the offsets in the model's metadata; None if it has none."""
    row = next((row for row in model.metadata if row.name == METADATA), None)
    if row is None:
        return None
    start, size = model.buffers[row.buffer]
    numbers = struct.unpack_from(f"<{size // 4}i", model.data, start)
    return numbers[3 : 3 + numbers[2]] if len(numbers) >= 3 and numbers[2] >= 0 else None


def kept(model: Model, planned: Mapping[int, Buffer]) -> tuple[Colocation, ...]:
    """Return what keeps tensors where the file has them to each other. `planned`: by their numbers through all subgraphs. Raises BadInput.

    It is what commands address, and all that overlaps at one time if a kernel is unknown, which may rely on that. Other kernels do not.
    """
    if not unknown_kernels(model):
        return ()
    given = {number: buffer for number, buffer in planned.items() if buffer.hint is not None}
    rows = {number: row for row, number in enumerate(given)}
    pairs = []
    for (s, i), (memory, o) in model.addressed.items():
        number, base = model.first_tensors[s] + i, model.first_tensors[s] + memory
        if not _is_within(given.get(number), given.get(base)):
            tensors = model.subgraphs[s].tensors
            text = (
                f"its commands find {quoted(tensors[i].name)} within {quoted(tensors[memory].name)}, and the file's {METADATA} does not have it"
                " there: take the model as Vela wrote it"
            )
            raise bad_input(Code.CONTRADICTION, ("subgraphs", s, "operators", o), text)
        pairs.append((rows[number], rows[base]))
    found = _overlapping(given.values(), pairs)
    for tie in found:
        if tie.offset % ALIGNMENT:
            text = f"has {quoted(tie.buffer)} {tie.offset} bytes above {quoted(tie.base)}; TFLite Micro takes multiples of {ALIGNMENT}"
            raise bad_input(Code.INVALID_VALUE, _AT, text)
    return found


def notes(model: Model, problem: Problem) -> tuple[str, ...]:
    """Return what to say about tensors that overlap in the file's plan while both are needed; nothing if commands find them there."""
    unknown = [name for name in unknown_kernels(model) if name != ETHOS_U]
    found, then = problem.constraints.colocations, ""
    if found and unknown:
        names = ", ".join(map(quoted, unknown))
        then = (
            f"they share their bytes in every plan, since kernels that memplan does not know ({names}) may rely on it"
        )
    elif not found:
        found = _overlapping(buffer for buffer in problem.buffers if buffer.hint is not None)
        then = "they are planned apart, since no kernel expects that: the file's own plan breaks rules"
    if not found or not then:
        return ()
    return (
        f"in the file's {METADATA} tensors overlap that are needed at one time, {quoted(found[0].buffer)} among them: {then}",
    )


def _is_within(inner: Buffer | None, outer: Buffer | None) -> bool:
    if inner is None or outer is None or inner.hint is None or outer.hint is None:
        return False
    return outer.hint <= inner.hint < outer.hint + outer.size


def _overlapping(given: Iterable[Buffer], pairs: Iterable[tuple[int, int]] = ()) -> tuple[Colocation, ...]:
    return tuple(tied([*given], lambda _: _AT, pairs)[1].colocations)

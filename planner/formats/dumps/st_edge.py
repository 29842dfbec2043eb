"""The file that ST Edge AI Core writes beside the C code (`network_c_info.json`, schema 2): memories, and buffers with epochs and places.

Epochs are inclusive at both ends. Weights are not planned, but keep their places; buffers that overlap at a common epoch share on purpose.
States are kept between runs. For NPUs, memories may consist of others (`subpools`), which are then parts of one range of addresses, and may
consist of others in turn.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import gcd
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ...checks import sound_as_read
from ...checks.pool_choice import Classes
from ...checks.report import Place, Report, bad_input, quoted
from ...facts.intervals import merged
from ...model.columns.gathered import Gathered
from ...model.columns.numbered import Found
from ...model.columns.varied import kinds_of
from ...model.deadline import in_time
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, MAX_TIME, Buffer, Lifetimes, Pool, Problem
from ..json.pieces import MAX_DIGITS
from .shared_places import OwnPlan, tied

if TYPE_CHECKING:
    from ..documents import Source

NOWHERE = -1
"""The memory of a buffer that the caller provides, the place of one that has none, and the size of a memory that grows as needed."""
NO_ADDRESS = "NULL"
STATE = "mutable"
KINDS = {"STAI_FLAG_INPUTS": "input", "STAI_FLAG_OUTPUTS": "output", "STAI_FLAG_STATES": STATE}


class _Memory(NamedTuple):
    """A memory of the file."""

    name: str
    size: int | None
    alignment: int
    base: int | None
    rank: int
    parts: tuple[int, ...]
    """The numbers of the memories of which it consists."""

    @property
    def pool(self) -> Pool:
        """Return the pool that it is if it is planned; most memories of a file may be unused."""
        return Pool(self.name, self.size, self.alignment, self.base, rank=self.rank)


class _Weights(NamedTuple):
    """Where weights are: bytes of a memory that nothing else may use."""

    memory: int
    start: int
    end: int


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem of its activations: each memory that holds some, and the file's places as hints; warnings if memories lie in others
    or buffers have no place."""
    document = source.loaded(("memory_pools",), ("buffers",))
    report = Report()
    memories = _memories(document, report)
    weights: list[_Weights] = []
    found, numbers = Gathered(), array("q")
    for number, buffer in _buffers(document, memories, report, weights):
        found.add(buffer)
        numbers.append(number)
    homes = _homes({*numbers}, memories, report)
    report.raise_if_any()
    buffers, own, without_place = Gathered(), OwnPlan(), list[int | str]()
    named = {home: (home.name,) for home in sorted(homes.values(), key=attrgetter("rank"))}
    for number, buffer in zip(numbers, found.rows(), strict=True):
        home = homes[number]
        if buffer.hint is None:
            without_place.append(buffer.id)
            buffers.add(replace(buffer, pools=named[home]))
            continue
        at = buffer.hint + _distance(memories[number], home)
        alignment = gcd(buffer.alignment, (home.base or 0) + at)
        buffers.add(replace(buffer, alignment=alignment, pools=named[home], hint=at))
        own.add(home.name, at, buffer.size)
    reserved = _reserved(weights, memories, homes)
    pools = tuple(
        replace(
            home,
            alignment=gcd(home.alignment, home.base or 0, own.steps.get(home.name, 0)),
            reserved=merged(reserved.get(home, ())),
        )
        for home in named
    )
    every, rules = tied(buffers.all(pools), lambda _: ("buffers",))
    name = f"ST Edge AI's own plan: {own}"
    used = pools or (Pool("heap_overlay_pool"),)
    problem = Problem(_kept(every), used, rules, name=name, lifetimes=Lifetimes.HALF_OPEN)
    parts = [(memories[number].pool, home) for number, home in homes.items() if memories[number].pool != home]
    return sound_as_read(problem), (
        *(
            f"the memory {quoted(part.name)} is a part of {quoted(whole.name)}, and planned as one with it"
            for part, whole in parts
        ),
        *_placeless(without_place),
    )


def _placeless(names: list[int | str]) -> Iterator[str]:
    """Yield a warning if buffers have a memory, but no place in it: the file does not say whether the caller provides them."""
    if names:
        which = "the buffer " if len(names) == 1 else f"{len(names)} buffers, the first of which is "
        yield f"{which}{quoted(names[0])}, without a place in the file (offset_start -1): planned in the memory that the file names"


def _distance(own: _Memory, home: Pool) -> int:
    """Return where a memory begins in the one that it is planned with."""
    return (own.base or 0) - (home.base or 0)


def _reserved(
    weights: list[_Weights], memories: dict[int, _Memory], homes: dict[int, Pool]
) -> dict[Pool, list[tuple[int, int]]]:
    """Return the bytes that weights take in memories that hold activations, too."""
    found: dict[Pool, list[tuple[int, int]]] = {}
    spans = [
        (home, home.base, home.base + home.size) for home in {*homes.values()} if home.base is not None and home.size
    ]
    for number, start, end in weights:
        own = memories[number]
        home = homes.get(number)
        if home is not None:
            distance = _distance(own, home)
            found.setdefault(home, []).append((start + distance, end + distance))
        elif own.base is not None:
            for other, low, high in spans:
                if own.base + start < high and low < own.base + end:
                    found.setdefault(other, []).append(
                        (max(own.base + start, low) - low, min(own.base + end, high) - low)
                    )
    return found


def _kept(buffers: Sequence[Buffer]) -> Sequence[Buffer]:
    """Return the buffers; states live throughout."""
    if STATE not in kinds_of(buffers):
        return buffers
    lives = [span for buffer in buffers for span in buffer.live or ()]
    always = ((min(start for start, _ in lives), max(end for _, end in lives)),)
    return tuple(replace(buffer, live=always) if buffer.kind == STATE else buffer for buffer in buffers)


def _homes(used: set[int], memories: dict[int, _Memory], report: Report) -> dict[int, Pool]:
    """Return, for each memory that holds buffers, the range of addresses of all that share parts with it, directly or not."""
    joined = Classes()
    seen = sorted(used)
    looked_at = set(seen)
    for number in seen:  # grows
        whole = memories[number]
        place: Place = ("memory_pools", whole.rank)
        for part in whole.parts:
            if part not in memories:
                report.add(Code.UNKNOWN_POOL, (*place, "subpools"), f"there is no memory {part}")
            elif part == number or not _is_inside(memories[part], whole):
                report.add(Code.CONTRADICTION, (*place, "subpools"), f"the memory {part} does not lie in this one")
            else:
                joined.join(number, part)
                seen += [] if part in looked_at else [part]
                looked_at.add(part)
    _join_overlapping(looked_at, memories, joined)
    together: dict[int, list[int]] = {}
    for number in sorted(used):
        together.setdefault(joined.of(number), []).append(number)
    found: dict[int, Pool] = {}
    for numbers in together.values():
        home = _around([memories[each].pool for each in numbers])
        found |= dict.fromkeys(numbers, home)
    return found


def _join_overlapping(numbers: set[int], memories: dict[int, _Memory], joined: Classes) -> None:
    """Join memories that have addresses in common, even if the file names none as a part of the other."""
    placed = [
        (own.base, own.base + own.size, each)
        for each in numbers
        if (own := memories[each]).base is not None and own.size
    ]
    end, last = 0, 0
    for start, stop, number in sorted(placed):
        if start < end:
            joined.join(last, number)
        if stop > end:
            end, last = stop, number


def _around(pools: list[Pool]) -> Pool:
    """Return the one that contains all; otherwise a memory for the range that they cover together."""
    if len(pools) == 1:
        return pools[0]
    base = min(pool.base or 0 for pool in pools)
    end = max((pool.base or 0) + (pool.size or 0) for pool in pools)
    for pool in pools:
        if (pool.base, pool.size) == (base, end - base):
            return pool
    names = "+".join(pool.name for pool in pools)
    return Pool(names[:1000], end - base, gcd(*(pool.alignment for pool in pools)), base, rank=pools[0].rank)


def _is_inside(part: _Memory, whole: _Memory) -> bool:
    if part.base is None or whole.base is None or part.size is None or whole.size is None:
        return False
    return whole.base <= part.base and part.base + part.size <= whole.base + whole.size


def _rows(document: Any, name: str, report: Report) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Return the objects of a list of the document."""
    rows = document.get(name) if isinstance(document, dict) else None
    if not isinstance(rows, list):
        code = Code.MISSING_FIELD if rows is None else Code.WRONG_TYPE
        raise bad_input(code, (name,), "must be there, a list")
    for i, row in enumerate(in_time(rows, "reading")):
        if report.is_full:
            break
        if isinstance(row, dict):
            yield (name, i), row
        else:
            report.add(Code.WRONG_TYPE, (name, i), "must be an object")


def _memories(document: Any, report: Report) -> dict[int, _Memory]:
    """Return the memories by their numbers, in order; their ranks are their places in the list."""
    taken = Found()
    found: dict[int, _Memory] = {}
    for rank, (place, row) in enumerate(_rows(document, "memory_pools", report)):
        number = _number(row, "id", place, report)
        if number in found:
            report.add(Code.DUPLICATE_ID, (*place, "id"), f"there is another memory {number}")
        size = _number(row, "size_bytes", place, report, NOWHERE)
        alignment = _number(row, "alignment", place, report)
        name = _name(row, taken, place, report)
        base = _address(row, place, report)
        if base is not None and "offset_start" in row:
            base += _number(row, "offset_start", place, report)
        parts = row.get("subpools", [])
        if not (isinstance(parts, list) and all(type(each) is int for each in parts)):
            report.add(Code.WRONG_TYPE, (*place, "subpools"), "must be a list of memories' numbers")
            parts = []
        size_if_known = None if size == NOWHERE else size
        found[number] = _Memory(name, size_if_known, max(alignment, 1), base, rank, tuple(parts))
    return found


def _address(row: dict[str, Any], place: Place, report: Report) -> int | None:
    """Return where the memory begins: a number, mostly written as text."""
    address = row.get("address", NO_ADDRESS)
    if address == NO_ADDRESS:
        return None
    if isinstance(address, str) and address.isascii() and address.isdecimal() and len(address) <= MAX_DIGITS:
        address = int(address)
    return _number({"address": address}, "address", place, report)


def _buffers(
    document: Any, memories: dict[int, _Memory], report: Report, weights: list[_Weights]
) -> Iterator[tuple[int, Buffer]]:
    """Return the activations that have a memory, each with its memory's number; add the weights to the list."""
    taken = Found()
    numbers: set[int] = set()
    for place, row in _rows(document, "buffers", report):
        id_ = _number(row, "id", place, report)
        if id_ in numbers:
            report.add(Code.DUPLICATE_ID, (*place, "id"), f"there is another buffer {id_}")
        numbers.add(id_)
        if row.get("is_param") is True:
            home, at, size = (row.get(field) for field in ("mpool_id", "offset_start", "size_bytes"))
            if (
                type(home) is type(at) is type(size) is int
                and home in memories
                and at >= 0
                and 0 < size <= MAX_ADDRESS - at
            ):
                weights.append(_Weights(home, at, at + size))
            continue
        number = _number(row, "mpool_id", place, report, NOWHERE)
        offset = _number(row, "offset_start", place, report, NOWHERE)
        if number == NOWHERE:
            continue
        epochs = row.get("epochs")
        epochs = epochs if isinstance(epochs, dict) else {}
        start = _number(epochs, "start", (*place, "epochs"), report, -MAX_TIME)
        end = _number(epochs, "end", (*place, "epochs"), report, -MAX_TIME)
        size, alignment = _number(row, "size_bytes", place, report), _number(row, "alignment", place, report)
        name = _name(row, taken, place, report)
        if number not in memories:
            report.add(Code.UNKNOWN_POOL, (*place, "mpool_id"), f"there is no memory {number}")
        elif end < start:
            text = f"the last epoch {end} comes before the first, {start}"
            report.add(Code.INTERVAL_REVERSED, (*place, "epochs"), text)
        else:
            flags = str(row.get("flags", "")).split("|")
            kind = next((KINDS[flag] for flag in flags if flag in KINDS), None)
            hint = None if offset == NOWHERE else offset
            yield number, Buffer(name, size, max(alignment, 1), live=((start, end + 1),), hint=hint, kind=kind)


def _name(row: dict[str, Any], taken: Found, place: Place, report: Report) -> str:
    """Return the object's name, unique in its list; otherwise "", with a finding."""
    name = row.get("name")
    if not isinstance(name, str) or not name:
        report.add(Code.WRONG_TYPE, (*place, "name"), "must be a name")
        return ""
    if name in taken:
        report.add(Code.DUPLICATE_ID, (*place, "name"), f"there is another {quoted(name)}")
    taken.of(name)
    return name


def _number(row: dict[str, Any], name: str, place: Place, report: Report, least: int = 0) -> int:
    """Return a whole number of the object; otherwise 0, with a finding."""
    value = row.get(name)
    if type(value) is int and least <= value <= min(MAX_ADDRESS, MAX_TIME - 1):
        return value
    code = Code.MISSING_FIELD if name not in row else Code.WRONG_TYPE if type(value) is not int else Code.OUT_OF_RANGE
    report.add(code, (*place, name), f"the field {quoted(name)} must be a whole number from {least} to 2^62")
    return 0

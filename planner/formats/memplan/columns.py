"""Columns of numpy in one file (.npz): problems in arrays, without text and without an object for each buffer.

The arrays are `size`, `start`, `end` and perhaps `alignment` and `id`, one entry per buffer, and of the memory `capacity`, a single number, and
`pool`, its name. The file may contain nothing else, and no array of objects, since reading one would run code.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...checks import sound_as_read
from ...checks.report import Place, Report, bad_input, quoted
from ...model.columns.buffers import buffer_columns
from ...model.deadline import look
from ...model.errors import MAX_FINDINGS, Code
from ...model.problem import DEFAULT_TERMS, MAX_ADDRESS, MAX_TIME, BufferId, Lifetimes, Pool, Problem, is_simple
from ..memories import in_one_memory, ties

if TYPE_CHECKING:
    from ..documents import Source

Column: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]

NEEDED = {"size": (0, MAX_ADDRESS), "start": (-MAX_TIME, MAX_TIME), "end": (-MAX_TIME, MAX_TIME)}
NUMBERS = NEEDED | {"alignment": (1, MAX_ADDRESS), "capacity": (0, MAX_ADDRESS)}
"""The range of each number."""
SINGLE = ("capacity", "pool")
"""What is said once, of the memory."""
KNOWN = (*NUMBERS, "id", "pool")
MOST_TIMES = 64
"""The most times its size that the file may expand to; higher compression indicates an attack."""
LEAST_ROOM = 1 << 16
LONGEST_ID = 256
HEADER = re.compile(
    rb"\x93NUMPY(?:\x01\x00..|\x02\x00....)\{'descr': '(?P<type>[<>|](?:[biufcmMO][0-9]{0,2}|[SUV][1-9][0-9]{0,5}))', "
    rb"'fortran_order': (?:False|True), 'shape': \((?P<shape>[0-9, ]{0,99})\), ?\} *\n",
    re.DOTALL,
)
"""The header of an array; numpy's own reader would need more of Python than is safe."""
SHAPE = re.compile(r"(?:([0-9]{1,15}),)?")
"""The shapes that can be read: those of a number and of a column."""


def looks_like(data: bytes) -> bool:
    """True if it begins like an archive of arrays."""
    return data[:4] == b"PK\3\4" and b".npy" in data[30:64]


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem. Raises BadInput."""
    columns = _columns(source.data)
    look("reading")
    for name in (name for name in NEEDED if name not in columns):
        raise bad_input(
            Code.MISSING_FIELD, (name,), f"there is no array {quoted(name)}; there are {', '.join(columns)}"
        )
    report = Report()
    for name in (name for name, column in columns.items() if name not in SINGLE and not column.ndim):
        text = "a column is wanted, with an entry for each buffer (an array of one dimension), not a single entry"
        report.add(Code.WRONG_TYPE, (name,), text)
    report.raise_if_any()
    count = len(columns["size"])
    for name, column in columns.items():
        _check(name, column, None if name in SINGLE else count, report)
    report.raise_if_any()
    early = np.flatnonzero(columns["end"] < columns["start"])
    for i in early[:MAX_FINDINGS].tolist():
        text = f"the end {columns['end'][i]} comes before the start {columns['start'][i]}"
        report.add(Code.INTERVAL_REVERSED, ("end", i), text)
    report.raise_if_any()
    ids: Sequence[BufferId] = range(count) if "id" not in columns else _texts(columns["id"], "id")
    look("reading")
    alignment = columns.get("alignment", np.ones(count, dtype=np.int64))
    numbers = (columns["size"], alignment, columns["start"], columns["end"])
    buffers = buffer_columns(ids, *(column.astype(np.int64) for column in numbers))
    (pool_name,) = _texts(columns["pool"].reshape(1), "pool") if "pool" in columns else ("default",)
    pool = Pool(str(pool_name), int(columns["capacity"][()]) if "capacity" in columns else None)
    return sound_as_read(Problem(buffers, (pool,), lifetimes=Lifetimes.HALF_OPEN)), ()


def write(problem: Problem) -> bytes:
    """Return the file, without hints, which are not binding. Raises BadInput for what columns cannot express."""
    problem = in_one_memory(problem)
    pool = problem.pools[0]
    lives = [buffer.live or () for buffer in problem.buffers]
    if not is_simple(problem) or pool.base or any(len(live) != 1 for live in lives):
        report = Report()
        for place, text in _more_than_columns(problem):
            report.add(Code.UNSUPPORTED, place, f"columns have {text}")
        report.raise_if_any()
    columns: dict[str, Any] = {
        "size": [buffer.size for buffer in problem.buffers],
        "start": [live[0][0] for live in lives],
        "end": [live[0][1] for live in lives],
        "alignment": [buffer.alignment for buffer in problem.buffers],
    }
    made = {name: np.array(column, dtype=np.int64) for name, column in columns.items()}
    if (made["alignment"] == 1).all():
        del made["alignment"]
    ids = [buffer.id for buffer in problem.buffers]
    if ids != list(range(len(ids))):
        made["id"] = _column_of(ids)
    if pool.size is not None:
        made["capacity"] = np.array(pool.size)
    if pool.name != "default":
        made["pool"] = np.array(pool.name)
    written = io.BytesIO()
    np.savez(written, allow_pickle=False, **made)
    return written.getvalue()


def _more_than_columns(problem: Problem) -> Iterator[tuple[Place, str]]:
    """Yield each place where the problem says what columns cannot, with what they have instead."""
    if len(problem.pools) > 1:
        yield ("pools",), "one memory only"
    if problem.terms != DEFAULT_TERMS or problem.was:
        yield ("objective",), "no objective: only the peak counts"
    for place, name in ties(problem):
        yield place, f"no {name}"
    for i, pool in enumerate(problem.pools):
        if pool.reserved or pool.base or pool.read_only or pool.cost != 1:
            yield ("pools", i), "nothing of a memory but its name, size and alignment"
    for i, buffer in enumerate(problem.buffers):
        if len(buffer.live or ()) != 1:
            yield ("buffers", i, "live"), "exactly one lifetime for each buffer"
        for name in ("fixed", "max_offset", "data", "device"):
            if getattr(buffer, name) is not None:
                yield ("buffers", i, name), f"no {name.replace('_', ' ')}"


def _columns(data: bytes) -> dict[str, Column]:
    """Return the arrays by name."""
    found: dict[str, Column] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > LEAST_ROOM + MOST_TIMES * len(data):
                text = f"unpacked it would be more than {MOST_TIMES} times as large; save it with numpy.savez"
                raise bad_input(Code.TOO_LARGE, ("bytes", 0), text)
            for member in members:
                name = member.filename.removesuffix(".npy")
                if name not in KNOWN or name in found:
                    text = f"the array {quoted(name)} is {'there twice' if name in found else 'not known'}; known are {', '.join(KNOWN)}"
                    raise bad_input(Code.UNKNOWN_FIELD, ("bytes", member.header_offset), text)
                if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    text = f"the array {quoted(name)} is packed in a way that numpy does not write"
                    raise bad_input(Code.UNREADABLE, ("bytes", member.header_offset), text)
                try:
                    found[name] = _array(archive.read(member), name)
                except (ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
                    text = f"the array {quoted(name)} cannot be read: {_sentence(error)}"
                    raise bad_input(Code.UNREADABLE, ("bytes", member.header_offset), text) from None
    except (zipfile.BadZipFile, ValueError, EOFError, OSError, RuntimeError, IndexError) as error:
        raise bad_input(Code.UNREADABLE, ("bytes", 0), f"is no .npz file: {_sentence(error)}") from None
    return found


def _array(member: bytes, name: str) -> Column:
    """Return one array in the form of numpy.lib.format. Raises ValueError, TypeError, and BadInput for one that is no column."""
    header = HEADER.match(member)
    if header is None:
        raise ValueError("it is no array of numbers or text, as numpy.savez writes them")
    dtype = np.dtype(header["type"].decode())
    if dtype.kind not in "iuU":
        raise bad_input(Code.WRONG_TYPE, (name,), _wrong_type(name, dtype))
    counts = SHAPE.fullmatch(header["shape"].decode())
    if counts is None:
        raise bad_input(Code.WRONG_TYPE, (name,), f"a column is wanted, and its shape is ({header['shape'].decode()})")
    shape = (int(counts[1]),) if counts[1] else ()
    count, here = math.prod(shape), len(member) - header.end()
    if count * dtype.itemsize != here:
        raise ValueError(f"{count} entries of {dtype.itemsize} bytes are announced, but there are {here} bytes")
    return np.frombuffer(member, dtype, count, header.end()).reshape(shape) if here else np.zeros(shape, dtype)


def _sentence(error: Exception) -> str:
    return quoted(str(error).split("\n", 1)[0])


def _wrong_type(name: str, dtype: np.dtype[Any]) -> str:
    wanted = {"pool": "text is", "id": "integers or text are"}.get(name, "integers are")
    return f"{wanted} wanted, not {dtype}"


def _check(name: str, column: Column, count: int | None, report: Report) -> None:
    """Check the array's type, length and range."""
    is_text = column.dtype.kind == "U"
    if is_text != (name in ("id", "pool")) and not (name == "id" and column.dtype.kind in "iu"):
        report.add(Code.WRONG_TYPE, (name,), _wrong_type(name, column.dtype))
        return
    if column.shape != (() if count is None else (count,)):
        wanted = "a single entry is wanted" if count is None else f"must have {count} entries, as many as size"
        report.add(Code.WRONG_TYPE, (name,), f"{wanted}, and its shape is {quoted(str(column.shape))}")
        return
    if name not in NUMBERS:
        return
    least, greatest = NUMBERS[name]
    for i in np.flatnonzero((column < least) | (column > greatest))[:MAX_FINDINGS].tolist():
        place: Place = (name,) if count is None else (name, i)
        value = int(column[()] if count is None else column[i])
        report.add(Code.OUT_OF_RANGE, place, f"{value} is out of range: it must be from {least} to {greatest}")


def _texts(column: Column, name: str) -> list[BufferId]:
    try:
        ids: list[BufferId] = column.tolist()
        if column.dtype.kind == "U":
            "".join(map(str, ids)).encode()
    except ValueError:  # an invalid code point, or half of a surrogate pair
        raise bad_input(Code.INVALID_VALUE, (name,), "must hold text") from None
    return ids


def _column_of(ids: list[BufferId]) -> Column:
    """Return ids as a column of numbers or names. Raises BadInput."""
    kinds = {type(id_) for id_ in ids}
    if len(kinds) > 1 or any(isinstance(id_, str) and len(id_) > LONGEST_ID for id_ in ids):
        text = f"ids that are all numbers can be written, or all names of {LONGEST_ID} characters at most"
        raise bad_input(Code.UNSUPPORTED, ("buffers",), text)
    return np.array(ids)

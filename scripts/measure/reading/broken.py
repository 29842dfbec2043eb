"""Reads files that are cut, flipped, spliced of two and made to claim too much, all in one process. Prints what comes of them.

python -m scripts.measure.reading.broken [--files 20000] [--seed 1] [--keep FOLDER] [FILE]...

They are made of every format's example, of a few kB of each format as programs write it, of plans in memplan's own formats, of the models that the
`onnx` package brings and makes (if it is installed), and of the FILEs. Each is read within a limit on time, and the memory that it takes is looked at. What ends in
anything but a problem or a refusal with its place, is slow or takes much memory is listed, and kept in FOLDER.
"""

from __future__ import annotations

import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from planner import BadInput, plan, share
from planner.formats import (
    FORMATS,
    read_frontier,
    read_plan,
    read_problem,
    read_shapes_plan,
    read_sharing,
    read_sweep,
    write_plan,
    write_sharing,
)
from scripts.measure.arguments import Arguments
from scripts.measure.reading.files import PLAIN
from scripts.measure.reading.memory import MIB
from scripts.measure.reading.onnx_cases import cases
from scripts.measure.spent import memory

SECONDS, BYTES_A_SECOND = 2, 1 << 18
"""What reading may take: so many seconds of the processor, and one more for so many bytes."""
TIMES, BESIDES = 16, 48 * MIB
"""The memory that reading may take: so many times the file's length, and so much besides."""
FINE = {"read", "refused"}
SPACE = 4 << 30
"""The addresses that the process may use; beyond them there is no memory."""
NUMBERS = (
    0,
    1,
    0x7F,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    (1 << 62) - 1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
)
DIGITS = b"0123456789"
SETTINGS = (
    "in_place",
    "alignment=64",
    "dim=n=4",
    "dim=N=1..16",
    "dim=size.0=3",
    "dim=x_0=3,dim=x_1=4",
    "like=tflm",
    "inclusive",
)
OTHERS: dict[str, Callable[[bytes], object]] = {
    "plan": read_plan,
    "sharing": read_sharing,
    "shapes plan": read_shapes_plan,
    "frontier": read_frontier,
    "sweep": read_sweep,
}
"""What reads memplan's answers."""


class TooLong(BaseException):
    """Reading has taken its time."""


def seeds(files: list[Path]) -> list[tuple[str, bytes]]:
    """What the files are made of, each with the format that it has."""
    found = [(name, row.document) for name, row in FORMATS.items()]
    found += [(name, PLAIN[name](3000)) for name in FORMATS]
    problem = read_problem(FORMATS["memplan"].document)[0]
    found += [("plan", write_plan(plan(problem))), ("sharing", write_sharing(share(problem)))]
    try:
        import onnx
    except ImportError:
        pass
    else:
        data = Path(onnx.__file__).parent / "backend" / "test" / "data"
        models = [
            *data.glob("light/*.onnx"),
            *data.glob("simple/*/model.onnx"),
            *data.glob("pytorch-operator/*/model.onnx"),
        ]
        found += [("onnx", path.read_bytes()) for path in sorted(models)]
        found += [("onnx", case.model.SerializeToString()) for case in cases()]
    for path in files:
        data_ = path.read_bytes()
        found += [(next((row.name for row in FORMATS.values() if path.name.endswith(row.endings)), "memplan"), data_)]
    return found


def broken(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """The file with one to six changes."""
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        at = chance.randrange(len(made) + 1)
        match chance.randrange(7):
            case 0:
                del made[at:]
            case 1 if at < len(made):
                made[at] ^= 1 << chance.randrange(8)
            case 2:  # spliced
                there = chance.randrange(len(other) + 1)
                made[at:] = other[there:]
            case 3:  # a stretch again and again
                made[at:at] = made[at : at + chance.randrange(1, 40)] * chance.choice((1, 3, 1000))
            case 4:  # a word says too much
                size = chance.choice((1, 2, 4, 8))
                number = chance.choice(NUMBERS) & ((1 << 8 * size) - 1)
                made[at : at + size] = number.to_bytes(size, chance.choice(("little", "big")))
            case 5:  # a number in text says too much
                places = [i for i in range(at, min(at + 400, len(made))) if made[i] in DIGITS]
                if places:
                    made[places[0] : places[0] + 1] = str(chance.choice((1, -1)) * chance.choice(NUMBERS)).encode()
            case _:
                made[at : at + chance.randrange(9)] = chance.randbytes(chance.randrange(9))
    return bytes(made)


def outcome(name: str, data: bytes) -> str:
    """What comes of reading it."""
    try:
        if name in OTHERS:
            OTHERS[name](data)
        else:
            read_problem(data, format=name)
    except BadInput as error:
        return "refused" if error.findings and error.findings[0].code else "refused without a code"
    except TooLong:
        return "slow"
    except Exception:  # noqa: BLE001  # whatever it is, it is counted
        traceback.print_exc(limit=-4)
        return "a traceback"
    return "read"


def late(_number: int, _frame: FrameType | None) -> None:
    raise TooLong


class Reading(NamedTuple):
    """What came of reading one file."""

    said: str
    seconds: float
    memory: int


def measured(name: str, data: bytes) -> Reading:
    """Read a file within its time, and look at the memory that this takes."""
    Path("/proc/self/clear_refs").write_text("5")
    before, begin = memory(), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS + len(data) / BYTES_A_SECOND)
    said = outcome(name, data)
    signal.setitimer(signal.ITIMER_PROF, 0)
    took, more = time.process_time() - begin, memory("VmHWM") - before
    if said in FINE and more > TIMES * len(data) + BESIDES:
        said = "much memory"
    return Reading(said, took, more)


def made_up(every: list[tuple[str, bytes]], chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield the formats of broken files, some with settings, and their bytes, without an end."""
    by_format: dict[str, list[bytes]] = {}
    for name, data in every:
        by_format.setdefault(name, []).append(data)
    while True:
        name = chance.choice(list(by_format))
        data = chance.choice(by_format[name])
        other = chance.choice(by_format[name] if chance.random() < 0.7 else chance.choice(every)[1:])
        data = broken(data, other, chance)
        if name in FORMATS and FORMATS[name].settings and chance.random() < 0.4:
            known = {setting.name for setting in FORMATS[name].settings}
            yield name + ":" + chance.choice([each for each in SETTINGS if each.partition("=")[0] in known]), data
        else:
            yield name, data


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("seeds", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    signal.signal(signal.SIGPROF, late)
    found: Counter[str] = Counter()
    slowest, most, worst = 0.0, 0, ""
    files = made_up(seeds(arguments.seeds), random.Random(arguments.seed))
    for i, (name, data) in enumerate(islice(files, arguments.files)):
        said, took, more = measured(name, data)
        found[said] += 1
        most = max(most, more)
        if took > slowest:
            slowest, worst = took, f"{name}, {len(data)} bytes"
        if said not in FINE:
            print(f"file {i}, {name}, {len(data)} bytes: {said}, {took:.2f} s, {more / MIB:.0f} MiB", flush=True)
            if arguments.keep:
                arguments.keep.mkdir(exist_ok=True)
                (arguments.keep / f"{i}-{name.replace(':', '_').replace('/', '_')}").write_bytes(data)
    print(", ".join(f"{count} {said}" for said, count in found.most_common()))
    print(
        f"slowest {slowest:.2f} s of the processor ({worst}); most memory for one {most / MIB:.0f} MiB; at the end {memory() / MIB:.0f} MiB"
    )
    sys.exit(0 if set(found) <= FINE else 1)


if __name__ == "__main__":
    main()

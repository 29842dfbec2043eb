"""Runs of TFLite Micro's interpreter, as a script in a process of its own: models on the standard input, findings as JSON on the standard output.

What the interpreter itself prints goes to the standard error, where it says how much of the arena it took. Nothing of memplan is imported here.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable

END = "\n--- end of the model ---\n"
"""Between what is printed of one model and of the next."""
MOST_PORTS = 1000
"""Inputs or outputs that are looked at."""


def main(arena: int, runs: int, lengths: list[int]) -> list[dict[str, object]]:
    """What came of each model."""
    found: list[dict[str, object]] = []
    for length in lengths:
        data = sys.stdin.buffer.read(length)
        try:
            found.append({"outputs": outputs(data, arena, runs)})
        except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked is told
            found.append({"error": f"{type(error).__name__}: {error}"})
        sys.stderr.write(END)
        sys.stderr.flush()
    return found


def outputs(data: bytes, arena: int, runs: int) -> list[list[str]]:
    """The digests of all outputs of each run, with inputs that are the same for models with the same inputs. Raises what the interpreter raises."""
    import numpy as np
    from tflite_micro.python.tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(data, arena_size=arena)
    chance = np.random.default_rng(0)
    digests = []
    for run in range(runs):
        for i in range(number_of(interpreter.get_input_details)):
            details = interpreter.get_input_details(i)
            shape, kind = tuple(details["shape"]), np.dtype(details["dtype"])
            interpreter.set_input(ramp(shape, kind) if run % 2 else value(chance, shape, kind), i)
        interpreter.invoke()
        found = [interpreter.get_output(i) for i in range(number_of(interpreter.get_output_details))]
        digests.append([hashlib.sha256(np.ascontiguousarray(each).tobytes()).hexdigest() for each in found])
    interpreter.print_allocations()
    return digests


def number_of(details: Callable[[int], object]) -> int:
    """How many inputs or outputs there are: the interpreter says so by refusing to tell of one more."""
    for number in range(MOST_PORTS):
        try:
            details(number)
        except (IndexError, RuntimeError, ValueError):
            return number
    return MOST_PORTS


def value(chance: object, shape: tuple[int, ...], kind: object) -> object:
    """Something to put in: of every kind of number the whole range, of real ones a small one."""
    import numpy as np

    assert isinstance(chance, np.random.Generator)
    assert isinstance(kind, np.dtype)
    if kind.kind == "b":
        return chance.integers(0, 2, shape).astype(kind)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return chance.integers(limits.min, limits.max, shape, kind, endpoint=True)
    return chance.standard_normal(shape).astype(kind)


def ramp(shape: tuple[int, ...], kind: object) -> object:
    """What rises slowly, again and again: where noise drowns in noise, this does not."""
    import numpy as np

    assert isinstance(kind, np.dtype)
    count = int(np.prod(shape, dtype=np.int64))
    return (np.arange(count) // 7 % (2 if kind.kind == "b" else 97)).reshape(shape).astype(kind)


if __name__ == "__main__":
    arena, runs, *lengths = map(int, sys.argv[1:])
    sys.stdout.write(json.dumps(main(arena, runs, lengths)))

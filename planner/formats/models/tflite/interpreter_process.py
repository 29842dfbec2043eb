"""Runs TFLite Micro's interpreter, as a script in a separate process: models on standard input, findings as JSON on standard output.

The interpreter's own messages, with the arena that it used, go to standard error. Nothing of memplan is imported here.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable

END = "\n--- end of the model ---\n"
"""Separates the messages about one model from the next."""
MOST_PORTS = 1000
"""The most inputs or outputs examined."""
RUNS = 3
"""Of each model, with other inputs each time."""


def main(arena: int, lengths: list[int]) -> list[dict[str, object]]:
    """Return the findings for each model."""
    found: list[dict[str, object]] = []
    for length in lengths:
        data = sys.stdin.buffer.read(length)
        try:
            found.append({"outputs": outputs(data, arena)})
        except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked is told
            found.append({"error": f"{type(error).__name__}: {error}"})
        sys.stderr.write(END)
        sys.stderr.flush()
    return found


def outputs(data: bytes, arena: int) -> list[list[str]]:
    """Return the digests of all outputs of each run, with inputs that are equal for models with the same inputs. Raises what the interpreter raises."""
    import numpy as np
    from tflite_micro.python.tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(data, arena_size=arena)
    chance = np.random.default_rng(0)
    digests = []
    for run in range(RUNS):
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
    """Return the number of inputs or outputs, which the interpreter reveals by refusing to describe one more."""
    for number in range(MOST_PORTS):
        try:
            details(number)
        except (IndexError, RuntimeError, ValueError):
            return number
    return MOST_PORTS


def value(chance: object, shape: tuple[int, ...], kind: object) -> object:
    """Return an input: for every kind of integer the whole range, for real numbers a small one."""
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
    """Return repeated slow ramps, which rounding noise does not hide as it hides noise."""
    import numpy as np

    assert isinstance(kind, np.dtype)
    count = int(np.prod(shape, dtype=np.int64))
    return (np.arange(count) // 7 % (2 if kind.kind == "b" else 97)).reshape(shape).astype(kind)


if __name__ == "__main__":
    arena, *lengths = map(int, sys.argv[1:])
    sys.stdout.write(json.dumps(main(arena, lengths)))

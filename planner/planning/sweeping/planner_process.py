"""A process that plans one problem after the other: requests on its standard input, plans on its standard output, both pickled by their parent's own program."""

from __future__ import annotations

import os
import pickle
import sys
from typing import IO, Any

LENGTH = 8
"""Bytes that say how long a message is."""


def send(stream: IO[bytes], message: object) -> None:
    """Write one message."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(LENGTH, "little") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message. Raises EOFError where there is none."""
    header = stream.read(LENGTH)
    if len(header) < LENGTH:
        raise EOFError
    return pickle.loads(stream.read(int.from_bytes(header, "little")))


def main() -> None:
    """Answer requests until there are none. What libraries print must not get among the answers."""
    from solvers.sandbox.parent_death import die_with

    from ...model.errors import PlannerError
    from ..placing.solving import plan

    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        if sys.platform == "linux":
            die_with(int(sys.argv[1]), lifeline=0)
        while True:
            try:
                problem, options = receive(sys.stdin.buffer)
            except EOFError:
                return
            try:
                answer: object = plan(problem, options)
            except PlannerError as error:
                answer = error
            send(answers, answer)

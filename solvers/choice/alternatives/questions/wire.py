"""Answers as JSON, from the process that answers to the one that asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....model.errors import SolverFailed, StopReason
from ..instance import Answer, Choices

NAME = "cpsat"


def write_answer(answer: Answer) -> dict[str, object]:
    return answer._asdict()


def read_answer(fields: Mapping[str, Any], choices: Choices) -> Answer:
    """Read an answer. Raises SolverFailed if it cannot be right: what comes from another process is checked before it counts."""
    try:
        choice, bound, stopped, work = (fields[name] for name in Answer._fields)
        answer = Answer(
            None if choice is None else tuple(choice),
            bound,
            None if stopped is None else StopReason(stopped),
            work,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SolverFailed(NAME, f"its answer is not a choice: {error}") from error
    if type(work) is not int or work < 0 or not (bound is None or type(bound) is int):
        raise SolverFailed(NAME, "its answer is not a number")
    if answer.choice is not None and not choices.has(answer.choice):
        raise SolverFailed(NAME, "it answered with a choice that there is not, or that the rules forbid")
    return answer

"""What a process of a sweep does: it plans one problem after the other."""

from __future__ import annotations

from collections.abc import Callable

from ...model.errors import PlannerError
from ...model.problem import Problem
from ...options.options import Options
from ..placing.solving import plan


def plan_request(request: tuple[Problem, Options], send: Callable[[object], None]) -> None:
    """Send the plan, or what is wrong with the request."""
    try:
        send(plan(*request))
    except PlannerError as error:
        send(error)

"""Searches for a few buffers that make a problem infeasible: a part that cannot be made smaller."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..facts.part import only
from ..model.problem import BufferId, Problem


def irreducible_subset(
    problem: Problem,
    fits: Callable[[Problem], bool | None],
    is_late: Callable[[], bool] = lambda: False,
    suspects: Sequence[BufferId] = (),
) -> tuple[tuple[BufferId, ...], bool]:
    """Return buffers of an infeasible problem that cannot be placed together, and whether the rest fits without any one of them.

    `fits` tells whether a part of the problem can be placed; None if unknown. `suspects` are tried first and used
    if they alone are infeasible; that is asked even if it `is_late`. Then the answer is the smallest set found so far.
    """
    current = [buffer.id for buffer in problem.buffers]
    chosen = set(suspects)
    if chosen and fits(only(problem, chosen)) is False:
        current = [id_ for id_ in current if id_ in chosen]
    needed, step, sure = 0, 1, True
    window, window_sure = 0, True
    while needed < len(current):  # everything before `needed` was shown to be necessary
        if window == 1:
            needed, step, window, sure = needed + 1, 1, 0, sure and window_sure
            continue
        if is_late():
            return tuple(current), False
        size = window // 2 if window else min(step, len(current) - needed)
        rest = current[:needed] + current[needed + size :]
        answer = fits(only(problem, rest)) if rest else True
        if answer is False:
            current = rest
            window, step = max(window - size, 0), 2 * step
        else:  # one of these is needed: find out which
            window, window_sure = size, answer is True
    return tuple(current), sure

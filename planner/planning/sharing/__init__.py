"""Storage objects instead of offsets: for runtimes that allocate whole objects and cannot place anything inside one.

The solvers are imported at the first call, so that plans of offsets do not wait for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.storage import Sharing

if TYPE_CHECKING:
    from ...model.problem import Problem
    from ..options.options import Options
    from ..placing.watching import Cancelled, OnLog, OnProgress
    from .findings import SharingFinding


def share(
    problem: Problem,
    options: Options | None = None,
    on_progress: OnProgress | None = None,
    cancelled: Cancelled | None = None,
    on_log: OnLog | None = None,
    begun: float | None = None,
    start: Sharing | None = None,
) -> Sharing:
    """Return a storage object for every buffer, the smallest sum of object sizes found, and what is proven about it.

    Takes and raises what planner.plan does; `start` is a known sharing. A problem with offsets or a choice of pools is refused as CannotSolve.
    """
    from ..placing.watching import Caller
    from .solving import find

    return find(problem, options, Caller(on_progress, cancelled, on_log), begun, start)


def verify_sharing(problem: Problem, sharing: Sharing) -> tuple[SharingFinding, ...]:
    """Return everything that is wrong with the sharing; empty if it may be trusted.

    Raises CannotSolve or BadInput for a problem whose buffers cannot share objects, for which no sharing can be right.
    """
    from .verify import verify

    return verify(problem, sharing)


__all__ = ["Sharing", "share", "verify_sharing"]

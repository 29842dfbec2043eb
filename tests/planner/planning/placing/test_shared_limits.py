"""Plans that share limits: which of an earlier run's are taken as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Options, plan
from planner.planning.placing.shared_limits import SharedLimits
from solvers.model.errors import StopReason
from tests.planner.planning.placing.test_starting import tangle


@pytest.mark.parametrize(("stop", "is_taken"), [(StopReason.WORK_LIMIT, True), (StopReason.CANCELLED, False)])
def test_a_known_plan_is_taken_unless_its_run_was_called_off(stop: StopReason, is_taken: bool) -> None:
    """A job that was put back while its last functions were planned in haste plans these again."""
    known = replace(plan(tangle(), Options(solver="greedy")), stop=stop, reproducible=False)
    limits = SharedLimits(Options(solver="greedy", time_limit=None), 1, None, None, [known])
    assert (limits.plan(tangle()) is known) is is_taken

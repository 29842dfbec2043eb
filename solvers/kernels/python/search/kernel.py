"""The kernel's entry point: arrays in; the best offsets, a bound and how it ended out."""

from __future__ import annotations

from ....model.instance import Ints
from ...columns import Columns
from ...interface import SearchReport
from ..input import check_input
from .building.build import build_model
from .building.given import from_columns
from .descent import Descent, End, Wish
from .watch import Stopped, Watch

WORK_PER_MICROSECOND = 512
"""Steps of work that the native search makes in about a microsecond; limits and totals are given in these microseconds."""


def search(
    sections: int,
    columns: Columns,
    bound: int,
    incumbent: int | None,
    fit: bool,
    seed: int,
    threads: int,
    work: int | None,
    max_pairs: int,
    report: SearchReport,
    active_threads: Ints | None = None,
) -> tuple[str, Ints | None, int, int, int]:
    """Searches one pool for the least peak: (how it ended, offsets or None, bound, nodes, work in approximate microseconds of the native search).

    report(offsets or None, bound) is called every few milliseconds and at every better placement; True stops the search. It runs in one thread.
    """
    check_input(sections, columns)
    given = from_columns(columns)
    watch = Watch(report, bound)
    try:
        model = build_model(given, max_pairs, watch)
    except Stopped:
        return End.STOPPED, None, bound, 0, 0
    wish = Wish(bound, incumbent, fit, seed, None if work is None else work * WORK_PER_MICROSECOND)
    descent = Descent(model, wish, watch)
    end = descent.run()
    return end, descent.offsets, descent.bound, descent.nodes, descent.work // WORK_PER_MICROSECOND

"""Memory maps of the interesting runs, each beside that of the best run of the same problem, as pictures within the page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ...drawing import MemoryMap, Sheet, memory_map, svg
from ...formats import read_problem
from ...model.errors import PlannerError
from ...planning.options.capacity import planned_problem
from ..results.kept_plans import KeptPlans
from ..results.records import Record
from ..results.worst import Why, Worst
from ..running.instances import File
from .figures import number, percent, seconds

EACH = 3
"""The problems drawn for each reason."""
SHEET = Sheet(width=640)

ABOUT_MAPS = (
    "A click on an instance leads to its map, where that is drawn: the plan "
    "of the run beside the best plan of the same problem, on the same scales."
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table row as pictures."""

    one: Worst
    pictures: tuple[tuple[str, bytes], ...]
    """The caption of each, and the picture."""


class Maps:
    """Draws kept plans of problems whose files are available."""

    def __init__(self, plans: KeptPlans, files: Sequence[File]) -> None:
        self._plans = plans
        self._files: Mapping[tuple[str, str], File] = {(file.name, file.sha256): file for file in files}

    def of(self, found: Sequence[Worst]) -> list[Drawn]:
        """Return some for each reason; no problem twice."""
        drawn: list[Drawn] = []
        seen: set[tuple[str, str]] = set()
        for why in Why:
            left = EACH
            for one in found:
                problem = (one.record.instance, one.record.sha256)
                if one.why is why and left and problem not in seen and (pictures := tuple(self._pictures(one))):
                    drawn.append(Drawn(one, pictures))
                    seen.add(problem)
                    left -= 1
        return drawn

    def _pictures(self, one: Worst) -> Iterator[tuple[str, bytes]]:
        runs = [one.record] if one.record.key == one.best.key else [one.record, one.best]
        maps = [(run, self._map(run)) for run in runs]
        there = [(run, drawn) for run, drawn in maps if drawn is not None]
        for run, drawn in there:
            yield _caption(run, one), svg(drawn, SHEET, [other for _, other in there])

    def _map(self, run: Record) -> MemoryMap | None:
        """Return the map; None if the plan was not kept, or the problem's file is gone."""
        file = self._files.get((run.instance, run.sha256))
        if file is None or (plan := self._plans.of(run)) is None:
            return None
        try:
            problem, _ = read_problem(file.path.read_bytes(), name=str(file.path))
            return memory_map(planned_problem(problem, run.capacity, None), plan)
        except (OSError, PlannerError):
            return None


def _caption(run: Record, one: Worst) -> str:
    is_best = run.key == one.best.key
    how = "the best" if is_best else f"{percent(one.behind)} behind the best"
    gap = f", {percent(one.gap)} above the best bound" if is_best and one.why is Why.OPEN else ""
    return f"{run.solver}, seed {run.seed}: {number(run.value)} after {seconds(run.seconds)}, {how}{gap}"


def anchor(one: Worst) -> str:
    """Return the anchor of its pictures."""
    return f"map-{one.record.key}"


def shown(drawn: Drawn) -> str:
    """Return this part of the page."""
    one = drawn.one
    figures = "".join(
        f'<figure><img alt="{escape(f"Memory map of {one.record.instance}: {caption}")}" '
        f'src="data:image/svg+xml;base64,{b64encode(picture).decode()}"><figcaption><small>{escape(caption)}</small></figcaption></figure>'
        for caption, picture in drawn.pictures
    )
    heading = f"<h3 id='{escape(anchor(one))}'>{escape(one.record.instance)} <small>{escape(str(one.why))}</small></h3>"
    return f"{heading}<div class='maps'>{figures}</div>"

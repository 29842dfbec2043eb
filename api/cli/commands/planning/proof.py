"""`--proof` of `memplan plan`: a proof of the plan's claims, found in the remaining time, and written whole or not at all."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import planner
from planner.model.plan import Plan
from planner.model.problem import Problem
from planner.planning.options.capacity import planned_problem
from planner.planning.options.options import Options
from planner.verifying.proving.prove import PlanProof, prove, require_provable

from ...terminal.output_file import OutputFile
from ...terminal.text import say

PACKED = ".gz"


class Proving:
    """A plan and its proof."""

    def __init__(self, file: str, options: Options) -> None:
        self._output, self._options = OutputFile(file), options
        self._found: PlanProof | None = None
        self.is_interrupted = False
        """True if the search for a proof was ended."""

    def check(self, *others: str | None) -> None:
        """Raise BadInput if the proof could not be written, or would replace another file."""
        self._output.check(*(file for file in others if file is not None))

    def plan(
        self, problem: Problem, options: Options, cancelled: Callable[[], bool], begun: float, **watching: Any
    ) -> Plan:
        """Plan as usual, then search for the proof. Raises BadInput and CannotSolve, before planning if there can be no proof."""
        planned = planned_problem(problem, options.capacity, options.prefer, options.stability, watching.get("start"))
        require_provable(planned)
        made = planner.plan(problem, options, cancelled=cancelled, begun=begun, **watching)
        end = None if options.time_limit is None else begun + options.time_limit

        def stopped() -> bool:
            return cancelled() or (end is not None and time.monotonic() >= end)

        self._found = prove(planned, made, stopped)
        self.is_interrupted = self._found.lines is None and cancelled()
        return made

    def write(self) -> bool:
        """Write the proof, or say why there is none: it was asked for, so that is an error, about which `--quiet` is not silent."""
        assert self._found is not None
        if self._found.lines is None:
            why = "interrupted before it was found" if self.is_interrupted else self._found.why_not
            say(f"no proof: {why}")
            return False
        pieces = self._found.pieces()
        self._output.write_pieces(_packed(pieces) if self._output.name.endswith(PACKED) else pieces)
        return True


def _packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Return it compressed by gzip, without a time."""
    packer = zlib.compressobj(wbits=31)
    yield from map(packer.compress, pieces)
    yield packer.flush()

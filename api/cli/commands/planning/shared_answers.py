"""The service's store of answers for plan-many: consulted before planning, and given the new plans."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

from planner.formats import read_plan
from planner.many.worker import WasRead
from planner.model.errors import BadInput, Code, Finding, PlannerError
from planner.planning.options.options import Options

from ....jobs.kinds.kind import answer_key
from ....jobs.kinds.plans import PlanKind, described
from ....jobs.requests.options import as_document
from ....process import logs
from ....settings import Settings
from ....store.opening import open_store, why
from ....store.protocol import StoreUnavailable
from ....store.records import ANYBODY, Kept, StoredPlan, Summary
from ...terminal.text import say

AT_ONCE = 64
"""The most answers written at once."""
SECONDS = 1.0
"""Others see them after this time at the latest."""


class SharedAnswers:
    """Answers to requests without a token, under the service's keys. If the store is lost, a message tells, and planning continues without it."""

    def __init__(self, url: str) -> None:
        """Raises BadInput if it cannot be opened. What the store logs, such as damage, goes to stderr, for people."""
        logs.configure("text", "warning")
        try:
            self._store = open_store(url)
        except StoreUnavailable as error:
            message = f"the store cannot be opened: {why(error)}"
            raise BadInput(Finding(Code.UNAVAILABLE, "/options/store", message)) from error
        self._unkept: list[Kept] = []
        self._kept_at = time.monotonic()
        self.is_lost = False

    def find(self, problem: WasRead, options: Options) -> bytes | None:
        if self.is_lost:
            return None
        try:
            found = self._store.kept(ANYBODY, key_of(problem, options))
        except StoreUnavailable as error:
            self._lose(error)
            return None
        return None if found is None else found.data

    def keep(self, problem: WasRead, options: Options, plan: bytes) -> None:
        if self.is_lost:
            return
        with suppress(PlannerError):
            header, _ = described(read_plan(plan))
            if header["lasting"]:
                summary = Summary(header["status"], header["stop"], header["best"], header["bound"], header["gap"])
                stored = StoredPlan(plan, header["etag"], summary, time.time())
                self._unkept.append(Kept(ANYBODY, key_of(problem, options), stored))
        if len(self._unkept) >= AT_ONCE or time.monotonic() - self._kept_at > SECONDS:
            self._write()

    def close(self) -> None:
        """Write what is not written yet, and close."""
        self._write()
        self._store.close()

    def _write(self) -> None:
        self._kept_at = time.monotonic()
        if self.is_lost or not self._unkept:
            return
        try:
            self._store.keep(self._unkept)
        except StoreUnavailable as error:
            self._lose(error)
        self._unkept = []

    def _lose(self, error: StoreUnavailable) -> None:
        self.is_lost = True
        say(f"warning: the store cannot be reached any more, going on without it: {why(error)}")


def as_the_service_has_them(options: Options) -> Options:
    """Return the options with the service's default limits, so that both mean the same."""
    return replace(options, memory_limit_bytes=options.memory_limit_bytes or Settings().max_solver_memory)


def key_of(problem: WasRead, options: Options) -> str:
    """Return the key of a request for that plan."""
    return answer_key(PlanKind.name, problem.digest, "", problem.listed, as_document(options), problem.warnings)

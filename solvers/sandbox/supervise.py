"""One run of a solver in a process of its own, seen from the caller's process."""

from __future__ import annotations

import time
from dataclasses import replace

from solvers.model.errors import StopReason
from solvers.model.instance import Instance
from solvers.model.outcome import Outcome
from solvers.model.registry import entry_of
from solvers.model.solver import Control, Task

from .child import Job
from .launcher import launcher
from .listening import Listening, cause_of_death, note_of_failure, reason_of_failure
from .messages import Crashed, Ended, Found, Message, Proven, Refused
from .referee import Contradiction, Referee
from .remote import Remote


def run(solver: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """The outcome of a solver that only runs in a process of its own.

    `solver` is a registered name or "module:Class". Placements and bounds go to `control` as they are found, each after a check. The child is killed,
    with all that it started, when the deadline passes or `control` says stop; what it has proven and found so far is the answer.
    """
    path = solver if ":" in solver else entry_of(solver).path
    module = path.partition(":")[0]
    supervision = Supervision(solver, instance, task, control)
    reason = supervision.reason_to_stop()
    if reason is not None:
        return supervision.referee.cut_short(reason)
    family = module if module.startswith("solvers.") else None
    remote = Remote(launcher, family, Job(path, instance, task))
    try:
        return supervision.watch(remote)
    finally:
        remote.close()


def shutdown() -> None:
    """Ends all processes of the sandbox; the next run starts new ones."""
    launcher.shutdown()


class Supervision:
    """Listens to one child and decides which of its claims count."""

    def __init__(self, name: str, instance: Instance, task: Task, control: Control) -> None:
        self._name = name
        self._task = task
        self._control = control
        self.referee = Referee(name, instance, task)

    def reason_to_stop(self) -> StopReason | None:
        deadline = self._task.limits.deadline
        if deadline is not None and time.monotonic() >= deadline:
            return StopReason.TIME_LIMIT
        return self._control.stopped()

    def watch(self, remote: Remote) -> Outcome:
        """Listens until there is an outcome, or a reason why there will be none."""
        listening = Listening(remote, self.reason_to_stop)
        for messages in listening:
            outcome = self._take(messages, listening.stop)
            self._relay_output(remote)
            if outcome is not None:
                return outcome
        return self._post_mortem(remote, listening.stop)

    def _take(self, messages: list[Message], stop: StopReason | None) -> Outcome | None:
        """Handles the child's messages; returns an outcome if one of them ends the run."""
        try:
            self._take_placements(messages)
            for message in messages:
                match message:
                    case Proven(bound):
                        if self.referee.proven(bound):
                            self._control.bound(bound)
                    case Ended(outcome):
                        return _with_reason(self.referee.ended(outcome), stop)
                    case Refused(error):
                        raise error
                    case Crashed(reason, out_of_memory):
                        return self._failed(reason, self._reason_for(out_of_memory=out_of_memory))
        except Contradiction as error:
            return self._failed(f"it answered with {error}", StopReason.SOLVER_FAILED, trusted=False)
        return None

    def _take_placements(self, messages: list[Message]) -> None:
        """Takes the newest valid placement, which is the best; older ones only count if newer ones are invalid."""
        fault: Contradiction | None = None
        for message in reversed(messages):
            if not isinstance(message, Found):
                continue
            try:
                if self.referee.placement(message.placement):
                    self._control.incumbent(message.placement)
                break
            except Contradiction as error:
                fault = error
        if fault is not None:
            raise fault

    def _post_mortem(self, remote: Remote, stop: StopReason | None) -> Outcome:
        """The outcome of a child that ended without an answer."""
        if stop is not None and remote.fault is None:
            return self.referee.cut_short(stop)
        why, out_of_memory = cause_of_death(remote)
        return self._failed(why, self._reason_for(out_of_memory=out_of_memory))

    def _reason_for(self, *, out_of_memory: bool) -> StopReason:
        return reason_of_failure(self._task.limits.memory_bytes, out_of_memory=out_of_memory)

    def _failed(self, why: str, stop: StopReason, *, trusted: bool = True) -> Outcome:
        lines = why.splitlines() or ["no reason was given"]
        for line in lines:
            self._control.log(f"{self._name}: {line}")
        return self.referee.cut_short(stop, notes=(note_of_failure(self._name, lines[-1]),), trusted=trusted)

    def _relay_output(self, remote: Remote) -> None:
        for line in remote.lines:
            self._control.log(line)
        remote.lines.clear()


def _with_reason(outcome: Outcome, stop: StopReason | None) -> Outcome:
    """The outcome with the reason to stop, which the child does not know."""
    if stop is None or outcome.stop is not StopReason.CANCELLED:
        return outcome
    return replace(outcome, stop=stop, reproducible=False)

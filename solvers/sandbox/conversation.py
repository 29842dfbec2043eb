"""Questions about one subject, answered by one child that keeps what it has built; if it breaks, the next question starts another."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from solvers.model.errors import StopReason
from solvers.model.solver import Control

from .child import Service
from .launcher import launcher
from .listening import Listening, cause_of_death, note_of_failure, reason_of_failure
from .messages import Crashed, Message, Refused, Said
from .remote import Remote


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a question."""

    fields: Mapping[str, Any] | None
    """None: there is no answer."""
    stop: StopReason | None = None
    """Why there is none, or why the child was asked to end with it."""
    fault: str | None = None
    """What broke the child, if it did not answer for that."""

    def reason(self, stopped: StopReason | None) -> StopReason | None:
        """Why the answer ended early; the child only knows that it was asked to."""
        return self.stop if stopped is StopReason.CANCELLED and self.stop is not None else stopped


class Conversation:
    """Questions to the service `answerer` (module:Class) about the subject. `name` marks its log lines; `family` preloads its library."""

    def __init__(
        self, name: str, family: str, answerer: str, subject: object, memory_bytes: int | None, control: Control
    ) -> None:
        self._name, self._family, self._control = name, family, control
        self._service = Service(answerer, subject, memory_bytes)
        self._remote: Remote | None = None

    def ask(self, question: Mapping[str, object], deadline: float | None) -> Reply:
        """The answer to a question, by the deadline. Raises Unsupported, Unavailable, SolverFailed."""
        asking = self.asking(question, deadline)
        while True:
            reply = next(asking)
            if reply is not None:
                return reply

    def asking(self, question: Mapping[str, object], deadline: float | None) -> Iterator[Reply | None]:
        """The answer step by step: None while there is no answer, so that several conversations can run side by side."""

        def reason_to_stop() -> StopReason | None:
            if deadline is not None and time.monotonic() >= deadline:
                return StopReason.TIME_LIMIT
            return self._control.stopped()

        reason = reason_to_stop()
        if reason is not None:
            yield Reply(None, reason)
            return
        if self._remote is None:
            self._remote = Remote(launcher, self._family, self._service)
        self._remote.say(pickle.dumps(question, protocol=pickle.HIGHEST_PROTOCOL))
        listening = Listening(self._remote, reason_to_stop)
        for messages in listening:
            reply = self._take(messages)
            if reply is not None:
                if listening.stop is not None:  # the child takes the stop to be about all questions
                    self.close()
                    reply = replace(reply, stop=reply.stop or listening.stop)
                yield reply
                return
            yield None
        if listening.stop is not None and self._remote.fault is None:
            self.close()
            yield Reply(None, listening.stop)
            return
        why, out_of_memory = cause_of_death(self._remote)
        yield self._failed(why, out_of_memory=out_of_memory)

    def close(self) -> None:
        """Ends the child."""
        if self._remote is not None:
            self._remote.close()
            self._remote = None

    def _take(self, messages: list[Message]) -> Reply | None:
        for message in messages:
            match message:
                case Said(fields):
                    return Reply(fields)
                case Refused(error):
                    self.close()
                    raise error
                case Crashed(reason, out_of_memory):
                    return self._failed(reason, out_of_memory=out_of_memory)
        return None

    def _failed(self, why: str, *, out_of_memory: bool) -> Reply:
        self.close()
        lines = why.splitlines() or ["no reason was given"]
        for line in lines:
            self._control.log(f"{self._name}: {line}")
        stop = reason_of_failure(self._service.memory_bytes, out_of_memory=out_of_memory)
        return Reply(None, stop, note_of_failure(self._name, lines[-1]))

"""One child answers several questions and remembers earlier ones; when it breaks, the reply has no answer."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from solvers.model.errors import SolverFailed, StopReason
from solvers.model.solver import Silent
from solvers.sandbox.conversation import Conversation, Reply

PATIENCE_SECONDS = 60.0
MEGABYTE = 1_000_000


class Stopping(Silent):
    """A control that stops for the reason that a test sets, and keeps the log's lines."""

    def __init__(self) -> None:
        super().__init__()
        self.reason: StopReason | None = None
        self.lines: list[str] = []

    def stopped(self) -> StopReason | None:
        return self.reason

    def log(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def control() -> Stopping:
    return Stopping()


@pytest.fixture
def talk(control: Stopping) -> Iterator[Conversation]:
    made = Conversation(
        "obedient", "solvers.exact.cpsat", "tests.faults.faulty_answerers:Obedient", [1, 2], 200 * MEGABYTE, control
    )
    yield made
    made.close()


def say(talk: Conversation, what: object = "x") -> Reply:
    return talk.ask({"do": "say", "what": what}, None)


def test_one_child_answers_all_questions(talk: Conversation) -> None:
    for number in (1, 2, 3):
        reply = say(talk, {"n": number, "big": "y" * 300_000})
        assert reply.fields is not None
        assert (reply.fields["number"], reply.fields["subject"]) == (number, [1, 2])
        assert reply.fields["words"]["n"] == number


def test_two_children_are_asked_side_by_side(talk: Conversation, control: Stopping) -> None:
    """Each of two children gives its own answers, whichever is first, and both go on."""
    other = Conversation(
        "obedient", "solvers.exact.cpsat", "tests.faults.faulty_answerers:Obedient", [3], None, control
    )
    try:
        for number in (1, 2):
            asking = [each.asking({"do": "say", "what": name}, None) for each, name in ((talk, "a"), (other, "b"))]
            replies: list[Reply | None] = [None, None]
            while None in replies:
                replies = [
                    next(steps) if reply is None else reply for steps, reply in zip(asking, replies, strict=True)
                ]
            fields = [reply.fields for reply in replies if reply is not None and reply.fields is not None]
            assert [(each["words"], each["subject"], each["number"]) for each in fields] == [
                ("a", [1, 2], number),
                ("b", [3], number),
            ]
    finally:
        other.close()


@pytest.mark.parametrize(
    ("order", "stop"),
    [
        ({"do": "die"}, StopReason.MEMORY_LIMIT),  # as the system kills a process that takes too much
        ({"do": "raise"}, StopReason.SOLVER_FAILED),
        ({"do": "eat", "bytes": 2_000 * MEGABYTE}, StopReason.MEMORY_LIMIT),
    ],
)
def test_after_a_broken_child_another_gets_the_next_question(
    talk: Conversation, control: Stopping, order: dict[str, object], stop: StopReason
) -> None:
    assert say(talk).fields is not None
    reply = talk.ask(order, None)
    assert reply == Reply(None, stop, reply.fault)
    assert reply.fault == "obedient ended early: " + control.lines[-1].removeprefix("obedient: ")
    assert control.lines
    reply = say(talk)
    assert reply.fields is not None
    assert reply.fields["number"] == 1


def test_a_refusal_is_raised(talk: Conversation) -> None:
    with pytest.raises(SolverFailed):
        talk.ask({"do": "refuse"}, None)
    assert say(talk).fields is not None


@pytest.mark.parametrize("order", ["hang", "wait"])
def test_the_deadline_holds_whatever_the_child_does(talk: Conversation, order: str) -> None:
    assert say(talk).fields is not None
    begun = time.monotonic()
    reply = talk.ask({"do": order}, begun + 0.3)
    assert time.monotonic() - begun < PATIENCE_SECONDS
    assert reply.stop is StopReason.TIME_LIMIT
    if reply.fields is not None:  # the child was in time with what it has, and only knows that it was asked to stop
        assert reply.fields == {"words": "stopped"}
        assert reply.reason(StopReason.CANCELLED) is StopReason.TIME_LIMIT
        assert reply.reason(StopReason.WORK_LIMIT) is StopReason.WORK_LIMIT
    assert say(talk).fields is not None
    assert talk.ask({"do": "say", "what": 1}, begun) == Reply(None, StopReason.TIME_LIMIT)


def test_the_caller_may_stop_a_question(talk: Conversation, control: Stopping) -> None:
    control.reason = StopReason.CANCELLED
    assert say(talk) == Reply(None, StopReason.CANCELLED)
    control.reason = None
    assert say(talk).fields is not None

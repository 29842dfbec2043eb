"""Messages arrive as they were sent, or are recognised as broken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.model.errors import StopReason, Unsupported
from solvers.model.instance import Placement, Term
from solvers.model.outcome import Certificate, Outcome, Proof
from solvers.sandbox.frames import HEADER, Unpacker, pack
from solvers.sandbox.messages import Crashed, Ended, Found, Message, Proven, Refused, encode
from solvers.sandbox.reading import Unreadable, decode

PLACEMENT = Placement(np.array([0, 1]), np.array([0, (1 << 62) - 1]))
OUTCOME = Outcome(
    stop=StopReason.WORK_LIMIT,
    placement=PLACEMENT,
    value=(7, 8),
    bound=(7,),
    pool_bounds=(1, 2),
    certificates=(
        Certificate(Proof.POOL_SHARING, 7, 1, 2, (3, 4), ((1, 2, 3, 4),), (((5, 6), 7, 8),), Term.REUSE_COST, "cpsat"),
        Certificate(Proof.SEARCH, 7),
    ),
    infeasible=False,
    solver="cpsat",
    work=5,
    reproducible=False,
    notes=("a note",),
)


def flat(message: Message) -> object:
    """Return the message with lists instead of arrays, so that it can be compared."""
    match message:
        case Found(placement):
            return placement.pool.tolist(), placement.offset.tolist()
        case Ended(outcome):
            fields = {name: getattr(outcome, name) for name in Outcome.__slots__}
            placement = fields.pop("placement")
            return fields, None if placement is None else flat(Found(placement))
        case Refused(error):
            return type(error), error.solver, error.reason
    return message


@pytest.mark.parametrize(
    "message",
    [
        Found(PLACEMENT),
        Proven((1, 1 << 70)),
        Ended(OUTCOME),
        Ended(Outcome(StopReason.PROVED, infeasible=True)),
        Refused(Unsupported("cpsat", "it is Tuesday")),
        Crashed("so it goes", out_of_memory=True),
    ],
)
def test_a_decoded_message_equals_the_encoded_one(message: Message) -> None:
    assert flat(decode(encode(message))) == flat(message)


@pytest.mark.parametrize(
    "payload",
    [
        b"", b"\xff", b"null", b"[]", b"{}", b'{"kind": "unheard of"}', b'{"kind": "found"}', b"[" * 100_000,
        b'{"kind": "found", "pool": [0], "offset": [0.5]}', b'{"kind": "found", "pool": [true], "offset": [0]}',
        b'{"kind": "found", "pool": [0], "offset": [4611686018427387904]}', b'{"kind": "found", "pool": [-1], "offset": [0]}',
        b'{"kind": "proven", "bound": 3}', b'{"kind": "proven", "bound": ["3"]}', b'{"kind": "proven", "bound": [1e400]}',
        b'{"kind": "refused", "error": "SystemExit", "solver": "x", "reason": "y"}', b'{"kind": "ended", "stop": "bored"}',
    ],
)  # fmt: skip
def test_broken_messages_are_recognised(payload: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(payload)


@given(st.lists(st.binary(max_size=50)), st.integers(1, 60))
def test_frames_are_read_however_they_arrive(payloads: list[bytes], step: int) -> None:
    stream = b"".join(pack(payload) for payload in payloads)
    unpacker = Unpacker()
    found = [p for at in range(0, len(stream), step) for p in unpacker.feed(stream[at : at + step])]
    assert found == payloads
    assert unpacker.fault is None


@given(st.binary(min_size=1, max_size=50), st.data())
def test_a_changed_bit_is_noticed(payload: bytes, data: st.DataObject) -> None:
    frame = bytearray(pack(b"before") + pack(payload))
    start = len(pack(b"before"))
    frame[data.draw(st.integers(start, len(frame) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    unpacker = Unpacker()
    # A changed length may make the unpacker wait for more bytes; whatever follows then shows the fault.
    found = unpacker.feed(bytes(frame))
    if unpacker.fault is None and len(found) == 1:
        length = HEADER.unpack_from(frame, start)[1]
        assert length > len(payload)
        return
    assert found == [b"before"]
    assert unpacker.fault is not None


def test_nothing_is_read_after_a_fault() -> None:
    unpacker = Unpacker()
    assert unpacker.feed(b"x" * HEADER.size + pack(b"late")) == []
    assert unpacker.fault is not None
    assert unpacker.feed(pack(b"later")) == []

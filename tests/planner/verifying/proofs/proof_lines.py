"""Proofs written down line by line, and what is said of them."""

from __future__ import annotations

from io import BufferedReader

import pytest

from planner import (
    BadProof,
    Buffer,
    Pool,
    Problem,
    check_proof,
)
from planner.facts.digest import digest
from planner.verifying.proofs.check import FORMAT

LIVE = ((0, 2),)


THREE = Problem(
    (Buffer("a", 4, live=((0, 2),)), Buffer("b", 3, live=((1, 3),)), Buffer("c", 5, live=((2, 4),))), (Pool("p"),)
)
"""Nothing below 8 bytes: b and c are live together."""


def proof_of(problem: Problem, height: int, *lines: str) -> bytes:
    return "\n".join((FORMAT, f"problem {digest(problem)}", f"refutes {height}", *lines, "")).encode()


def objection(problem: Problem, proof: bytes | BufferedReader) -> tuple[int, str]:
    """The line at which the proof is refused, and why."""
    with pytest.raises(BadProof) as caught:
        check_proof(problem, proof)
    (finding,) = caught.value.findings
    assert finding.pointer == (f"/line/{caught.value.line}" if caught.value.line else "")
    assert finding.code == "invalid_proof"
    return caught.value.line, finding.message

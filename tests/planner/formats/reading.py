"""Functions that read a document and return its errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.formats import read_problem
from planner.model.errors import MAX_ECHO, MAX_FINDINGS, BadInput
from planner.model.problem import BufferId, Problem
from tests.conftest import CORPUS


def corpus(pattern: str) -> list[Any]:
    """Return parameters for the corpus files that match, or one that skips if there is no such file."""
    others = {"problem.schema.json", "SUMMARY.csv", "MANIFEST.csv"}
    found = sorted(path for path in CORPUS.glob(pattern) if path.name not in others)
    if not found:
        return [pytest.param(CORPUS / pattern, marks=pytest.mark.skip(reason=f"no corpus file {pattern} in {CORPUS}"))]
    return [pytest.param(path, id=path.name) for path in found]


def encoded(document: Any) -> bytes:
    return document if isinstance(document, bytes) else json.dumps(document).encode()


def read(document: Any) -> Problem:
    return read_problem(encoded(document))[0]


def refusal(document: Any, **options: Any) -> BadInput:
    """Return the BadInput that reading the document raises, after checking its form."""
    with pytest.raises(BadInput) as caught:
        read_problem(encoded(document), **options)
    error = caught.value
    assert 1 <= len(error.findings) <= MAX_FINDINGS
    assert error.more == 0 or len(error.findings) == MAX_FINDINGS
    for finding in error.findings:
        assert len(finding.pointer) <= MAX_ECHO
        assert finding.pointer == "" or finding.pointer.startswith("/")
        assert finding.message
        assert len(finding.message) <= 2 * MAX_ECHO
        assert finding.message.isprintable()
        assert finding.pointer.isprintable()
        assert "pydantic" not in finding.message
    return error


def refused(document: Any, **options: Any) -> tuple[str, str, str]:
    """Return the code, the place and the sentence of the first finding."""
    finding = refusal(document, **options).findings[0]
    return finding.code.value, finding.pointer, finding.message


def wrong(document: Any, **options: Any) -> list[tuple[str, str]]:
    """Return codes and places of all listed findings."""
    return [(str(f.code), f.pointer) for f in refusal(document, **options).findings]


def lives(problem: Problem) -> dict[BufferId, Any]:
    """Return when each buffer is live."""
    return {buffer.id: buffer.live for buffer in problem.buffers}


def sizes(problem: Problem) -> dict[BufferId, int]:
    """Return the size of each buffer."""
    return {buffer.id: buffer.size for buffer in problem.buffers}


def problem(*buffers: dict[str, Any], **rest: Any) -> dict[str, Any]:
    """Return a memplan/1 document; buffers without live lists get one."""
    full = [{"size": 8, "live": [[0, 10]], **buffer} for buffer in buffers]
    return {"format": "memplan/1", "lifetimes": "half_open", "buffers": full, **rest}

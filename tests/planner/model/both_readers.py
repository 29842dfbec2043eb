"""Documents read in columns, and carefully in rows: both readers must give the same answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

from planner import write_problem
from planner.checks import check
from planner.facts.digest import digest
from planner.formats.documents import Source
from planner.formats.tables.problems import FORMATS
from planner.model.errors import BadInput
from planner.model.problem import Problem

MARKS = b'0123456789-+.,:[]{}"e \n\\\x00\xc3\xa9\xff'


def read(data: bytes) -> Problem | str:
    """Return the problem, or what is wrong with it."""
    try:
        found = FORMATS["memplan"].read(Source(data))[0]
    except BadInput as error:
        return str(error.findings)
    assert isinstance(found, Problem)
    return found


def check_both_readers(
    documents: Iterable[bytes], switch: Callable[[bool], None], is_in_columns: Callable[[Problem], bool]
) -> int:
    """Compare the answers to these documents and to spoilt ones; return how many problems were in columns."""
    chance, in_columns = random.Random(3), 0
    for document in documents:
        for each in _spoilt(document, chance):
            switch(False)
            carefully = read(each)
            switch(True)
            found = read(each)
            assert found == carefully, each
            if isinstance(found, Problem) and isinstance(carefully, Problem):
                assert write_problem(found) == write_problem(carefully)
                assert digest(found) == digest(carefully)
                assert check(found) == ()
                in_columns += is_in_columns(found)
    return in_columns


def _spoilt(data: bytes, chance: random.Random) -> Iterator[bytes]:
    """The document, and three times with a change at one place."""
    at, mark = chance.randrange(len(data)), bytes([chance.choice(MARKS)])
    yield data
    yield data[:at] + mark + data[at + 1 :]
    yield data[:at] + mark + data[at:]
    yield data[:at] + data[at + 2 :]

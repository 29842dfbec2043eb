"""What tests of choices share: whom to ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from solvers.choice.pools.questions.asking import Asking
from solvers.model.solver import Limits, Silent


@pytest.fixture
def asking() -> Iterator[Asking]:
    asked = Asking(Limits(), 0, Silent())
    yield asked
    asked.close()

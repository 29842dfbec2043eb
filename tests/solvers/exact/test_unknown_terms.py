"""A term of an objective that an exact solver does not know is refused: as an expression it would be nothing, and nothing is soon proven."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from solvers.exact.cpsat.program.objective import Costs
from solvers.exact.milp.program.terms import expression
from solvers.model.errors import Unsupported

MODEL: Any = SimpleNamespace(instance=SimpleNamespace(pools=(), penalties=(), was=None))
NEW: Any = "a_new_term"


def test_the_constraint_model_refuses_it() -> None:
    cover: Any = None
    with pytest.raises(Unsupported, match=NEW):
        Costs(MODEL, cover).term(NEW)


def test_the_integer_program_refuses_it() -> None:
    with pytest.raises(Unsupported, match=NEW):
        expression(MODEL, NEW)

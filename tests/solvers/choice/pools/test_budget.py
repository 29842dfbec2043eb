"""The table of shares holds what the steps read, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from solvers.choice.pools import budget

FOLDER = Path(budget.__file__).parent


def test_every_entry_is_read_by_a_step() -> None:
    steps = "".join(path.read_text("utf-8") for path in FOLDER.rglob("*.py") if path.name != "budget.py")
    entries = {name for name in vars(budget) if name.isupper()}
    assert set(re.findall(r"budget\.([A-Z_]+)", steps)) == entries


def test_no_entry_is_named_like_another() -> None:
    lines = ast.parse(Path(budget.__file__).read_text("utf-8")).body
    targets = [target for line in lines if isinstance(line, ast.Assign) for target in line.targets]
    names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    assert len(names) > 50
    assert len(names) == len(set(names))


def test_shares_are_parts_of_the_whole() -> None:
    shares = [value for value in vars(budget).values() if isinstance(value, budget.Share)]
    assert all(0 < share.part <= share.of for share in shares)

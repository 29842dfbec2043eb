"""No module of the package hides a function of the same name once it is imported."""

from __future__ import annotations

import pkgutil

import planner.formats


def test_no_function_shares_its_name_with_a_module() -> None:
    modules = {module.name for module in pkgutil.iter_modules(planner.formats.__path__)}
    assert modules
    assert not modules & set(planner.formats.__all__)

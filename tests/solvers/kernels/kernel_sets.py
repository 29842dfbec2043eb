"""The two sets of kernels, for tests that ask one or both."""

from __future__ import annotations

import pytest

from solvers.kernels import Kernels, Origin, active, selection
from solvers.kernels.selection import Wanted, select


def native() -> Kernels:
    """Skips the test where there are none."""
    found = select(Wanted.AUTO)
    if found.origin is not Origin.NATIVE:
        pytest.skip(f"no native kernels: {found.reason}")
    return found.kernels


def reference() -> Kernels:
    """Those in Python."""
    return select(Wanted.REFERENCE).kernels


def of_origin(origin: str) -> Kernels:
    """Those of this origin; skips the test where there are none."""
    return native() if origin == Origin.NATIVE else reference()


def where_native_run(why: str) -> pytest.MarkDecorator:
    """Skips the test where this process uses other kernels."""
    return pytest.mark.skipif(active().origin is not Origin.NATIVE, reason=f"native kernels are not in use: {why}")


def use_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, solvers that ask which kernels take an instance get those in Python."""
    monkeypatch.setattr(selection, "active", lambda: select(Wanted.REFERENCE))

"""Kernels for the tests of one way of improving placements."""

from __future__ import annotations

import pytest

from solvers.kernels import Kernels
from tests.solvers.kernels.kernel_sets import native, use_reference


@pytest.fixture
def kernel() -> Kernels:
    return native()


@pytest.fixture(params=["native", "reference"])
def each_kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test with each kernel."""
    if request.param == "native":
        native()
    else:
        use_reference(monkeypatch)

"""One service for all tests of the page, a browser for those of a file (it keeps an event loop busy, which others may want)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.http.served import Served, serving
from tests.web.browsing import CHROMIUM, Tabs, Visit, Visiting, browsing


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data"), workers="2") as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on the PATH")
    with browsing() as launched:
        yield launched


@pytest.fixture(scope="module")
def tabs(browser: Browser) -> Tabs:
    """Its pages, which tests use one after the other."""
    return Tabs(browser)


@pytest.fixture
def visiting(tabs: Tabs, service: Served) -> Iterator[Visiting]:
    """Opens pages; when the test ends, nothing may have gone wrong on them."""
    visits: list[Visit] = []

    def visit(address: str | None = None, **options: Any) -> Visit:
        visits.append(Visit(tabs, address or service.address, **options))
        return visits[-1]

    yield visit
    for each in visits:
        each.end()

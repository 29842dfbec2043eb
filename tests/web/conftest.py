"""One service and one browser for all tests of the page that a process runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.http.served import Served, serving
from tests.web.browsing import CHROMIUM, Tabs, Visit, Visiting, browsing


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data"), workers="2") as served:
        yield served


@pytest.fixture(scope="session")
def shared() -> Iterator[tuple[Tabs, asyncio.AbstractEventLoop]]:
    """The browser's tabs, which tests use one after the other, and Playwright's event loop."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on the PATH")
    with browsing() as launched:
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield Tabs(launched), loop
        asyncio._set_running_loop(loop)


@pytest.fixture(scope="module")
def tabs(shared: tuple[Tabs, asyncio.AbstractEventLoop]) -> Iterator[Tabs]:
    """The tabs for a file's tests; Playwright's loop is set only for them, as other tests have their own."""
    pages, loop = shared
    asyncio._set_running_loop(loop)
    yield pages
    asyncio._set_running_loop(None)


@pytest.fixture(scope="module")
def browser(tabs: Tabs) -> Browser:
    return tabs.browser


@pytest.fixture
def visiting(tabs: Tabs, service: Served) -> Iterator[Visiting]:
    """Begins visits; at the end of the test, nothing may have gone wrong on them."""
    visits: list[Visit] = []

    def visit(address: str | None = None, **options: Any) -> Visit:
        visits.append(Visit(tabs, address or service.address, **options))
        return visits[-1]

    yield visit
    for each in visits:
        each.end()


@pytest.fixture(scope="module")
def page(tabs: Tabs, service: Served) -> Iterator[Page]:
    """A page of the same origin on which nothing runs, for modules that tests call by themselves."""
    visit = Visit(tabs, service.address)
    yield visit.open("/web/page.css")
    visit.end()

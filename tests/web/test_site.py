"""The documentation site is complete, loads nothing from elsewhere, and works as memplan serves it."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn
import yaml
from fastapi import FastAPI
from playwright.sync_api import expect

from api.app import HANDLERS
from api.routes.pages import site as site_routes
from tests.running.processes import until
from tests.web.browsing import Visit, Visiting

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site, built with warnings as errors."""
    built = tmp_path_factory.mktemp("site") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(built)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return built


def test_every_page_is_on_the_site_and_in_its_menu(folder: Path) -> None:
    there = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("**/*.html")} - {"404"}
    written = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.glob("**/*.md")}
    assert there == written | {"index", "changelog"}
    menu = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    assert set(re.findall(r"([\w/-]+)\.md", str(menu))) == there


def test_the_site_loads_nothing_from_elsewhere(folder: Path) -> None:
    for page in folder.glob("**/*.html"):
        text = page.read_text("utf-8")
        loaded = re.findall(
            r"<(?:script|img|iframe|source|link|video|audio|embed)\b[^>]*?(?:src|srcset|href)=\"?([^\s\">]+)", text
        )
        assert loaded
        assert not [address for address in loaded if re.match(r"(https?:)?//", address)], page.name
        assert 'class="mermaid"' not in text
    for style in folder.glob("**/*.css"):
        addresses = re.findall(r"(?:url\(|@import )[\"']?([^\"')]+)", style.read_text("utf-8"))
        assert not [address for address in addresses if re.match(r"(https?:)?//", address)], style.name
    for script in folder.glob("**/*.js"):
        assert not re.search(r"unpkg|jsdelivr|cdnjs|googleapis|gstatic", script.read_text("utf-8")), script.name


def test_every_link_of_the_site_leads_somewhere(folder: Path) -> None:
    for page in folder.glob("**/*.html"):
        for address in re.findall(r"(?:href|src|srcset)=\"?([^\s\">#]+)", page.read_text("utf-8")):
            if not re.match(r"[a-z]+:", address) and address not in (".", "/.", "/"):
                start = folder if address.startswith("/") else page.parent
                assert (start / address.lstrip("/")).exists(), (page.name, address)


def test_the_site_is_small(folder: Path) -> None:
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 3_400_000


def test_code_keeps_its_lines_and_nothing_else_has_empty_ones(folder: Path) -> None:
    examples = 0
    for source in DOCS.glob("**/*.md"):
        text = (folder / source.relative_to(DOCS)).with_suffix(".html").read_text("utf-8")
        code = [html.unescape(re.sub(r"<[^>]*>", "", each)) for each in re.findall(r"<pre.*?</pre>", text, re.DOTALL)]
        for example in re.findall(r"^```\w*\n(.*?\n)```", source.read_text("utf-8"), re.DOTALL | re.MULTILINE):
            assert example in code, (source.name, example)
            examples += 1
        assert not re.search(r"\n\s", re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL)), source.name
    assert examples > 10


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[str]:
    """The address of a server with the routes by which `memplan serve` serves the site."""
    app = FastAPI(docs_url=None, redoc_url=None)
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    app.include_router(site_routes.router)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site_routes, "SITE", folder)
        thread = threading.Thread(target=server.run)
        thread.start()
        until(lambda: server.started)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        server.should_exit = True
        thread.join()


def test_every_file_is_served_and_no_other(folder: Path, served: str) -> None:
    with httpx.Client(base_url=served) as client:
        for path in (path for path in folder.rglob("*") if path.is_file()):
            answer = client.get(f"/docs/{path.relative_to(folder).as_posix()}")
            assert (answer.status_code, answer.content) == (200, path.read_bytes())
        assert client.get("/docs").headers["location"] == "docs/index.html"
        assert client.get("/docs/").content == (folder / "index.html").read_bytes()
        assert (
            client.get(
                "/docs/format.html", headers={"If-None-Match": client.get("/docs/format.html").headers["etag"]}
            ).status_code
            == 304
        )
        for name in ("nothing.html", "../page.py", "%2e%2e/page.py", "..%2f..%2fapp.py", "/etc/passwd", "pictures"):
            assert client.get(f"/docs/{name}").status_code == 404


def test_without_a_built_site_docs_lead_to_the_api(
    tmp_path: Path, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_routes, "SITE", tmp_path / "none")
    with httpx.Client(base_url=served) as client:
        assert client.get("/docs").headers["location"] == "docs/api"
        assert "./scripts/docs" in client.get("/docs/format.html").json()["detail"]


def test_the_site_works_under_its_policy(visiting: Visiting, served: str) -> None:
    visit: Visit = visiting(served)
    page = visit.open("/docs")
    expect(page.locator("h1").first).to_be_visible()
    page.locator("input[name=query]").click()
    expect(page.locator(".md-search-result__meta")).not_to_contain_text("Initializing")  # the search fetches its index
    page.locator("input[name=query]").press_sequentially("colocation")  # the search listens to keys
    expect(page.locator(".md-search-result__link").first).to_be_visible()
    page.locator(".md-search-result__link").first.click()
    expect(page).to_have_url(re.compile(r"/docs/[\w/-]+\.html"))
    assert page.evaluate("document.fonts.size") == 0

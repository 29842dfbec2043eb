"""The page works behind a proxy that serves it below a folder and compresses what it sends."""

from __future__ import annotations

import gzip
import http.client
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from tests.http.served import Served
from tests.web.browsing import Visiting, planned, until_planned

FOLDER = "/tools/memplan"
STAYS_BEHIND = ("connection", "content-length", "transfer-encoding", "date", "server")


class Proxy(BaseHTTPRequestHandler):
    """Passes requests below its folder on; compressed answers have weak tags, as with common proxies."""

    behind: ClassVar[str]
    asked: ClassVar[list[str]]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if not self.path.startswith(f"{FOLDER}/"):
            self.send_error(404)
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        line = http.client.HTTPConnection(self.behind)
        line.request(self.command, self.path.removeprefix(FOLDER), body or None, dict(self.headers))
        answer = line.getresponse()
        kind = answer.headers.get("Content-Type", "")
        is_packed = answer.status == 200 and "event-stream" not in kind and "gzip" in self.headers["Accept-Encoding"]
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in STAYS_BEHIND:
                self.send_header(name, f"W/{value}" if is_packed and name.lower() == "etag" else value)
        if is_packed:
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Vary", "Accept-Encoding")
        self.end_headers()
        if is_packed:
            self.wfile.write(gzip.compress(answer.read()))
        while some := answer.read1(65536):
            self.wfile.write(some)
        line.close()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def proxy(service: Served) -> Iterator[str]:
    """The address of a proxy before the service."""
    asked: list[str] = []
    kind = type("ProxyOfService", (Proxy,), {"behind": urlsplit(service.address).netloc, "asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield "http" + f"://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()
    assert [path for path in asked if not path.startswith(f"{FOLDER}/")] == []


def test_the_page_plans_behind_a_proxy_s_folder(visiting: Visiting, proxy: str) -> None:
    page = visiting(proxy).open(f"{FOLDER}/")
    planned(page)
    expect(page.locator("#jobs li").first).to_contain_text("three")
    page.locator("#first-steps button, #example option").first.wait_for(state="attached")
    page.reload()
    until_planned(page)
    page.goto(f"{proxy}{FOLDER}/docs/api")
    expect(page.locator("h1")).to_contain_text("memplan")
    expect(page.locator("header")).to_have_css("display", "flex")


def test_compressed_files_last_and_their_tags_are_known_again(proxy: str) -> None:
    with httpx.Client(base_url=proxy + FOLDER) as client:
        first = client.get("/")
        assert first.headers["content-encoding"] == "gzip"
        assert client.get("/", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
        named = re.findall(r'(?:src|href)="(web/[^"]+)"', first.text)
        assert len(named) == 4
        for address in named:
            assert client.get(f"/{address}").headers["cache-control"] == "public, max-age=31536000, immutable"
        assert client.get("/docs").headers["location"] in ("docs/api", "docs/index.html")

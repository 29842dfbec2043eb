"""In a real browser, pages of allowed origins may plan and read the answers, and pages of others may not."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.http.served import THREE, serving

TOKEN = "open sesame"
ASK = """async ([address, problem, token]) => {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}`, Prefer: "respond-async" };
  try {
    const answer = await fetch(`${address}/v1/plans`, { method: "POST", body: JSON.stringify(problem), headers });
    const job = await answer.json();
    if (!answer.ok) return job.code;
    const again = await fetch(address + answer.headers.get("Location"), { headers: { Authorization: headers.Authorization } });
    const stop = await fetch(address + job.links.self, { method: "DELETE", headers: { Authorization: headers.Authorization } });
    return [answer.status, again.status, (await again.json()).id === job.id, stop.ok, answer.headers.get("Preference-Applied")];
  } catch (error) {
    return error.name;
  }
}"""


class Page(BaseHTTPRequestHandler):
    """An empty page of another origin."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>elsewhere</title>")

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def origins() -> Iterator[list[str]]:
    """The addresses of two servers, each with a page of its own origin."""
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Page) for _ in range(2)]
    threads = [threading.Thread(target=server.serve_forever) for server in servers]
    for thread in threads:
        thread.start()
    yield ["http" + f"://127.0.0.1:{server.server_port}" for server in servers]
    for server, thread in zip(servers, threads, strict=True):
        server.shutdown()
        server.server_close()
        thread.join()


def test_pages_of_allowed_origins_plan_and_read_and_others_do_not(
    browser: Browser, origins: list[str], tmp_path: Path
) -> None:
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    allowed, other = origins
    with serving(tmp_path, allowed_origins=allowed, tokens=f"page={digest}") as service:

        def fetch_from(origin: str, token: str) -> Any:
            context = browser.new_context()
            page = context.new_page()
            page.goto(origin)
            found = page.evaluate(ASK, [service.address, THREE, token])
            context.close()
            return found

        assert fetch_from(allowed, TOKEN) == [202, 200, True, True, "respond-async"]
        assert fetch_from(allowed, "wrong") == "unauthorised", "refusals can be read, too"
        assert fetch_from(other, TOKEN) == "TypeError", "the browser keeps the answer from it"

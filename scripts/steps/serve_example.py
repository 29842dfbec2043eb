"""Starts the service, plans the example with it, prints the plan as tables and the address of the page, and serves until Ctrl-C.

With --once it ends after showing the plan. Other options go to `memplan serve`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO

import typer

from api.cli.terminal.standard_output import one_way_out
from api.cli.terminal.tables.plan import print_report
from planner.formats import read_plan, read_problem

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "keyword_spotting.json"
PLAN = ROOT / "out" / "keyword_spotting.plan.json"
ADDRESS = re.compile(r"memplan is served at (\S+)")
OPENER = urllib.request.build_opener(
    urllib.request.ProxyHandler({})
)  # the service is on this machine; a proxy would lead elsewhere
MEMPLAN = [sys.executable, "-m", "api.cli"]


def main(arguments: list[str]) -> int:
    once = "--once" in arguments
    options = [argument for argument in arguments if argument != "--once"]
    if "--port" not in options and not any(option.startswith("--port=") for option in options):
        options += ["--port", "0"]
    if "--data" not in options and not any(option.startswith("--data=") for option in options):
        options += ["--data", str(ROOT / "out" / "demo-data")]
    PLAN.parent.mkdir(exist_ok=True)
    environment = {"MEMPLAN_LOG_LEVEL": "warning", **os.environ}
    service = subprocess.Popen([*MEMPLAN, "serve", *options], stderr=subprocess.PIPE, text=True, env=environment)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        address = told_address(service)
        if address is None:
            return service.wait()
        show(address)
        if not once:
            print("Ctrl-C ends it.", flush=True)
            service.wait()
    except KeyboardInterrupt:
        print()
    except urllib.error.HTTPError as error:
        print(f"error: the service answers: {error}", file=sys.stderr)
        return 1
    finally:
        if service.poll() is None:
            service.terminate()
        service.wait()
    return 0


def told_address(service: subprocess.Popen[str]) -> str | None:
    """The address of the service; None if it could not start, after it has reported why. Its other output is passed on."""
    assert service.stderr is not None
    for line in service.stderr:
        if found := ADDRESS.search(line):
            threading.Thread(target=pass_on, args=(service.stderr,)).start()
            return found[1]
        sys.stderr.write(line)
    service.stderr.close()
    return None


def pass_on(lines: IO[str]) -> None:
    """Passes on output until the service ends."""
    with lines, contextlib.suppress(OSError):
        for line in lines:
            sys.stderr.write(line)


def show(address: str) -> None:
    """Has the example planned, and prints its plan and the page's address."""
    job = post_json(f"{address}/v1/jobs", EXAMPLE.read_bytes())
    with OPENER.open(f"{address}{job['links']['events']}") as events:
        events.read()  # the stream ends when the job is done
    with OPENER.open(f"{address}{job['links']['self']}/plan") as answer:
        PLAN.write_bytes(answer.read())
    problem, _warnings = read_problem(EXAMPLE.read_bytes())
    print_report(problem, read_plan(PLAN.read_bytes()), explain=False)
    print()
    print(f"Problem:  {EXAMPLE.relative_to(ROOT)}")
    print(f"Plan:     {PLAN.relative_to(ROOT)}")
    print(f"Page:     {address}/#{job['id']}")
    print(f"Command:  {os.path.relpath(sys.prefix, ROOT)}/bin/memplan --help", flush=True)


def post_json(url: str, body: bytes) -> dict[str, dict[str, str]]:
    """Posts JSON and returns the answer's JSON."""
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with OPENER.open(request) as answer:
        found: dict[str, dict[str, str]] = json.load(answer)
        return found


if __name__ == "__main__":
    try:
        with one_way_out():
            status = main(sys.argv[1:])
    except typer.Exit as end:  # the reader has left, as `head` does
        status = end.exit_code
    sys.exit(status)

"""./scripts/demo, without its set-up, plans the example, shows the plan and serves it until Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx

from api.cli.exit_codes import ExitCode

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "scripts/steps/serve_example.py"]
USUAL = {name: value for name, value in os.environ.items() if not name.startswith("MEMPLAN_")}
"""The environment without the variables of tests and CI: they are no settings, and a service warns about each."""
ENVIRONMENT = {**USUAL, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "MEMPLAN_WORKERS": "1"}


def test_the_demo_serves_the_plan_s_page_until_interrupted(tmp_path: Path) -> None:
    command = [*COMMAND, "--data", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as demo:
        try:
            page, job = _what_is_shown(demo)
            with httpx.Client(trust_env=False, timeout=60) as client:
                assert "<title>memplan</title>" in client.get(page).text
                assert client.get(f"{page}/v1/jobs/{job}").json()["status"] == "optimal"
        finally:
            demo.send_signal(signal.SIGINT)  # it would serve for ever
        assert demo.wait(120) == 0


def _what_is_shown(demo: subprocess.Popen[str]) -> tuple[str, str]:
    """Hold what the demo prints against the plan; return the page's address and the job."""
    assert demo.stdout is not None
    output = ""
    for line in demo.stdout:
        output += line
        if line.startswith("Ctrl-C"):
            break
    assert re.search(r"^optimal +keyword_spotting", output, re.MULTILINE)
    assert re.search(r"^audio_window +512 +16 512", output, re.MULTILINE)
    page, job = re.findall(r"Page: +(\S+)/#([0-9a-f]+)", output)[0]
    return page, job


def test_the_demo_can_end_by_itself_and_explains_a_failed_start(tmp_path: Path) -> None:
    command = [*COMMAND, "--once", "--data", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Page: " in done.stdout
    wrong = [*COMMAND, "--host", "0.0.0.0", "--data", str(tmp_path)]
    done = subprocess.run(wrong, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert "can be reached from other machines" in done.stderr


def test_the_demo_ends_quietly_if_its_reader_leaves(tmp_path: Path) -> None:
    command = [*COMMAND, "--data", str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as demo:
        assert demo.stdout is not None
        demo.stdout.close()
        try:
            _, errors = demo.communicate(timeout=300)
        finally:
            demo.kill()
    assert (demo.returncode, errors) == (ExitCode.READER_GONE, "")

"""Processes that read and solve load nothing of the web server or the store: what is not there cannot be reached from a hostile file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]


def test_a_worker_loads_no_web_server_and_no_database() -> None:
    code = (
        "import sys, api.jobs.processes.worker\n"
        "heavy = {'alembic', 'fastapi', 'sqlalchemy', 'starlette', 'uvicorn', 'ortools', 'pulp', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said == "[]\n"

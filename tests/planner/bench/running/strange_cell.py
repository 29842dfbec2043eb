"""A run that fails in a different way for each seed, for tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STRANGE = "tests.planner.bench.running.strange_cell:answered"


def answered(request: Mapping[str, Any]) -> bytes:
    match request["seed"]:
        case 1:
            sys.exit("all is lost")
        case 2:
            os.kill(os.getpid(), signal.SIGSEGV)
        case 3:
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            Path(request["path"] + ".child").write_text(str(child.pid))
            time.sleep(600)
        case 4:
            return b"I am no record"
        case 5:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)
    return json.dumps({"status": "unknown"}).encode()

"""A service that does what each question says and counts the questions. The sandbox's tests run it in a process of its own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from typing import Any

from solvers.model.errors import SolverFailed
from solvers.model.solver import Control

LONG = 60.0


class Obedient:
    """Made of a subject, which it repeats."""

    def __init__(self, subject: object) -> None:
        self._subject = subject
        self._asked = 0

    def answer(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        self._asked += 1
        match question["do"]:
            case "say":
                return {"subject": self._subject, "asked": self._asked, "said": question["what"]}
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "raise":
                raise ValueError("as I was told")
            case "refuse":
                raise SolverFailed("obedient", "as I was told")
            case "hang":
                time.sleep(LONG)
            case "wait":
                while control.stopped() is None:
                    time.sleep(0.005)
                return {"said": "stopped"}
            case "eat":
                return {"eaten": len(bytearray(question["bytes"]))}
        raise AssertionError("no such order")

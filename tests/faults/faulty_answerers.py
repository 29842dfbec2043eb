"""A service that does what each question orders and counts the questions; the sandbox's tests run it."""

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
    """Does what each question orders; its answers repeat the subject that it was made with."""

    def __init__(self, subject: object) -> None:
        self._subject = subject
        self._questions = 0

    def answer(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        self._questions += 1
        match question["do"]:
            case "say":
                return {"subject": self._subject, "number": self._questions, "words": question["what"]}
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
                return {"words": "stopped"}
            case "eat":
                return {"eaten": len(bytearray(question["bytes"]))}
        raise AssertionError("no such order")

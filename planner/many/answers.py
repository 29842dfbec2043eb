"""What plan-many must know of a place where answers are kept, its own and others'."""

from __future__ import annotations

from typing import Protocol

from ..options.options import Options
from .worker import WasRead


class Answers(Protocol):
    """Plans that were made, by the problem and the options that decide them. None of this fails: what cannot be had is planned."""

    def find(self, problem: WasRead, options: Options) -> bytes | None:
        """The plan as it was given out, if there is one."""
        ...

    def keep(self, problem: WasRead, options: Options, plan: bytes) -> None:
        """A plan for whoever asks for the same again, if it is one that lasts."""
        ...

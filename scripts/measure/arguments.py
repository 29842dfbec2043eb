"""What the scripts are told: options that several of them take, each said once."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

from planner import Options, Preference
from planner.planning.placing.pipeline import WORK_PER_SECOND

PRESETS = (Preference.SPEED, Preference.SIZE)
SEVERAL_MEMORIES = ("pools", "hot", "memories")
"""Kinds of generated problems."""


class Arguments(argparse.ArgumentParser):
    """A parser whose help is the script's docstring as it stands."""

    def __init__(self, docstring: str | None) -> None:
        super().__init__(description=docstring, formatter_class=argparse.RawDescriptionHelpFormatter)

    def add_seeds(self, count: int, first: int, of: str = "generated problems") -> None:
        """So many, from the first on: `seeds` of what was given."""
        self.add_argument("--seeds", type=int, default=count, help=f"how many {of} of each kind")
        self.add_argument("--first-seed", type=int, default=first)

    def add_buffers(self, *counts: int) -> None:
        self.add_argument("--buffers", type=int, nargs="+", default=counts, help="of each generated problem")

    def add_work(self, seconds: float) -> None:
        """The work that so many seconds allow: `by_work` of what was given."""
        self.add_argument("--seconds", type=float, default=seconds, help="whose work is allowed; no clock ends it")

    def add_several_memories(self, presets: tuple[Preference, ...] = PRESETS) -> None:
        """Problems with several memories, and what is preferred: `cases` of what was given, with `add_buffers`."""
        self.add_argument("--kinds", nargs="+", default=SEVERAL_MEMORIES)
        self.add_argument("--prefer", nargs="+", type=Preference, default=presets)


def seeds(given: argparse.Namespace) -> range:
    return range(given.first_seed, given.first_seed + given.seeds)


def by_work(seconds: float, workers: int | None = 1) -> Options:
    """Ended by the work of so many seconds and by nothing else: all but the seconds repeats exactly."""
    return Options(time_limit=None, work_limit=int(seconds * WORK_PER_SECOND), workers=workers)


def cases(given: argparse.Namespace) -> Iterator[tuple[str, int, Preference]]:
    """The kinds, numbers of buffers and presets that were asked for, each with each."""
    return product(given.kinds, given.buffers, given.prefer)

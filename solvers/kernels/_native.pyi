from collections.abc import Callable

from ..model.instance import Ints
from .columns import Columns

def max_live(starts: Ints, ends: Ints, weights: Ints, sections: int) -> tuple[int, int | None]: ...
def apart(starts: Ints, ends: Ints, pools: Ints, lows: Ints, highs: Ints) -> bool: ...
def greedy(
    sections: int,
    columns: Columns,
    start: Ints | None,
    enough: int | None,
    threads: int,
    report: Callable[[Ints | None], bool],
) -> Ints | None: ...
def greedy_order(sections: int, columns: Columns, number: int) -> Ints: ...
def greedy_place(sections: int, columns: Columns, order: Ints, best_fit: bool) -> Ints | None: ...
def improve(
    sections: int,
    columns: Columns,
    start: Ints,
    enough: int,
    seed: int,
    work: int,
    report: Callable[[Ints | None], bool],
) -> tuple[Ints, int]: ...
def beam(
    sections: int,
    columns: Columns,
    start: Ints,
    enough: int,
    seed: int,
    work: int,
    report: Callable[[Ints | None], bool],
) -> tuple[Ints, int]: ...

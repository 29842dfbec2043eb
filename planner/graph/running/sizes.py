"""How long a run may be: its operators, and how often they use tensors, each as often as it is run. A dozen functions can make billions."""

from __future__ import annotations

from ...checks.report import bad_input
from ...model.deadline import PREPARING, look
from ...model.errors import BadInput, Code
from ..columns import names_of, operand_count, operator_forms
from ..program import Program
from .nodes import Cycle, Fork, Listing, Node, Run

MANY_TICKS = 1 << 17
"""The most ticks of all entries together, with functions counted once per run; longer programs are accepted only from files that long."""
MANY_USES, TIMES = 1 << 19, 4
"""The most reads, writes and hand-overs of tensors in all entries together, each counted once per run and for every name that the tensor has by then;
and the most for each operand in the program, if it has many.
"""
MANY_LETTERS = 1 << 23
"""The most letters of the names of all that runs, each counted once per run; and TIMES those in the program, if these are many."""
LOOK_EVERY = 1 << 14
"""Uses between two looks at the clock."""


def require_short(program: Program, listing: Listing) -> None:
    """Count the ticks, without running it. Raises BadInput if there are too many."""
    count = _Ticks(listing)
    total = sum(count.of_function(name) + 1 for name in program.entries)
    most = max(MANY_TICKS, 2 * sum(len(function.operators) for function in program.functions))
    if total > most:
        text = f"a run comes by {total} operators, those of a function as often as it is run; at most are {most}"
        # the innermost function that is too long by itself; if none is, the longest
        runs = {name: count.of_function(name) for name in listing.nodes}
        blamed = min((n for n in runs.items() if n[1] > most), key=lambda n: n[1], default=None)
        name = blamed[0] if blamed else max(runs, key=lambda name: runs[name])
        place = next(f for f, function in enumerate(program.functions) if function.name == name)
        raise bad_input(Code.TOO_LARGE, ("functions", place), text)


class _Ticks:
    """Counts the ticks of a run."""

    def __init__(self, listing: Listing) -> None:
        self._nodes = listing.nodes
        self._known: dict[str, int] = {}

    def of_function(self, name: str) -> int:
        if name not in self._known:
            nodes = self._nodes[name]
            self._known[name] = len(nodes) - len(nodes.others) + sum(map(self._of, nodes.others.values()))
        return self._known[name]

    def _of(self, node: Node) -> int:
        match node:
            case Run():
                # a function that does nothing still runs
                return max(self.of_function(node.function) + bool(node.given_back), 1)
            case Fork():
                return 1 + sum(map(self._of, node.arms))
            case Cycle():
                question = 0 if node.question is None else self._of(node.question) + 1
                return bool(node.enter) + question + self._of(node.turn) + bool(node.again)
            case _:
                return 1


class Uses:
    """Counts how often a run uses tensors, as it goes."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._most = max(MANY_USES, TIMES * _written_down(listing))
        self._most_letters = MANY_LETTERS
        self._handed = self._letters = 0
        self._next_look = LOOK_EVERY

    def name(self, text: str) -> None:
        """Count the name of what runs. Raises BadInput if names are too long for how often they run."""
        self._letters += len(text)
        if self._letters > self._most_letters:
            self._most_letters = max(MANY_LETTERS, TIMES * _letters(self._listing))
            if self._letters > self._most_letters:
                text = f"the names of what runs have more than {self._most_letters} letters, those of a function as often as it is run"
                raise _too_large(text)

    def hand_over(self, count: int) -> None:
        """Count tensors that a function is handed."""
        self._handed += count

    def require_few(self, noted: int) -> None:
        """Raise BadInput if this many reads and writes, and what was handed over, are too many; look at the clock now and then."""
        count = noted + self._handed
        if count > self._next_look:
            self._next_look = count + LOOK_EVERY
            look(PREPARING)
            if count > self._most:
                text = f"a run uses tensors more than {self._most} times, those of a function as often as it is run"
                raise _too_large(text)


def _written_down(listing: Listing) -> int:
    """Return how often the program itself names tensors."""
    count = 0
    for function in listing.functions.values():
        count += operand_count(function.operators) + len(function.inputs) + len(function.outputs)
        count += sum(len(form.workspaces) for form in operator_forms(function.operators))
    return count


def _letters(listing: Listing) -> int:
    """Return how many letters the names of operators have."""
    return sum(len(name or "") for function in listing.functions.values() for name in names_of(function.operators))


def _too_large(text: str) -> BadInput:
    return bad_input(Code.TOO_LARGE, ("functions",), text)

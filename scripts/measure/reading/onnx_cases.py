"""Which of the models that the `onnx` package makes for its own tests can be read, and why not the others. Prints Markdown tables.

python -m scripts.measure.reading.onnx_cases
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from typing import Any

import numpy as np

from planner import Problem
from planner.formats import read_problem
from planner.model.errors import BadInput

SAID = 4
"""The value of a dim that the case's arrays do not give."""
ASKED = re.compile(r"give dim (\S+)=4\b")
NUMBER = re.compile(r"(.*)\.(\d+)")
"""A number of an input."""
NAME = re.compile("'[^']*'")
STANDS, TOLD = "as it stands", "with what is asked for said"


def cases() -> list[Any]:
    """The cases that have a model, for operators and for functions made of them."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings(action="ignore"):  # numpy's, of the cases' own numbers
        node.collect_testcases()
    return [case for case in node._NodeTestCases if case.model is not None]


def outcome(case: Any, *, with_dims: bool) -> tuple[Problem, tuple[str, ...]] | BadInput:
    """The problem and its warnings, or why it cannot be read. With `with_dims`, the reader is given the dims that it asks for."""
    data, dims = case.model.SerializeToString(), list[str]()
    while True:
        try:
            return read_problem(data, format=f"onnx:{','.join(f'dim={each}' for each in dims)}")
        except BadInput as error:
            asked = ASKED.search(error.findings[0].message)
            if not with_dims or asked is None or any(each.startswith(f"{asked[1]}=") for each in dims):
                return error
            dims.append(f"{asked[1]}={dim_of(case, asked[1])}")


def dim_of(case: Any, name: str) -> int:
    """The value of this dim in the case's own arrays: turns, a number of an input, the length of a sequence, a dimension; otherwise SAID."""
    if name.endswith("_turns"):  # the first input of a loop
        return int(case.data_sets[0][0][0])
    given = dict(
        zip(
            (each.name for each in case.model.graph.input), case.data_sets[0][0] if case.data_sets else [], strict=False
        )
    )
    number = NUMBER.fullmatch(name)
    if number and number[1] in given:
        return int(np.ravel(given[number[1]])[int(number[2])])
    if isinstance(given.get(name), list):
        return len(given[name])
    whole, _, axis = name.rpartition("_")
    if isinstance(given.get(whole), list):
        shapes = [np.shape(each) for each in given[whole]]
        return int(max(shape[int(axis)] for shape in shapes))
    return SAID


def main() -> None:
    read: Counter[str] = Counter()
    reasons: dict[str, list[str]] = {}
    every = cases()
    for case in every:
        how = STANDS
        if isinstance(outcome(case, with_dims=False), BadInput):
            last = outcome(case, with_dims=True)
            how = "refused" if isinstance(last, BadInput) else TOLD
            if isinstance(last, BadInput):
                reasons.setdefault(NAME.sub("…", last.findings[0].message), []).append(case.name)
        read[how] += 1
    print("| read | cases |\n|---|---|")
    for how in (STANDS, TOLD, "refused"):
        print(f"| {how} | {read[how]} |")
    print(f"| all | {len(every)} |\n\n| why not | cases | such as |\n|---|---|---|")
    for text, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"| {text} | {len(names)} | {names[0]} |")


if __name__ == "__main__":
    main()

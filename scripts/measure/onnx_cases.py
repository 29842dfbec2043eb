"""Which of the models that the `onnx` package makes for its own tests are read, and why not the others. Prints Markdown tables.

python -m scripts.measure.onnx_cases
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from typing import Any

import numpy as np

from planner.formats import read_problem
from planner.model.errors import BadInput

MOST = 64
"""Numbers of an input that is given as a constant."""
SAID = 4
"""What a dimension is, where the reader asks for it."""
ASKED = re.compile(r"give dim (\S+)=4\b")
NAME = re.compile("'[^']*'")
STANDS, TOLD, CONSTANT = "as it stands", "with the dimensions said that are asked for", "with small inputs as constants"


def cases() -> list[Any]:
    """Those that have a model, of operators as of functions made of them."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings(action="ignore"):  # numpy's, of the cases' own numbers
        node.collect_testcases()
    return [case for case in node._NodeTestCases if case.model is not None]


def refusal(model: Any, *, told: bool) -> BadInput | None:
    """Why it is not read; None if it is. With `told`, whatever dimension the reader asks for is said."""
    dims: list[str] = []
    while True:
        try:
            read_problem(model.SerializeToString(), format=f"onnx:{','.join(f'dim={each}' for each in dims)}")
        except BadInput as error:
            asked = ASKED.search(error.findings[0].message)
            if not told or asked is None or f"{asked[1]}={SAID}" in dims:
                return error
            dims.append(f"{asked[1]}={SAID}")
        else:
            return None


def with_constants(case: Any) -> Any:
    """The model with inputs of at most MOST numbers as constants; the first input stays, so that there is something to compute."""
    import onnx

    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    given = case.data_sets[0][0] if case.data_sets else []
    for said, value in list(zip(model.graph.input, given, strict=False))[1:]:
        if isinstance(value, np.ndarray) and value.size <= MOST and value.dtype.kind in "biuf":
            model.graph.initializer.append(onnx.numpy_helper.from_array(value, said.name))
    return model


def main() -> None:
    read: Counter[str] = Counter()
    reasons: dict[str, list[str]] = {}
    every = cases()
    for case in every:
        error = refusal(case.model, told=False)
        how = STANDS
        if error is not None and refusal(case.model, told=True) is None:
            how = TOLD
        elif error is not None:
            last = refusal(with_constants(case), told=True)
            how = CONSTANT if last is None else "refused"
            if last is not None:
                reasons.setdefault(NAME.sub("…", last.findings[0].message), []).append(case.name)
        read[how] += 1
    print("| read | cases |\n|---|---|")
    for how in (STANDS, TOLD, CONSTANT, "refused"):
        print(f"| {how} | {read[how]} |")
    print(f"| all | {len(every)} |\n\n| why not | cases | such as |\n|---|---|---|")
    for text, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"| {text} | {len(names)} | {names[0]} |")


if __name__ == "__main__":
    main()

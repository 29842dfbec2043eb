"""Plans within answers of several, or in files that these name."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...checks.report import bad_input, pointer
from ...model.errors import BadInput, Code
from ...model.plan import Plan
from ..json.scan import scan


def plan_of_answer(said: Any, place: tuple[str | int, ...], read_file: Callable[[str], bytes] | None = None) -> Plan:
    """The plan that stands at that place of an answer, or in the file that is named there: `read_file` gives its bytes. Raises BadInput."""
    from .plan_reader import read_plan_json  # brings pydantic, which whoever writes does without

    try:
        if isinstance(said, str) and read_file is not None:
            data = read_file(said)
        elif isinstance(said, dict):
            data = json.dumps(said).encode("ascii")
        else:
            raise bad_input(Code.WRONG_TYPE, (), "must be a plan; where it is in a file, only the command can read it")
        return read_plan_json(data, scan(data))
    except BadInput as error:
        there = f"{said}: " if isinstance(said, str) else ""
        findings = (
            replace(each, pointer=pointer(place) + each.pointer, message=there + each.message)
            for each in error.findings
        )
        raise BadInput(*findings, more=error.more) from None

"""Under which key an answer is kept: equal for whoever must get an equal answer, through whichever door."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from planner.model.problem import Pair
from planner.model.versions import versions
from solvers.model.registry import SOLVERS


def answer_key(
    kind: str,
    digest: str,
    identity: Any,
    listed: Sequence[Pair],
    options: Mapping[str, Any],
    notes: Sequence[str],
) -> str:
    """Of the problem, the options and versions that count, and what is said besides."""
    counting = {name: value for name, value in options.items() if name != "workers"}
    content = [kind, digest, identity, listed, counting, notes, all_versions()]
    return hashlib.sha256(json.dumps(content, allow_nan=False).encode("ascii")).hexdigest()


@cache
def all_versions() -> dict[str, str]:
    """Of everything that may have a part in a plan."""
    return versions(SOLVERS)

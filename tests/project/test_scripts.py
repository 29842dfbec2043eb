"""What the scripts name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [
    ROOT / ".ci/run",
    *(path for path in (ROOT / "scripts").iterdir() if path.suffix in ("", ".sh") and path.is_file()),
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_path_among_the_tests_that_it_names_exists(script: Path) -> None:
    named = set(
        re.findall(
            r"(?<![\w./])tests/[\w{][\w./{},-]*", re.sub(r"^\s*#.*", "", script.read_text("utf-8"), flags=re.MULTILINE)
        )
    )
    assert {path for path in named if not (ROOT / path).exists()} == set()

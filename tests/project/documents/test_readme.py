"""The README's commands give the output that it shows."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.running.command import run

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()
HOW_IT_WORKS = (ROOT / "docs" / "how-it-works.md").read_text()


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= 900


def steady(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the plan without the field that differs between runs."""
    return {key: value for key, value in plan.items() if key != "run"}


def test_the_example_is_the_file_that_ships() -> None:
    assert json.loads(blocks("json")[0]) == json.loads((ROOT / "examples" / "three.json").read_text())


def test_the_plan_shown_by_fields_equals_the_command_s_output() -> None:
    printed = run("plan", "examples/three.json", cwd=ROOT).stdout
    assert steady(json.loads(blocks("json", HOW_IT_WORKS)[0])) == steady(json.loads(printed))


def test_the_library_example_prints_the_stated_result() -> None:
    (code,) = blocks("python")
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    assert f"prints `{printed.strip()}`" in README


def test_every_shown_command_works_in_the_order_shown(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = re.findall(r"^    memplan (.*?)(?:  +#.*)?$", README, re.MULTILINE)
    assert len(commands) >= 8
    for command in commands:
        done = run(*command.split(), cwd=tmp_path)
        assert done.returncode == 0, (command, done.stderr)


def test_every_linked_file_exists() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target

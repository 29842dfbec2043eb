"""What the README shows is what happens."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def steady(plan: dict[str, Any]) -> dict[str, Any]:
    """Without what differs between machines and runs."""
    return {key: value for key, value in plan.items() if key != "run"}


def test_the_example_is_the_file_that_ships() -> None:
    assert json.loads(blocks("json")[0]) == json.loads((ROOT / "examples" / "three.json").read_text())


def test_the_plan_is_what_the_command_prints() -> None:
    command = [sys.executable, "-m", "api.cli", "plan", "examples/three.json"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    assert steady(json.loads(blocks("json")[1])) == steady(json.loads(printed))


def test_the_library_example_prints_what_it_says() -> None:
    (code,) = blocks("python")
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    assert f"prints `{printed.strip()}`" in README


@pytest.mark.parametrize("command", sorted(set(re.findall(r"^    memplan ([a-z-]+)", README, re.MULTILINE))))
def test_every_command_it_lists_exists(command: str) -> None:
    done = subprocess.run([sys.executable, "-m", "api.cli", command, "--help"], capture_output=True, check=False)
    assert done.returncode == 0


def test_every_file_it_links_to_exists() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target

"""`import memplan` gives what `import planner` gives, under the distribution's own name."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import version
from inspect import unwrap
from pathlib import Path
from types import ModuleType

import pytest

import memplan
import planner
import planner.formats

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    "bench": "bench",
    "cascades": "graph.cascades",
    "formats": "formats",
    "generate": "generate",
    "graph": "graph",
    "shapes": "planning.shapes",
}
"""The modules of memplan, and the modules of planner that they stand for."""


def run(*arguments: str) -> bytes:
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


@pytest.mark.parametrize("package", [planner, planner.formats], ids=lambda package: package.__name__)
def test_no_module_hides_a_lazily_imported_name(package: ModuleType) -> None:
    within = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert within
    assert not within & set(package.__all__)


def test_memplan_exports_planner_s_names_and_the_version() -> None:
    assert memplan.__all__ == ["__version__", *planner.__all__]
    assert memplan.__version__ == version("memplan")
    for name in planner.__all__:
        assert unwrap(getattr(memplan, name)) is unwrap(getattr(planner, name)), name
    assert set(memplan.__all__) | {*MODULES} <= set(dir(memplan))
    unknown = "nothing"
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(memplan, unknown)


@pytest.mark.parametrize("name", MODULES)
def test_memplan_s_modules_export_the_names_of_planner_s(name: str) -> None:
    ours, theirs = importlib.import_module(f"memplan.{name}"), importlib.import_module(f"planner.{MODULES[name]}")
    assert getattr(memplan, name) is ours
    assert ours.__all__ == theirs.__all__
    for exported in theirs.__all__:
        assert unwrap(getattr(ours, exported)) is unwrap(getattr(theirs, exported)), exported


def test_importing_memplan_loads_nothing_before_a_name_is_used() -> None:
    code = "import sys, memplan; print({'planner', 'solvers', 'numpy'} & {*sys.modules}); memplan.graph; print('numpy' in sys.modules)"
    assert run("-c", code).split(b"\n")[0] == b"set()"


def test_a_star_imports_every_name() -> None:
    assert (
        run("-c", "from memplan import *; print(plan.__module__, __version__)").split()[1].decode()
        == memplan.__version__
    )


def test_type_checkers_see_memplan_s_names(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(
        "import memplan\nimport memplan.graph\nfrom memplan import Buffer, Plan, Problem, memory_report, plan\n"
        "answer: Plan = plan(Problem((Buffer('a', 64, live=((0, 2),)),)))\n"
        "reveal_type(memplan.plan(Problem(())))\nreveal_type(memplan.__version__)\nreveal_type(memplan.graph.Graph)\n"
        "memplan.nothing_of_the_kind\n"
    )
    # It runs in this folder, so that it uses what mypy has cached in the checks.
    command = [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "user.py")]
    found = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False).stdout.decode()
    assert 'Revealed type is "planner.model.plan.Plan"' in found
    assert re.search(r'Revealed type is "(builtins\.)?str"', found)
    assert found.count("error:") == 1, found
    assert 'has no attribute "nothing_of_the_kind"' in found


def test_memplan_runs_as_the_command() -> None:
    done = run("-m", "memplan", "plan", str(ROOT / "examples" / "three.json"))
    assert json.loads(done)["status"] == "optimal"

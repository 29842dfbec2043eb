"""Files and folders follow docs/architecture.md: their size, what folders say of themselves, and where tests are."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("api", "memplan", "planner", "solvers")
SMALL, LARGE = 40, 400
MOST_ENTRIES = 13
"""The most folders and modules that planner or solvers may have at its top."""
OF_NO_PACKAGE = {"contract", "corpus", "faults", "http", "project", "property", "running", "small", "web"}
"""Folders of tests that concern everything; docs/architecture.md says what is in each."""

FACES = {
    "memplan": "what users import, a module for each of the library's packages",
    "api/cli/__main__.py": "`python -m api.cli`",
    "api/cli/exit_codes.py": "what scripts read; docs/cli.md lists them",
    "solvers/choice/alternatives/questions/wire.py": "answers as both processes know them: the one that asks does not load what answers",
    "api/store/sql/databases/migrations": "what alembic loads: one step each, which never changes",
    "solvers/others/named/tflm.py": "planners that users name; loaded only for them, which saves 1.6 ms of the processor",
    "docker/healthcheck.py": "a program: what a container's engine runs",
    "tests/running/limited.py": "a program: what tests start services with",
    "tests/running/installed": "packages as users install them",
    "tests/planner/bench/running/strange_cell.py": "what a measuring process runs, which loads no tests",
}
"""Small modules whose names something outside the project uses, with the reason."""
EXPORTED = {"planner/compilers/jax.py": "planner.compilers"}
"""Small modules of one exported function, which is loaded when it is asked for, and the package that exports it."""


@cache
def modules() -> tuple[Path, ...]:
    folders = (*PACKAGES, "docker", "scripts", "tests")
    found = (path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return tuple(path for path in found if path.parts[:2] != ("api", "site"))


@cache
def length(path: Path) -> int:
    return (ROOT / path).read_bytes().count(b"\n")


def is_below(path: Path, places: dict[str, str]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def has_one_subject(path: Path) -> bool:
    """Return whether there is a module or folder of the test's name."""
    if path.parts[0] != "tests" or not path.name.startswith("test_"):
        return path.name == "conftest.py"
    subject = path.stem.removeprefix("test_")
    places = [other for other in modules() if other.stem == subject or other.parent.name == subject]
    if path.parts[1] in OF_NO_PACKAGE:
        return bool(places)
    return any(other.is_relative_to(Path(*path.parts[1:-1])) for other in places)


def test_no_module_is_longer_than_fits_in_a_head() -> None:
    native = (path.relative_to(ROOT) for path in (ROOT / "solvers").rglob("*.[ch]pp"))
    page = (path.relative_to(ROOT) for path in (ROOT / "api" / "web").rglob("*.js"))
    assert {str(path): length(path) for path in (*modules(), *native, *page) if length(path) > LARGE} == {}


def test_small_modules_have_a_reason() -> None:
    assert [
        str(path)
        for path in modules()
        if length(path) < SMALL
        and path.name != "__init__.py"
        and not (is_below(path, FACES) or is_below(path, EXPORTED) or has_one_subject(path))
    ] == []


@pytest.mark.parametrize("reasons", [FACES, EXPORTED])
def test_every_reason_is_one_of_a_small_module(reasons: dict[str, str]) -> None:
    small = [path for path in modules() if length(path) < SMALL and path.name != "__init__.py"]
    assert [place for place in reasons if not any(path.is_relative_to(place) for path in small)] == []


@pytest.mark.parametrize("path", EXPORTED)
def test_modules_with_one_exported_function_hold_nothing_else(path: str) -> None:
    body = ast.parse((ROOT / path).read_text("utf-8")).body
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert len(functions) == 1
    assert set(functions) <= set(import_module(EXPORTED[path]).__all__)


@pytest.mark.parametrize("package", ["planner", "solvers"])
def test_a_package_has_about_a_dozen_entries(package: str) -> None:
    names = {path.parts[1] for path in modules() if path.parts[0] == package}
    assert len(names - {"__init__.py"}) <= MOST_ENTRIES


def test_every_folder_begins_with_a_sentence() -> None:
    without = []
    for folder in {path.parent for path in modules() if path.parts[0] in PACKAGES}:
        init = ROOT / folder / "__init__.py"
        docstring = ast.get_docstring(ast.parse(init.read_text("utf-8"))) if init.exists() else None
        if docstring is None or not docstring.split("\n\n")[0].rstrip().endswith((".", ":")):
            without.append(str(folder))
    assert without == []


def test_folders_of_tests_mirror_the_packages() -> None:
    folders = {path.parent for path in modules() if path.parts[0] == "tests"}
    elsewhere = [
        str(folder)
        for folder in folders
        if len(folder.parts) > 1
        and folder.parts[1] not in OF_NO_PACKAGE
        and not (ROOT / Path(*folder.parts[1:]) / "__init__.py").exists()
    ]
    assert elsewhere == []


def test_the_architecture_names_folders_of_tests_that_mirror_nothing() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert [name for name in OF_NO_PACKAGE if f"`tests/{name}`" not in page] == []


def test_kernels_in_cpp_include_only_their_own_and_shared_files() -> None:
    native = ROOT / "solvers" / "kernels" / "native"
    assert {
        f"{path.relative_to(native)}: {included}"
        for path in native.glob("*/**/*.[ch]pp")
        for included in re.findall(r'^#include "([\w/.]+)"', path.read_text("utf-8"), re.MULTILINE)
        if included.split("/")[0] not in (path.relative_to(native).parts[0], "shared", "bindings.hpp")
    } == set()

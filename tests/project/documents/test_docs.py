"""The pages of the documentation name only things that exist, and their commands and pictures are right."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from planner.bench.running.suites import SUITES
from planner.model.versions import MEMPLAN
from solvers.model import registry
from tests.running.command import run

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("**/*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"])
TEXT = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in PAGES}
TOPS = "api|docker|docs|examples|planner|requirements|scripts|solvers|tests"


def folders(of: str) -> set[str]:
    return {f"{of}/{path.parent.name}" for path in (ROOT / of).glob("*/__init__.py")}


@pytest.mark.parametrize("page", TEXT)
def test_every_named_path_exists(page: str) -> None:
    named = set(re.findall(rf"`((?:\./)?(?:{TOPS})/[\w./-]*\w)/?`", TEXT[page]))
    missing = {path for path in named if not (ROOT / path).exists()}
    assert not missing


@pytest.mark.parametrize("page", TEXT)
def test_every_called_script_exists(page: str) -> None:
    called = set(re.findall(r"(?:^|[\s`(])(?:\./)?(scripts/[\w/.]*\w)", TEXT[page], re.MULTILINE))
    assert {path for path in called if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("page", TEXT)
def test_every_module_that_is_run_exists_and_has_the_options(page: str) -> None:
    shared = (ROOT / "scripts" / "measure" / "arguments.py").read_text("utf-8")
    wrong = []
    for module, arguments in re.findall(r"python\s-m (scripts[\w.]+\w)([^`#]*?)(?=[`#]|\n {4}|\n\n|$)", TEXT[page]):
        file = ROOT / f"{module.replace('.', '/')}.py"
        known = shared + file.read_text("utf-8") if file.exists() else ""
        options = [f'"{option}"' for option in re.findall(r"--[\w-]+", arguments)]
        wrong += [f"{module} {each}" for each in ("main()", *options) if each not in known]
    assert wrong == []


@pytest.mark.parametrize("page", TEXT)
def test_every_linked_file_exists(page: str) -> None:
    targets = re.findall(r'(?:\]\(|(?:src|srcset)=")([^)"#\s]+)', TEXT[page])
    here = (ROOT / page).parent
    assert {target for target in targets if "://" not in target and not (here / target).exists()} == set()


@pytest.mark.parametrize("package", ["planner", "solvers", "api"])
def test_the_architecture_names_every_folder(package: str) -> None:
    named = set(re.findall(r"^\| `([\w/]+)` \|", TEXT["docs/architecture.md"], re.MULTILINE))
    assert folders(package) <= named
    assert {name for name in named if name.startswith(package)} <= folders(package) | {"api/web"}


def test_the_architecture_names_every_folder_of_tests_without_a_package() -> None:
    named = set(re.findall(r"^\| `(tests/\w+)` \|", TEXT["docs/architecture.md"], re.MULTILINE))
    mirrors = {"api", "planner", "solvers", "docs"}
    there = {f"tests/{path.relative_to(ROOT / 'tests').parts[0]}" for path in (ROOT / "tests").glob("*/**/*.py")}
    assert named == {name for name in there if name.removeprefix("tests/") not in mirrors}


@pytest.mark.parametrize("page", [f"docs/{name}.md" for name in ("memories", "programs", "shapes", "sharing")])
def test_every_shown_command_works_in_the_order_shown(page: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = re.findall(r"^    memplan (.*?)(?:  +#.*)?$", TEXT[page], re.MULTILINE)
    assert len(commands) >= 2
    for command in commands:
        done = run(*command.split(), cwd=tmp_path)
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.parametrize("page", TEXT)
def test_every_solver_and_suite_that_a_command_names_exists(page: str) -> None:
    commands = re.findall(r"memplan (?:plan|bench|share) [^`\n#]*", TEXT[page])
    known = {*registry.names(), "my_planner", "NAME", "largest_first"}
    for command in commands:
        for names in re.findall(r"--solvers? ([\w,]+)", command):
            assert set(names.split(",")) <= known | {"NAMES"}, command
        assert set(re.findall(r" @(\w+)", command)) <= SUITES.keys(), command


def test_the_changelog_knows_this_version() -> None:
    headings = re.findall(r"^## (.*)$", TEXT["CHANGELOG.md"], re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert MEMPLAN in headings


def test_the_maps_equal_the_command_s_pictures(tmp_path: Path) -> None:
    script = (ROOT / "scripts" / "pictures").read_text("utf-8")
    lines = [line for line in script.splitlines() if line.strip().startswith("memplan ") and "network" in line]
    assert len(lines) == 3
    for theme in ("light", "dark"):
        for line in lines:
            words = line.replace("$made", str(tmp_path)).replace("$out", str(tmp_path)).replace("$theme", theme)
            done = run(*words.replace('"', "").split()[1:], cwd=ROOT)
            assert done.returncode == 0, (words, done.stderr)
        assert (tmp_path / f"map-{theme}.svg").read_bytes() == (DOCS / "pictures" / f"map-{theme}.svg").read_bytes()

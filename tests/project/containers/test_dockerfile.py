"""The files that the Dockerfile names exist, packages are pinned, and the image's user has no privileges."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.cli.app import app
from api.settings import PREFIX, Settings
from tests.project.containers.dockerfile import ROOT, Stage, copied_from_here, is_sent, read_dockerfile

BUILD, RUN = read_dockerfile()


def test_every_copied_file_exists_and_is_sent_to_the_engine() -> None:
    sources = [source for stage in (BUILD, RUN) for source in copied_from_here(stage)]
    assert {"pyproject.toml", "CMakeLists.txt", "api/", "memplan/", "planner/", "solvers/", "requirements/"} <= set(
        sources
    )
    for source in sources:
        assert (ROOT / source).exists(), source
        assert is_sent(source.rstrip("/")), source


@pytest.mark.parametrize("path", [".git/config", "tests/conftest.py", ".venv/bin/python", "api/__pycache__/x.pyc"])
def test_unneeded_files_are_not_sent_to_the_engine(path: str) -> None:
    assert not is_sent(path)


def test_all_other_copies_come_from_the_build_stage() -> None:
    others = [step for step in RUN.of("COPY") if "from" in step.flags]
    assert [step.flags["from"] for step in others] == [BUILD.name]
    made = " ".join(step.rest for step in BUILD.of("RUN"))
    assert all(step.words[0] in made for step in others)


def test_every_installation_is_of_pinned_files_or_of_nothing_from_outside() -> None:
    installs = [
        part for stage in (BUILD, RUN) for step in stage.of("RUN") for part in step.rest.split("&&") if "/pip " in part
    ]
    assert installs
    for install in installs:
        assert "--require-hashes" in install or "--no-index" in install, install
        for file in re.findall(r"-r (\S+)", install):
            assert (ROOT / file).is_file(), file


def test_only_the_first_stage_has_a_compiler() -> None:
    assert "g++" in packages(BUILD)
    assert packages(RUN) == {"coinor-cbc", "tini"}


def packages(stage: Stage) -> set[str]:
    found = re.findall(r"apt-get install ([^&]+)", " && ".join(step.rest for step in stage.of("RUN")))
    return {word for words in found for word in words.split() if not word.startswith("-")}


def test_the_image_runs_as_a_user_made_for_it() -> None:
    user, _, group = RUN.only("USER").rest.partition(":")
    assert int(user) > 0
    assert int(group) > 0
    assert f"--uid {user}" in " ".join(step.rest for step in RUN.of("RUN"))
    order = [step.name for step in RUN.steps]
    assert order.index("USER") > max(i for i, name in enumerate(order) if name == "RUN")


def test_the_image_listens_on_all_addresses_and_keeps_data_in_the_volume() -> None:
    environment = RUN.environment
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    assert {name for name in environment if name.startswith(PREFIX)} <= known
    assert environment["MEMPLAN_HOST"] == "0.0.0.0"
    assert f"{PREFIX}ANONYMOUS" not in environment
    assert environment["MEMPLAN_DATA_DIR"] == RUN.only("VOLUME").rest
    assert environment["MEMPLAN_PORT"] == RUN.only("EXPOSE").rest


def test_the_started_commands_exist() -> None:
    entry = RUN.only("ENTRYPOINT").words
    assert entry[:2] == ["/usr/bin/tini", "--"]
    assert Path(entry[2]).name == "memplan"
    commands = {command.callback.__name__ for command in app.registered_commands if command.callback is not None}
    assert RUN.only("CMD").words[0] in commands
    checked = RUN.only("HEALTHCHECK").rest
    assert "/opt/memplan/healthcheck.py" in checked
    assert any(step.words[-1] == "/opt/memplan/healthcheck.py" for step in RUN.of("COPY"))

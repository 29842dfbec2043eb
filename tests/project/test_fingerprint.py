"""The set-up's fingerprint changes with its inputs: the content of some files, and the names of modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.steps import fingerprint


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["fingerprint", "*.toml", "--packages", "house"])
    (tmp_path / "project.toml").write_text("a = 1")
    (tmp_path / "house" / "site").mkdir(parents=True)
    for module in ("__init__.py", "door.py"):
        (tmp_path / "house" / module).write_text("open()")
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    fingerprint.main()
    return capsys.readouterr().out


def test_content_of_files_changes_the_fingerprint(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = printed(capsys)
    assert printed(capsys) == before
    (root / "project.toml").write_text("a = 2")
    assert printed(capsys) != before


def test_only_the_names_of_modules_change_the_fingerprint(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = printed(capsys)
    (root / "house" / "door.py").write_text("close()")
    assert printed(capsys) == before
    (root / "house" / "door.py").rename(root / "house" / "gate.py")
    assert printed(capsys) != before


def test_generated_files_do_not_change_the_fingerprint(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = printed(capsys)
    (root / "house" / "site" / "example.py").write_text("plan()")
    assert printed(capsys) == before

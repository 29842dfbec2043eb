"""The versions in plans are those that Python itself tells of."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from planner.model import versions
from solvers.model.registry import libraries_of


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    versions._installed.cache_clear()


def test_the_version_is_read_without_the_library_that_reads_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer to import than many a plan's search."""
    (library,) = libraries_of("cpsat")
    expected = version(library.distribution)
    monkeypatch.setitem(sys.modules, "importlib.metadata", None)
    assert versions.versions(["cpsat"])[library.distribution] == expected


def test_the_first_folder_of_the_path_that_has_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, number in (("one", "7.5"), ("other", "8")):
        told = tmp_path / folder / f"some_thing-{number}.dist-info"
        told.mkdir(parents=True)
        (told / "METADATA").write_text(f"Metadata-Version: 2.4\nName: some-thing\nVersion: {number}\n\nVersion: none\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "missing"), str(tmp_path / "one"), str(tmp_path / "other")])
    assert versions._installed("some-thing") == "7.5"
    assert versions._installed("some-thing-else") is None

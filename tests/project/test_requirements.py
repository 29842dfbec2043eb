"""The pinned requirements: exact, hashed, free of addresses, and in step with pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "requirements").glob("*.txt"))


def read(path: Path) -> dict[str, tuple[Requirement, list[str]]]:
    """Return the pin and the hashes of each package in a file, by the package's name."""
    joined = re.sub(r"\\\n", " ", path.read_text(encoding="utf-8"))
    found: dict[str, tuple[Requirement, list[str]]] = {}
    for line in joined.splitlines():
        words = line.split("#")[0].strip()
        if words:
            text, *hashes = re.split(r"\s+--hash=", words)
            pin = Requirement(text)
            assert canonicalize_name(pin.name) not in found, f"{pin.name} is pinned twice"
            found[canonicalize_name(pin.name)] = (pin, hashes)
    return found


def declared(*names: str) -> list[Requirement]:
    """Return the requirements in pyproject.toml of `project`, extras or dependency groups."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    table = {"project": project["project"]["dependencies"]}
    table |= project["project"]["optional-dependencies"] | project["dependency-groups"]
    rows = [row for name in names for row in table[name]]
    nested = [r for row in rows if isinstance(row, dict) for r in declared(row["include-group"])]
    return [Requirement(row) for row in rows if isinstance(row, str)] + nested


def test_there_is_a_file_for_each_purpose() -> None:
    assert [path.name for path in FILES] == [
        "build.txt",
        "cluster.txt",
        "dev.txt",
        "highs.txt",
        "peers.txt",
        "pictures.txt",
        "postgresql.txt",
        "runtime.txt",
        "tflm.txt",
        "wheels.txt",
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_pin_is_exact_and_hashed(path: Path) -> None:
    for name, (pin, hashes) in read(path).items():
        assert re.fullmatch(r"==[^*,]+", str(pin.specifier)), name
        assert hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_address_is_recorded(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--index-url|--extra-index-url|--find-links|--trusted-host)\b", text, re.MULTILINE)
    assert not re.search(r"(^|\s)/\w", text), "an absolute path"


@pytest.mark.parametrize(
    ("file", "parts"),
    [
        ("runtime.txt", ["project"]),
        ("cluster.txt", ["project", "cluster"]),
        ("highs.txt", ["project", "highs"]),
        ("peers.txt", ["project", "peers"]),
        ("build.txt", ["build"]),
        ("pictures.txt", ["project", "pictures"]),
        ("postgresql.txt", ["project", "postgresql"]),
        ("tflm.txt", ["project", "tflm"]),
        ("wheels.txt", ["build", "wheels"]),
        ("dev.txt", ["project", "cluster", "highs", "peers", "pictures", "postgresql", "tflm", "dev"]),
    ],
)
def test_each_file_pins_what_pyproject_declares(file: str, parts: list[str]) -> None:
    pins = read(ROOT / "requirements" / file)
    for wanted in declared(*parts):
        pin, _ = pins[canonicalize_name(wanted.name)]
        version = str(pin.specifier).removeprefix("==")
        assert wanted.specifier.contains(version), f"{wanted} is pinned at {version}: run ./scripts/pin"


def test_all_files_agree_with_the_largest() -> None:
    everything = read(ROOT / "requirements" / "dev.txt")
    for path in FILES:
        for name, (pin, hashes) in read(path).items():
            if path.name == "wheels.txt" and name not in everything:
                continue  # tools for wheels are in no other file
            wanted, all_hashes = everything[name]
            assert (pin.specifier, pin.extras, hashes) == (wanted.specifier, wanted.extras, all_hashes), (
                f"{name} in {path.name}"
            )
            # dev.txt may need on all platforms what another file needs on some. Wheels and tflm may need it on more.
            assert path.name in ("wheels.txt", "tflm.txt") or wanted.marker in (pin.marker, None), (
                f"{name} in {path.name}"
            )


def test_the_build_back_end_is_pinned_as_it_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = {canonicalize_name(Requirement(row).name) for row in project["build-system"]["requires"]}
    assert names <= set(read(ROOT / "requirements" / "build.txt"))

"""The limits of containers count, on whatever level of the hierarchy they are set."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.process import machine


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree of control groups with this process in /outer/inner."""
    root = tmp_path / "cgroup"
    (root / "outer" / "inner").mkdir(parents=True)
    own = tmp_path / "own"
    own.write_text("12:memory:/elsewhere\n0::/outer/inner\n", encoding="utf-8")
    monkeypatch.setattr(machine, "CGROUPS", root)
    monkeypatch.setattr(machine, "OWN_GROUP", own)
    return root


def test_a_machine_without_a_limit_reports_none(groups: Path) -> None:
    (groups / "outer" / "cpu.max").write_text("max 100000\n", encoding="utf-8")
    (groups / "outer" / "memory.max").write_text("max\n", encoding="utf-8")
    assert machine.cores().quota is None
    assert machine.memory().limit is None


def test_the_tightest_limit_of_all_levels_counts(groups: Path) -> None:
    (groups / "outer" / "cpu.max").write_text("150000 100000\n", encoding="utf-8")
    (groups / "outer" / "inner" / "cpu.max").write_text("800000 100000\n", encoding="utf-8")
    (groups / "memory.max").write_text("9000\n", encoding="utf-8")
    (groups / "outer" / "inner" / "memory.max").write_text("5000\n", encoding="utf-8")
    assert machine.cores().quota == 1.5
    assert machine.memory().limit == 5000


def test_memory_is_reported_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = tmp_path / "meminfo"
    facts.write_text("MemTotal:  2048 kB\nHugePages_Total:  0\nMemAvailable:  1024 kB\n", encoding="utf-8")
    monkeypatch.setattr(machine, "MEMORY_FACTS", facts)
    memory = machine.memory()
    assert (memory.total, memory.available) == (2 << 20, 1 << 20)


def test_a_system_without_control_groups_has_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CGROUPS", "OWN_GROUP", "MEMORY_FACTS"):
        monkeypatch.setattr(machine, name, tmp_path / "absent")
    assert machine.cores().usable >= 1
    assert machine.memory() == machine.Memory(None, None, None)

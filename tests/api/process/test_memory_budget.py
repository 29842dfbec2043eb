"""The memory of a machine or container is divided so that all processes together never have more than there is."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from api.process import machine, memory_budget
from api.process.machine import Cores, Memory, Used
from api.process.memory_budget import LEAST_PROCESS, Budget, Shares, share_out, solver_processes
from api.settings import Settings, WrongSettings
from tests.api.process.test_machine import groups

__all__ = ["groups"]
MIB, GIB = 1 << 20, 1 << 30


def found(monkeypatch: pytest.MonkeyPatch, total: int | None, limit: int | None = None) -> None:
    monkeypatch.setattr(machine, "memory", lambda: Memory(total, total, limit))


def shared(settings: Settings, workers: int = 2) -> Shares:
    return share_out(settings, service=True, readers=settings.readers, workers=workers)


@pytest.mark.parametrize("size", [2 * GIB, 4 * GIB, 24 * GIB, 100 * GIB])
@pytest.mark.parametrize("workers", [1, 2, 16])
def test_all_processes_together_have_less_than_all_memory(
    monkeypatch: pytest.MonkeyPatch, size: int, workers: int
) -> None:
    found(monkeypatch, size)
    shares = shared(Settings(), workers)
    assert shares.sum <= size * 7 // 8
    assert shares.process >= LEAST_PROCESS
    found(monkeypatch, 1000 * GIB, size)
    assert shared(Settings(), workers) == shares, "a container's limit counts as a machine's memory does"
    assert shared(Settings(memory=size * 7 // 8), workers) == shares, "and so does a setting"


def test_settings_are_upper_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, 1000 * GIB)
    shares = shared(Settings(worker_memory=GIB, max_solver_memory=300 * MIB, service_memory=400 * MIB))
    assert (shares.process, shares.solver, shares.service) == (GIB, 300 * MIB, 400 * MIB)
    applied = shares.applied(Settings())
    assert (applied.worker_memory, applied.max_solver_memory, applied.service_memory) == (GIB, 300 * MIB, 400 * MIB)


def test_the_settings_count_where_the_memory_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, None)
    settings = Settings()
    shares = shared(settings)
    assert (shares.total, shares.process, shares.service) == (None, settings.worker_memory, settings.service_memory)


def test_solvers_side_by_side_each_have_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, 16 * GIB)
    shares = shared(Settings(max_workers_per_job=4))
    taken = shares.service + 4 * shares.process + 2 * memory_budget.STARTERS + 8 * shares.solver
    assert taken <= 14 * GIB


def test_scarce_memory_means_fewer_processes_unless_their_number_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found(monkeypatch, GIB)
    shares = shared(Settings(), 8)
    assert (shares.workers < 8, shares.sum <= GIB) == (True, True)
    with pytest.raises(WrongSettings, match="too little for 8 workers and 2 readers"):
        shared(Settings(workers=8, readers=2), 8)
    found(monkeypatch, 100 * MIB)
    with pytest.raises(WrongSettings, match="memory: 87 MiB are too little for 1 worker and 1 reader,"):
        shared(Settings())
    with pytest.raises(WrongSettings, match=r"worker_memory: 90000000 bytes are too little: .* 144 MiB at least"):
        shared(Settings(worker_memory=90_000_000))


def test_the_service_has_room_for_the_largest_body(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, 2 * GIB)
    assert shared(Settings(max_body_bytes=400 * MIB)).service == 528 * MIB
    assert shared(Settings(max_body_bytes=16 * MIB, service_memory=160 * MIB)).service == 160 * MIB
    with pytest.raises(
        WrongSettings, match=r"service_memory: .* too little for bodies of 64 MiB .*: .* 192 MiB at least"
    ):
        shared(Settings(service_memory=160 * MIB))


@pytest.mark.parametrize("file", ["memory.max", "outer/inner/memory.max", "memory/elsewhere/memory.limit_in_bytes"])
def test_a_control_group_s_limit_is_divided(groups: Path, file: str) -> None:
    (groups / "memory" / "elsewhere").mkdir(parents=True)
    (groups / "memory" / "memory.limit_in_bytes").write_text("9223372036854771712\n", encoding="utf-8")
    (groups / file).write_text(f"{2 * GIB}\n", encoding="utf-8")
    assert shared(Settings()).total == 2 * GIB * 7 // 8


def test_cores_of_old_control_groups_count_too(groups: Path) -> None:
    machine.OWN_GROUP.write_text("4:cpu,cpuacct:/x\n", encoding="utf-8")
    (groups / "cpu").mkdir()
    (groups / "cpu" / "cpu.cfs_quota_us").write_text("150000\n", encoding="utf-8")
    (groups / "cpu" / "cpu.cfs_period_us").write_text("100000\n", encoding="utf-8")
    assert machine.cores().quota == 1.5
    (groups / "cpu" / "cpu.cfs_quota_us").write_text("-1\n", encoding="utf-8")
    assert machine.cores().quota is None


@pytest.mark.parametrize(
    ("used", "more", "has_room"),
    [
        (Used(0, 90, 0), 10, True),
        (Used(0, 90, 0), 11, False),
        (Used(GIB, 0, 0), 10, False),
        (Used(GIB - 65 * MIB, 0, 0), 10, True),
        (Used(0, 0, GIB), 10, False),
        (None, 1000, True),
    ],
)
def test_a_process_keeps_within_its_share_and_its_own_limits(
    monkeypatch: pytest.MonkeyPatch, used: Used | None, more: int, has_room: bool
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (GIB, resource.RLIM_INFINITY))
    monkeypatch.setattr(machine, "used", lambda: used)
    assert Budget(100).has_room(more) is has_room


def test_the_memory_of_this_process_is_known() -> None:
    now = machine.used()
    assert now is not None
    assert now.address_space > now.data > MIB
    assert now.address_space > now.resident > MIB


@pytest.mark.parametrize(
    ("cores", "workers", "processes"),
    [
        (Cores(8, None), None, 8),
        (Cores(8, 2.5), None, 3),
        (Cores(8, 0.5), None, 2),
        (Cores(1, 4.0), None, 2),
        (Cores(8, 2.0), 5, 5),
        (Cores(8, 2.0), 1, 2),
    ],
)
def test_the_container_s_cores_decide_the_number_of_solver_processes(
    monkeypatch: pytest.MonkeyPatch, cores: Cores, workers: int | None, processes: int
) -> None:
    monkeypatch.setattr(machine, "cores", lambda: cores)
    assert solver_processes(Settings(workers=workers)) == processes

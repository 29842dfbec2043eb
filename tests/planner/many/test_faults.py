"""A fault that ends a run over many files, or spoils one, loses nothing else, and the next call goes on."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from planner import (
    BadInput,
    Options,
    read_plan,
    read_problem,
    verify,
)
from planner.generate import Request, generate
from planner.many import Entry, EntryStatus, Manifest, collect, places, plan_many
from planner.many.lines_file import LinesFile
from tests.planner.many.conftest import QUICK, entries_of, run, written

pytestmark = pytest.mark.usefixtures("forked_companions")


ROOT = Path(__file__).parents[3]


def test_two_runs_do_not_write_into_one_folder(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    manifest = Manifest.read(out)
    manifest.begin({}, anew=False)
    with pytest.raises(BadInput, match="another run is writing it"):
        run(problems, out)
    manifest.close()


def test_a_manifest_is_emptied_only_by_the_run_that_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run may begin at any moment at which this one has not locked it."""
    usual = LinesFile.close
    others: list[Manifest] = []
    settings = {"seed": 1}

    def close(self: LinesFile) -> None:
        usual(self)
        if not others:
            others.append(Manifest(tmp_path))
            others[0].begin(settings, anew=False)

    monkeypatch.setattr(LinesFile, "close", close)
    first = Manifest(tmp_path)
    first.begin(settings, anew=True)
    assert not others
    first.add(Entry("a", "0", EntryStatus.FAILED))
    first.close()
    others[0].add(Entry("b", "0", EntryStatus.FAILED))
    others[0].close()
    assert Manifest.read(tmp_path).entries.keys() == {"a", "b"}


def test_an_unwritable_folder_is_reported(problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Entry) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Entry, "line", full)
    with pytest.raises(BadInput, match="cannot be written: no space left on device"):
        run(problems, tmp_path / "out")


def test_an_unwritable_plan_is_reported(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "problems").write_text("in the way")
    with pytest.raises(BadInput, match="cannot write"):
        run(problems, out)


def test_a_full_disk_ends_the_run_without_losing_written_plans(problems: Path, tmp_path: Path) -> None:
    """Files cannot grow beyond a limit, as on a full disk: at first the manifest cannot, at last no plan can."""
    out = tmp_path / "out"
    for most in (1_500, 3_000, 900):
        limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))"
        command = f"{limited}; import sys; from api.cli import main; sys.argv[0] = 'memplan'; main()"
        ended = subprocess.run(
            (sys.executable, "-c", command, "plan-many", str(problems), "-o", str(out)),
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert (ended.returncode, b"cannot" in ended.stderr, b"Traceback" in ended.stderr) == (2, True, False)
        written = {entry.plan: entry.plan_sha256 for entry in entries_of(out).values()}
        for name, digest in written.items():
            assert name is not None
            assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    assert len(run(problems, out, replace(QUICK, options=Options(workers=1)))) == 8
    assert not list(out.rglob("*.tmp"))


def test_a_process_that_ends_costs_its_own_file_alone(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "SERVING", "tests.planner.many.falling:fall")
    for i, name in enumerate(("dies_reading", "dies_planning", "dies_once", "sleeps")):
        written(problems, f"{name}.json", generate("transformer", Request(40 + i, 9)))
    written(problems, "z/dies_planning.json", generate("transformer", Request(41, 9)))
    farm = replace(QUICK, options=Options(time_limit=1, workers=1), grace=11.0)
    found = {Path(entry.file).stem: entry for entry in run(problems, tmp_path / "out", farm)}
    assert found["dies_reading"].reason == "the process that planned it ended by signal 9"
    assert found["dies_planning"].reason == "the process that planned it ended with exit code 3"
    assert found["sleeps"].reason == "still at it 12 s later, and ended"
    failed = {name for name, entry in found.items() if entry.status is EntryStatus.FAILED}
    assert failed == {"dies_reading", "dies_planning", "sleeps"}
    assert len(entries_of(tmp_path / "out")) == 13
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert all(entry.status.has_plan for entry in run(problems, tmp_path / "out", farm))


def test_no_end_of_a_run_loses_a_file_or_counts_it_twice(problems: Path, tmp_path: Path) -> None:
    for seed in range(40):
        written(problems, f"more/{seed}.json", generate("transformer", Request(60, seed)))
    command = [sys.executable, "-m", "api.cli", "plan-many", "problems", "-o", "out", "-q", "--processes", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    manifest = tmp_path / "out" / "manifest.jsonl"
    for wanted in (3, 9, 20):
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
        )
        while process.poll() is None and not (manifest.exists() and manifest.read_bytes().count(b"\n") > wanted):
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    before = manifest.read_bytes().count(b"\n")
    assert before < 49
    assert (
        subprocess.run(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, check=False).returncode == 0
    )
    lines = [json.loads(line) for line in manifest.read_bytes().splitlines()[1:]]
    assert len({line["file"] for line in lines}) == len(lines) == 48
    for line in lines:
        problem, _ = read_problem((tmp_path / line["file"]).read_bytes())
        assert verify(problem, read_plan((tmp_path / "out" / line["plan"]).read_bytes())) == ()


def test_a_stop_ends_the_run_and_the_next_call_goes_on(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    seen: list[Entry] = []
    files = collect([str(problems)], out)
    assert not plan_many(files, out, QUICK, seen.append, lambda: len(seen) >= 2)
    assert 2 <= len(seen) < 8
    assert len(run(problems, out)) == 8
    assert not multiprocessing.active_children()


def test_a_false_manifest_is_refused_unless_all_is_made_anew(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for first in (
        '{"format": "memplan-manifest/0", "settings": {}}',
        *(f'{{"format": "memplan-manifest/1", "settings": {each}}}' for each in ("[[1]]", '"x"', "5", "null")),
        "[]",
        "[" * 200_000,
    ):
        (out / "manifest.jsonl").write_text(f"{first}\n[]\n")
        with pytest.raises(BadInput, match=r"line 1 is none of memplan-manifest/1.*--anew"):
            run(problems, out)
    assert len(run(problems, out, replace(QUICK, anew=True))) == len(entries_of(out)) == 8


def test_a_damaged_line_costs_its_own_file_alone(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(problems, out)
    manifest = out / "manifest.jsonl"
    sound = json.loads(manifest.read_bytes().splitlines()[-1])
    texts: tuple[object, ...] = (5, ["x"], {})
    numbers: tuple[object, ...] = ("x", [1], True, 10**400)
    wrong: dict[str, tuple[object, ...]] = {
        "plan": (5, "a\0b", ["a"], "../a", None),
        "status": ("optimal ",),
        "plan_sha256": (None,),
        "more": (1,),
    }
    wrong |= dict.fromkeys(("digest", "source", "file", "stop", "reason"), texts)
    wrong |= dict.fromkeys(("moved", "peak", "seconds", "buffers"), numbers)
    fields = [json.dumps({**sound, name: value}).encode() for name, values in wrong.items() for value in values]
    for damage in (b"[]", b'{"file": []}', b'{"file": "a", "sta', b"\0\xff", b"[" * 200_000, *fields):
        lines = manifest.read_bytes().splitlines()
        before = len(lines)
        lines[-1] = damage
        manifest.write_bytes(b"\n".join(lines) + b"\n")
        assert len(run(problems, out)) == 8
        assert len(manifest.read_bytes().splitlines()) == before + 1


def test_names_that_are_no_utf_8_are_kept(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    odd = os.fsdecode(b"odd\xff \n.json")
    written(problems, odd, generate("transformer", Request(30, 9)))
    first = run(problems, out)
    manifest = (out / "manifest.jsonl").read_bytes()
    assert entries_of(out)[f"problems/{odd}"].status.has_plan
    assert len(first) == len(run(problems, out)) == 9
    assert (out / "manifest.jsonl").read_bytes() == manifest


def test_a_plan_with_an_impossible_name_costs_its_own_file_alone(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in (f"again/{'a' * 245}.json", f"{'z' * 245}.json"):
        written(problems, name, generate("transformer", Request(20, 0)))
    fits = "n" * (255 - len(".json.plan.json"))
    written(problems, f"{fits}.json", generate("transformer", Request(23, 3)))
    (out / "problems/5.json.plan.json").mkdir(parents=True)
    entries = run(problems, out)
    assert len(entries) == 11
    failed = {entry.file for entry in entries if entry.status is EntryStatus.FAILED}
    assert failed == {f"problems/again/{'a' * 245}.json", f"problems/{'z' * 245}.json", "problems/5.json"}
    assert all("cannot write" in str(entry.reason) for entry in entries if entry.file in failed)
    assert len(run(problems, out, replace(QUICK, baseline=Manifest.read(out)))) == 11
    assert not list(out.rglob("*.tmp"))


def test_unfinished_files_of_a_killed_process_are_removed(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    left = out / "problems/again/.unfinished-1-1.tmp"
    left.parent.mkdir(parents=True)
    left.write_text("half a pl")
    run(problems, out)
    assert not left.exists()


def test_a_removed_plan_is_made_again_for_all_files_that_share_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(places, "SERVING", "tests.planner.many.falling:fall")
    for name in "abcd":
        written(tmp_path / "problems", f"waits_{name}.json", generate("transformer", Request(20, 0)))
    out = tmp_path / "out"
    out.mkdir()
    entries: list[Entry] = []

    def take_away(entry: Entry) -> None:
        entries.append(entry)
        if len(entries) == 1:
            assert entry.plan is not None
            (out / entry.plan).unlink()

    assert plan_many(collect(["problems"], out), out, replace(QUICK, processes=4), take_away)
    assert sorted(entry.source or "" for entry in entries) == ["same"] * 2 + ["solved"] * 2
    assert all(Manifest.read(out).plan_of(entry) is not None for entry in entries[1:])

"""Many files: each is planned once, whatever ends in the middle, and the next call goes on."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from planner import (
    BadInput,
    Options,
    Plan,
    Problem,
    Stability,
    plan,
    read_plan,
    read_problem,
    verify,
    with_stability,
    write_problem,
)
from planner.generate import Request, generate
from planner.many import Entry, EntryStatus, Farm, Manifest, Reached, UnderWay, collect, places, plan_many
from planner.many.progress import ProgressSender
from planner.many.worker import Make, Reader, WasMade, WasRead, work
from planner.planning.placing.watching import OnProgress, Progress
from tests.running.forked import forking_companions

QUICK = Farm(Options(time_limit=20, workers=1), processes=2)
ROOT = Path(__file__).parents[3]


def written(folder: Path, name: str, problem: Problem) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_problem(problem))
    return path


@pytest.fixture(autouse=True)
def _forked() -> Iterator[None]:
    """Those of the killed command start as they do for users."""
    with forking_companions():
        yield


@pytest.fixture
def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of eight problems, two of them the same as others."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "problems"
    for seed in range(6):
        written(folder, f"{seed}.json", generate("transformer", Request(20 + seed, seed)))
    written(folder, "again/0.json", replace(generate("transformer", Request(20, 0)), name="by another name"))
    written(folder, "again/1.json", generate("transformer", Request(21, 1)))
    return folder


def run(folder: Path, out: Path, farm: Farm = QUICK) -> list[Entry]:
    out.mkdir(exist_ok=True)
    entries: list[Entry] = []
    assert plan_many(collect([str(folder)], out), out, farm, entries.append)
    return entries


def entries_of(out: Path) -> dict[str, Entry]:
    return Manifest.read(out).entries


def test_every_plan_is_one_of_its_problem_and_equal_problems_are_planned_once(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = run(problems, out)
    assert sorted(entry.file for entry in found) == sorted(
        path.relative_to(tmp_path).as_posix() for path in problems.rglob("*.json")
    )
    assert sorted(entry.source or "" for entry in found) == ["same"] * 2 + ["solved"] * 6
    for entry in found:
        assert entry.plan is not None
        problem, _ = read_problem((tmp_path / entry.file).read_bytes())
        made = read_plan((out / entry.plan).read_bytes())
        assert verify(problem, made) == ()
        assert (made.peak, str(made.status)) == (entry.peak, "optimal")
    assert not list(out.rglob("*.tmp"))


def test_what_is_planned_is_not_planned_again_unless_it_changed_or_is_gone(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(problems, out)
    before = {path: path.read_bytes() for path in out.rglob("*.plan.json")}
    lines = (out / "manifest.jsonl").read_bytes().count(b"\n")
    assert len(run(problems, out)) == 8
    assert (out / "manifest.jsonl").read_bytes().count(b"\n") == lines
    written(problems, "3.json", generate("transformer", Request(30, 3)))
    next(path for path in before if path.name == "4.json.plan.json").write_bytes(b"{}")
    run(problems, out)
    assert (out / "manifest.jsonl").read_bytes().count(b"\n") == lines + 2
    now = {path: path.read_bytes() for path in before}
    steady = [path for path in before if path.name[0] not in "34"]
    assert all(now[path] == before[path] for path in steady)
    assert entries_of(out)["problems/3.json"].buffers == 30


def test_a_run_with_other_options_is_refused(problems: Path, tmp_path: Path) -> None:
    run(problems, tmp_path / "out")
    other = replace(QUICK, options=Options(time_limit=20, workers=1, seed=7))
    with pytest.raises(BadInput, match="holds plans made with seed null; name another folder, or say --anew"):
        run(problems, tmp_path / "out", other)
    assert len(run(problems, tmp_path / "out", replace(other, anew=True))) == 8


def test_two_runs_do_not_write_into_one_folder(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    manifest = Manifest.read(out)
    manifest.begin({}, anew=False)
    with pytest.raises(BadInput, match="another run is writing it"):
        run(problems, out)
    manifest.close()


def test_a_folder_that_cannot_be_written_is_said(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Entry) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Entry, "line", full)
    with pytest.raises(BadInput, match="cannot be written: no space left on device"):
        run(problems, tmp_path / "out")


def test_a_plan_that_cannot_be_written_is_said(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "problems").write_text("in the way")
    with pytest.raises(BadInput, match="cannot write"):
        run(problems, out)


def test_a_full_disk_ends_the_run_and_nothing_that_was_written_is_lost(problems: Path, tmp_path: Path) -> None:
    """No file can grow beyond a size, as if there were no more room: first the manifest cannot, then no plan."""
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


def test_whatever_ends_the_run_nothing_is_lost_or_counted_twice(problems: Path, tmp_path: Path) -> None:
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


def test_stopping_ends_it_and_the_next_call_goes_on(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    seen: list[Entry] = []
    files = collect([str(problems)], out)
    assert not plan_many(files, out, QUICK, seen.append, lambda: len(seen) >= 2)
    assert 2 <= len(seen) < 8
    assert len(run(problems, out)) == 8
    assert not multiprocessing.active_children()


def test_a_baseline_keeps_what_is_unchanged_and_starts_what_changed(problems: Path, tmp_path: Path) -> None:
    run(problems, tmp_path / "old")
    changed = generate("transformer", Request(25, 5))
    written(problems, "5.json", replace(changed, pools=(replace(changed.pools[0], size=1 << 40),)))
    farm = replace(QUICK, baseline=Manifest.read(tmp_path / "old"))
    found = {entry.file: entry for entry in run(problems, tmp_path / "new", farm)}
    assert found["problems/5.json"].source == "solved"
    kept = [entry for entry in found.values() if entry.source in ("baseline", "same")]
    assert len(kept) == 7
    for entry in kept:
        assert entry.plan is not None
        assert (tmp_path / "new" / entry.plan).read_bytes() == (tmp_path / "old" / entry.plan).read_bytes()
    started = read_plan((tmp_path / "new" / "problems/5.json.plan.json").read_bytes())
    assert not started.reproducible  # it depends on what it was started from


def test_with_stability_buffers_stay_and_the_manifest_says_what_moved(problems: Path, tmp_path: Path) -> None:
    run(problems, tmp_path / "old")
    changed = generate("transformer", Request(25, 5))
    grown = replace(changed.buffers[3], size=changed.buffers[3].size + 64)
    problem = replace(changed, buffers=(*changed.buffers[:3], grown, *changed.buffers[4:]))
    written(problems, "5.json", problem)
    written(problems, "new.json", generate("transformer", Request(22, 9)))
    farm = replace(QUICK, baseline=Manifest.read(tmp_path / "old"))
    moved = {}
    for stability in (None, Stability.FIRST):
        options = replace(farm.options, stability=stability)
        out = tmp_path / f"new {stability}"
        found = {entry.file: entry for entry in run(problems, out, replace(farm, options=options))}
        entry = found["problems/5.json"]
        assert entry.plan is not None
        made, old = read_plan((out / entry.plan).read_bytes()), read_plan((tmp_path / "old" / entry.plan).read_bytes())
        assert verify(with_stability(problem, stability, old), made) == ()
        there = {place.id: (place.offset, place.size) for place in made.placements}
        gone = [place.id for place in old.placements if there[place.id][0] != place.offset]
        assert (entry.moved, entry.moved_bytes) == (len(gone), sum(there[id_][1] for id_ in gone))
        assert (entry.peak_before, entry.source) == (old.peak, "solved")
        moved[stability] = entry.moved_bytes or 0
        assert found["problems/new.json"].status.has_plan, "a file that nobody planned before has nothing to stay at"
        assert {found[f"problems/{n}.json"].source for n in range(5)} <= {"baseline", "same"}
    assert moved[Stability.FIRST] <= moved[None]
    with pytest.raises(BadInput, match="needs a baseline"):
        run(problems, tmp_path / "none", replace(QUICK, options=replace(QUICK.options, stability=Stability.TIES)))


def test_what_is_no_problem_is_refused_by_name_and_passed_over_in_a_folder(problems: Path, tmp_path: Path) -> None:
    (problems / "schema.json").write_text('{"type": "object"}')
    (problems / "table.csv").write_text("file,rows\na,1\n")
    (problems / "cut.json").write_bytes((problems / "0.json").read_bytes()[:-20])
    written(problems, "tight.json", plan_less(generate("transformer", Request(20, 0))))
    found = {Path(entry.file).name: entry for entry in run(problems, tmp_path / "out")}
    assert "schema.json" not in found
    assert "table.csv" not in found
    assert found["cut.json"].status is EntryStatus.REFUSED
    assert found["tight.json"].status is EntryStatus.INFEASIBLE
    assert "bytes more than the largest pool allowed" in (found["tight.json"].reason or "")
    out = tmp_path / "named"
    out.mkdir()
    entries: list[Entry] = []
    assert plan_many(collect([str(problems / "schema.json"), "problems/*.csv"], out), out, QUICK, entries.append)
    assert [entry.status for entry in entries] == [EntryStatus.REFUSED] * 2


def plan_less(problem: Problem) -> Problem:
    return replace(problem, pools=(replace(problem.pools[0], size=64),))


def test_patterns_find_each_file_once(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    files = collect(["problems/*.json", "problems/**/*.json", str(problems), "problems/0.json"], out)
    assert len(files) == len({file.name for file in files}) == 8
    assert collect([str(tmp_path)], problems) == []
    with pytest.raises(BadInput, match="there is no such file, and nothing like it"):
        collect(["nothing/*.json"], out)


def test_a_manifest_that_is_none_is_refused_unless_all_is_made_anew(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "manifest.jsonl").write_text('{"format": "memplan-manifest/0", "settings": {}}\n[]\n')
    with pytest.raises(BadInput, match=r"line 1 is none of memplan-manifest/1.*--anew"):
        run(problems, out)
    assert len(run(problems, out, replace(QUICK, anew=True))) == len(entries_of(out)) == 8


def test_a_damaged_line_costs_its_own_file_alone(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(problems, out)
    manifest = out / "manifest.jsonl"
    for damage in (b"[]", b'{"file": []}', b'{"file": "a", "sta', b"\0\xff"):
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


def test_a_plan_whose_name_cannot_be_costs_its_own_file_alone(problems: Path, tmp_path: Path) -> None:
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


def test_what_a_killed_process_had_begun_to_write_is_removed(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    left = out / "problems/again/.unfinished-1-1.tmp"
    left.parent.mkdir(parents=True)
    left.write_text("half a pl")
    run(problems, out)
    assert not left.exists()


def test_the_plans_are_those_of_plan(problems: Path, tmp_path: Path) -> None:
    run(problems, tmp_path / "out")
    problem, _ = read_problem((problems / "2.json").read_bytes())
    made = read_plan((tmp_path / "out/problems/2.json.plan.json").read_bytes())
    assert made.placements == plan(problem, QUICK.options).placements


def test_a_plan_that_is_taken_away_is_made_again_for_all_who_waited(
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


def test_files_that_would_have_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = written(tmp_path, "a.json", generate("transformer", Request(20, 0)))
    here = tmp_path / "here"
    written(here.joinpath(*elsewhere.parts[1:-1]), "a.json", generate("transformer", Request(20, 1)))
    monkeypatch.chdir(here)
    with pytest.raises(BadInput, match="would both be called"):
        collect([str(elsewhere), "."], tmp_path / "out")


def test_what_reading_took_counts_in_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[float] = []

    def plans(
        problem: Problem, options: Options, _: object, start: Plan | None = None, begun: float | None = None
    ) -> Plan:
        assert begun is not None
        began.append(begun)
        return plan(problem, options, start=start)

    reader = Reader()
    monkeypatch.setattr("planner.many.worker._reader", reader)
    monkeypatch.setattr("planner.many.worker.plan", plans)
    assert isinstance(reader.read(write_problem(generate("transformer", Request(20))), "", None), WasRead)
    assert reader.seconds > 0
    reader.seconds = 1000.0
    said: list[object] = []
    work(Make(Options(time_limit=60.0, work_limit=1000, workers=1), None, None), said.append)
    assert isinstance(said[0], WasMade)
    assert began[0] < time.monotonic() - 1000


def test_it_is_known_how_far_each_is_that_takes_long(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "SERVING", "tests.planner.many.falling:work_and_tell")
    (tmp_path / "out").mkdir()
    under_way: dict[str, UnderWay] = {}
    seen: dict[str, Reached | None] = {}

    def look() -> bool:
        seen.update((name, file.reached or seen.get(name)) for name, file in under_way.items())
        return False

    files = collect([str(problems)], tmp_path / "out")
    assert plan_many(files, tmp_path / "out", QUICK, stopped=look, under_way=under_way)
    assert under_way == {}, "nothing is at work any more"
    planned = {file for file, entry in entries_of(tmp_path / "out").items() if entry.source == "solved"}
    assert {name for name, told in seen.items() if told == Reached(9, 5)} == planned


def test_who_plans_tells_of_the_last_progress_and_of_nothing_after_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = []
    monkeypatch.setattr("planner.many.progress.TELL_SECONDS", 0.01)
    monkeypatch.setattr("planner.many.worker._sender", ProgressSender())

    def plans(problem: Problem, options: Options, hear: OnProgress, **_: object) -> Plan:
        hear(Progress(0.0, None, 5))
        hear(Progress(0.1, 9, 5))
        until = time.monotonic() + 60
        while not said and time.monotonic() < until:
            time.sleep(0.01)
        hear(Progress(0.2, 8, 5))
        return plan(problem, options)

    reader = Reader()
    monkeypatch.setattr("planner.many.worker._reader", reader)
    monkeypatch.setattr("planner.many.worker.plan", plans)
    reader.read(write_problem(generate("transformer", Request(20))), "", None)
    work(Make(Options(time_limit=60.0, work_limit=1000, workers=1), None, None, tells=True), said.append)
    time.sleep(0.05)
    assert isinstance(said[0], Reached)
    assert isinstance(said[-1], WasMade)
    assert {type(each) for each in said[:-1]} == {Reached}
    work(Make(Options(time_limit=60.0, work_limit=1000, workers=1), None, None), said.append)
    assert isinstance(said[-1], WasMade)


def test_places_that_come_while_it_runs_are_of_use(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a cluster whose workers come once there is something to do."""

    class Growing(places.Processes):
        opened = asked = 0

        def count(self) -> int:
            self.asked += 1
            return min(self.asked, 3)

        def open(self) -> places.Place:
            self.opened += 1
            return super().open()

    growing = Growing(1, 0)
    monkeypatch.setattr("planner.many.running.places_for", lambda _farm, _files: growing)
    monkeypatch.setattr("planner.many.running.COUNT_SECONDS", 0.0)
    assert len(run(problems, tmp_path / "out")) == 8
    assert growing.opened == 3

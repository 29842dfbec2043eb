"""Of many files each is planned once; if a run is cut off, the next call goes on."""

from __future__ import annotations

import time
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
from planner.many import Entry, EntryStatus, Manifest, Reached, UnderWay, collect, places, plan_many
from planner.many.progress import ProgressSender
from planner.many.worker import Make, Reader, WasMade, WasRead, work
from planner.planning.placing.watching import OnProgress, Progress
from tests.planner.many.conftest import QUICK, entries_of, run, written

pytestmark = pytest.mark.usefixtures("forked_companions")


def test_plans_fit_their_problems_and_equal_problems_are_planned_once(problems: Path, tmp_path: Path) -> None:
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


def test_only_changed_or_missing_plans_are_made_again(problems: Path, tmp_path: Path) -> None:
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
    with pytest.raises(BadInput, match=r"holds plans made with seed 0 \(the default\); name another"):
        run(problems, tmp_path / "out", other)
    limited = replace(QUICK, options=replace(QUICK.options, memory_limit_bytes=1 << 40))
    with pytest.raises(
        BadInput, match="holds plans made with no memory_limit_bytes; name another folder, or say --anew"
    ):
        run(problems, tmp_path / "out", limited)
    assert len(run(problems, tmp_path / "out", replace(other, anew=True))) == 8


def test_a_baseline_keeps_unchanged_plans_and_starts_changed_ones(problems: Path, tmp_path: Path) -> None:
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
    assert not started.reproducible  # the plan depends on the plan it started from


def test_with_stability_the_manifest_counts_moves(problems: Path, tmp_path: Path) -> None:
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


def test_other_files_are_refused_by_name_and_skipped_in_folders(problems: Path, tmp_path: Path) -> None:
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
    with pytest.raises(BadInput, match="there is no such file or folder, and no file that matches the pattern"):
        collect(["nothing/*.json"], out)


def test_named_files_are_planned_also_beside_their_plans_which_are_no_problems(problems: Path, tmp_path: Path) -> None:
    patterns = ["problems/*.json*", "problems/0.json"]
    files = collect(patterns, tmp_path / "out")
    assert files
    (problems / "0.json.plan.json").write_text("{}")
    (problems / "manifest.jsonl").write_text("{}")
    assert collect(patterns, problems) == files


def test_plans_equal_those_of_plan(problems: Path, tmp_path: Path) -> None:
    run(problems, tmp_path / "out")
    problem, _ = read_problem((problems / "2.json").read_bytes())
    made = read_plan((tmp_path / "out/problems/2.json.plan.json").read_bytes())
    assert made.placements == plan(problem, QUICK.options).placements


def test_files_that_would_have_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = written(tmp_path, "a.json", generate("transformer", Request(20, 0)))
    here = tmp_path / "here"
    written(here.joinpath(*elsewhere.parts[1:-1]), "a.json", generate("transformer", Request(20, 1)))
    monkeypatch.chdir(here)
    with pytest.raises(BadInput, match="would both be called"):
        collect([str(elsewhere), "."], tmp_path / "out")


@pytest.mark.parametrize("folder", ["manifest.jsonl", "a.json.plan.json"])
def test_a_folder_called_like_a_file_of_the_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for place in (tmp_path, tmp_path / folder):
        written(place, "a.json", generate("transformer", Request(20, 0)))
    with pytest.raises(BadInput, match=f"would be called {folder}, as the (manifest|plan of .*a.json) is"):
        collect(["."], tmp_path / "out")


def test_reading_counts_towards_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
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
    messages: list[object] = []
    work(Make(Options(time_limit=60.0, work_limit=1000, workers=1), None, None), messages.append)
    assert isinstance(messages[0], WasMade)
    assert began[0] < time.monotonic() - 1000


def test_progress_of_long_runs_is_known(problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert {name for name, reached in seen.items() if reached == Reached(9, 5)} == planned


def test_workers_report_their_last_progress_and_nothing_after_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[object] = []
    monkeypatch.setattr("planner.many.progress.TELL_SECONDS", 0.01)
    monkeypatch.setattr("planner.many.worker._sender", ProgressSender())

    def plans(problem: Problem, options: Options, hear: OnProgress, **_: object) -> Plan:
        hear(Progress(0.0, None, 5))
        hear(Progress(0.1, 9, 5))
        until = time.monotonic() + 60
        while not messages and time.monotonic() < until:
            time.sleep(0.01)
        hear(Progress(0.2, 8, 5))
        return plan(problem, options)

    reader = Reader()
    monkeypatch.setattr("planner.many.worker._reader", reader)
    monkeypatch.setattr("planner.many.worker.plan", plans)
    reader.read(write_problem(generate("transformer", Request(20))), "", None)
    work(Make(Options(time_limit=60.0, work_limit=1000, workers=1), None, None, tells=True), messages.append)
    time.sleep(0.05)
    assert isinstance(messages[0], Reached)
    assert isinstance(messages[-1], WasMade)
    assert {type(each) for each in messages[:-1]} == {Reached}
    work(Make(Options(time_limit=60.0, work_limit=1000, workers=1), None, None), messages.append)
    assert isinstance(messages[-1], WasMade)


def test_places_that_appear_during_a_run_are_used(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places that appear during the run are used, as on a cluster that starts workers once there is work."""

    class Growing(places.Processes):
        opened = counted = 0

        def count(self) -> int:
            self.counted += 1
            return min(self.counted, 3)

        def open(self) -> places.Place:
            self.opened += 1
            return super().open()

    growing = Growing(1, 0)
    monkeypatch.setattr("planner.many.running.places_for", lambda _farm, _files: growing)
    monkeypatch.setattr("planner.many.running.COUNT_SECONDS", 0.0)
    assert len(run(problems, tmp_path / "out")) == 8
    assert growing.opened == 3

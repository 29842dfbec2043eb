"""`memplan plan-many`: plans many files side by side into a folder, which the next call continues."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from planner.many import Entry, EntryStatus, Farm, Manifest, UnderWay, collect, places_for, plan_many
from planner.model.errors import BadInput, Code, Finding

from ...exit_codes import ExitCode
from ...terminal.interrupt import Interrupt
from ...terminal.output_file import make_folder
from ...terminal.progress.many import ManyProgress
from ...terminal.refusals import refusing
from ...terminal.standard_output import print_json, print_line, prints_json
from ...terminal.text import grouped, say, visible

if TYPE_CHECKING:
    from .shared_answers import SharedAnswers

LISTED = 20
"""The most files without a plan listed in the summary."""
SOURCES = {
    "solved": "solved",
    "same": "equal to another",
    "baseline": "as in the baseline",
    "store": "from the store",
}


class Request(NamedTuple):
    """What to plan, and where to write."""

    patterns: Sequence[str]
    out: str
    baseline: str | None
    store: str | None
    """URL of the service's store of answers."""
    as_json: bool
    quiet: bool


def run(request: Request, farm: Farm) -> ExitCode:
    """Plan what is not planned yet. Exit code 0 only if every file has a plan."""
    begun = time.monotonic()
    entries: dict[str, Entry] = {}
    with refusing(None, as_json=request.as_json):
        folder = make_folder(request.out, "/options/out")
        if request.baseline is not None:
            farm = farm_with_baseline(farm, request.baseline)
        files = collect(request.patterns, leave_out=folder)
        if not files:
            text = f"there is no problem among the named files, and in named folders none outside of {request.out}"
            raise BadInput(Finding(Code.INVALID_OPTION, "", text))
        with Interrupt() as interrupt:
            where = places_for(farm, len(files))  # before there are threads: those of a store and of the redrawn line
            farm, answers = _with_store(farm, request.store)
            under_way: dict[str, UnderWay] = {}
            limit = farm.options.time_limit
            progress = ManyProgress(len(files), under_way, time_limit=limit, quiet=request.quiet)

            def note(entry: Entry) -> None:
                entries[entry.file] = entry
                progress(entry)

            try:
                with progress:
                    done = plan_many(files, folder, farm, note, interrupt.requested, under_way, where)
            finally:
                if answers is not None:
                    answers.close()
        _deliver(request, list(entries.values()), len(files) if done else None, time.monotonic() - begun)
    if not done:
        say(f"interrupted; the same command goes on from {visible(request.out)}")
        return ExitCode.INTERRUPTED
    return ExitCode.OK if all(entry.status.has_plan for entry in entries.values()) else ExitCode.FINDINGS


def _with_store(farm: Farm, url: str | None) -> tuple[Farm, SharedAnswers | None]:
    """Return the farm with the store's answers, and the service's options. Raises BadInput."""
    if url is None:
        return farm, None
    from .shared_answers import SharedAnswers, as_the_service_has_them

    answers = SharedAnswers(url)
    return replace(farm, answers=answers, options=as_the_service_has_them(farm.options)), answers


def farm_with_baseline(farm: Farm, name: str) -> Farm:
    """Return the farm with an earlier run's folder as its baseline. Raises BadInput."""
    manifest = Manifest.read(Path(name))
    if not manifest.settings:
        message = f"{name} holds no manifest of plan-many"
        raise BadInput(Finding(Code.INVALID_OPTION, "/options/baseline", message))
    return replace(farm, baseline=manifest)


def _deliver(request: Request, entries: Sequence[Entry], files: int | None, seconds: float) -> None:
    """Print the result as JSON or in a few lines."""
    statuses = Counter(str(entry.status) for entry in entries)
    sources = Counter(entry.source for entry in entries if entry.source is not None)
    passed_over = None if files is None else files - len(entries)
    without = [entry for entry in entries if not entry.status.has_plan]
    if prints_json(as_json=request.as_json):
        print_json(
            {
                "folder": request.out,
                "files": len(entries),
                "passed_over": passed_over,
                "statuses": {str(status): statuses[status] for status in EntryStatus if statuses[status]},
                "sources": dict(sorted(sources.items())),
                "moves": _moves(entries),
                "seconds": round(seconds, 3),
                "without_plan": [
                    {"file": entry.file, "status": str(entry.status), "reason": entry.reason} for entry in without
                ],
            }
        )
        return
    if request.quiet:
        return
    for line in _summary(request, entries, passed_over, seconds):
        print_line(line)


def _moves(entries: Sequence[Entry]) -> dict[str, int]:
    """Return how the plans of changed files differ from the baseline's; empty if there are none."""
    compared = [entry for entry in entries if entry.moved is not None]
    if not compared:
        return {}
    return {
        "compared": len(compared),
        "files": sum(entry.moved is not None and entry.moved > 0 for entry in compared),
        "buffers": sum(entry.moved or 0 for entry in compared),
        "bytes": sum(entry.moved_bytes or 0 for entry in compared),
        "peaks": sum(entry.peak or 0 for entry in compared),
        "peaks_before": sum(entry.peak_before or 0 for entry in compared),
    }


def _summary(request: Request, entries: Sequence[Entry], passed_over: int | None, seconds: float) -> Iterator[str]:
    """Return the files without a plan and the number of each kind; the folder comes last."""
    without = [entry for entry in entries if not entry.status.has_plan]
    for entry in without[:LISTED]:
        yield f"{entry.file}: {entry.status}" + (f": {entry.reason}" if entry.reason else "")
    if len(without) > LISTED:
        yield f"and {grouped(len(without) - LISTED)} more without a plan: see the manifest"
    statuses = Counter(entry.status for entry in entries)
    counts = [f"{grouped(statuses[status])} {status}" for status in EntryStatus if statuses[status]]
    yield f"{grouped(len(entries))} files   {'   '.join(counts)}   {seconds:.2f} s"
    sources = Counter(entry.source for entry in entries)
    again = [f"{grouped(sources[name])} {words}" for name, words in SOURCES.items() if sources[name]]
    if again:
        yield f"  {'   '.join(again)}"
    if moves := _moves(entries):
        where = f"in {grouped(moves['files'])} of {grouped(moves['compared'])} files that changed"
        yield f"  {grouped(moves['buffers'])} buffers of {grouped(moves['bytes'])} bytes moved {where}"
        yield f"  their peaks add up to {grouped(moves['peaks'])} bytes, {grouped(moves['peaks_before'])} before"
    if passed_over:
        yield f"  {grouped(passed_over)} files of folders hold no problem"
    yield f"  plans and manifest.jsonl in {request.out}"

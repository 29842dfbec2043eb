"""Conversion between rows of the tables and records."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, Row, insert, update

from planner.model.problem import MAX_TEXT

from ..protocol import CHANGED, StoreDamaged, checksum, sound
from ..records import About, Event, EventKind, Job, JobState, Look, NewJob, PlanHead, StoredPlan, Summary, new_id
from .columns import Damaged
from .tables import events, jobs
from .turns import is_looked_at, priority_of


def damaged_columns(row: Row[Any]) -> list[str]:
    """Return the columns of a row of `jobs` that are not what was written."""
    values = row._mapping
    found = [name for name, value in values.items() if isinstance(value, Damaged) or _is_missing(name, value)]
    for name, decoded in (("state", JobState), ("about", _about_of)):
        if name not in found:
            try:
                decoded(values[name])
            except (KeyError, TypeError, ValueError, AttributeError):
                found.append(name)
    return found


def _is_missing(name: str, value: object) -> bool:
    return value is None and not jobs.c[name].nullable


def job_of(row: Row[Any] | SimpleNamespace) -> Job:
    """Return the job in a sound row of `jobs`, or in the values of one."""
    return Job(
        id=row.id,
        owner=row.owner,
        state=JobState(row.state),
        about=_about_of(row.about, getattr(row, "more", None)),
        created=row.created,
        started=row.started,
        finished=row.finished,
        attempt=row.attempt,
        deaths=row.deaths,
        cancelling=row.cancelling,
        status=row.status,
        stop=row.stop,
        best=row.best,
        bound=row.bound,
        gap=row.gap,
        failure=row.failure,
        batch=row.batch,
        line=row.line,
        has_plan=row.has_plan,
        delivery=row.delivery,
        events=row.events,
    )


def _about_of(about: dict[str, Any], more: Mapping[str, Any] | None = None) -> About:
    if "kind" not in about:  # it was queued by an earlier version
        about = about | {"kind": "sharing" if about["options"].get("objects") else "plan"}
    found = About(**(about | {"notes": tuple(about["notes"])}))
    if not (isinstance(found.options, dict) and isinstance(found.buffers, int) and isinstance(found.kind, str)):
        raise TypeError
    return replace(found, options={**found.options, **more}) if more else found


def _in_two(about: About) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return it as a document, and its long options, of which that has only the names."""
    long = {name: value for name, value in about.options.items() if value and len(json.dumps(value)) > MAX_TEXT}
    return asdict(replace(about, options={**about.options, **dict.fromkeys(long)})), long


def summary_of(value: object) -> Summary:
    """Return the summary in a column. Raises StoreDamaged."""
    try:
        return Summary(**value)  # type: ignore[arg-type]
    except TypeError as error:
        raise StoreDamaged("a plan's summary is not what was written: the store is damaged") from error


def event_of(row: Row[Any]) -> Event:
    """Return the event in a row of `events`. Raises StoreDamaged."""
    kinds = {each.value: each for each in EventKind}
    if row.kind not in kinds or not isinstance(row.data, dict) or not isinstance(row.number, int):
        raise StoreDamaged("an event is not what was written: the store is damaged")
    return Event(row.number, kinds[row.kind], row.data)


def values_of(new: NewJob) -> dict[str, Any]:
    """Return a new job as a row."""
    about, more = _in_two(new.about)
    return {
        "id": new_id(),
        "owner": new.owner,
        "state": JobState.QUEUED.value,
        "priority": priority_of(new.about.options, urgent=new.urgent, where=new.where),
        "about": about,
        "created": time.time(),
        "started": None,
        "finished": None,
        "attempt": 0,
        "deaths": 0,
        "cancelling": False,
        **dict.fromkeys(("status", "stop", "best", "bound", "gap", "failure")),
        "batch": new.batch,
        "line": new.line,
        "events": 0,
        "has_plan": False,
        "delivery": None,
        "look": Look.DUE.value if is_looked_at(new.about) else None,
        "more": more or None,
    }


def plan_of(row: Row[Any]) -> StoredPlan:
    """Return the plan in a row of `plans` or `job_plans`. Raises StoreDamaged."""
    return StoredPlan(sound(row.data, row.checksum), *_facts(row))


def head_of(row: Row[Any]) -> PlanHead:
    """Return what else a row of `job_plans` says, with the plan's `size`. Raises StoreDamaged."""
    if not isinstance(row.size, int):
        raise StoreDamaged(CHANGED)
    return PlanHead(*_facts(row), row.size)


def _facts(row: Row[Any]) -> tuple[str, Summary, float]:
    etag, created = row.etag, row.created
    if not (isinstance(etag, str) and etag.isascii() and etag.isprintable() and isinstance(created, float)):
        raise StoreDamaged(CHANGED)
    return etag, summary_of(row.summary), created


def plan_values(plan: StoredPlan) -> dict[str, Any]:
    """Return a plan as columns."""
    return {
        "created": plan.created,
        "etag": plan.etag,
        "summary": asdict(plan.summary),
        "data": plan.data,
        "size": len(plan.data),
        "checksum": checksum(plan.data),
    }


def plan_row(job: str, plan: StoredPlan) -> dict[str, Any]:
    return {"job": job, "best": plan.summary.best, **plan_values(plan)}


def change(
    connection: Connection, row: Row[Any], values: dict[str, Any], *recorded: tuple[EventKind, Mapping[str, Any]]
) -> None:
    """Change a job, and record what happened to it."""
    number = row.events
    for kind, data in recorded:
        number += 1
        connection.execute(insert(events).values(job=row.id, number=number, kind=kind.value, data=dict(data)))
    connection.execute(update(jobs).where(jobs.c.id == row.id).values(**values, events=number))


def gap_of(best: int | None, bound: int | None) -> float | None:
    """Return by how much the best could be better at most."""
    return best / bound - 1 if best is not None and bound else None

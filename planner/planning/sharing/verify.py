"""The verification of a sharing: every rule of the problem and every claim of the sharing, checked again in exact integers.

It does not know how sharings are made: it reads only the user's Problem and the Sharing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise

from ...facts.digest import digest as digest_of
from ...facts.sweep import VERIFYING
from ...model.deadline import in_time, look, tick
from ...model.errors import echo
from ...model.problem import BufferId, Problem
from ...model.storage import Sharing, StorageObject
from ...verifying.findings import LISTED_PER_KIND, Findings
from .certificates import objections
from .claims import check_claims
from .findings import SharingFinding, SharingFindingKind
from .kinds import kinds_of, need, with_kept_buffers
from .plain import EFFORT
from .users import Users


def verify(
    problem: Problem, sharing: Sharing, digest: str | None = None, *, effort: int = EFFORT
) -> tuple[SharingFinding, ...]:
    """Return everything that is wrong with the sharing; empty if it may be trusted. `digest` saves computing the problem's again.

    What searches are said to have shown is held against plain sharings; making these ends when `effort` objects were looked at.

    Raises CannotSolve or BadInput for a problem whose buffers cannot share objects, for which no sharing can be right.
    """
    return Verification(problem, sharing, digest, effort=effort).findings()


class Verification:
    """The verification of one sharing. If time ends it among the proofs, the assignments can still be trusted: they were checked before."""

    def __init__(self, problem: Problem, sharing: Sharing, digest: str | None = None, *, effort: int = EFFORT) -> None:
        """Takes, and raises, what `verify` does."""
        problem = with_kept_buffers(problem)
        kinds_of(problem)
        self._problem, self._sharing, self._digest, self._effort = problem, sharing, digest, effort
        self._kept: tuple[Users, Sequence[StorageObject | None]] | None = None
        """Assignments that keep every rule, once that is known."""

    def findings(self) -> tuple[SharingFinding, ...]:
        """Return everything that is wrong with the sharing."""
        report: Findings[SharingFinding] = Findings()
        users = Users(self._problem)
        where: list[StorageObject | None] = [None] * len(self._problem.buffers)
        report.extend(_broken_rules(users, self._sharing, where))
        if self._sharing.assignments and not report.listed:
            self._kept = users, where
        report.extend(self._wrong_claims(users, where))
        return tuple(report.listed)

    def is_right_without_proofs(self, unproven: Sharing) -> bool:
        """True if the same sharing without proofs is right. False also if the assignments have not been found to keep every rule."""
        return self._kept is not None and not any(check_claims(self._kept[0], unproven, self._kept[1], self._effort))

    def _wrong_claims(self, users: Users, where: Sequence[StorageObject | None]) -> Iterator[SharingFinding]:
        sharing = self._sharing
        yield from check_claims(users, sharing, where, self._effort)
        for certificate, wrong in objections(users, sharing.certificates):
            named = tuple(dict.fromkeys(id_ for each in certificate.sets for id_ in each.buffers))
            yield SharingFinding(SharingFindingKind.WRONG_CERTIFICATE, wrong, named)
        if sharing.problem_digest != (digest_of(self._problem) if self._digest is None else self._digest):
            text = "the sharing was made for another problem: the digests differ"
            yield SharingFinding(SharingFindingKind.WRONG_DIGEST, text)


def _broken_rules(users: Users, sharing: Sharing, where: list[StorageObject | None]) -> Iterator[SharingFinding]:
    """Return what is wrong with objects and assignments; fill in each buffer's object, if it has a valid one."""
    problem = users.problem
    objects: dict[int, StorageObject] = {}
    for thing in sharing.objects:
        if thing.id in objects:
            text = f"object {thing.id} is there more than once"
            yield SharingFinding(SharingFindingKind.DUPLICATE_OBJECT, text, (), (thing.id,))
        objects[thing.id] = thing
    yield from _locate(problem, sharing, objects, where)
    used = {each.object for each in sharing.assignments}
    for id_ in objects:
        if id_ not in used:
            yield SharingFinding(SharingFindingKind.UNUSED_OBJECT, f"no buffer uses object {id_}", (), (id_,))
    yield from _check_each(problem, where)
    yield from _check_clashes(users, where)
    yield from _check_ties(users, where)


def _locate(
    problem: Problem, sharing: Sharing, objects: dict[int, StorageObject], where: list[StorageObject | None]
) -> Iterator[SharingFinding]:
    """Fill in each buffer's object, if it has a valid one."""
    if not sharing.assignments and not sharing.objects:
        return  # whether there should be assignments depends on the status
    index = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
    found: dict[BufferId, int] = {}
    for each in in_time(sharing.assignments, VERIFYING, "assignment"):
        if each.id not in index:
            text = f"buffer {echo(each.id)} is not in the problem"
            yield SharingFinding(SharingFindingKind.UNKNOWN_BUFFER, text, (each.id,))
        elif each.id in found:
            text = f"buffer {echo(each.id)} is assigned more than once"
            yield SharingFinding(SharingFindingKind.DUPLICATE_ASSIGNMENT, text, (each.id,))
        else:
            found[each.id] = each.object
            where[index[each.id]] = objects.get(each.object)
            if each.object not in objects:
                text = f"buffer {echo(each.id)} uses object {each.object}, which is not there"
                yield SharingFinding(SharingFindingKind.UNKNOWN_OBJECT, text, (each.id,), (each.object,))
    for buffer in problem.buffers:
        if buffer.id not in found:
            text = f"buffer {echo(buffer.id)} has no object"
            yield SharingFinding(SharingFindingKind.MISSING_BUFFER, text, (buffer.id,))
    if list(found) != [buffer.id for buffer in problem.buffers if buffer.id in found]:
        text = "the assignments are not in the order of the problem's buffers"
        yield SharingFinding(SharingFindingKind.WRONG_ORDER, text)


def _check_each(problem: Problem, where: Sequence[StorageObject | None]) -> Iterator[SharingFinding]:
    pools = {pool.name: pool for pool in problem.pools}
    for buffer, thing in zip(in_time(problem.buffers, VERIFYING, "buffer"), where, strict=True):
        if thing is None:
            continue
        kind = thing.kind
        id_, concerned = echo(buffer.id), ((buffer.id,), (thing.id,))
        allowed = buffer.pools is None or kind.pool in buffer.pools
        if kind.pool not in pools or not allowed or (buffer.fixed is not None and buffer.fixed.pool != kind.pool):
            text = f"buffer {id_} is in pool {echo(kind.pool)}, where it may not be"
            yield SharingFinding(SharingFindingKind.WRONG_POOL, text, *concerned)
        elif thing.size < need(buffer, pools[kind.pool]):
            text = f"buffer {id_} needs {need(buffer, pools[kind.pool])} bytes, but object {thing.id} has {thing.size}"
            yield SharingFinding(SharingFindingKind.OBJECT_TOO_SMALL, text, *concerned)
        if buffer.device != kind.device:
            text = f"buffer {id_} is on {_named('device', buffer.device)}, object {thing.id} on {_named('device', kind.device)}"
            yield SharingFinding(SharingFindingKind.WRONG_DEVICE, text, *concerned)
        if buffer.dtype != kind.dtype:
            text = (
                f"buffer {id_} is of {_named('type', buffer.dtype)}, object {thing.id} of {_named('type', kind.dtype)}"
            )
            yield SharingFinding(SharingFindingKind.WRONG_DTYPE, text, *concerned)


def _named(what: str, value: str | None) -> str:
    return f"no {what}" if value is None else f"{what} {echo(value)}"


def _check_clashes(users: Users, where: Sequence[StorageObject | None]) -> Iterator[SharingFinding]:
    """Check each object's users in the order in which they begin: a new one must be allowed with all still present."""
    of_object: dict[int, list[int]] = {}
    for i, thing in enumerate(where):
        if thing is not None:
            of_object.setdefault(thing.id, []).append(i)
    for id_, members in of_object.items():
        yield from _clashes_in_time(users, id_, members)
    for a, b in in_time(users.problem.constraints.conflicts, VERIFYING, "conflict"):
        one, other = where[users.index[a]], where[users.index[b]]
        if (
            one is not None
            and other is not None
            and one.id == other.id
            and users.conflict(users.index[a], users.index[b])
        ):
            text = f"buffers {echo(a)} and {echo(b)} must not share storage, but share object {one.id}"
            yield SharingFinding(SharingFindingKind.CLASH, text, (a, b), (one.id,))


def _clashes_in_time(users: Users, id_: int, members: Sequence[int]) -> Iterator[SharingFinding]:
    """Yield clashes among one object's users. Each present user outside the new one's group must be allowed by exclusion, or is a finding."""
    buffers = users.problem.buffers
    spans = sorted((start, end, i) for i in members for start, end in users.live(i))
    look(VERIFYING)
    if all(end <= start for (_, end, _), (start, _, _) in pairwise(spans)):
        return  # the usual case: each is over before the next begins
    present = _Present(users)
    seen: set[frozenset[int]] = set()
    for start, end, i in spans:
        tick(VERIFYING)
        present.end_at(start)
        for j in present.of_other_groups(i):
            if frozenset((i, j)) in seen or users.may_overlap(i, j):
                continue
            seen.add(frozenset((i, j)))
            text = f"buffers {echo(buffers[j].id)} and {echo(buffers[i].id)} are needed at the same time, but share object {id_}"
            yield SharingFinding(SharingFindingKind.CLASH, text, (buffers[j].id, buffers[i].id), (id_,))
            if len(seen) > LISTED_PER_KIND:
                return  # no more are listed
        present.add(i, end)


class _Present:
    """The users present at a time, by group."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._ends: list[tuple[int, int]] = []
        self._groups: dict[int, dict[int, None]] = {}

    def add(self, user: int, end: int) -> None:
        self._groups.setdefault(self._users.group(user), {})[user] = None
        heappush(self._ends, (end, user))

    def end_at(self, time: int) -> None:
        """Remove those that have ended by this time."""
        while self._ends and self._ends[0][0] <= time:
            _, gone = heappop(self._ends)
            group = self._users.group(gone)
            del self._groups[group][gone]
            if not self._groups[group]:
                del self._groups[group]

    def of_other_groups(self, user: int) -> Iterator[int]:
        mine = self._users.group(user)
        return (other for group, others in self._groups.items() if group != mine for other in others)


def _check_ties(users: Users, where: Sequence[StorageObject | None]) -> Iterator[SharingFinding]:
    for tie in in_time(users.problem.constraints.colocations, VERIFYING, "colocation"):
        mine, base = where[users.index[tie.buffer]], where[users.index[tie.base]]
        if mine is not None and base is not None and mine.id != base.id:
            text = f"buffers {echo(tie.buffer)} and {echo(tie.base)} begin together, but use objects {mine.id} and {base.id}"
            yield SharingFinding(SharingFindingKind.COLOCATION_BROKEN, text, (tie.buffer, tie.base), (mine.id, base.id))

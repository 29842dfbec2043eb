"""Checks certificates about the objects of one kind: each is derived again from the Problem alone."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from solvers.sharing.solver import SEARCHERS

from ...model.errors import echo
from ...model.storage import SharingCertificate, SharingProof, Witness
from .users import Users

MOST_APART = 4096
"""The most buffers in a set that no common time keeps apart."""


def objections(users: Users, certificates: Iterable[SharingCertificate]) -> list[tuple[SharingCertificate, str]]:
    """Return the certificates that do not hold, each with the reason."""
    found = []
    for certificate in certificates:
        wrong = _check(users, certificate)
        if wrong is not None:
            text = f"the certificate ({certificate.proof}, {certificate.value}) does not hold: {wrong}"
            found.append((certificate, text))
    return found


def _check(users: Users, certificate: SharingCertificate) -> str | None:
    if certificate.kind.pool not in users.places.pools:
        return f"there is no pool {echo(certificate.kind.pool)}"
    if certificate.proof is SharingProof.SEARCH:
        if certificate.sets:
            return "it names sets of buffers, but a search is through all there are"
        if not certificate.solver:
            return "it names no solver that searched"
        return (
            None if certificate.solver in SEARCHERS else f"there is no solver {echo(certificate.solver)} that searches"
        )
    if certificate.solver is not None:
        return "it names a solver, but its argument needs none"
    sizes: list[int] = []
    for each in certificate.sets:
        wrong = _names(users, certificate, each) or _share_something(users, each)
        if wrong is not None:
            return wrong
        # Each uses its own object, so there are as many objects of at least these sizes.
        needs = sorted((users.need_in(users.index[id_], certificate.kind.pool) for id_ in each.buffers), reverse=True)
        sizes += [0] * (len(needs) - len(sizes))
        sizes[: len(needs)] = map(max, sizes, needs)
    if certificate.value > sum(sizes):
        return f"its sets prove {sum(sizes)}"
    return None


def _names(users: Users, certificate: SharingCertificate, each: Witness) -> str | None:
    """Return objections to its names: everything must exist and be of the certificate's kind."""
    for id_ in each.buffers:
        if id_ not in users.index:
            return f"there is no buffer {echo(id_)}"
        buffer = users.problem.buffers[users.index[id_]]
        if (buffer.device, buffer.dtype) != (certificate.kind.device, certificate.kind.dtype):
            return f"buffer {echo(id_)} is of another kind"
        if users.pools(users.index[id_]) != [certificate.kind.pool]:
            return f"buffer {echo(id_)} need not be in pool {echo(certificate.kind.pool)}"
    if len({users.group(users.index[id_]) for id_ in each.buffers}) < len(each.buffers):
        return "a set names one buffer twice, or two that share an object"
    return None


def _share_something(users: Users, each: Witness) -> str | None:
    """Return objections to the claim that all of them use different objects."""
    chosen = [users.index[id_] for id_ in each.buffers]
    if each.time is None:
        if len(chosen) > MOST_APART:
            return f"a set without a time may have {MOST_APART} buffers, for each pair of them is looked at"
        pairs = list(combinations(chosen, 2))
    else:
        for i in chosen:
            if not any(users.is_live_at(member, each.time) for member in users.members(i)):
                return f"buffer {echo(users.problem.buffers[i].id)} is not needed at {each.time}"
        pairs = users.excluded_pairs(chosen)
    for a, b in pairs:
        if not users.groups_clash(a, b, each.time):
            one, other = (echo(users.problem.buffers[i].id) for i in (a, b))
            return f"buffers {one} and {other} may share an object"
    return None

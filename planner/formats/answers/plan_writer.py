"""memplan-plan/1: from a Plan to bytes, the same for the same Plan, with what depends on the clock at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...facts.rows import named_rows, names_of
from ...model.columns.placements import PlacementColumns, pools_of
from ...model.plan import MAX_PROSE, Choice, ChoiceCertificate, Placement, Plan, PlanCertificate, Run, Shortage
from ...model.storage import Sharing
from ..documents import PLAN_FORMAT
from ..json.lines import ITEM, Written, compact, document


class PlanWriter:
    """Writes plans one after the other. Those of neighbouring sizes often have the very same placements, whose text is made once."""

    def __init__(self) -> None:
        self._placements: Sequence[Placement] | None = None
        """Those of the last plan."""
        self._text = Written()

    def write(self, plan: Plan) -> bytes:
        """Return the plan as JSON."""
        if plan.placements is not self._placements:
            self._placements = plan.placements
            self._text = Written([ITEM.join(_placements(plan))] if plan.placements else [])
        return document(_fields(plan, self._text), listed=("pools", "choice", "placements", "certificate", "run"))


def write_plan_json(plan: Plan) -> bytes:
    return document(
        _fields(plan, Written(_placements(plan))), listed=("pools", "choice", "placements", "certificate", "run")
    )


def _fields(plan: Plan, placements: Written) -> dict[str, Any]:
    """Return the plan as plain Python values with these placements, in the order of the document."""
    return {
        "format": PLAN_FORMAT,
        "status": str(plan.status),
        "stop": str(plan.stop),
        "peak": plan.peak,
        "bound": plan.bound,
        "gap": plan.gap,
        "objective": {
            "value": plan.objective.value,
            "bound": plan.objective.bound,
            "terms": [{"name": str(t.name), "value": t.value, "bound": t.bound} for t in plan.objective.terms],
        },
        "pools": Written(_pools(plan)),
        **({} if plan.choice is None else {"choice": _choice(plan.choice)}),
        "placements": placements,
        **last_fields(plan, Written(map(_certificate, plan.certificates))),
    }


def last_fields(answer: Plan | Sharing, certificates: list[Any]) -> dict[str, Any]:
    """Return the end of every answer: its origin, its proofs, and its run."""
    return {
        "solver": answer.solver,
        "seed": answer.seed,
        "reproducible": answer.reproducible,
        "versions": dict(sorted(answer.versions.items())),
        "problem_digest": answer.problem_digest,
        "certificate": certificates,
        "shortage": None if answer.shortage is None else shortage_fields(answer.shortage),
        "warnings": [warning[:MAX_PROSE] for warning in answer.warnings],
        "run": run_fields(answer.run),
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {
        "goal": str(choice.goal),
        "cost": choice.cost,
        "cost_bound": choice.cost_bound,
        "most_cost": choice.most_cost,
        "costs": [{"name": name, "value": value} for name, value in choice.costs],
        "alternatives": [{"group": group, "alternative": name} for group, name in choice.alternatives],
        **({"certificate": [*map(_choice_certificate, choice.certificates)]} if choice.certificates else {}),
    }


def _choice_certificate(certificate: ChoiceCertificate) -> dict[str, Any]:
    return {
        "value": certificate.value,
        "memory": certificate.memory,
        "cost": certificate.cost,
        "weights": [{"pool": pool, "time": time, "price": price} for pool, time, price in certificate.weights],
        **({} if certificate.within is None else {"within": certificate.within}),
    }


def _pools(plan: Plan) -> Iterator[str]:
    """Yield a line for each pool."""
    names = names_of([use.name for use in plan.pools], compact)
    for name, use in zip(names, plan.pools, strict=True):
        size = "null" if use.size is None else use.size
        peak = "null" if use.peak is None else use.peak
        yield f'{{"name": {name}, "size": {size}, "peak": {peak}, "bound": {use.bound}}}'


def _placements(plan: Plan) -> Iterator[str]:
    """Yield a line for each placement. There may be a million, mostly with the same pool's name."""
    if isinstance(plan.placements, PlacementColumns):
        yield from _lines(plan.placements)
        return
    named = [*dict.fromkeys([place.pool for place in plan.placements])]
    pools = dict(zip(named, names_of(named, compact), strict=True))
    for p in plan.placements:
        id_ = p.id if type(p.id) is int else compact(p.id)
        yield f'{{"id": {id_}, "pool": {pools[p.pool]}, "offset": {p.offset}, "size": {p.size}}}'


def _lines(columns: PlacementColumns) -> Iterator[str]:
    """Yield lines in batches."""
    ids, used = columns.ids, pools_of(columns)
    begin, end = (f'{ITEM}{{"id": ', ', "pool": '), (', "offset": ', ', "size": ', "}")
    if len(used) == 1:
        words = (begin[0], f"{begin[1]}{compact(next(iter(used)))}{end[0]}", *end[1:])
        texts = named_rows(words, ids, compact, columns.offset, columns.size)
    else:
        names = names_of(columns.pools, compact)
        pools = [names[p] for p in columns.pool.tolist()]
        texts = named_rows((*begin, *end), ids, compact, pools, columns.offset, columns.size)
    for text in texts:
        yield text.removeprefix(ITEM)


def _certificate(certificate: PlanCertificate) -> str:
    crowds = [
        {
            "pool": p,
            "time": t,
            "buffers": list(ids),
            **({"votes": list(votes)} if any(each != 1 for each in votes) else {}),
            "numerator": n,
            "denominator": d,
        }
        for p, t, ids, votes, n, d in certificate.crowds
    ]
    sets = [{"buffers": list(ids), "numerator": n, "denominator": d} for ids, n, d in certificate.sets]
    held = [{"term": str(t), "most": most, "numerator": n, "denominator": d} for t, most, n, d in certificate.held]
    fields = {
        "proof": str(certificate.proof),
        "value": certificate.value,
        "pool": certificate.pool,
        **({} if certificate.term is None else {"term": str(certificate.term)}),
        "time": certificate.time,
        "buffers": list(certificate.buffers),
        "weights": [],
        **({"sets": sets} if sets else {}),
        **({"crowds": crowds} if crowds else {}),
        **({"held": held} if held else {}),
        "solver": certificate.solver,
    }
    pools = names_of([weight[0] for weight in certificate.weights], compact)
    weights = ", ".join(
        [
            f'{{"pool": {pool}, "time": {t}, "numerator": {n}, "denominator": {d}}}'
            for pool, (_, t, n, d) in zip(pools, certificate.weights, strict=True)
        ]
    )
    return compact(fields).replace('"weights": []', f'"weights": [{weights}]', 1)


def shortage_fields(shortage: Shortage) -> dict[str, Any]:
    return {
        "message": shortage.message[:MAX_PROSE],
        "pool": shortage.pool,
        "bytes_short": shortage.bytes_short,
        "time": shortage.time,
        "buffers": list(shortage.buffers),
        "subset": None if shortage.subset is None else list(shortage.subset),
        "irreducible": shortage.irreducible,
        **({} if shortage.most_cost is None else {"max_cost": shortage.most_cost}),
    }


def run_fields(run: Run) -> dict[str, Any]:
    trace = [{"seconds": p.seconds, "value": p.value, "bound": p.bound} for p in run.trace]
    return {"seconds": run.seconds, "trace": trace, "machine": dict(sorted(run.machine.items()))}

"""Problems with right plans, in which tests make faults."""

from __future__ import annotations

from dataclasses import replace

from planner.model.plan import Plan, PlanCertificate, PlanStatus
from planner.model.problem import Buffer, BufferId, Colocation, Constraints, Fixed, Pool, Problem, ReusePenalty
from planner.verifying.findings import FindingKind
from planner.verifying.verify import verify
from solvers.model.errors import StopReason
from solvers.model.instance import Term
from tests.small.plans import make_plan

Kind = FindingKind


RICH = Problem(
    buffers=(
        Buffer("input", 64, 16, ((0, 4),), fixed=Fixed("sram", 32)),
        Buffer("weights", 100, 4, None, pools=("dram",)),
        Buffer("view", 16, 8, ((2, 9),)),
        Buffer("whole", 48, 16, ((3, 6),), max_offset=200),
        Buffer(7, 40, 8, ((1, 2), (7, 9))),
        Buffer("7", 40, 8, ((5, 8),)),
        Buffer("then", 24, 8, ((0, 3),)),
        Buffer("else", 24, 8, ((0, 3),)),
        Buffer("nothing", 0, 4, ((0, 9),)),
    ),
    pools=(
        Pool("sram", 256, 8, base=64, reserved=((0, 32), (200, 208)), rank=0),
        Pool("dram", None, 4, cost=2, rank=1),
    ),
    constraints=Constraints(
        conflicts=(("input", "7"),),
        exclusions=(("then", "else"),),
        colocations=(Colocation("view", "whole", 16),),
        same_pool=(("input", "whole"),),
        different_pool=(("weights", "input"),),
        reuse_penalties=(ReusePenalty("whole", "then", 5),),
    ),
    terms=(Term.ACCESS_COST, Term.SUM_OF_PEAKS, Term.LARGEST_PEAK, Term.REUSE_COST),
)


SPOTS: dict[BufferId, tuple[str, int]] = {
    "input": ("sram", 32),
    "weights": ("dram", 0),
    "view": ("sram", 112),
    "whole": ("sram", 96),
    7: ("sram", 160),
    "7": ("sram", 208),
    "then": ("dram", 104),
    "else": ("dram", 104),
    "nothing": ("sram", 104),
}


CHAIN = Problem(
    tuple(Buffer(name, 10, 1, ((n, n + 2),)) for n, name in enumerate("abc")),
    (Pool("only", 64),),
)


CHAIN_SPOTS: dict[BufferId, tuple[str, int]] = {"a": ("only", 0), "b": ("only", 10), "c": ("only", 0)}


def kinds(problem: Problem, plan: Plan) -> set[FindingKind]:
    return {finding.kind for finding in verify(problem, plan)}


def moved(spots: dict[BufferId, tuple[str, int]]) -> Plan:
    """Return a plan of RICH with some buffers elsewhere, whose peaks and values are right for these places."""
    return make_plan(RICH, {**SPOTS, **spots})


BASE = make_plan(CHAIN, CHAIN_SPOTS)


SUM, LARGEST, ACCESS, REUSE = Term.SUM_OF_PEAKS, Term.LARGEST_PEAK, Term.ACCESS_COST, Term.REUSE_COST


def called_optimal(problem: Problem, spots: dict[BufferId, tuple[str, int]], *certificates: PlanCertificate) -> Plan:
    """Return a plan that claims to be optimal: its bounds equal its values, whatever the certificates prove."""
    plan = make_plan(problem, spots)
    terms = tuple(replace(term, bound=term.value) for term in plan.objective.terms)
    objective = replace(plan.objective, bound=terms[0].bound, terms=terms)
    gap = 0.0 if len(terms) == 1 and terms[0].bound else None
    raised = replace(plan, objective=objective, gap=gap, certificates=certificates)
    return replace(raised, status=PlanStatus.OPTIMAL, stop=StopReason.PROVED)

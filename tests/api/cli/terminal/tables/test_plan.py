"""A plan's table on a terminal shows the status, the figures, and how much memory is missing."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

import planner
from api.cli.terminal.tables import plan as plan_report
from api.cli.terminal.tables.plan import print_report
from planner.model.plan import Choice, ChoiceGoal, Objective, Plan, PlanStatus, Shortage, TermValue
from planner.model.problem import Buffer, Pool, Problem
from solvers.model.errors import StopReason
from solvers.model.instance import Term
from tests.api.sample_plans import make_plan, stacked

PROBLEM = Problem((Buffer("a", 64),))


def shown(
    problem: Problem,
    plan: Plan,
    *,
    explain: bool = False,
    width: int = 100,
    colour: bool = False,
    has_work_limit: bool = False,
) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, markup=False, emoji=False, highlight=False, force_terminal=colour, no_color=not colour
    )
    print_report(problem, plan, explain=explain, console=console, has_work_limit=has_work_limit)
    return stream.getvalue()


def test_an_optimal_plan_is_shown_in_three_lines() -> None:
    text = shown(*stacked([("a", 1 << 20), ("b", 24)], name="net"))
    *_tables, headline, peak, bound = text.splitlines()
    assert headline == "optimal   net: 2 buffers   0.25 s   greedy"
    assert (peak[:8], bound[:9]) == ("  peak  ", "  bound  "), (
        "what it is worth comes last, where the reader's eyes are"
    )
    assert "peak   1 048 600 B (1.0 MiB)" in text
    assert "no plan can have a smaller peak" in text
    assert "gap" not in text


def test_a_feasible_plan_shows_its_gap_and_stop_reason() -> None:
    plan = make_plan(PlanStatus.FEASIBLE, stop=StopReason.TIME_LIMIT, peak=110, bound=100)
    text = shown(PROBLEM, plan)
    assert "stopped by the time limit" in text
    assert "gap    10.0 %" in text


def test_every_stop_reason_has_words() -> None:
    assert set(plan_report.STOPPED) == set(StopReason)


@pytest.mark.parametrize(("status", "colour"), [("optimal", "32"), ("feasible", "33"), ("infeasible", "31")])
def test_the_status_has_a_colour(status: str, colour: str) -> None:
    assert f"\x1b[1;{colour}m{status}\x1b[0m" in shown(PROBLEM, make_plan(PlanStatus(status)), colour=True)


SHORTAGE = Shortage("pool 'sram' is too small", "sram", 512, 7, ("a", "\x1b[31mb"), ("a", 3), True)


def test_an_infeasible_plan_shows_its_shortage() -> None:
    text = shown(PROBLEM, make_plan(PlanStatus.INFEASIBLE, shortage=SHORTAGE), explain=True)
    for fact in (
        "pool 'sram' is too small",
        "short by 512 B",
        "at time  7",
        r"a, \x1b[31mb",
        "These 2 cannot be placed",
    ):
        assert fact in text
    assert "\x1b" not in text


def test_a_subset_that_may_not_be_minimal_is_marked() -> None:
    plan = make_plan(PlanStatus.INFEASIBLE, shortage=replace(SHORTAGE, irreducible=False))
    assert "perhaps not the fewest" in shown(PROBLEM, plan)


def test_an_infeasible_plan_without_a_subset_tells_how_to_get_one() -> None:
    plan = make_plan(PlanStatus.INFEASIBLE, shortage=replace(SHORTAGE, subset=None, irreducible=None))
    assert "--explain finds" in shown(PROBLEM, plan)
    assert "--explain finds" not in shown(PROBLEM, plan, explain=True)


def test_many_buffers_are_not_all_named() -> None:
    plan = make_plan(PlanStatus.INFEASIBLE, shortage=replace(SHORTAGE, buffers=tuple(range(100))))
    assert "39 … and 60 more" in shown(PROBLEM, plan)


def test_a_run_without_a_plan_in_time_is_described() -> None:
    text = shown(PROBLEM, make_plan(PlanStatus.UNKNOWN, stop=StopReason.TIME_LIMIT))
    assert text.startswith("unknown")
    assert "--time-limit" in text


def test_names_and_warnings_cannot_control_the_terminal() -> None:
    problem, plan = stacked([("\x1b[2J\u202ex", 1)], name="\x1b]0;title\x07 [red]")
    text = shown(problem, replace(plan, warnings=("\x9b31m [/bold]",)))
    assert text.replace("\n", "").isprintable()
    assert "[red]" in text
    assert "[/bold]" in text


def test_several_terms_are_all_shown() -> None:
    problem, plan = stacked([("a", 64)])
    terms = (TermValue(Term.ACCESS_COST, 5, 5), TermValue(Term.LARGEST_PEAK, 64, None))
    text = shown(problem, replace(plan, objective=Objective(5, 5, terms)))
    assert "access cost  5   bound 5" in text
    assert "largest peak  64   nothing proven" in text
    spilled = Objective(107, 100, (TermValue(Term.SPILLED_BYTES, 107, 100),))
    text = shown(problem, replace(plan, objective=spilled, bound=0, gap=0.07, status=PlanStatus.FEASIBLE))
    assert "spilled bytes  107   bound 100   gap 7.0 %" in text
    assert "bound  nothing is proven about the peak" in text
    assert "smaller peak" not in text
    assert text.count("gap") == 1, "the peak has none"


def test_an_explanation_is_printed_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_report, "explain_bound", lambda problem, plan: "these \x1b[1m add up\nand so on")
    problem, plan = stacked([("a", 64)])
    assert "these \\x1b[1m add up\nand so on\n" in shown(problem, plan, explain=True)
    assert "add up" not in shown(problem, plan)


def test_advice_depends_on_the_stop_reason() -> None:
    gave_up = shown(PROBLEM, make_plan(PlanStatus.UNKNOWN, stop=StopReason.WORK_LIMIT))
    assert "nothing more to try" in gave_up
    assert "auto tries many" in gave_up
    assert "-limit" not in gave_up
    limited = make_plan(PlanStatus.UNKNOWN, stop=StopReason.WORK_LIMIT)
    assert "--work-limit may help" in shown(PROBLEM, limited, has_work_limit=True)
    hill_climb = replace(limited, warnings=("the work limit ended the planner after 3 rounds",))
    assert "--work-limit may help" in shown(PROBLEM, hill_climb)


def test_chosen_alternatives_are_wrapped_between_words() -> None:
    problem, plan = stacked([("a", 64)])
    picks = tuple((f"group {n}", f"alternative {n}") for n in range(30))
    choice = Choice(picks, (), 5, 5, ChoiceGoal.SPEED)
    lines = shown(problem, replace(plan, choice=choice), width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert "group 29: alternative 29" in " ".join(line.strip() for line in lines)


@pytest.mark.parametrize("name", ["net", "a name so long that the line with the verdict is broken once, on 80 columns"])
@pytest.mark.parametrize(
    "warnings", [(), ("a warning that is broken once, since it is longer than 80 columns are wide " * 2,)]
)
@pytest.mark.parametrize("written_to", [None, "plan.json"])
def test_all_of_it_fits_on_24_lines_with_the_prompt(
    name: str, warnings: tuple[str, ...], written_to: str | None
) -> None:
    problem, plan = stacked([(number, 8) for number in range(99)], name=name)
    console = Console(file=io.StringIO(), width=80, height=24, highlight=False, force_terminal=True)
    print_report(problem, replace(plan, warnings=warnings), explain=False, written_to=written_to, console=console)
    assert isinstance(console.file, io.StringIO)
    assert 22 <= len(console.file.getvalue().splitlines()) <= 23


def test_peaks_of_pools_with_costs_are_never_called_the_peak() -> None:
    """The cost of the cheap pool's bytes is as great as the peak."""
    problem = Problem((Buffer("a", 64, live=((0, 2),)),), (Pool("fast", 8, cost=3), Pool("slow")))
    text = shown(problem, planner.plan(problem, planner.Options(solver="greedy", workers=1)))
    assert "  peaks by cost  64   bound 64" in text

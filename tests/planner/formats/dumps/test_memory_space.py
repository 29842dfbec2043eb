"""XLA's memory space assignment: what gains most by the alternate memory is planned there, as far as it has room."""

from __future__ import annotations

import pytest

from planner import BadInput, Options, PlanStatus, plan, read_problem, verify, with_capacity
from planner.formats.dumps import memory_space
from planner.model.problem import Problem

HEAD = "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n"
ROWS = '1,big,0.5,64,0,"2","x",0\n2,small,2e-06,32,1,"1;3","x;y",0\n3,worse,-1.5,16,1,"3","x",0\n4,own,0.25,8,2,"2","x",1\n'


def read(rows: str, head: str = HEAD) -> Problem:
    return read_problem((head + rows).encode())[0]


def homes(problem: Problem) -> dict[object, str]:
    found = plan(problem, Options(time_limit=None))
    assert found.status is PlanStatus.OPTIMAL
    assert verify(problem, found) == ()
    return {place.id: place.pool for place in found.placements}


def test_benefits_count_as_accesses_in_proportion() -> None:
    problem = read(ROWS)
    assert [(pool.name, pool.rank) for pool in problem.pools] == [("alternate", 0), ("default", 1)]
    assert [(each.id, each.accesses, each.pools) for each in problem.buffers] == [
        ("big", 1_000_000, None),
        ("small", 4, None),
        ("worse", 0, None),
        ("own", 500_000, ("alternate",)),
    ]
    assert read(ROWS.replace(",0\n", "\n").replace(",1\n", "\n"), HEAD.replace(",is_scoped", "")).buffers[0].live == (
        (0, 3),
    )


def test_what_gains_most_is_in_the_alternate_memory() -> None:
    problem = read(ROWS)
    everywhere = homes(problem)
    assert {everywhere[name] for name in ("big", "small", "own")} == {"alternate"}
    limited = homes(with_capacity(problem, {"alternate": 80}))
    assert limited == {"big": "alternate", "small": "default", "worse": limited["worse"], "own": "alternate"}
    assert homes(with_capacity(problem, {"alternate": 40}))["big"] == "default"
    assert homes(read(ROWS.replace("0.5,64", "1e-9,64").replace("2e-06", "3")))["small"] == "alternate"


@pytest.mark.parametrize("benefit", ["", "x", "nan", "inf", "1e999", "1_0e", "1_0", "+5", "٣", "0x1", "."])
def test_benefits_that_are_no_numbers_are_refused(benefit: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(ROWS.replace("2e-06", benefit))
    assert (caught.value.findings[0].code, caught.value.findings[0].pointer) == ("wrong_type", "/lines/3")


@pytest.mark.parametrize("scoped", ["maybe", "2", "False", "+1"])
def test_what_is_neither_scoped_nor_not_is_refused(scoped: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(ROWS.replace(",0\n", f",{scoped}\n", 1))
    finding = caught.value.findings[0]
    assert (finding.code, finding.pointer) == ("invalid_value", "/lines/2")
    assert "must be 0, 1, false or true" in finding.message


def test_a_file_without_any_benefit_is_planned_for_its_peaks() -> None:
    assert {
        each.accesses for each in read(ROWS.replace("0.5", "0").replace("2e-06", "0").replace("0.25", "-1")).buffers
    } == {0}


def test_more_buffers_than_a_file_should_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_space, "BUFFERS", 1)
    with pytest.raises(BadInput) as caught:
        read(ROWS)
    assert caught.value.findings[0].code == "too_large"

"""Comparing two measurements shows regressions and ignores noise."""

from __future__ import annotations

from planner.bench import CellStatus, Record, compare
from planner.bench.results.intervals import mean_ratio
from tests.planner.bench.made_records import failed, made


def texts(before: Record, after: Record) -> list[tuple[str, bool]]:
    found = compare([before], [after])
    assert found.is_regression == any(change.is_worse and change.is_certain for change in found.changes)
    return [(change.text, change.is_worse) for change in found.changes]


def test_equal_measurements_show_no_change() -> None:
    found = compare([made(), made(seed=1)], [made(), made(seed=2)])
    assert (found.paired, found.only_before, found.only_after) == (1, 1, 1)
    assert found.changes == ()
    assert not found.is_regression


def test_changed_values_are_reported() -> None:
    assert texts(made(), made(value=101, values=[101])) == [("value 100 became 101", True)]
    assert texts(made(values=[5, 9]), made(values=[5, 8])) == [("value 5, 9 became 5, 8", False)]
    assert texts(made(values=[5, 9]), made(values=[6, 0])) == [("value 5, 9 became 6, 0", True)]
    assert texts(made(values=[None]), made(values=[7])) == [("value none became 7", False)]


def test_lost_and_new_proofs_are_reported() -> None:
    unproven = made(status=CellStatus.FEASIBLE, seconds_to_proof=None)
    assert texts(made(), unproven) == [("proof lost: optimal became feasible", True)]
    assert texts(unproven, made()) == [("proven now", False)]


def test_changed_frontiers_are_reported() -> None:
    whole = made(points=[(10, 10, 200, 200), (20, 20, 100, 100)], within=0.0)
    assert texts(whole, made(points=whole.points, within=0.0)) == []
    # the field is 11 x 110 from (10, 100) on; it ends 1 x 10 beyond the greatest cost and value
    short = made(points=[(10, 10, 200, 200)], within=0.0)
    assert texts(whole, short) == [("the frontier had 2 points and has 1: it covers 8.26% less of the field", True)]
    assert texts(short, whole) == [("the frontier had 1 points and has 2: it covers 8.26% more of the field", False)]
    open_ = made(points=[(10, 10, 200, 150), (20, 20, 100, 100)], within=0.25)
    assert texts(whole, open_) == [
        ("2 of 2 points proven became 1 of 2", True),
        ("what is left out, 0.00% at most, became 25.00%", True),
    ]
    assert texts(open_, whole) == [
        ("1 of 2 points proven became 2 of 2", False),
        ("what is left out, 25.00% at most, became 0.00%", False),
    ]


def test_failures_and_wrong_answers_are_reported() -> None:
    assert texts(made(), failed(CellStatus.CRASHED)) == [("optimal became crashed", True)]
    assert texts(failed(CellStatus.KILLED), made()) == [("killed became optimal", False)]
    assert texts(made(), made(wrong="too good")) == [("now wrong: too good", True)]


def test_changes_of_irreproducible_runs_are_no_regression() -> None:
    found = compare([made(reproducible=False)], [made(value=101, values=[101])])
    assert [change.is_worse for change in found.changes] == [True]
    assert not found.is_regression


def runs(*seconds: float) -> list[Record]:
    return [made(instance=f"nets/{i}.json", seconds=each) for i, each in enumerate(seconds)]


def test_runs_slower_throughout_are_a_regression() -> None:
    before = runs(*[1.0] * 8)
    found = compare(before, runs(1.1, 1.12, 1.15, 1.1, 1.2, 1.1, 1.13, 1.1))
    assert found.slower == ["auto"]
    assert found.is_regression
    assert not compare(before, runs(*[1.04] * 8)).is_regression
    assert compare(before, runs(*[1.04] * 8), threshold=0.03).is_regression


def test_an_outlier_or_too_few_runs_are_no_regression() -> None:
    noisy = compare(runs(*[1.0] * 8), runs(4.0, 0.9, 1.0, 1.1, 1.0, 0.95, 1.05, 1.0))
    assert noisy.times["auto"].mean > 1.05
    assert not noisy.is_regression
    few = compare(runs(1.0, 1.0), runs(2.0, 2.0))
    assert (few.times["auto"].low, few.is_regression) == (None, False)


def test_noise_below_a_millisecond_does_not_count() -> None:
    assert compare(runs(*[0.0001] * 8), runs(*[0.0009] * 8)).times["auto"].mean == 1.0


def test_seeds_of_one_instance_go_together() -> None:
    many = [(f"i{i}", 1.0) for i in range(9)]
    ratio = mean_ratio([*many, *[("slow", 16.0)] * 50])
    assert ratio is not None
    assert abs(ratio.mean - 16 ** (1 / 10)) < 1e-9
    assert ratio.low is not None
    assert ratio.low <= ratio.mean
    assert mean_ratio([*many, *[("slow", 16.0)] * 50]) == ratio
    assert mean_ratio([]) is None


def test_settings_in_one_folder_are_compared_separately() -> None:
    short, long = made(seconds=1.0, options={"time_limit": 1.0}), made(seconds=5.0, options={"time_limit": 5.0})
    found = compare([short, long], [long, short])
    assert found.paired == 2
    assert found.times["auto"].mean == 1.0
    assert compare([short], [long]).paired == 1

"""The integer program is written to a file that people can read."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.model.problem import Buffer, Pool, Problem
from planner.planning.placing.lowering import lower
from solvers.exact.export import export_in_child
from solvers.exact.milp.cbc import find_cbc
from solvers.exact.milp.program.model import make_names
from solvers.model.errors import Unsupported
from solvers.model.instance import Instance, PoolSpec, Term
from tests.small import oracle
from tests.small.instances import make_instance, plain
from tests.small.strategies import effort, problems


def unlimited(*sizes: int) -> Instance:
    """Buffers that are live together, in a memory without limit."""
    return lower(Problem(tuple(Buffer(i, size, live=((0, 1),)) for i, size in enumerate(sizes)), (Pool("p"),))).instance


def test_the_program_names_blocks_and_pools() -> None:
    instance = make_instance([(0, 2, 4), (1, 3, 3), plain(0, 3, 5, alignment=8)])
    text = export_in_child(instance, "lp", ["input", "weights", "output"], ["sram"], plain=True)
    assert text.startswith("\\* memplan *\\\nMinimize\nOBJ: peak_sram\n")
    for line in (
        "aligned_output: offset_output - 8 step_output = 0",
        "end_input_sram: - offset_input + peak_sram >= 4",
        "above_weights_input",
        "12 <= peak_sram <= 22",
    ):
        assert line in text


def test_what_only_helps_solvers_can_be_left_out() -> None:
    instance = make_instance([(0, 2, 4), (1, 3, 3), (1, 4, 5)])
    names = (["a", "b", "c"], ["sram"])
    helped, plain_one = export_in_child(instance, "lp", *names), export_in_child(instance, "lp", *names, plain=True)
    for row in (
        "stacked_below_c_0: - 4 above_c_a - 3 above_c_b + offset_c >= 0",
        "stacked_above_a_0: - 3 above_b_a - 5 above_c_a - offset_a + peak_sram >= 4",
    ):
        assert row in helped
    assert "if_above_b_a" in plain_one
    assert "stacked" not in plain_one
    assert "else_above_b_a: - 12 above_b_a" in helped
    assert "else_above_b_a: - 15 above_b_a" in plain_one
    assert "peak_sram = 12" in helped
    assert "12 <= peak_sram <= 15" in plain_one


@pytest.mark.skipif(find_cbc() is None, reason="no cbc program")
@effort(10, 300)
@given(problem=problems(max_buffers=4), plain_one=st.booleans())
def test_the_program_has_the_least_peak_of_all_plans(problem: Problem, plain_one: bool) -> None:
    instance = lower(problem).instance
    assume(instance.terms[0] is Term.LARGEST_PEAK or any(pool.cost for pool in instance.pools))
    assume(instance.terms[0] in (Term.SUM_OF_PEAKS, Term.LARGEST_PEAK) and not instance.weighs_moves)
    truth = oracle.solve(problem)
    try:
        text = export_in_child(instance, "mps", plain=plain_one)
    except Unsupported:
        assert truth.value is None
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.mps").write_text(text)
        command = [str(find_cbc()), "model.mps", "-ratio", "0", "-allow", "0", "-solve", "-solution", "answer"]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        status = Path(folder, "answer").read_text().partition("\n")[0]
    if truth.value is None:
        assert "nfeasible" in status
    else:
        assert status.startswith("Optimal")
        assert round(float(status.rpartition(" ")[2])) == truth.value[0]


def test_long_names_are_cut_to_the_greatest_length() -> None:
    names = [
        f"functional_1/activation_{i}/Relu;functional_1/batch_normalization_{i}/FusedBatchNormV3" for i in range(4)
    ]
    instance = make_instance([(0, 2, 4), (1, 3, 3), (1, 4, 5), (0, 4, 2)])
    text = export_in_child(instance, "lp", names, ["a memory with a name that is longer than others"])
    assert "offset_ation_3_FusedBatchNormV3" in text


def test_mps_is_written_too() -> None:
    text = export_in_child(make_instance([(0, 2, 4), (1, 3, 3)]), "mps", ["a", "b"], ["sram"])
    assert "ROWS" in text
    assert "offset_a" in text
    assert text.rstrip().endswith("ENDATA")


def test_each_pool_of_a_choice_has_a_binary_variable() -> None:
    text = export_in_child(
        make_instance([(0, 2, 4)], pools=[PoolSpec(9), PoolSpec(None, cost=3)]),
        "lp",
        ["a"],
        ["fast", "slow"],
        plain=True,
    )
    assert "peak_fast + 3 peak_slow" in text
    assert "somewhere_a: in_a_fast + in_a_slow = 1" in text


@pytest.mark.parametrize("kind", ["lp", "mps"])
@pytest.mark.parametrize("plain_one", [False, True])
def test_lengths_stay_whole_however_large(kind: str, *, plain_one: bool) -> None:
    instance = unlimited(617283945061, 617283945062)
    numbers = set(re.findall(r"\b[0-9]{6,}\b", export_in_child(instance, kind, ["a", "b"], ["p"], plain=plain_one)))
    assert {"617283945061", "617283945062", "1234567890123"} <= numbers
    nearly_equal = {size + more for size in (617283945061, 1234567890123) for more in range(-1, 4)}
    assert set(map(int, numbers)) <= nearly_equal


@pytest.mark.parametrize("kind", ["lp", "mps"])
def test_numbers_that_solvers_would_round_are_refused(kind: str) -> None:
    largest = (1 << 53) - 1
    assert str(largest) in export_in_child(unlimited(largest - 1), kind, plain=True)
    with pytest.raises(Unsupported, match=r"numbers of 2\^53 and more"):
        export_in_child(unlimited(1 << 53), kind)


@pytest.mark.parametrize("kind", ["lp", "mps"])
def test_peaks_that_cost_nothing_count_nothing(kind: str) -> None:
    pools = [PoolSpec(None, cost=0), PoolSpec(5, cost=0)]
    for chosen in (pools, pools[:1]):
        text = export_in_child(make_instance([(0, 1, 9)], pools=chosen), kind, ["a"], ["p", "q"][: len(chosen)])
        counted = [line for line in text.splitlines() if re.search(r"\bOBJ:? +[a-z1-9]", line)]
        assert counted == []
        assert "peak_p" in text


def test_programs_too_large_or_impossible_are_refused() -> None:
    with pytest.raises(Unsupported, match="too large"):
        export_in_child(make_instance([(0, 1, 1)] * 205), "lp")
    with pytest.raises(Unsupported, match="no solution"):
        export_in_child(make_instance([(0, 1, 3), (0, 1, 3)], capacity=5), "lp")
    with pytest.raises(Unsupported, match=r"ends in \.lp or \.mps"):
        export_in_child(make_instance([]), "xls")


def test_the_caller_s_process_stays_free_of_pulp() -> None:
    code = (
        "import sys; from tests.small.instances import make_instance; from solvers.exact.export import export_in_child;"
        "export_in_child(make_instance([]), 'lp'); print('pulp' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_names_are_made_safe_and_stay_unique() -> None:
    names = make_names(["a b", "a-b", "a_b", "x" * 200, "x" * 300, "é"], ["p 0"])
    assert names.blocks[:3] == ("a_b", "a_b_2", "a_b_3")
    assert len(set(names.blocks)) == 6
    assert all(len(name) < 60 for name in names.blocks)
    assert names.pools == ("p_0",)

"""`memplan plan`, run as users and scripts run it: files, pipes, exit codes, signals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.cli.terminal.reading import MAX_INPUT_BYTES
from planner import write_problem
from planner.generate import Request, generate
from tests.running.command import COMMAND, UNHURRIED, run
from tests.running.forked import environment

PROBLEM: dict[str, Any] = {
    "format": "memplan/1",
    "name": "small",
    "lifetimes": "half_open",
    "pools": [{"name": "sram", "size": 4096}],
    "buffers": [
        {"id": "a", "size": 1024, "live": [[0, 2]]},
        {"id": "b", "size": 1024, "live": [[1, 3]]},
        {"id": 3, "size": 512, "live": [[2, 4]]},
    ],
}


@pytest.fixture
def problem(tmp_path: Path) -> str:
    return written(tmp_path, PROBLEM)


def written(folder: Path, problem: object) -> str:
    path = folder / "problem.json"
    path.write_text(json.dumps(problem), encoding="utf-8")
    return str(path)


def test_a_pipe_gets_the_plan_as_json(problem: str) -> None:
    done = run("plan", problem)
    plan = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (plan["format"], plan["status"], plan["peak"]) == ("memplan-plan/1", "optimal", 2048)
    assert [p["id"] for p in plan["placements"]] == ["a", "b", 3]


def test_the_problem_may_come_through_a_pipe(problem: str) -> None:
    done = run("plan", "-", given=Path(problem).read_bytes())
    assert json.loads(done.stdout)["peak"] == 2048


def test_a_written_plan_leaves_the_pipe_empty(problem: str, tmp_path: Path) -> None:
    done = run("plan", problem, "-o", str(tmp_path / "plan.json"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert json.loads((tmp_path / "plan.json").read_bytes())["peak"] == 2048


def test_json_is_printed_besides_the_file_if_asked_for(problem: str, tmp_path: Path) -> None:
    done = run("plan", problem, "-o", str(tmp_path / "plan.json"), "--json")
    assert done.stdout.rstrip(b"\n") == (tmp_path / "plan.json").read_bytes().rstrip(b"\n")


def test_a_dash_as_output_is_the_standard_output(problem: str, tmp_path: Path) -> None:
    done = run("plan", problem, "-o", "-", cwd=Path(problem).parent, env={"PYTHONPATH": environment()["PYTHONPATH"]})
    assert json.loads(done.stdout)["peak"] == 2048
    assert not (tmp_path / "-").exists()


def test_an_infeasible_plan_is_written_and_ends_with_3(tmp_path: Path) -> None:
    problem = written(tmp_path, {**PROBLEM, "pools": [{"name": "sram", "size": 1536}]})
    done = run("plan", problem, "-o", str(tmp_path / "plan.json"))
    assert done.returncode == 3
    assert done.stderr.startswith(b"infeasible: ")
    assert b"512" in done.stderr
    assert done.stdout == b""
    assert json.loads((tmp_path / "plan.json").read_bytes())["status"] == "infeasible"


def test_a_capacity_replaces_the_pool_s_size(problem: str) -> None:
    assert run("plan", problem, "--capacity", "1KiB").returncode == 3
    assert run("plan", problem, "--capacity", "sram=2KiB").returncode == 0


def test_an_unwritable_output_is_found_before_planning(problem: str, tmp_path: Path) -> None:
    driver = "import planner, sys\nplanner.plan = None\nfrom api.cli import main\nmain()"
    done = run("plan", problem, "-o", str(tmp_path / "no" / "p.json"), command=(sys.executable, "-c", driver))
    assert done.returncode == 2
    assert b"there is no folder" in done.stderr


def test_without_arguments_help_is_printed() -> None:
    done = run()
    assert done.returncode == 0
    assert b"plan" in done.stdout


def test_the_version_is_printed() -> None:
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith(b"memplan ")


def test_a_reader_that_leaves_early_ends_the_command_quietly(tmp_path: Path) -> None:
    buffers = [{"id": f"buffer {i} {'x' * 100}", "size": 8, "live": [[i, i + 1]]} for i in range(3000)]
    problem = written(tmp_path, {"format": "memplan/1", "lifetimes": "half_open", "buffers": buffers})
    with subprocess.Popen(
        [*COMMAND, "plan", problem, "--time-limit", "60"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_reported_in_a_sentence(problem: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "plan", problem], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"error: cannot write to the standard output: no space left on device\n"


@pytest.mark.parametrize(("out", "code"), [("", 2), (' -o "$2"', 0)])
def test_an_answer_is_not_lost_in_a_closed_standard_output(problem: str, tmp_path: Path, out: str, code: int) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m api.cli plan "$1"{out} >&-', sys.executable, problem, str(tmp_path / "plan.json")],
        capture_output=True,
        env=environment(),
        check=False,
    )
    said = b"error: cannot write to the standard output: it is closed\n" if code else b""
    assert (done.returncode, done.stderr) == (code, said)


def test_an_internal_error_is_reported_in_a_sentence(problem: str) -> None:
    driver = (
        "import planner\n"
        "def plan(*a, **k): raise RuntimeError('lost \\x1b[31m')\n"
        "planner.plan = plan\nfrom api.cli import main\nmain()"
    )
    done = run("plan", problem, command=(sys.executable, "-c", driver))
    assert done.returncode == 70
    assert done.stderr.startswith(b"error: a fault in memplan: RuntimeError: lost \\x1b[31m")
    assert done.stderr.count(b"\n") == 1


def limited(bytes_: int) -> list[str]:
    """Return the command under a limit of its address space."""
    return [sys.executable, "-m", "tests.running.limited", f"RLIMIT_AS={bytes_}"]


def test_reading_takes_no_room_for_the_largest_input(problem: str) -> None:
    done = run("plan", problem, command=limited(MAX_INPUT_BYTES))
    assert done.returncode == 0, done.stderr


def test_want_of_memory_is_no_fault_of_memplan(tmp_path: Path) -> None:
    long = tmp_path / "long.json"
    long.write_bytes(write_problem(generate("random", Request(100_000))))
    done = run("plan", str(long), "--time-limit", "60", command=limited(180 << 20))
    assert (done.returncode, done.stderr) == (
        4,
        b"error: memplan ran out of memory; allow more, or plan less at a time\n",
    )


def interrupted(number: signal.Signals, *arguments: str, deaf: bool = False) -> tuple[int, bytes, bytes]:
    """Start planning that never ends, send the signal meanwhile (twice if deaf); return exit code and outputs."""
    command = [sys.executable, "-c", UNHURRIED, "plan", *arguments, *(["--deaf"] if deaf else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert process.stderr.readline() == b"planning\n"
            process.send_signal(number)
            assert process.stderr.readline() == b"asked to stop\n"
            if deaf:
                process.send_signal(number)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    return process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_still_gives_the_best_plan(number: signal.Signals, problem: str, tmp_path: Path) -> None:
    code, out, err = interrupted(number, problem, "-o", str(tmp_path / "plan.json"), "--json")
    assert (code, err) == (130, b"")
    assert json.loads(out)["stop"] == "cancelled"
    assert json.loads((tmp_path / "plan.json").read_bytes())["peak"] == 64


def test_a_second_interrupt_ends_at_once(problem: str, tmp_path: Path) -> None:
    code, out, err = interrupted(signal.SIGINT, problem, "-o", str(tmp_path / "plan.json"), deaf=True)
    assert (code, out, err) == (130, b"", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["problem.json"]


def test_an_interrupt_while_reading_ends_the_command() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", READING, "plan", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"reading\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, b"", b"")


INTERRUPTED_IMPORT = """
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
from api.cli import main
main()
"""


@pytest.mark.parametrize("module", ["api.process.garbage", "api.cli.invocation", "typer", "api.cli.apps"])
def test_an_interrupt_while_the_command_is_imported_ends_it_quietly(module: str) -> None:
    done = run(module, command=(sys.executable, "-c", INTERRUPTED_IMPORT))
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_little_is_imported_before_an_interrupt_is_handled() -> None:
    script = "import sys; from api.cli import main; print(*(name for name in sys.modules if name.startswith('api.')))"
    assert run(command=(sys.executable, "-c", script)).stdout.split() == [b"api.cli"]


READING = """
import sys
from api.cli import main
from api.cli.terminal import reading
read = reading._read
def announced(stream):
    sys.stderr.write("reading\\n")
    sys.stderr.flush()
    return read(stream)
reading._read = announced
main()
"""


LISTS_ITS_MODULES = """
import os, sys
import api.cli

def leave(code, end=api.cli.leave):
    sys.stderr.write(" ".join(sys.modules))
    if os.path.isdir("/proc/self/task"):
        sys.stderr.write(f" threads:{len(os.listdir('/proc/self/task'))}")
    end(code)

api.cli.leave = leave
api.cli.main()
"""


def test_a_plain_plan_in_a_pipe_imports_nothing_that_takes_long(problem: str) -> None:
    done = run("plan", problem, command=(sys.executable, "-c", LISTS_ITS_MODULES))
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "optimal")
    imported = set(done.stderr.decode().split())
    assert {"numpy", "planner.verifying.verify", "solvers.portfolio.solve"} <= imported
    solver_libraries = {"ortools", "pulp", "pandas", "highspy"}
    of_other_cases = {
        "rich",
        "numpy.ma",
        "concurrent.futures",
        "planner.formats.planners.minimalloc",
        "planner.formats.json.exact_scan",
        "solvers.sandbox",
    }
    of_plugins = {"importlib.metadata", "email", "socket", "zipfile"}
    of_the_service = {"alembic", "fastapi", "pydantic_settings", "sqlalchemy", "starlette", "structlog", "uvicorn"}
    assert not imported & (solver_libraries | of_other_cases | of_plugins | of_the_service)
    assert {word for word in imported if word.startswith("threads:")} <= {"threads:1"}, "numpy's would spin"


def test_help_is_printed_without_the_planner() -> None:
    done = run("--help", command=(sys.executable, "-c", LISTS_ITS_MODULES))
    assert b"Plan memory ahead of time" in done.stdout
    assert not {"planner", "solvers", "numpy", "rich"} & set(done.stderr.decode().split())


def test_the_time_limit_counts_from_the_call(problem: str) -> None:
    late = (
        "import sys, time\nfrom api.cli.invocation import invoke\nsys.exit(invoke(sys.argv[1:], time.monotonic() - 9))"
    )
    done = run("plan", problem, "--time-limit", "60", command=(sys.executable, "-c", late))
    assert json.loads(done.stdout)["run"]["seconds"] > 9
    done = run("plan", problem, "--time-limit", "8", command=(sys.executable, "-c", late))
    seen = b"the time limit of 8 s was over" in done.stderr or json.loads(done.stdout)["run"]["seconds"] > 9
    assert seen, "what is small has its plan, however late it is"

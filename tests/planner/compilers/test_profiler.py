"""Records of CPU memory by PyTorch's profiler, read as a Chrome trace. Run by scripts/compilers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner import plan, read_problem, verify

torch: Any = pytest.importorskip("torch", reason="ExecuTorch is not installed (./scripts/compilers)")


def test_the_bound_of_a_recorded_run_is_the_most_that_was_allocated(tmp_path: Path) -> None:
    layers = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64)).eval()
    given = torch.randn(32, 64)
    with torch.no_grad():
        layers(given)
        with torch.profiler.profile(profile_memory=True) as recorded:
            kept = layers(given)
            kept = layers(kept)
    path = tmp_path / "trace.json"
    recorded.export_chrome_trace(str(path))
    events = [each for each in json.loads(path.read_bytes())["traceEvents"] if each.get("name") == "[memory]"]
    problem, _ = read_problem(path.read_bytes(), name=path.name)
    found = plan(problem)
    assert verify(problem, found) == ()
    assert found.bound == max(each["args"]["Total Allocated"] for each in events)
    assert sum(buffer.size for buffer in problem.buffers) == sum(max(each["args"]["Bytes"], 0) for each in events)


def test_a_snapshot_that_pytorch_makes_of_a_profile_is_read(tmp_path: Path) -> None:
    from torch.cuda._memory_viz import _profile_to_snapshot

    layers = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    given = torch.randn(32, 64)
    with torch.profiler.profile(profile_memory=True, record_shapes=True, with_stack=True) as recorded:
        layers(given).sum().backward()
    made = _profile_to_snapshot(recorded)
    problem, _ = read_problem(json.dumps(made).encode())
    held = [block for each in made["segments"] for block in each["blocks"] if block["state"] == "active_allocated"]
    begun = [event for trace in made["device_traces"] for event in trace if event["action"] == "alloc"]
    assert held
    assert begun
    assert len(problem.buffers) >= max(len(held), len(begun))
    found = plan(problem)
    assert verify(problem, found) == ()
    assert found.peak >= sum(block["requested_size"] for block in held)

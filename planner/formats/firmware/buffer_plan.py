"""A plan as TFLite Micro's `BufferPlan`, for its NonPersistentMemoryPlannerShim: an offset for every buffer, in the order of its requests."""

from __future__ import annotations

from collections.abc import Container

from ...checks.report import bad_input, quoted
from ...model.errors import Code
from ...model.plan import Plan
from ...model.problem import BufferId, Problem
from ..models.tflite.given import METADATA, UNPLANNED, planned_offsets
from ..models.tflite.model import Model, read_model
from ..models.tflite.write import offsets_of, require_tensors, scratch_offsets, tensor_needs
from .naming import PREFIX, memories, remark, require_namespace

TEXT = """\
// Made by memplan: {count} offsets for the planner of TFLite Micro, {peak} bytes.
//   tflite::NonPersistentMemoryPlannerShim planner({p}_buffer_plan());
// {scratch} of them are scratch memory of kernels, as memplan knows those of reference kernels. With other kernels, or if the shim says that a buffer is missing,
// write the plan into the model instead (memplan plan model.tflite -o planned.tflite).
#ifndef {P}_BUFFER_PLAN_H
#define {P}_BUFFER_PLAN_H

#include <stdint.h>

#include "tensorflow/lite/micro/memory_planner/memory_plan_struct.h"

namespace tflite {{
namespace micro {{}}
}}  // namespace tflite

namespace {p} {{

using namespace ::tflite;
using namespace ::tflite::micro;

constexpr int32_t arena_peak = {peak};

struct Offsets {{
  int32_t buffer_count;
  BufferDescriptor entries[{count}];
}};
static_assert(sizeof(BufferDescriptor) == sizeof(int32_t), "a buffer is described by its offset");
static_assert(sizeof(BufferPlan) == 2 * sizeof(int32_t), "a plan is a count and a list");

constexpr Offsets offsets = {{
    {count},
    {{
{entries}
    }},
}};

}}  // namespace {p}

static inline const {p}::BufferPlan* {p}_buffer_plan() {{ return reinterpret_cast<const {p}::BufferPlan*>(&{p}::offsets); }}

#endif
"""


def buffer_plan(problem: Problem, plan: Plan, source: bytes, prefix: str = PREFIX) -> bytes:
    """Return C++ with the plan. Raises BadInput unless it is a plan of this model by TFLite Micro's rules, and the model has no places of its own."""
    p, model = _prefix(prefix), read_model(source)
    every = offsets_of(model, plan)
    _require_no_places(model, {id_ for id_, offset in every if offset != UNPLANNED})
    planned = [(id_, offset) for id_, offset in every if offset != UNPLANNED]
    scratch = scratch_offsets(model, plan)
    entries = "\n".join(f"        {{{offset}}},  // {remark(id_)}" for id_, offset in (*planned, *scratch))
    text = TEXT.format(
        p=p,
        P=p.upper(),
        count=len(planned) + len(scratch),
        scratch=len(scratch),
        peak=sum(memory.peak for memory in memories(problem, plan)),
        entries=entries,
    )
    return text.encode("ascii")


def check(problem: Problem, source: bytes, prefix: str = PREFIX) -> None:
    """Raise BadInput if no plan of the problem can be such a header."""
    _prefix(prefix)
    model = read_model(source)
    require_tensors(model, problem)
    _require_no_places(model, {buffer.id for buffer in problem.buffers})


def _prefix(prefix: str) -> str:
    return require_namespace(prefix, ("BufferPlan", "BufferDescriptor"))


def _require_no_places(model: Model, planned: Container[BufferId]) -> None:
    """Raise BadInput if the model itself places one of the planned tensors."""
    for (id_, need), given in zip(tensor_needs(model), planned_offsets(model) or (), strict=False):
        if need is not None and id_ in planned and given != UNPLANNED:
            text = (
                f"the model places {quoted(id_)} itself, and the shim takes no tensors with places: write the plan into the model"
                f" (memplan plan model.tflite -o planned.tflite), or take the model without {METADATA}"
            )
            raise bad_input(Code.UNSUPPORTED, ("metadata", METADATA), text)

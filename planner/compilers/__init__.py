"""What compilers hand over within one process: tensors in, places out, no file between."""

from __future__ import annotations

from .executorch import ExecuTorchAlgorithm, executorch_pass
from .exported import torch_program, torch_shapes
from .jax import jax_problem

__all__ = ["ExecuTorchAlgorithm", "executorch_pass", "jax_problem", "torch_program", "torch_shapes"]

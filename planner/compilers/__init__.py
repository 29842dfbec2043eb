"""Interfaces to compilers within one process: tensors in, places out, without files."""

from __future__ import annotations

from .executorch import ExecuTorchAlgorithm, executorch_pass
from .exported import torch_program, torch_shapes
from .jax import jax_problem

__all__ = ["ExecuTorchAlgorithm", "executorch_pass", "jax_problem", "torch_program", "torch_shapes"]

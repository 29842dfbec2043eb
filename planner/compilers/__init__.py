"""What compilers hand over within one process: tensors in, places out, no file between."""

from __future__ import annotations

from .executorch import ExecuTorchAlgorithm, executorch_pass
from .exported import torch_program

__all__ = ["ExecuTorchAlgorithm", "executorch_pass", "torch_program"]

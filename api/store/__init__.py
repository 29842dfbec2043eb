"""Where jobs and plans are kept: a protocol, and its implementation over SQL databases."""

from __future__ import annotations

from .errors import BatchEnded, KeyReused, QueueFull, StoreError, StoreUnavailable
from .protocol import Store

__all__ = ["BatchEnded", "KeyReused", "QueueFull", "Store", "StoreError", "StoreUnavailable"]

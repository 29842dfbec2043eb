"""The store of jobs and plans: a protocol, and its implementation over SQL databases."""

from __future__ import annotations

from .protocol import BatchEnded, KeyReused, QueueFull, Store, StoreDamaged, StoreError, StoreUnavailable

__all__ = ["BatchEnded", "KeyReused", "QueueFull", "Store", "StoreDamaged", "StoreError", "StoreUnavailable"]

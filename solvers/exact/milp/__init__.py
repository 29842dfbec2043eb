"""The integer program of memory planning: its rows, the solvers that run it, and a bound from its linear relaxation.

Only this package imports PuLP and highspy, and only inside functions.
"""

from .joint_bound import PoolSharing
from .solver import Cbc, Highs

__all__ = ["Cbc", "Highs", "PoolSharing"]


def preload() -> None:
    """Imports what every solve needs. Called once in the process from which the sandbox forks."""
    import pulp  # noqa: F401

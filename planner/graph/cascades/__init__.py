"""Operators with shapes: which of them run together stripe by stripe, what that needs and what it costs."""

from .group import Group, Inner, Mode, Stripes
from .operators import Kind, Network, Operator, Padding, Tensor
from .problem import CascadeOptions, CascadeProblem, cascade_problem
from .ways import Cutting
from .work import Cycles, Rates, Work

__all__ = [
    "CascadeOptions",
    "CascadeProblem",
    "Cutting",
    "Cycles",
    "Group",
    "Inner",
    "Kind",
    "Mode",
    "Network",
    "Operator",
    "Padding",
    "Rates",
    "Stripes",
    "Tensor",
    "Work",
    "cascade_problem",
]

"""Sizes that depend on symbols: room for the largest, one set of offsets for a list of shapes, or offsets as proven expressions."""

from __future__ import annotations

from .answer import Behind, Mode, PoolPeak, Row, ShapesPlan
from .c_source import c_source
from .expression import Expression, ExpressionError, parse
from .missing import require_right
from .modes import parse_shape, plan_at, plan_shapes, planned_shapes, shape_name
from .shaped import ShapedProblem, shaped, usual_shapes
from .verify import verify_shapes

__all__ = [
    "Behind",
    "Expression",
    "ExpressionError",
    "Mode",
    "PoolPeak",
    "Row",
    "ShapedProblem",
    "ShapesPlan",
    "c_source",
    "parse",
    "parse_shape",
    "plan_at",
    "plan_shapes",
    "planned_shapes",
    "require_right",
    "shape_name",
    "shaped",
    "usual_shapes",
    "verify_shapes",
]

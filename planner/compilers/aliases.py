"""What results of PyTorch's operators are by their schemas, arguments and shapes: views and parts of a source, or new tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from ..graph.operators import OperatorKind

SPLITS = frozenset(
    f"aten::{name}" for name in ("split", "split_with_sizes", "chunk", "tensor_split", "hsplit", "vsplit", "dsplit")
)
"""Their results lie in the source one behind the other, along one dimension."""
CHANGED = frozenset(
    f"aten::{name}"
    for name in ("as_strided", "_conj", "conj", "_neg_view", "resolve_conj", "resolve_neg", "adjoint", "mH", "matrix_H")
)
"""May be views by their schemas, but have other values than the source's bytes, or begin elsewhere in its storage."""


class Alias(NamedTuple):
    """How a result lies in its source."""

    kind: OperatorKind
    place: Mapping[str, int]
    """The dimension, start and step of a part."""


def aliases(node: Any, source: Any) -> tuple[Alias, ...]:
    """Return how each result lies in the node's first argument, given that argument's value; nothing if results are new tensors."""
    schema = node.target._schema
    alias = schema.returns[0].alias_info if len(schema.returns) == 1 else None
    if alias is None or alias.is_write or schema.name in CHANGED or not hasattr(source, "is_contiguous"):
        return ()
    if not source.is_contiguous():
        return ()
    made = node.meta["val"]
    if schema.name in SPLITS:
        return _pieces(source.shape, [each.shape for each in made])
    given = _arguments(node)
    if schema.name == "aten::unbind":
        dim = given["dim"] % len(source.shape)
        rows = [Alias(OperatorKind.SELECT, {"dim": dim, "start": i}) for i in range(len(made))]
        return tuple(rows) if _is_outermost(dim, source.shape) else ()
    if isinstance(made, list | tuple):
        return ()
    if schema.name in ("aten::slice", "aten::narrow", "aten::select"):
        # where a part begins depends on sizes, so these have to be numbers
        if not _are_numbers((*(each for name, each in given.items() if name != "self"), *source.shape)):
            return ()
        if schema.name == "aten::select":
            return (Alias(OperatorKind.SELECT, {"dim": given["dim"], "start": given["index"]}),)
        return (Alias(OperatorKind.SLICE, _slice(source.shape[given["dim"]], given)),)
    # Operators such as `to` are views only of what has their type and device already.
    is_kept = made.dtype == source.dtype or schema.name.startswith("aten::view")
    is_view = is_kept and made.device == source.device and made.is_contiguous()
    return (Alias(OperatorKind.VIEW, {}),) if is_view else ()


def _arguments(node: Any) -> dict[str, Any]:
    """Return the values of the operator's arguments by name."""
    arguments = node.target._schema.arguments
    defaults = {each.name: each.default_value for each in arguments}
    return {**defaults, **dict(zip(defaults, node.args, strict=False)), **node.kwargs}


def _slice(length: int, given: Mapping[str, Any]) -> dict[str, int]:
    """Return the place of a slice or a narrowed tensor of a dimension of this length."""
    start = given["start"] or 0
    start = min(max(start + length if start < 0 else start, 0), length)
    return {"dim": given["dim"], "start": start, "step": given.get("step") or 1}


def _pieces(source: Sequence[Any], pieces: Sequence[Sequence[Any]]) -> tuple[Alias, ...]:
    """Return the places of pieces, which differ from the source in the dimension along which it was split."""
    if not _are_numbers((*source, *(size for piece in pieces for size in piece))):
        return ()
    if len(pieces) == 1 and pieces[0] == source:
        return (Alias(OperatorKind.VIEW, {}),)
    dims = {
        dim for piece in pieces for dim, (whole, part) in enumerate(zip(source, piece, strict=True)) if whole != part
    }
    if len(dims) != 1:
        return ()
    (dim,) = dims
    starts = list(accumulate((piece[dim] for piece in pieces), initial=0))
    if starts[-1] != source[dim] or not _is_outermost(dim, source):
        return ()  # pieces overlap, or have gaps
    return tuple(Alias(OperatorKind.SLICE, {"dim": dim, "start": start}) for start in starts[:-1])


def _is_outermost(dim: int, shape: Sequence[Any]) -> bool:
    return _are_numbers(shape) and all(size == 1 for size in shape[:dim])


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(each is None or isinstance(each, int) for each in values)

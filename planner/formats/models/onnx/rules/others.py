"""Operators besides network layers: recurrent ones with state, training, features, trees."""

from __future__ import annotations

from collections.abc import Callable

from .. import dims as d
from ..model import FLOAT, INT64, STRING
from .site import NotKnown, ShapeError, Site, Type

OF_MAPS = "of maps the values in them are planned, and not the maps"


def linear_attention(at: Site) -> list[Type]:
    """Return the result, and the state: (batch, heads, size of a key, size of a value)."""
    q, k, v = at.rank(0, 3), at.rank(1, 3), at.rank(2, 3)
    heads, kv_heads = at.number("q_num_heads", 0), at.number("kv_num_heads", 0)
    if heads < 1 or kv_heads < 1:
        raise ShapeError("q_num_heads and kv_num_heads are needed")
    k_size, v_size = d.down(k[2], kv_heads), d.down(v[2], kv_heads)
    state = at.element(3) if at.has(3) else at.element()
    return [Type(at.element(), (*q[:2], d.mul(v_size, heads))), Type(state, (q[0], kv_heads, k_size, v_size))]


def convolution_with_state(at: Site) -> list[Type]:
    """Return an output like the input, and a state of the steps that the kernel looks back."""
    x, w = at.rank(0, 3), at.rank(1, 3)
    return [at.given(0), Type(at.element(), (*x[:2], d.sub(w[2], 1)))]


def flex_attention(at: Site) -> list[Type]:
    return [Type(at.element(), (*at.rank(0, 4)[:3], at.rank(2, 4)[3]))]


def trained(parts: int) -> Callable[[Site], list[Type]]:
    """Return a training step's outputs: its inputs are a rate, a count, and for each tensor itself, its gradient and state; all but gradients are renewed."""

    def rule(at: Site) -> list[Type]:
        count, rest = divmod(len(at.inputs) - 2, parts)
        if rest or count < 1:
            raise ShapeError(f"after a rate and a count come {parts} inputs for each tensor")
        return [at.given(2 + part * count + i) for part in range(parts) if part != 1 for i in range(count)]

    return rule


def as_numbers(at: Site) -> list[Type]:
    """Return as many features, as numbers."""
    return [Type(FLOAT, at.shape())]


def labels(at: Site) -> list[Type]:
    """Return a label for each value; texts have no size that can be planned."""
    for name, element in (("values_int64s", INT64), ("values_floats", FLOAT)):
        if name in at.node.attributes:
            return [Type(element, at.shape())]
    tensor = at.tensor("values_tensor")
    if tensor is None:
        raise NotKnown("its result is no number")
    return [Type(tensor.element, at.shape())]


def picked(at: Site) -> list[Type]:
    """Return a selection of the last dimension."""
    x, y = at.rank(0, 1), at.rank(1, 1)
    count = d.product(y)
    return [Type(at.element(), (1, count) if len(x) == 1 else (*x[:-1], count))]


def counted_words(at: Site) -> list[Type]:
    places = at.numbers("ngram_indexes")
    if not places or min(places) < 0:
        raise ShapeError("ngram_indexes must say where each sequence counts")
    return [Type(FLOAT, (*at.rank(0, 1)[:-1], max(places) + 1))]


def cleaned_words(at: Site) -> list[Type]:
    """Return as many words, less those that are removed."""
    if at.node.attributes.get("stopwords"):
        at.depends_on_data()
    return [at.given(0)]


def targets(at: Site) -> list[Type]:
    """Return a row of results for each row of features."""
    name = "targets" if "targets" in at.node.attributes else "n_targets"
    return [Type(FLOAT if at.node.operator != "TreeEnsemble" else at.element(), (at.rank(0, 1)[0], at.number(name, 1)))]


def classified(at: Site) -> list[Type]:
    """Return a class for each row of features, and a score for each class."""
    classes = _classes(at)
    if classes is None:
        raise NotKnown("it does not say which classes there are")
    element, count = classes
    rows = at.rank(0, 1)[:-1] or (1,)
    return [Type(element, rows), Type(FLOAT, (*rows, count))]


def zipped(at: Site) -> list[Type]:
    """Return the scores of a map from classes to scores for each row. The maps themselves are the runtime's own."""
    at.notes.add(OF_MAPS)
    return [at.given(0)]


def vectorised(at: Site) -> list[Type]:
    """Return a number for each word that it knows."""
    for name in ("string_vocabulary", "int64_vocabulary"):
        words = at.node.attributes.get(name)
        if isinstance(words, tuple) and words:
            return [Type(at.element(), (1, len(words)))]
    raise NotKnown("it does not say which words it knows")


def from_map(at: Site) -> list[Type]:
    """Return the map's values as a tensor: all of them, or as many as the largest key demands."""
    element = {"TO_FLOAT": FLOAT, "TO_INT64": INT64, "TO_STRING": STRING}.get(at.text("cast_to", "TO_FLOAT"))
    if element is None:
        raise ShapeError("cast_to must be TO_FLOAT, TO_INT64 or TO_STRING")
    is_sparse = at.text("map_form", "DENSE") == "SPARSE"
    return [Type(element, (1, at.number("max_map", 1) if is_sparse else d.product(at.shape())))]


def _classes(at: Site) -> tuple[int, int] | None:
    """Return the type of the class labels, and their number."""
    for name, element in (("classlabels_int64s", INT64), ("classlabels_ints", INT64), ("classlabels_strings", STRING)):
        labels = at.node.attributes.get(name)
        if isinstance(labels, tuple) and labels:
            return element, len(labels)
    return None

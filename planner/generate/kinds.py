"""The kinds of made-up problems by name, and their generators.

A problem's name tells how it was made and what is known about it: "packing n=200 seed=3 height=1048576 optimum=1048576".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ..model.errors import echo
from ..model.problem import Lifetimes, Pool, Problem
from ..planning.options.options import GREATEST, bad_option
from ..planning.shapes import ShapedProblem, shaped
from ..planning.shapes.shaped import as_shaped
from . import memories, packing, rectangles, variants
from .networks import shaped_transformer, training
from .networks.convnet import convnet
from .networks.recurrent import recurrent
from .networks.transformer import transformer
from .networks.unet import unet
from .request import Request, Sketch, largest_live_sum

MOST_BUFFERS = 10_000_000
LARGEST_PARAMETER = 1 << 40
LONGEST = 2048


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of problem."""

    summary: str
    make: Callable[[Request], Sketch]
    parameters: Mapping[str, int] = field(default_factory=dict)
    """The kind's own parameters, and their defaults; all at least 1."""


KINDS: dict[str, Kind] = {
    "random": Kind(
        "random rectangles, `live` of them at a time",
        rectangles.random_rectangles,
        {"live": rectangles.LIVE},
    ),
    "packing": Kind(
        "a box of `height` bytes, cut up without waste: the optimum is known",
        packing.packing,
        {"height": packing.HEIGHT},
    ),
    "transformer": Kind("attention, feed-forward layers, mixtures of experts", transformer),
    "prefill": Kind(
        "a transformer that reads a prompt of n tokens, 1 to `longest`: sizes depend on n",
        shaped_transformer.prefill,
        {"longest": LONGEST},
    ),
    "decode": Kind(
        "a transformer that makes one more token after n, 1 to `longest`: sizes depend on n",
        shaped_transformer.decode,
        {"longest": LONGEST},
    ),
    "convnet": Kind("residual, inverted, branching and dense blocks of convolutions", convnet),
    "unet": Kind("long skips that nest", unet),
    "recurrent": Kind("unrolled in both directions: long chains", recurrent),
    "training": Kind(
        "forward and backward: activations live until their backward step, `segment` layers are run again together",
        training.training,
        {"segment": training.SEGMENT},
    ),
    "pangu": Kind(
        "long-lived large tensors and bursts of short ones, about `conflicts` pairs live together",
        rectangles.pangu,
        {"conflicts": rectangles.CONFLICTS},
    ),
    "pools": Kind(
        "three memories to choose from, with sizes, costs, ranks and accesses", memories.pools, {"live": memories.LIVE}
    ),
    "offload": Kind("networks with three memories to choose from, where accesses cost", memories.offload),
    "memories": Kind(
        "networks on four memories of known speed, one of them for constants; the fastest has `fast` 64ths of what is live",
        memories.memories,
        {"fast": memories.FAST},
    ),
    "hot": Kind(
        "random rectangles on three memories of known speed, a few of them used far more often than the rest",
        memories.hot,
        {"fast": memories.FAST, "live": memories.LIVE},
    ),
    "variants": Kind(
        "random rectangles, two thirds of which come in `groups` of `alternatives`: what takes more room is faster",
        variants.variants,
        {"groups": variants.GROUPS, "alternatives": variants.ALTERNATIVES},
    ),
    "pool_packing": Kind(
        "three memories filled without waste, `height` bytes together: the optimum is known",
        packing.pool_packing,
        {"height": packing.HEIGHT},
    ),
}


def check_kind(kind: str) -> None:
    """Raise BadInput for an unknown kind."""
    if kind not in KINDS:
        raise bad_option("kind", f"there is no kind {echo(kind)}; known are {', '.join(KINDS)}")


def generate(kind: str, request: Request) -> Problem:
    """Return the problem of this kind, size and seed, with the largest sizes. Raises BadInput for an unknown kind or parameter."""
    made = generated(kind, request)
    return made if isinstance(made, Problem) else made.largest


def generate_shaped(kind: str, request: Request) -> ShapedProblem:
    """Return the same with sizes that may depend on symbols; most kinds have none."""
    return as_shaped(generated(kind, request))


def generated(kind: str, request: Request) -> Problem | ShapedProblem:
    """Return the problem, with symbols if sizes depend on some."""
    check_kind(kind)
    request = _complete(kind, request)
    sketch = KINDS[kind].make(request)
    made = None
    if sketch.symbols:
        made = shaped(Problem(sketch.buffers), sketch.symbols, sketch.sizes)
        sketch = replace(sketch, buffers=tuple(made.largest.buffers))
    known = largest_live_sum(sketch.buffers) if sketch.optimum is None else sketch.optimum
    words = [kind, f"n={request.buffers}", f"seed={request.seed}"]
    if request.alignment != 1:
        words.append(f"alignment={request.alignment}")
    words += [f"{name}={value}" for name, value in request.parameters.items()]
    words.append(f"{'bound' if sketch.optimum is None else 'optimum'}={known}")
    problem = Problem(
        sketch.buffers,
        sketch.pools or (Pool("arena", alignment=request.alignment),),
        terms=sketch.terms,
        name=" ".join(words),
        lifetimes=Lifetimes.HALF_OPEN,
        variants=sketch.variants,
    )
    return problem if made is None else replace(made, largest=problem)


def _complete(kind: str, request: Request) -> Request:
    """Return the request with every parameter of the kind, in their order."""
    for name, value, least, greatest in (
        ("buffers", request.buffers, 0, MOST_BUFFERS),
        ("seed", request.seed, 0, GREATEST),
        ("alignment", request.alignment, 1, 1 << 20),
    ):
        if not least <= value <= greatest:
            raise bad_option(name, f"{value} is out of range: from {least} to {greatest}")
    defaults = KINDS[kind].parameters
    for name, value in request.parameters.items():
        if name not in defaults:
            takes = f"takes {', '.join(defaults)}" if defaults else "takes none"
            raise bad_option("set", f"{kind} has no parameter {echo(name)}; it {takes}")
        if not 1 <= value <= LARGEST_PARAMETER:
            raise bad_option("set", f"{name}={value} is out of range: from 1 to {LARGEST_PARAMETER}")
    return replace(request, parameters={**defaults, **request.parameters})

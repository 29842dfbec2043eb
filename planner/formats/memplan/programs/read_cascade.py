"""memplan-cascade/1: operators with shapes as JSON, read as strictly as problems are."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import TypeAdapter

from ....checks import sound_as_read
from ....checks.report import Report, bad_input
from ....graph.cascades.operators import Kind, Network, Operator, Padding, Tensor
from ....graph.cascades.problem import CascadeOptions, cascade_problem
from ....graph.cascades.stripes.cutting import Cutting
from ....graph.cascades.stripes.group import Mode
from ....graph.cascades.tile_problem import TileOptions, tile_problem
from ....graph.cascades.tiles import Level, TileRates
from ....graph.cascades.work import Rates
from ....model.errors import Code
from ....model.problem import Pool
from ...documents import CASCADE_FORMAT, require_format
from ...json.strict import Part, Wire, once
from ...json.validate import validate
from ..read import read_pools
from ..wire import PoolWire
from . import cascade_wire as w

if TYPE_CHECKING:
    from ....model.problem import Problem
    from ...documents import Source


class CascadeFile(NamedTuple):
    """A network as described in a file."""

    network: Network
    pools: tuple[Pool, ...]
    options: CascadeOptions | TileOptions
    """In stripes, or in tiles."""


@cache
def _wire() -> Wire:
    return Wire(
        TypeAdapter(w.CascadeWire),
        once(
            lambda: {
                ("pools",): Part(TypeAdapter(PoolWire)),
                ("tensors",): Part(TypeAdapter(w.CascadeTensorWire)),
                ("operators",): Part(TypeAdapter(w.CascadeOperatorWire)),
            }
        ),
    )


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem whose variants tell what runs in stripes, and warnings. Raises BadInput."""
    file = read_file(source)
    if isinstance(file.options, TileOptions):
        return sound_as_read(tile_problem(file.network, file.pools, file.options).problem), ()
    made = cascade_problem(file.network, file.pools, file.options)
    return sound_as_read(made.problem), made.warnings


def read_file(source: Source) -> CascadeFile:
    """Return the network, and how to cut it; the result of its shapes is not checked yet. Raises BadInput."""
    require_format(source.scanned, CASCADE_FORMAT, "a network")
    document: w.CascadeWire = validate(_wire(), source.data, source.scanned)
    report = Report()
    pools = read_pools(document["pools"], report) if "pools" in document else (Pool("default"),)
    report.raise_if_any()
    network = Network(
        tuple(map(_tensor, document["tensors"])),
        tuple(map(_operator, document["operators"])),
        document.get("name"),
        document.get("channels_multiple", 1),
    )
    planned = document.get("plan_inputs", True), document.get("plan_outputs", True)
    rates = Rates(**document.get("cycles", {}))
    if "tiles" not in document:
        return CascadeFile(network, pools, CascadeOptions(*planned, _cutting(document.get("stripes", {})), rates))
    if "stripes" in document:
        raise bad_input(Code.CONTRADICTION, ("tiles",), "a network runs in stripes or in tiles, not in both")
    tiles = document["tiles"]
    levels = tuple(Level(each["pool"], each.get("bytes_per_cycle", rates.bytes_per_cycle)) for each in tiles["levels"])
    moving = TileRates(
        tuple(level.bytes_per_cycle for level in levels), rates.operations_per_cycle, rates.cycles_per_run
    )
    options = TileOptions(tiles["home"], levels, *planned, tuple(tiles.get("blocks", ())), moving)
    return CascadeFile(network, pools, options)


def _tensor(wire: w.CascadeTensorWire) -> Tensor:
    return Tensor(wire["id"], tuple(wire["shape"]), wire.get("element_bits", 8), wire.get("is_output", False))


def _operator(wire: w.CascadeOperatorWire) -> Operator:
    given: dict[str, Any] = dict(wire)
    given["kind"] = Kind(wire["kind"])
    for field in ("inputs", "kernel", "stride", "dilation"):
        if field in given:
            given[field] = tuple(given[field])
    padding = wire.get("padding", "valid")
    given["padding"] = Padding(padding) if isinstance(padding, str) else tuple((a, b) for a, b in padding)
    return Operator(**given)


def _cutting(wire: w.StripesWire) -> Cutting:
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in wire.items()}
    if "modes" in given:
        given["modes"] = tuple(map(Mode, given["modes"]))
    return Cutting(**given)

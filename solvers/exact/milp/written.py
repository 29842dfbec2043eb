"""A program as the text of an LP or MPS file, with all digits of its numbers. PuLP, which writes what solvers run here, rounds to 12 of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from ...model.errors import Unsupported
from .. import EXPORT
from .program.model import Variable

EXACT = 1 << 53
"""Below this all whole numbers are distinct in double precision, in which solvers read them."""
OBJECTIVE = "OBJ"
LONGEST_LINE = 78
KINDS = {-1: "L", 0: "E", 1: "G"}
SIGNS = {-1: "<=", 0: "=", 1: ">="}

Terms = Mapping[Variable, float]


def lp(problem: Any, objective: Terms) -> str:
    """The program as LP, which minimises the objective."""
    variables = problem.variables()
    rows = sorted(problem.constraints(), key=lambda row: str(row.name))
    whole = [each for each in variables if each.isInteger() and not each.isBinary()]
    binaries = [each for each in variables if each.isBinary()]
    lines = chain(
        ("\\* memplan *\\", "Minimize"),
        _row(OBJECTIVE, _complete(problem, objective)),
        ("Subject To",),
        chain.from_iterable(_row(row.name, row, f" {SIGNS[row.sense]} {_number(-row.constant)}") for row in rows),
        ("Bounds",),
        (_bounds(each) for each in variables if not each.isBinary()),
        _section("Generals", whole),
        _section("Binaries", binaries),
        ("End",),
    )
    return _text(lines)


def mps(problem: Any, objective: Terms) -> str:
    """The program as MPS, which minimises the objective."""
    variables, rows = problem.variables(), problem.constraints()
    columns: dict[Variable, dict[str, float]] = {each: {} for each in variables}
    for row in rows:
        for variable, factor in row.items():
            columns[variable][row.name] = factor
    for variable, factor in _complete(problem, objective).items():
        columns[variable][OBJECTIVE] = factor
    lines = chain(
        ("*SENSE:Minimize", "NAME          memplan", "ROWS", f" N  {OBJECTIVE}"),
        (f" {KINDS[row.sense]}  {row.name}" for row in rows),
        ("COLUMNS",),
        chain.from_iterable(_column(variable, entries) for variable, entries in columns.items()),
        ("RHS",),
        (f"    RHS       {row.name:8}  {_number(-row.constant)}" for row in rows),
        ("BOUNDS",),
        chain.from_iterable(map(_bound_lines, variables)),
        ("ENDATA",),
    )
    return _text(lines)


def _complete(problem: Any, objective: Terms) -> Terms:
    """The objective, in which variables without rows count nothing, so that the file knows them."""
    known = set(chain.from_iterable(row.keys() for row in problem.constraints()))
    return {each: 0 for each in problem.variables() if each not in known} | dict(objective)


def _number(value: float) -> str:
    if abs(value) >= EXACT:
        raise Unsupported(
            EXPORT, "it has numbers of 2^53 and more, which solvers that read LP and MPS would round; cpsat takes them"
        )
    return f"{value + 0:.17g}"


def _row(name: str, terms: Terms, ending: str = "") -> Iterator[str]:
    """The lines of an expression, with variables in the order of their names."""
    line = f"{name}:"
    sign = ""
    for variable, factor in sorted(terms.items(), key=lambda term: str(term[0].name)):
        sign = " -" if factor < 0 else sign
        number = "" if abs(factor) == 1 else f" {_number(abs(factor))}"
        term = f"{sign}{number} {variable.name}"
        if len(line) + len(term) > LONGEST_LINE:
            yield line
            line = ""
        line += term
        sign = " +"
    if len(line) + len(ending) > LONGEST_LINE:
        yield line
        line = ""
    yield line + ending


def _bounds(variable: Variable) -> str:
    low, high = _number(variable.lowBound), _number(variable.upBound)
    if low == high:
        return f" {variable.name} = {low}"
    return f" {low} <= {variable.name} <= {high}"


def _section(title: str, variables: list[Variable]) -> Iterator[str]:
    if variables:
        yield title
        yield from (variable.name for variable in variables)


def _column(variable: Variable, entries: Mapping[str, float]) -> Iterator[str]:
    lines: Iterable[str] = (f"    {variable.name:8}  {row:8}  {_number(factor)}" for row, factor in entries.items())
    if not variable.isInteger():
        yield from lines
        return
    yield "    MARK      'MARKER'                 'INTORG'"
    yield from lines
    yield "    MARK      'MARKER'                 'INTEND'"


def _bound_lines(variable: Variable) -> Iterator[str]:
    low, high = _number(variable.lowBound), _number(variable.upBound)
    if low == high:
        yield f" FX BND       {variable.name:8}  {low}"
    elif variable.isBinary():
        yield f" BV BND       {variable.name:8}"
    else:
        yield f" LO BND       {variable.name:8}  {low}"
        yield f" UP BND       {variable.name:8}  {high}"


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

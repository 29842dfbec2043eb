"""A model whose constraints are sums of variables, which are known by their numbers: OR-Tools' expressions would need numpy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import lt
from typing import Any

from ...model.errors import Unsupported
from .engine import NAME, load

LEAST, MOST = -(1 << 63), (1 << 63) - 1


class Sums:
    """Written down as CP-SAT reads it. Every call raises Unsupported for numbers of more than 64 bits."""

    def __init__(self) -> None:
        self._helper = load().cmh
        self.proto = self._helper.CpModelProto()
        self._count = 0

    def variable(self, low: int, high: int) -> int:
        """A variable with a value in this range."""
        _put(self.proto.variables.add().domain, (low, high))
        self._count += 1
        return self._count - 1

    def exactly_one(self, literals: Iterable[int]) -> None:
        """One of these is true."""
        self.proto.constraints.add().exactly_one.literals.extend(list(literals))

    def limit(self, entries: Iterable[tuple[int, int]], low: int = LEAST, high: int = MOST) -> None:
        """The sum of these variables, each times its weight, is in this range."""
        self._limit(self.proto.constraints.add(), entries, low, high)

    def limit_if(self, literal: int, entries: Iterable[tuple[int, int]], low: int = LEAST, high: int = MOST) -> None:
        """The same where the literal is true; -1 - n is the opposite of variable n."""
        constraint = self.proto.constraints.add()
        constraint.enforcement_literal.append(literal)
        self._limit(constraint, entries, low, high)

    def minimise(self, entries: Iterable[tuple[int, int]], constant: int) -> None:
        """The objective: the least of this sum and the constant."""
        objective, (variables, weights) = self.proto.objective, _added_up(entries)
        objective.vars.extend(variables)
        _put(objective.coeffs, weights)
        objective.offset = constant
        objective.scaling_factor = 1

    def hint(self, values: Iterable[tuple[int, int]]) -> None:
        """Search begins with these values of variables."""
        hint, pairs = self.proto.solution_hint, list(values)
        hint.vars.extend([variable for variable, _ in pairs])
        hint.values.extend([value for _, value in pairs])

    def validate(self) -> str:
        """What is wrong with the model; empty: nothing."""
        found: str = self._helper.CpSatHelper.validate_model(self.proto)
        return found

    def has_objective(self) -> bool:
        return bool(self.proto.has_objective())

    @staticmethod
    def _limit(constraint: object, entries: Iterable[tuple[int, int]], low: int, high: int) -> None:
        linear, (variables, weights) = constraint.linear, _added_up(entries)  # type: ignore[attr-defined]
        linear.vars.extend(variables)
        _put(linear.coeffs, weights)
        _put(linear.domain, (low, high))


def _put(numbers: Any, values: Sequence[int]) -> None:
    try:
        numbers.extend(values)
    except TypeError:
        raise Unsupported(NAME, "numbers of more than 64 bits") from None


def _added_up(entries: Iterable[tuple[int, int]]) -> tuple[Sequence[int], Sequence[int]]:
    """Variables and weights, each variable once, in order, and none with weight 0."""
    pairs, total = list(entries), dict[int, int]()
    variables, weights = [variable for variable, _ in pairs], [weight for _, weight in pairs]
    if all(weights) and all(map(lt, variables, variables[1:])):
        return variables, weights
    for variable, weight in pairs:
        total[variable] = total.get(variable, 0) + weight
    some = sorted((variable, weight) for variable, weight in total.items() if weight)
    return [variable for variable, _ in some], [weight for _, weight in some]

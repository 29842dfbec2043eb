"""Random programs: functions that call, branch and loop over others, with tuples, views, state and workspaces."""

from __future__ import annotations

import random
from dataclasses import replace
from math import prod

from planner.graph import Function, Operator, OperatorKind, Program, Tensor, TensorKind, Workspace
from planner.model.problem import BufferId

K = OperatorKind
SHAPES = ((4,), (4,), (4,), (2, 2), (8,), (2, 4), (1, 4))
BITS = (8, 8, 32)


def random_program(seed: int) -> Program:
    """Return a random program, always the same for the same seed."""
    return _Maker(random.Random(seed)).program()


class _Maker:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.functions: list[Function] = []
        self.shared = tuple(
            Tensor(f"g{i}", chance.choice(SHAPES), chance.choice(BITS), kind)
            for i, kind in enumerate(chance.choices((TensorKind.MUTABLE, TensorKind.CONSTANT), k=chance.randrange(3)))
        )

    def program(self) -> Program:
        for i in range(self.chance.randrange(1, 5)):
            self.functions.append(_FunctionMaker(self, f"f{i}", self.chance.choice(("any", "body", "part"))).made())
        entries = [_FunctionMaker(self, f"main{i}", "entry").made() for i in range(self.chance.choice((1, 1, 2)))]
        names = tuple(entry.name for entry in entries)
        everything = [*self.functions, *entries]
        self.chance.shuffle(everything)
        return Program(tuple(everything), names, self.shared)


class _FunctionMaker:
    def __init__(self, maker: _Maker, name: str, purpose: str) -> None:
        self.maker = maker
        self.chance = maker.chance
        self.name = name
        self.purpose = purpose
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []
        self.inputs: list[BufferId] = []

    def tensor(
        self,
        shape: tuple[int, ...],
        bits: int,
        kind: TensorKind = TensorKind.INTERMEDIATE,
        items: tuple[Tensor, ...] | None = None,
    ) -> Tensor:
        alignment = 1 if items is not None else self.chance.choice((1, 1, 1, 2, 8))
        if self.purpose == "part" and kind is TensorKind.INPUT:
            alignment = 1
        made = Tensor(f"t{len(self.tensors)}", shape, bits, kind, alignment=alignment, items=items)
        self.tensors.append(made)
        return made

    def like(self, tensor: Tensor) -> Tensor:
        return self.tensor(tensor.shape, tensor.element_bits, items=tensor.items)

    def plain(self) -> list[Tensor]:
        return [tensor for tensor in (*self.tensors, *self.maker.shared) if tensor.items is None]

    def any(self) -> Tensor:
        return self.chance.choice(self.plain())

    def fitting(self, wanted: Tensor) -> Tensor | None:
        found = [
            tensor
            for tensor in (*self.tensors, *self.maker.shared)
            if _type(tensor) == _type(wanted)
            and (wanted.kind is not TensorKind.MUTABLE or tensor.kind is TensorKind.MUTABLE)
        ]
        return self.chance.choice(found) if found else None

    def add(self, kind: OperatorKind, inputs: list[Tensor], outputs: list[Tensor], **more: object) -> None:
        made = Operator(kind, tuple(t.id for t in inputs), tuple(t.id for t in outputs))
        self.operators.append(replace(made, **more))  # type: ignore[arg-type]

    def made(self) -> Function:
        for _ in range(self.chance.randrange(1, 4)):
            kind = self.chance.choice((TensorKind.INPUT, TensorKind.INPUT, TensorKind.INPUT, TensorKind.MUTABLE))
            if self.purpose in ("body", "part"):
                kind = TensorKind.INPUT
            shape = (4,) if self.purpose == "body" else self.chance.choice(SHAPES)
            self.inputs.append(self.tensor(shape, 8 if self.purpose == "body" else self.chance.choice(BITS), kind).id)
        if self.chance.random() < 0.2:
            self.tensor(self.chance.choice(SHAPES), 8, TensorKind.MUTABLE)
        for _ in range(self.chance.randrange(1, 8)):
            self.step()
        outputs = [self.chance.choice(self.tensors) for _ in range(self.chance.randrange(1, 3))]
        if self.purpose == "body":
            alike = [tensor for tensor in self.tensors if _type(tensor) == ((4,), 8)]
            outputs = [self.chance.choice(alike) for _ in self.inputs]
        if self.purpose == "part":
            outputs = [tensor if tensor.items is None else self.any_own() for tensor in outputs]
            outputs = [tensor if tensor.bytes % tensor.alignment == 0 else self.tensors[0] for tensor in outputs]
        return Function(
            self.name, tuple(self.tensors), tuple(self.operators), tuple(self.inputs), tuple(t.id for t in outputs)
        )

    def any_own(self) -> Tensor:
        return self.chance.choice([tensor for tensor in self.tensors if tensor.items is None])

    def step(self) -> None:
        kinds = (K.COMPUTE, K.COMPUTE, K.VIEW, K.SLICE, K.CONCATENATE, K.IN_PLACE, K.IN_PLACE, K.COPY, K.TUPLE, K.ITEM)
        control = (K.CALL, K.CALL, K.BRANCH, K.BRANCH, K.LOOP, K.LOOP) if self.maker.functions else ()
        kind = self.chance.choice(kinds + control)
        source = self.any()
        if kind is K.COMPUTE:
            mutable = [t for t in (*self.tensors, *self.maker.shared) if t.kind is TensorKind.MUTABLE]
            spaces = tuple(
                Workspace(self.chance.randrange(9), self.chance.choice((1, 4)))
                for _ in range(self.chance.choice((0, 0, 0, 1)))
            )
            if mutable and self.chance.random() < 0.4:
                self.add(kind, [source, self.any()], [self.chance.choice(mutable)], workspaces=spaces)
            else:
                inputs = [source, self.any()]
                self.add(
                    kind, inputs, [self.tensor(self.chance.choice(SHAPES), self.chance.choice(BITS))], workspaces=spaces
                )
        elif kind in (K.VIEW, K.COPY, K.IN_PLACE):
            others = [self.any()] if kind is K.IN_PLACE and self.chance.random() < 0.3 else []
            shape = (prod(source.shape),) if kind is K.VIEW else source.shape
            self.add(kind, [source, *others], [self.tensor(shape, source.element_bits)], over=1 + len(others))
        elif kind is K.SLICE:
            start = self.chance.randrange(source.shape[0])
            length = self.chance.randrange(1, source.shape[0] - start + 1)
            self.add(kind, [source], [self.tensor((length, *source.shape[1:]), source.element_bits)], start=start)
        elif kind is K.CONCATENATE:
            alike = [
                t for t in self.plain() if t.shape[1:] == source.shape[1:] and t.element_bits == source.element_bits
            ]
            parts = [source, self.chance.choice(alike)]
            shape = (sum(part.shape[0] for part in parts), *source.shape[1:])
            if prod(shape) <= 32:
                self.add(kind, parts, [self.tensor(shape, source.element_bits)])
        elif kind is K.TUPLE:
            parts = [self.chance.choice(self.tensors) for _ in range(2)]
            if sum(_depth(part) for part in parts) < 4:
                items = tuple(Tensor("", part.shape, part.element_bits, items=part.items) for part in parts)
                self.add(kind, parts, [self.tensor((), 8, items=items)])
        elif kind is K.ITEM:
            tuples = [tensor for tensor in self.tensors if tensor.items is not None]
            if tuples:
                whole = self.chance.choice(tuples)
                assert whole.items is not None
                at = self.chance.randrange(len(whole.items))
                self.add(kind, [whole], [self.like(whole.items[at])], start=at)
        elif kind is K.CALL:
            self.call(self.chance.choice(self.maker.functions))
        elif kind is K.BRANCH:
            self.branch()
        else:
            self.loop()

    def arguments(self, function: Function, ids: tuple[BufferId, ...]) -> list[Tensor] | None:
        own = {tensor.id: tensor for tensor in function.tensors}
        found = [self.fitting(own[id_]) for id_ in ids]
        return [tensor for tensor in found if tensor is not None] if None not in found else None

    def results(self, function: Function, ids: tuple[BufferId, ...]) -> list[Tensor]:
        own = {tensor.id: tensor for tensor in (*function.tensors, *self.maker.shared)}
        return [self.like(own[id_]) for id_ in ids]

    def call(self, function: Function) -> None:
        inputs = self.arguments(function, function.inputs)
        if inputs is not None:
            self.add(K.CALL, inputs, self.results(function, function.outputs), functions=(function.name,))

    def branch(self) -> None:
        first = self.chance.choice(self.maker.functions)
        arms = [function for function in self.maker.functions if _interface(function) == _interface(first)]
        inputs = self.arguments(first, first.inputs)
        if inputs is None:
            return
        chosen = [first, self.chance.choice(arms)]
        kinds = {function.name: {t.id: t.kind for t in function.tensors} for function in chosen}
        for function in chosen:
            for id_, tensor in zip(function.inputs, inputs, strict=True):
                if kinds[function.name][id_] is TensorKind.MUTABLE and tensor.kind is not TensorKind.MUTABLE:
                    return
        names = tuple(function.name for function in chosen)
        self.add(K.BRANCH, [self.any(), *inputs], self.results(first, first.outputs), functions=names)

    def loop(self) -> None:
        body = self.chance.choice(self.maker.functions)
        own = {tensor.id: tensor for tensor in body.tensors}
        kinds = [own[id_].kind for id_ in body.inputs]
        carried = 0
        for given, taken, kind in zip(body.outputs, body.inputs, kinds, strict=False):
            if _type(own[given]) != _type(own[taken]) or kind is TensorKind.MUTABLE:
                break
            carried += 1
        carried = self.chance.randint(0, carried)
        stacked = [own[id_] for id_ in body.outputs[carried:]]
        if any(part.items is not None or part.bytes % part.alignment for part in stacked):
            return
        scannable = [
            own[id_].items is None and own[id_].kind is TensorKind.INPUT and own[id_].bytes % own[id_].alignment == 0
            for id_ in body.inputs[carried:]
        ]
        scanned = int(bool(scannable and scannable[0] and self.chance.random() < 0.5))
        turns = self.chance.randint(1, 3)
        inputs = self.arguments(body, body.inputs[:carried])
        same = self.arguments(body, body.inputs[carried + scanned :])
        if inputs is None or same is None:
            return
        for id_ in body.inputs[carried : carried + scanned]:
            source = self.any_own()
            whole = self.tensor((turns, *own[id_].shape), own[id_].element_bits)
            self.add(K.COMPUTE, [source], [whole])
            inputs.append(whole)
        results = self.results(body, body.outputs[:carried])
        results += [self.tensor((turns, *part.shape), part.element_bits) for part in stacked]
        condition = None
        if not stacked and not scanned:
            kept = [_type(tensor) for tensor in (*inputs, *same)]
            conditions = [
                f
                for f in self.maker.functions
                if len(f.outputs) == 1
                and _interface(f)[0] == kept
                and all(t.kind is TensorKind.INPUT for t in f.tensors if t.id in f.inputs)
                and next(t for t in f.tensors if t.id == f.outputs[0]).items is None
            ]
            condition = self.chance.choice(conditions).name if conditions and self.chance.random() < 0.7 else None
        self.add(
            K.LOOP,
            [*inputs, *same],
            results,
            functions=(body.name,),
            condition=condition,
            carried=carried,
            scanned=scanned,
        )


def _type(tensor: Tensor) -> object:
    return [_type(item) for item in tensor.items] if tensor.items is not None else (tensor.shape, tensor.element_bits)


def _depth(tensor: Tensor) -> int:
    return 1 + max(map(_depth, tensor.items)) if tensor.items is not None else 0


def _interface(function: Function) -> tuple[list[object], list[object]]:
    own = {tensor.id: tensor for tensor in function.tensors}
    return [_type(own[id_]) for id_ in function.inputs], [_type(own[id_]) for id_ in function.outputs]

"""Both kernels glue the same blocks, and come to the same results."""

from __future__ import annotations

import random

from solvers.kernels.columns import columns
from solvers.kernels.python.search.building.build import build_model
from solvers.kernels.python.search.building.given import from_columns
from solvers.kernels.python.search.building.glue import Glued, glue
from solvers.kernels.python.search.building.model import Model
from solvers.kernels.python.search.watch import Watch
from solvers.model.instance import Instance, PoolSpec
from tests.small.instances import make_instance, plain
from tests.solvers.kernels.kernel_sets import Ask, ask, native, reference


def crumbled(seed: int) -> Instance:
    """An instance of blocks that were cut over and over, in time or in addresses, so that there is much to glue."""
    r = random.Random(f"crumbled {seed}")
    whole = [(start, start + r.randint(1, 40), r.randint(1, 60)) for start in r.choices(range(40), k=r.randint(4, 12))]
    unit = r.choice([1, 1, 1, 2, 8, 1 << 24])
    residue = r.randrange(unit)
    blocks = []
    while whole:
        start, end, size = whole.pop()
        if end - start > 1 and r.random() < 0.3:
            middle = r.randrange(start + 1, end)
            whole += [(start, middle, size), (middle, end, size)]
        elif size > 1 and r.random() < 0.3:
            part = r.randrange(1, size)
            whole += [(start, end, part), (start, end, size - part)]
        else:
            step = unit * r.choice([1, 1, 1, 1, 2])
            most = residue + step * r.randrange(40, 200) if r.random() < 0.1 else None
            size = size * unit - r.choice([0, 0, 0, unit // 2])
            blocks.append(plain(start, end, size, alignment=step, residue=residue, max_offset=most))
    r.shuffle(blocks)
    holes = tuple((unit * at, unit * (at + r.randint(1, 9))) for at in (25, 90)[: r.choice([0, 0, 1, 2])])
    return make_instance(blocks, pools=[PoolSpec(None if r.random() < 0.6 else unit * r.randint(150, 300), holes)])


def model_of(instance: Instance) -> Model:
    given = from_columns(columns(instance))
    return build_model(given, 1_000_000, Watch(lambda offsets, bound: False, 0))


def test_both_kernels_decide_alike_where_blocks_are_glued() -> None:
    kernels = reference(), native()
    ends, glued = set(), set()
    for seed in range(40):
        instance = crumbled(seed)
        wish = Ask(seed=seed, fit=seed % 4 == 3, work=50)
        mine, theirs = (ask(kernel, instance, wish) for kernel in kernels)
        assert mine == theirs, seed
        ends.add(mine.end)
        glued |= {chains for chains in (False, True) if glue(model_of(instance), chains)}
    assert ends == {"proved", "fits", "impossible", "work"}
    assert glued == {False, True}


def members(glued: Glued | None) -> list[tuple[tuple[int, int], ...]]:
    assert glued is not None
    return [piece.members for piece in glued.pieces]


def test_stacks_and_chains_are_glued_to_each_other_again() -> None:
    model = model_of(make_instance([(0, 4, 2), (0, 2, 3), (2, 4, 3), (4, 6, 5), (3, 9, 1), (8, 9, 7)]))
    assert glue(model, chains=False) is None
    glued = glue(model, chains=True)
    assert members(glued) == [((0, 0), (1, 2), (2, 2), (3, 0)), ((4, 0),), ((5, 0),)]
    assert glued is not None
    assert [(block.size, block.lifetime) for block in glued.model.blocks] == [(5, 6), (1, 6), (7, 1)]
    assert glued.model.stretch == (range(1), range(2), range(1, 2))
    assert glued.expand([1, 0, 6]) == [1, 3, 3, 1, 0, 6]


def test_unlike_blocks_are_not_glued() -> None:
    aligned = [plain(0, 2, 3, alignment=2), plain(0, 2, 4, alignment=2), plain(0, 2, 1, alignment=4)]
    # Whatever is put on three bytes loses a byte, as offsets count in units of two; so the three go on top.
    glued = glue(model_of(make_instance(aligned)), chains=True)
    assert members(glued) == [((1, 0), (0, 2)), ((2, 0),)]
    assert glue(model_of(make_instance([plain(0, 2, 4, max_offset=3), plain(0, 2, 4, max_offset=3)])), True) is None


def test_a_glued_block_avoids_the_obstacles_of_its_members() -> None:
    instance = make_instance([(0, 2, 3), (0, 2, 3)], pools=[PoolSpec(20, ((4, 5),))])
    glued = glue(model_of(instance), chains=False)
    assert glued is not None
    assert glued.model.blocks[0].stops == ((-1, 5),)
    for kernel in (reference(), native()):
        assert ask(kernel, instance, Ask()).bound == 8

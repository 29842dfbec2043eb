"""Generated networks: the problems that a tape records, and the characteristics of each kind."""

from __future__ import annotations

from typing import Any

import pytest

from planner.generate.chance import Chance
from planner.generate.networks.convnet import convnet
from planner.generate.networks.recurrent import recurrent
from planner.generate.networks.shaped_transformer import MOST_LAYERS, shaped_transformer
from planner.generate.networks.tape import Tape
from planner.generate.networks.transformer import transformer
from planner.generate.networks.unet import unet
from planner.generate.request import Request, Sketch
from planner.model.errors import BadInput
from planner.model.problem import Buffer

Lives = dict[str, list[tuple[int, int, int]]]


def lives(buffers: tuple[Buffer, ...]) -> Lives:
    """Return size, birth and end of all tensors of each name, in the order in which they are made."""
    found: Lives = {}
    for buffer in buffers:
        ((start, end),) = buffer.live or ()
        found.setdefault(str(buffer.id).rpartition(".")[0], []).append((buffer.size, start, end))
    return found


def test_tensors_live_until_their_last_reader_and_scratch_for_one_step() -> None:
    tape = Tape()
    image = tape.step("image", 10)
    conv = tape.step("conv", 20, image, scratch=5)
    tape.step("add", 10, image, conv)
    tape.step("unread", 1)
    assert lives(tape.buffers(5)) == {
        "image": [(10, 0, 3)],
        "conv.scratch": [(5, 1, 2)],
        "conv": [(20, 1, 3)],
        "add": [(10, 2, 3)],
        "unread": [(1, 3, 4)],
    }
    assert [buffer.kind for buffer in tape.buffers(5)] == ["intermediate", "workspace", *["intermediate"] * 3]


def test_a_program_that_is_cut_short_ends_with_its_last_tensor() -> None:
    tape = Tape()
    first = tape.step("first", 1)
    tape.step("second", 2)
    tape.step("third", 3, first)
    assert lives(tape.buffers(2)) == {"first": [(1, 0, 2)], "second": [(2, 1, 2)]}
    assert tape.buffers(0) == ()


def test_a_chain_reads_one_before_the_other_up_to_the_count() -> None:
    tape = Tape()
    tape.chain(Chance(1), 4, 1000)
    assert [(start, end) for _, start, end in lives(tape.buffers(4))["head"]] == [(0, 2), (1, 3), (2, 4), (3, 4)]
    assert all(64 <= size <= 1000 for size, _, _ in lives(tape.buffers(4))["head"])


def test_the_first_kept_tensors_of_a_unet_are_needed_last() -> None:
    found = lives(unet(Request(300, 3)).buffers)
    joined = [start for _, start, _ in found["concat"]]
    halves = found["down"]
    assert len(joined) == len(halves) > 2
    kept = [size for size, _, _ in found["concat"]]
    assert [size // 8 for size in kept] == [size for size, _, _ in reversed(halves)], (
        "each level comes back to its own size"
    )
    ends = sorted(((start, end) for _, start, end in found["add"] if end - start > 3), reverse=True)
    assert [end - 1 for _, end in ends if end - 1 in joined] == joined, "lifetimes nest"


def test_a_recurrent_network_reads_its_inputs_from_both_ends() -> None:
    tokens = lives(recurrent(Request(14 * 12, 5)).buffers)["token"]
    assert len(tokens) == 12
    assert [size for size, _, _ in tokens] == sorted((size for size, _, _ in tokens), reverse=True), (
        "fewer and fewer sequences are left"
    )
    ends = [end for _, _, end in tokens]
    assert ends == sorted(ends, reverse=True), "the way back reads the last one first"


def test_attention_keeps_a_score_for_each_pair_of_tokens() -> None:
    found = lives(transformer(Request(120, 2)).buffers)
    stream = found["embed"][0][0]
    width, tokens = next(
        (width, stream // width // 2)
        for width in (256, 384, 512, 768, 1024)
        if found["scores"][0][0] == width // 64 * (stream // width // 2) ** 2 * 2
    )
    assert {size for size, _, _ in found["softmax"]} == {width // 64 * tokens * tokens * 2}
    assert {size for size, _, _ in found["query"]} == {stream}
    for (_, start, end), (_, score, _) in zip(found["query"], found["scores"], strict=False):
        assert start < score < end == score + 1


def test_inputs_of_a_residual_block_live_until_its_end() -> None:
    found = lives(convnet(Request(400, 0)).buffers)
    read = [(end - 1, start) for tensors in found.values() for _, start, end in tensors]
    assert len(found["add"]) > 3
    for _, now, _ in found["add"]:
        assert any(last == now and now - made > 5 for last, made in read), "what came in"
        assert (now, now - 1) in read, "what became of it"


@pytest.mark.parametrize("kind", [convnet, recurrent, transformer, unet])
def test_networks_depend_on_the_seed_alone(kind: object) -> None:
    assert callable(kind)

    def made(seed: int) -> Sketch:
        sketch = kind(Request(90, seed))
        assert isinstance(sketch, Sketch)
        return sketch

    assert made(1) == made(1) != made(2)
    assert len(made(1).buffers) == 90


@pytest.mark.parametrize("decode", [False, True])
def test_keys_and_values_of_a_transformer_live_until_the_end(decode: bool) -> None:
    shapes = shaped_transformer(3, 64, 2, longest=100, decode=decode)
    few, many = ({str(b.id): (b.size, *(b.live or ())[0]) for b in shapes.at({"n": n}).buffers} for n in (1, 100))
    end = max(end for _, _, end in many.values())
    assert [many[f"{layer}.cache"][2] for layer in range(3)] == [end] * 3
    assert many["0.cache"][0] == 100 * few["0.cache"][0] == 100 * 2 * 64 * 2
    assert many["0.scores"][0] == (100 if decode else 100 * 100) * few["0.scores"][0]
    assert many["0.norm"][0] == (1 if decode else 100) * few["0.norm"][0]


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in ("layers", "width", "heads", "longest") for value in (-1, 1 << 80)]
    + [("layers", MOST_LAYERS + 1), ("longest", 0)],
)
def test_a_transformer_of_no_size_is_refused(name: str, value: int) -> None:
    make: Any = shaped_transformer
    with pytest.raises(BadInput, match=f"^/{name}: must be from "):
        make(**{name: value})

"""Small PyTorch networks with inputs, with the same numbers in every run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Made = tuple[Any, tuple[Any, ...]]


def _convolution(given: int, made: int, stride: int = 1, kernel: int = 3, groups: int = 1) -> list[Any]:
    layer = nn.Conv2d(given, made, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [layer, nn.BatchNorm2d(made), nn.ReLU6()]


class _Inverted(nn.Module):  # type: ignore[misc]
    """MobileNet's residual block."""

    def __init__(self, given: int, made: int, stride: int, wider: int) -> None:
        super().__init__()
        middle = given * wider
        self.inner = nn.Sequential(
            *_convolution(given, middle, kernel=1),
            *_convolution(middle, middle, stride, groups=middle),
            nn.Conv2d(middle, made, 1, bias=False),
        )
        self.adds = stride == 1 and given == made

    def forward(self, x: Any) -> Any:
        return x + self.inner(x) if self.adds else self.inner(x)


class _Block(nn.Module):  # type: ignore[misc]
    """A transformer's block."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
        self.first, self.second = nn.LayerNorm(64), nn.LayerNorm(64)
        self.wide = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))

    def forward(self, x: Any) -> Any:
        y = self.first(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.wide(self.second(x))


class _Dense(nn.Module):  # type: ignore[misc]
    """A dense block: each layer reads the outputs of all layers before it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(8 + 8 * i, 8, 3, padding=1) for i in range(5))

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = torch.cat((x, layer(x).relu()), 1)
        return x.mean((2, 3))


class _Branch(nn.Module):  # type: ignore[misc]
    """A condition whose branches need memory of their own, in which their results lie."""

    def forward(self, x: Any) -> Any:
        before = (x * 3).tanh().sum(0)
        y = torch.cond(x.sum() > 0, lambda a: (a * 2 + 1).relu(), lambda a: (a - 1) * 3, (x,))
        after = (x + 1).sum(0) * before
        return (y + x) * 2 + after, y


class _State(nn.Module):  # type: ignore[misc]
    """A network whose running sum stays for the next run."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(8, 16))

    def forward(self, x: Any) -> Any:
        self.seen.add_(x)
        return (self.seen * x).relu() + x


class _Each(nn.Module):  # type: ignore[misc]
    """A loop over rows."""

    def forward(self, x: Any) -> Any:
        from functorch.experimental.control_flow import map as each

        return each(lambda row: (row * 2 + 1).relu() * row, x).sum(0)


def _made(build: Callable[[], Any], *shape: int) -> Callable[[], Made]:
    def make() -> Made:
        torch.manual_seed(7)
        return build().eval(), (torch.randn(*shape),)

    return make


NETWORKS: dict[str, Callable[[], Made]] = {
    "mobilenet": _made(
        lambda: nn.Sequential(*_convolution(3, 16, 2), _Inverted(16, 16, 1, 2), _Inverted(16, 24, 2, 4), _Inverted(24, 24, 1, 4)),
        1, 3, 64, 64,
    ),
    "block": _made(_Block, 1, 32, 64),
    "dense": _made(_Dense, 1, 8, 16, 16),
    "branch": _made(_Branch, 8, 16),
    "state": _made(_State, 8, 16),
    "each": _made(_Each, 4, 16),
}  # fmt: skip

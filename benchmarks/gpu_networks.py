"""Small trainings that show what the rules about CUDA speak of, each in several variants.

    python benchmarks/gpu_networks.py NETWORK VARIANT

trains NETWORK for a few steps on made-up data, seeded, and prints a digest of all losses and parameters. Two runs with
one digest did the same to the bit. `python benchmarks/gpu_evidence.py` runs each of them many times.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

#: What a variant sets before CUDA is used, by its name.
VARIANTS = {
    "plain": "seeds alone",
    "benchmark": "seeds and cudnn.benchmark = True",
    "cudnn": "seeds and cudnn.deterministic = True",
    "both": "seeds, cudnn.deterministic = True and cudnn.benchmark = True",
    "strict": "seeds and use_deterministic_algorithms(True), with CUBLAS_WORKSPACE_CONFIG",
    "unset": "seeds and use_deterministic_algorithms(True), without CUBLAS_WORKSPACE_CONFIG",
    "workspace": "seeds and CUBLAS_WORKSPACE_CONFIG",
    "warn": "seeds and use_deterministic_algorithms(True, warn_only=True)",
    "tf32": "seeds and TF32 for matrix products and convolutions",
    "compiled": "seeds and torch.compile",
    "autotuned": 'seeds and torch.compile(mode="max-autotune-no-cudagraphs")',
}

#: Which rules are about a network, and in which variants it is worth running.
NETWORKS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "residual": (("TRL301", "TRL306"), ("plain", "benchmark", "cudnn", "both", "strict", "tf32")),
    "shapes": (("TRL301",), ("plain", "benchmark", "cudnn", "both", "strict")),
    "volumes": (("TRL301",), ("plain", "benchmark", "cudnn", "both")),
    "segmentation": (("TRL402",), ("plain", "cudnn", "warn")),
    "messages": (("TRL402",), ("plain", "cudnn", "strict")),
    "words": (("TRL402",), ("plain", "strict")),
    "speech": (("TRL401", "TRL402"), ("plain", "strict")),
    "recurrent": (("TRL303",), ("plain", "workspace", "strict", "unset")),
    "streams": (("TRL303",), ("plain", "workspace", "strict", "unset")),
    "flash": (("TRL404",), ("plain", "strict", "warn")),
    "efficient": (("TRL404",), ("plain", "strict", "warn")),
    "geometric": (("TRL404",), ("plain", "strict")),
    "dropout": (("TRL306",), ("plain", "compiled", "autotuned")),
}


def main(arguments: list[str]) -> None:
    """Train the network that the arguments name, and print the digest."""
    network, variant = arguments
    if variant in ("strict", "workspace"):
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    else:
        os.environ.pop("CUBLAS_WORKSPACE_CONFIG", None)
    import torch

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.benchmark = variant in ("benchmark", "both")
    torch.backends.cudnn.deterministic = variant in ("cudnn", "both")
    if variant in ("strict", "unset", "warn"):
        torch.use_deterministic_algorithms(True, warn_only=variant == "warn")  # noqa: TRL304 (measured)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = variant == "tf32"
    digest = hashlib.blake2b(digest_size=8)
    for tensor in _MAKERS[network](device, variant):
        digest.update(tensor.detach().float().cpu().contiguous().numpy().tobytes())
    print(digest.hexdigest())


def _trained(model: Any, batches: Callable[[int], Any], loss: Callable[[Any], Any], steps: int = 10) -> Iterator[Any]:
    import torch

    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(steps):
        optimizer.zero_grad()
        value = loss(batches(step))
        value.backward()
        optimizer.step()
        yield value
    yield from model.parameters()


def _numbers(*shape: int) -> Any:
    import torch

    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def _classes(high: int, *shape: int) -> Any:
    import torch

    return torch.randint(high, shape, generator=torch.Generator().manual_seed(sum(shape)))


def _convolutions(device: Any, sizes: list[tuple[int, ...]], volumes: bool) -> Iterator[Any]:
    import torch.nn.functional as F
    from torch import nn

    conv, norm = (nn.Conv3d, nn.BatchNorm3d) if volumes else (nn.Conv2d, nn.BatchNorm2d)

    class Block(nn.Module):
        def __init__(self, wide: int) -> None:
            super().__init__()
            self.layers = nn.Sequential(
                conv(wide, wide, 3, padding=1, bias=False), norm(wide), nn.ReLU(), conv(wide, wide, 3, padding=1)
            )

        def forward(self, x: Any) -> Any:
            return F.relu(x + self.layers(x))

    first = conv(3, 32, 5, padding=2)
    model = nn.Sequential(first, Block(32), Block(32), conv(32, 64, 3, stride=2, padding=1), Block(64)).to(device)
    data = [_numbers(*size).to(device) for size in sizes]

    def loss(x: Any) -> Any:
        return model(x).flatten(2).mean(2).logsumexp(1).mean()

    yield from _trained(model, lambda step: data[step % len(data)], loss)


def _residual(device: Any, variant: str) -> Iterator[Any]:
    yield from _convolutions(device, [(32, 3, 64, 64)], volumes=False)


def _shapes(device: Any, variant: str) -> Iterator[Any]:
    sizes: list[tuple[int, ...]] = [(8, 3, side, side + 9) for side in range(33, 133, 10)]
    yield from _convolutions(device, sizes, volumes=False)


def _volumes(device: Any, variant: str) -> Iterator[Any]:
    yield from _convolutions(device, [(4, 3, 12, 24, 24), (2, 3, 10, 30, 34)], volumes=True)


def _segmentation(device: Any, variant: str) -> Iterator[Any]:
    import torch.nn.functional as F
    from torch import nn

    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Upsample(scale_factor=4, mode="bilinear", align_corners=False),
        nn.Conv2d(32, 8, 1),
    ).to(device)
    x, y = _numbers(8, 3, 96, 96).to(device), _classes(8, 8, 96, 96).to(device)
    yield from _trained(model, lambda step: x, lambda data: F.cross_entropy(model(data), y))


def _messages(device: Any, variant: str) -> Iterator[Any]:
    import torch
    from torch import nn

    first, second = nn.Linear(32, 64), nn.Linear(64, 8)
    model = nn.ModuleList([first, second]).to(device)
    x, edges = _numbers(500, 32).to(device), _classes(500, 2, 20000).to(device)

    def loss(x: Any) -> Any:
        hidden = first(x).relu()
        gathered = torch.zeros_like(hidden).index_add(0, edges[1], hidden[edges[0]])
        return second(gathered).logsumexp(1).mean()

    yield from _trained(model, lambda step: x, loss)


def _words(device: Any, variant: str) -> Iterator[Any]:
    import torch.nn.functional as F
    from torch import nn

    bag, head = nn.EmbeddingBag(50, 64, mode="sum"), nn.Linear(64, 50)
    model = nn.ModuleList([bag, head]).to(device)
    words, following = _classes(50, 256, 100).to(device), _classes(50, 256).to(device)
    weights = _numbers(256, 100).to(device)

    def loss(words: Any) -> Any:
        return F.cross_entropy(head(bag(words, per_sample_weights=weights)), following)

    yield from _trained(model, lambda step: words, loss)


def _speech(device: Any, variant: str) -> Iterator[Any]:
    import torch
    import torch.nn.functional as F
    from torch import nn

    # Long enough for the kernel of long sequences, which adds with atomics.
    rnn, head = nn.GRU(20, 64, bidirectional=True), nn.Linear(128, 30)
    model = nn.ModuleList([rnn, head]).to(device)
    x, y = _numbers(600, 16, 20).to(device), (_classes(29, 16, 120) + 1).to(device)
    long, short = torch.full((16,), 600, device=device), torch.full((16,), 120, device=device)

    def loss(x: Any) -> Any:
        return F.ctc_loss(head(rnn(x)[0]).log_softmax(2), y, long, short)

    yield from _trained(model, lambda step: x, loss)


def _recurrent(device: Any, variant: str) -> Iterator[Any]:
    from torch import nn

    model = nn.LSTM(32, 128, num_layers=2).to(device)
    x = _numbers(60, 32, 32).to(device)
    yield from _trained(model, lambda step: x, lambda x: model(x)[0].square().mean())


def _streams(device: Any, variant: str) -> Iterator[Any]:
    import torch
    from torch import nn

    towers = [nn.Linear(2048, 2048) for _ in range(4)]
    model = nn.ModuleList(towers).to(device)
    x = _numbers(2048, 2048).to(device)
    beside = [torch.cuda.Stream() if device.type == "cuda" else None for _ in towers]

    def on(stream: Any) -> Any:
        return torch.cuda.stream(stream) if stream is not None else contextlib.nullcontext()

    def loss(x: Any) -> Any:
        parts = []
        for tower, stream in zip(towers, beside, strict=True):
            if stream is not None:
                stream.wait_stream(torch.cuda.current_stream())
            with on(stream):
                parts.append(tower(x).square().mean())
        for stream in beside:
            if stream is not None:
                torch.cuda.current_stream().wait_stream(stream)
        return torch.stack(parts).sum()

    yield from _trained(model, lambda step: x, loss, steps=20)


def _attention(device: Any, backend: str, dtype: Any, length: int) -> Iterator[Any]:
    import torch.nn.functional as F
    from torch import nn
    from torch.nn.attention import SDPBackend, sdpa_kernel

    inside, out = nn.Linear(256, 768, bias=False), nn.Linear(256, 256, bias=False)
    model = nn.ModuleList([inside, out]).to(device, dtype)
    x = _numbers(4, length, 256).to(device, dtype)

    def loss(x: Any) -> Any:
        q, k, v = (part.unflatten(2, (4, 64)).transpose(1, 2) for part in inside(x).chunk(3, 2))
        with sdpa_kernel(getattr(SDPBackend, backend)):
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return out(mixed.transpose(1, 2).flatten(2)).float().square().mean()

    yield from _trained(model, lambda step: x, loss)


def _flash(device: Any, variant: str) -> Iterator[Any]:
    import torch

    yield from _attention(device, "FLASH_ATTENTION", torch.bfloat16, 2048)


def _efficient(device: Any, variant: str) -> Iterator[Any]:
    import torch

    yield from _attention(device, "EFFICIENT_ATTENTION", torch.float32, 2048)


def _geometric(device: Any, variant: str) -> Iterator[Any]:
    import torch.nn.functional as F
    from torch import nn
    from torch_geometric.nn import GATConv, GCNConv

    first, second = GCNConv(32, 64), GATConv(64, 8)
    model = nn.ModuleList([first, second]).to(device)
    x, edges, y = _numbers(500, 32).to(device), _classes(500, 2, 20000).to(device), _classes(8, 500).to(device)

    def loss(x: Any) -> Any:
        return F.cross_entropy(second(first(x, edges).relu(), edges), y)

    yield from _trained(model, lambda step: x, loss)


def _dropout(device: Any, variant: str) -> Iterator[Any]:
    import torch
    from torch import nn

    model: Any = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Dropout(0.5), nn.Linear(1024, 64)).to(device)
    x = _numbers(256, 512).to(device)
    called = model
    if variant == "compiled":
        called = torch.compile(model)
    elif variant == "autotuned":
        called = torch.compile(model, mode="max-autotune-no-cudagraphs")
    yield from _trained(model, lambda step: x, lambda x: called(x).square().mean())


_MAKERS: dict[str, Callable[[Any, str], Iterator[Any]]] = {
    "residual": _residual,
    "shapes": _shapes,
    "volumes": _volumes,
    "segmentation": _segmentation,
    "messages": _messages,
    "words": _words,
    "speech": _speech,
    "recurrent": _recurrent,
    "streams": _streams,
    "flash": _flash,
    "efficient": _efficient,
    "geometric": _geometric,
    "dropout": _dropout,
}

if __name__ == "__main__":
    main(sys.argv[1:])

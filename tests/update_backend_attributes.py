"""Writes knowledge/backend_attributes.txt from the torch that is installed. Run it as a program.

Names that an earlier list has and this torch has not stay: they were switches once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

FILE = Path(__file__).resolve().parents[1] / "torchrepro_lint" / "knowledge" / "backend_attributes.txt"
HEADER = """\
# Every public attribute of torch.backends and of what is below it, one a line, sorted. What is assigned to a name below
# torch.backends that is not here does nothing. Made by tests/update_backend_attributes.py (torch {version}).
"""


#: What `__getattr__` makes up (torch/backends/cuda/__init__.py and torch/backends/__init__.py, 2.13).
DYNAMIC = {
    *(
        f"torch.backends.cuda.matmul.{name}"
        for name in (
            "allow_tf32",
            "allow_fp16_reduced_precision_reduction",
            "allow_bf16_reduced_precision_reduction",
            "allow_fp16_accumulation",
            "fp32_precision",
        )
    ),
    "torch.backends.cuda.cufft_plan_cache.max_size",
    "torch.backends.cuda.cufft_plan_cache.size",
    "torch.backends.cuda.cufft_plan_cache.clear",
    "torch.backends.cudnn.conv.fp32_precision",
    "torch.backends.cudnn.rnn.fp32_precision",
    "torch.backends.mkldnn.matmul.fp32_precision",
    "torch.backends.mkldnn.conv.fp32_precision",
    "torch.backends.mkldnn.rnn.fp32_precision",
}


def attributes() -> set[str]:
    """The dotted names of the public attributes below `torch.backends`, in the torch that is installed."""
    import torch.backends

    found = set(DYNAMIC)
    pending: list[tuple[str, object]] = [("torch.backends", torch.backends)]
    seen: set[int] = set()
    while pending:
        name, owner = pending.pop()
        if id(owner) in seen:
            continue
        seen.add(id(owner))
        for attr in _public_names(owner):
            value = _value(owner, attr)
            if _comes_from_elsewhere(value):
                continue  # what the module imports for itself
            found.add(f"{name}.{attr}")
            if _is_part(value):
                pending.append((f"{name}.{attr}", value))
    return found


def _public_names(owner: object) -> set[str]:
    """The names of an owner; what has switches is an object that stands for the module `m`."""
    names = {*dir(owner), *dir(vars(owner).get("m") if hasattr(owner, "__dict__") else None)}
    if type(owner) is not ModuleType:
        names |= {name for name in vars(type(owner)) if name != "m"}
    return {name for name in names if name[0].islower() and name != "m"}


def _value(owner: object, name: str) -> object:
    """An attribute; None where it only exists with a GPU."""
    try:
        return getattr(owner, name, None)
    except (AssertionError, RuntimeError):
        return None


def _is_part(value: object) -> bool:
    """Whether a value has attributes of its own below torch.backends."""
    if isinstance(value, ModuleType):
        return value.__name__.startswith("torch.backends")
    return type(value).__module__.startswith("torch.backends")


def _comes_from_elsewhere(value: object) -> bool:
    if isinstance(value, ModuleType):
        return not value.__name__.startswith("torch.backends")
    if isinstance(value, type):
        return True
    module = getattr(value, "__module__", None)
    return callable(value) and isinstance(module, str) and not module.startswith("torch")


def read(text: str) -> set[str]:
    return {line for line in text.splitlines() if line and not line.startswith("#")}


def main() -> None:
    import torch

    before = read(FILE.read_text(encoding="utf-8")) if FILE.exists() else set()
    lines = sorted(before | attributes())
    header = HEADER.format(version=torch.__version__.partition("+")[0])
    FILE.write_text(header + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} attributes, {len(set(lines) - before)} of them new", file=sys.stderr)


if __name__ == "__main__":
    main()

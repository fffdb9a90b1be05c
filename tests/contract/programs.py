"""The programs of the contract: the fault of a rule, written into a shape of program."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from notebooks import notebook

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["FAULTS", "NO_DRAW", "SHAPES", "Shape", "fault_of", "files", "without"]

HERE = Path(__file__).parent
FAULTS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "faults.toml").read_text(encoding="utf-8"))
_COMMON_FAULT = FAULTS.pop("common")
NO_DRAW: str = _COMMON_FAULT["draw"]

# What a file imports if it uses the name.
_MODULES = {
    "argparse": "import argparse", "json": "import json", "os": "import os", "random": "import random",
    "sys": "import sys", "time": "import time", "dataclass": "from dataclasses import dataclass",
    "SimpleNamespace": "from types import SimpleNamespace", "np": "import numpy as np", "torch": "import torch",
    "mp": "import torch.multiprocessing as mp",
}  # fmt: skip
_OTHERS = {"train_test_split": "from sklearn.model_selection import train_test_split"}
_OF_UTILS = ("DataLoader", "Dataset", "DistributedSampler", "Sampler", "random_split")

_DATASET = """
class Numbers(Dataset):
    def __init__(self, items):
        self.items = list(items)
        <<attributes>>

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index], <<draw>>
"""


@dataclass(frozen=True)
class Shape:
    """How a program of this shape is started and told its seed; `text` has the marked places."""

    name: str
    text: str
    start: tuple[str, ...]
    seed: dict[str, str]
    val_passes: dict[str, str]
    ranks: int
    epochs_of_one_training: int
    without: dict[str, str]


def _shapes() -> dict[str, Shape]:
    table = tomllib.loads((HERE / "shapes.toml").read_text(encoding="utf-8"))
    common = table.pop("common")
    shapes = {}
    for name, given in table.items():
        row = {"ranks": 1, "epochs_of_one_training": 0, "without": {}, **common, **given}
        text = (HERE / "shapes" / f"{name}.txt").read_text(encoding="utf-8")
        row["start"] = tuple(row["start"])
        shapes[name] = Shape(name=name, text=text, **row)
    return shapes


SHAPES = _shapes()


def without(shape: Shape, rule: str) -> dict[str, str]:
    """The invariants that do not apply to a cell, with the reason."""
    fault = FAULTS[rule]
    if "without" in (here := fault.get(shape.name, {})):
        return dict(here["without"])
    return {**shape.without, **fault.get("without", {})}


def fault_of(shape: Shape, rule: str) -> dict[str, str]:
    """What stands at the marked places, by their names."""
    given = {**_COMMON_FAULT, **FAULTS[rule], **FAULTS[rule].get(shape.name, {})}
    return {name: content for name, content in given.items() if isinstance(content, str)}


def files(shape: Shape, rule: str) -> dict[str, str]:
    """The program with the fault, by path."""
    fault = fault_of(shape, rule)
    parts = re.split(r"^=== (.*) ===\n", shape.text, flags=re.MULTILINE)[1:]
    return {path: _file(path, text, fault) for path, text in zip(parts[::2], parts[1::2], strict=True)}


def _file(path: str, text: str, fault: dict[str, str]) -> str:
    text = _filled(text, {**fault, "dataset": _filled(_DATASET, fault)})
    if not path.endswith(".ipynb"):
        return _with_imports(text)
    cells = [cell.strip("\n") for cell in re.split(r"^%%%%\n", _with_imports(text), flags=re.MULTILINE)]
    return notebook(*(re.sub(r"\n{3,}", "\n\n", cell) for cell in cells if cell))


def _filled(text: str, fault: dict[str, str]) -> str:
    """The text with what the fault puts at the marked places; a line of its own takes several lines, or goes."""

    def block(match: re.Match[str]) -> str:
        content = _content(match[2], fault)
        return indent(content, match[1]) + "\n" if content else ""

    text = re.sub(r"^( *)<<((?!imports)[^>\n]+)>>\n", block, text, flags=re.MULTILINE)
    return re.sub(r"<<((?!imports)[^>\n]+)>>", lambda match: _content(match[1], fault), text)


def _content(place: str, fault: dict[str, str]) -> str:
    name, _, seed = place.partition(":")
    return fault[name].strip("\n").replace("$SEED", seed)


def _with_imports(text: str) -> str:
    """The text with the imports that it needs, and two empty lines around what is defined at the top."""

    def used(name: str) -> bool:
        return re.search(rf"(?<![.\w]){name}\b", text) is not None

    standard = [line for name, line in _MODULES.items() if used(name) and name not in ("np", "torch", "mp")]
    others = [line for name, line in _MODULES.items() if used(name) and name in ("np", "torch", "mp")]
    others += [line for name, line in _OTHERS.items() if used(name)]
    names = [name for name in _OF_UTILS if used(name)]
    if names:
        others.append(f"from torch.utils.data import {', '.join(names)}")
    block = "\n\n".join("\n".join(sorted(lines, key=_import_order)) for lines in (standard, others) if lines)
    text = text.replace("<<imports>>", block).strip("\n") + "\n"
    text = re.sub(r"\n{2,}(?=(?:class|def|@|if __name__|DEFAULTS = ))", "\n\n\n", text)
    return re.sub(r"\n{4,}", "\n\n\n", text)


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from "), line.split()[1]

"""Edits of a small program as people make them, by chance: what a class is called, what a module imports, which files
there are. A program is its texts by the paths of its files below its root.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from random import Random
from typing import TypeAlias

__all__ = ["EDITS"]

Texts: TypeAlias = dict[str, str]
#: The files that are different then: None for one that is gone. Empty where there is nothing to edit in that way.
Edited: TypeAlias = Mapping[str, str | None]

_LINES = (
    "torch.manual_seed(0)", "import numpy as np\nnp.random.seed(0)", "torch.use_deterministic_algorithms(True)",
    "import sys\nsys.path.append('sub')", "def helper(x=3):\n    return x", "import random\nrandom.seed(1)", "# a comment",
)  # fmt: skip
_SETTINGS = ("", 'target-torch = "1.7"\n', 'ignore = ["TRL1"]\n', 'src = ["sub"]\n', 'exclude = ["sub"]\n')
_REQUIREMENTS = ("", "torch==1.8.0\n", "torch>=2.1\nalbumentations==1.3\n", "pytorch-lightning\n")


def _rename(chance: Random, texts: Texts, before: Texts) -> Edited:
    names = sorted({name for text in texts.values() for name in re.findall(r"(?:def|class) ([A-Za-z]\w*)", text)})
    if not names:
        return {}
    name = re.compile(rf"\b{chance.choice(names)}\b")
    new = chance.choice([*names, "renamed"])
    inside = [path for path in sorted(texts) if name.search(texts[path])]
    if chance.random() < 0.5:
        inside = [chance.choice(inside)]  # and the others name what is no longer there
    return {path: name.sub(new, texts[path]) for path in inside}


def _move(chance: Random, texts: Texts, before: Texts) -> Edited:
    """A function or class goes to the end of a file, perhaps of another, from which it is perhaps imported."""
    path, other = chance.choice(sorted(texts)), chance.choice(sorted(texts))
    try:
        found = [one for one in ast.parse(texts[path]).body if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
    except SyntaxError:
        return {}
    if not found:
        return {}
    moved = chance.choice(found)
    lines = texts[path].splitlines(keepends=True)
    start = min(one.lineno for one in (moved, *moved.decorator_list)) - 1
    gone, left = "".join(lines[start : moved.end_lineno]), "".join(lines[:start] + lines[moved.end_lineno :])
    if path == other:
        return {path: f"{left}\n\n{gone}"}
    module = other.removesuffix(".py").replace("/", ".")
    start_line = chance.choice(["", f"from {module} import {moved.name}\n"])
    return {path: start_line + left, other: f"{texts[other]}\n\n{gone}"}


def _import_otherwise(chance: Random, texts: Texts, before: Texts) -> Edited:
    path = chance.choice(sorted(texts))
    found = list(re.finditer(r"(?m)^from (\.*)([\w.]*) import (.+)$|^import (\w+)$", texts[path]))
    if not found:
        return {}
    one = chance.choice(found)
    module = chance.choice(sorted(texts)).removesuffix(".py").replace("/", ".")
    ways = [f"import {one[4]} as other", ""]
    if one[4] is None:
        ways = [
            f"from {one[1]}{one[2]} import *",
            f"from {module} import {one[3]}",
            f"from .{one[2]} import {one[3]}",
            "",
        ]
    return {path: texts[path][: one.start()] + chance.choice(ways) + texts[path][one.end() :]}


def _word(chance: Random, texts: Texts, before: Texts) -> Edited:
    """Another number, default or name."""
    path = chance.choice(sorted(texts))
    found = list(re.finditer(r"\b(?:True|False|None|\d+|(?<==)\w+|[a-z]\w+)\b", texts[path]))
    if not found:
        return {}
    one = chance.choice(found)
    new = chance.choice(["True", "False", "None", "0", "4", chance.choice(found)[0]])
    return {path: texts[path][: one.start()] + new + texts[path][one.end() :]}


def _line(chance: Random, texts: Texts, before: Texts) -> Edited:
    """A line goes, comes twice, or comes from elsewhere; some of that is no Python."""
    path = chance.choice(sorted(texts))
    lines = texts[path].splitlines(keepends=True)
    if not lines:
        return {}
    at = chance.randrange(len(lines))
    lines[at : at + 1] = chance.choice(
        ([], [lines[at]] * 2, [lines[at], "def f(\n"], [chance.choice(_LINES) + "\n", lines[at]])
    )
    return {path: "".join(lines)}


def _files(chance: Random, texts: Texts, before: Texts) -> Edited:
    """A file goes, is another's copy, changes places with it, or makes a package of its folder."""
    one, other = chance.choice(sorted(texts)), chance.choice(sorted(texts))
    folder = one.rpartition("/")[0]
    name = chance.choice(["__init__.py", "utils.py", "numpy.py"])
    way = chance.randrange(4)
    if way == 0:
        return {one: None} if len(texts) > 1 else {}
    if way == 1:
        return {one: texts[other], other: texts[one]}
    return {f"{folder}/{name}".lstrip("/"): texts[one] if way == 2 else ""}


def _back(chance: Random, texts: Texts, before: Texts) -> Edited:
    """A file, or all of them, as they were at first."""
    if chance.random() < 0.3:
        return {**dict.fromkeys(texts), **before}
    changed = [path for path in sorted(before) if texts.get(path) != before[path]]
    return {path: before[path] for path in changed and [chance.choice(changed)]}


def _beside(chance: Random, texts: Texts, before: Texts) -> Edited:
    if chance.random() < 0.5:
        return {"torchrepro-lint.toml": chance.choice(_SETTINGS)}
    return {"requirements.txt": chance.choice(_REQUIREMENTS)}


EDITS: tuple[Callable[[Random, Texts, Texts], Edited], ...] = (
    _rename, _move, _import_otherwise, _word, _line, _files, _back, _back, _beside,
)  # fmt: skip

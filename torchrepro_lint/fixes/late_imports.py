"""Files that import torch in their functions alone: launchers of jobs, and commands that are to start fast.

What a fix adds to such a file must not import torch at the top: it may not be installed where the file is only read,
and what a function does before its own import, to the environment for example, would come too late.
"""

from __future__ import annotations

from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.visibility import is_made_on_the_way, runs_later

__all__ = ["LATE_TORCH", "TORCH_ELSEWHERE", "imports_torch_late", "names_in_new_function"]

LATE_TORCH = "torch is imported in functions alone, and the generator would have to be made outside them"
TORCH_ELSEWHERE = "torch is imported in functions alone, and not in this one"
_STANDARD, _OTHERS = ("random",), ("numpy", "torch")
_USUAL = {"random": "random", "numpy": "np", "torch": "torch"}


def imports_torch_late(document: Document) -> bool:
    """Whether a file imports torch, or something of it, in functions and nowhere else."""
    return document.once(_imports_torch_late)


def names_in_new_function(planner: ImportPlanner) -> tuple[tuple[str, str, str], list[str]]:
    """The names of torch, NumPy and `random` in a new function of the module, and the lines with which it has to begin:
    its own imports, in a file that imports torch late.
    """
    if not imports_torch_late(planner.document):
        return (planner.require("torch"), planner.require("numpy"), planner.require("random")), []
    found = {module: planner.find(module) for module in _USUAL}
    names = {module: name or _USUAL[module] for module, name in found.items()}
    sections = ([_import(module) for module in part if found[module] is None] for part in (_STANDARD, _OTHERS))
    lines = [line for section in sections if section for line in (*section, "")]
    return (names["torch"], names["numpy"], names["random"]), lines


def _import(module: str) -> str:
    name = _USUAL[module]
    return f"import {module}" if name == module else f"import {module} as {name}"


def _imports_torch_late(document: Document) -> bool:
    late = False
    for scope in document.scope.below():
        of_a_function = runs_later(scope, document.scope)
        stars = any(star.module is not None and _is_torch(dotted_name(star.module)) for star in scope.stars)
        imports = [
            binding
            for bindings in scope.bindings.values()
            for binding in bindings
            if binding.target is not None and _is_torch(binding.target[0])
        ]
        if not of_a_function and (stars or any(is_made_on_the_way(document, one, None) for one in imports)):
            return False
        late = late or (of_a_function and bool(imports))
    return late


def _is_torch(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == "torch"

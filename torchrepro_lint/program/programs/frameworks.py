"""Whether a program leaves its epochs and its checkpoints to a framework that takes care of both."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.knowledge.ordering import ordering_names, ordering_words

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["uses_a_framework"]


def uses_a_framework(program: Program, files: Iterable[Path]) -> bool:
    """Whether one of the files imports what runs the training in place of a loop of the program's own."""
    names = ordering_words("epoch_setters")
    packages = {name.partition(".")[0] for name in ordering_names("epoch_setters")} | {"pytorch_lightning"}
    speaking = frozenset[Path]().union(*(program.project.containing(name) for name in names))
    for file in files:
        facts = program.facts(file) if file in speaking else None
        if facts is not None and _imports(facts, packages, names):
            return True
    return False


def _imports(facts: ModuleFacts, packages: set[str], names: frozenset[str]) -> bool:
    for scope in facts.walk_scopes():
        for bindings in scope.bindings.values():
            for binding in bindings:
                match binding.node:
                    case tree.ImportFrom(module=module, names=imported, level=0):
                        if module.partition(".")[0] in packages and any(name in names for name, _ in imported):
                            return True
                    # `import transformers` says nothing of whether it trains.
                    case tree.Import(module=module) if module.partition(".")[0] in packages - {"transformers"}:
                        return True
    return False

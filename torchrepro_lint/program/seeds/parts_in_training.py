"""Parts of a model that a program puts back into training mode, where the whole is in evaluation mode: Monte Carlo
dropout, by which a trained model draws at each prediction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.entry_path import EntryRun
from torchrepro_lint.program.running.references import places_of_use

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["trains_parts"]

_DROPOUT = re.compile("dropout", re.IGNORECASE)


def trains_parts(run: EntryRun) -> bool:
    """Whether the program runs code that puts dropout layers of a model into training mode, or all of its parts."""
    program, files = run.program, run.files
    near = program.project.mentioning("train") & files
    return any(
        any(path in files for path in _users(program, facts, scope))
        for home in sorted(near)
        for facts, scope in program.once(("trains parts", home), partial(_switches, program, home))
    )


def _switches(program: Program, path: Path) -> list[tuple[ModuleFacts, Scope]]:
    """The scopes of a file that train parts of a model."""
    facts = program.facts(path)
    if facts is None:
        return []
    return [
        (facts, scope)
        for scope in facts.walk_scopes()
        if any(_trains_a_part(scope, call, arms) for call, arms in scope.calls)
    ]


def _trains_a_part(scope: Scope, call: tree.Call, arms: ArmPath) -> bool:
    """Whether a call puts dropout layers, or all parts of a model, into training mode: normalization draws nothing."""
    match call:
        case tree.Call(func=tree.Attribute(value=tree.Name(id=name), attr="train"), args=args):
            if any(isinstance(arg.value, tree.Const) and arg.value.value is False for arg in args):
                return False
            branches = [scope.branches.get(branch) for branch, arm in arms if arm == "then"]
            if any(_speaks_of_dropout(one.test) for one in branches if isinstance(one, tree.If)):
                return True
            loops = [branch for branch, _ in arms if branch in scope.loops]
            is_tested = bool(loops) and any(branch > loops[-1] for branch, _ in arms)
            return not is_tested and any(_is_of_all_parts(one) for one in scope.bindings.get(name, ()))
    return False


def _speaks_of_dropout(test: tree.Expr) -> bool:
    """Whether a test has dropout in a name or a text: `isinstance(m, nn.Dropout)`, `name.startswith("Dropout")`."""
    for part in walk([test]):
        match part:
            case tree.Name(id=str(text)) | tree.Attribute(attr=str(text)) | tree.Const(value=str(text)):
                if _DROPOUT.search(text) is not None:
                    return True
    return False


def _is_of_all_parts(binding: Binding) -> bool:
    """Whether a name goes through all parts of a module: `for m in model.modules()`."""
    return binding.kind == "element" and any(
        isinstance(part, tree.Call) and called_name(part.func) in method_words("all_modules")
        for part in walk([binding.node])  # type: ignore[list-item]
    )


def _users(program: Program, facts: ModuleFacts, scope: Scope) -> Iterator[Path]:
    """The files that make the code of a scope run: its own, for the code of a module."""
    around: Scope | None = scope
    while around is not None and not isinstance(around.node, tree.FunctionDef):
        around = around.parent
    if around is None:
        yield facts.path
        return
    for user, _, _ in places_of_use(program.ev, facts, around):
        yield user.path

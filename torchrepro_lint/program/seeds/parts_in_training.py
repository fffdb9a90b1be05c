"""Parts of a model that a program puts back into training mode, where the whole is in evaluation mode: Monte Carlo
dropout, by which a trained model draws at each prediction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation.values import UNKNOWN, ExternalObject
from torchrepro_lint.program.programs.entry_path import EntryRun
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.references import places_of_use
from torchrepro_lint.program.seeds.chosen_parts import asked_around, iterated, speaks_of_dropout, tests_of_iterated

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["trains_parts"]

#: Names of dropout layers, not of a model that has some: `attn_dropout`, `dropouts`, `dropout_layers`, `dropout1`.
_LAYERS: Final = function_words("dropout_layers")
_IS_DROPOUT = re.compile(r"torch\.nn\.\w*Dropout\w*")


def trains_parts(run: EntryRun) -> bool:
    """Whether the program runs code that puts dropout layers of a model into training mode, or all of its parts."""
    program, files = run.program, run.files
    near = (program.project.mentioning("train") | program.project.mentioning("training")) & files
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
        if any(
            _is_layer(program, facts, scope, owner) or _chooses_dropout(facts, scope, owner, arms)
            for owner, arms in _put_to_training(scope)
        )
    ]


def _put_to_training(scope: Scope) -> Iterator[tuple[tree.Expr, ArmPath]]:
    """What is put into training mode in a scope: `part.train()`, `part.training = True`."""
    for call, arms in scope.calls:
        match call.func:
            case tree.Attribute(value=owner, attr="train"):
                if not any(isinstance(arg.value, tree.Const) and arg.value.value is False for arg in call.args):
                    yield owner, arms
    for store in scope.stores:
        match store:
            case store if isinstance(store.target, tree.Attribute) and store.target.attr == "training":
                if isinstance(store.value, tree.Const) and store.value.value is True and not store.unpack:
                    yield store.target.value, store.path


def _is_layer(program: Program, facts: ModuleFacts, scope: Scope, owner: tree.Expr) -> bool:
    """Whether an expression names a dropout layer, as far as can be seen: `model.dropout`."""
    match owner:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            if _LAYERS.fullmatch(name) is None:
                return False
            values = program.ev.values(owner, frame_without_callers(program.ev, facts, scope))
            known = [value for value in values if value is not UNKNOWN]
            return not known or any(
                isinstance(value, ExternalObject) and _IS_DROPOUT.fullmatch(value.name) for value in known
            )
    return False


def _chooses_dropout(facts: ModuleFacts, scope: Scope, owner: tree.Expr, arms: ArmPath) -> bool:
    """Whether dropout layers, or all parts of a model, are what a name stands for: normalization draws nothing."""
    if not isinstance(owner, tree.Name):
        return False
    gone_through = list(iterated(scope, owner))
    around = [*asked_around(facts, scope, owner, arms), *chain.from_iterable(map(tests_of_iterated, gone_through))]
    if any(speaks_of_dropout(one.test) and not one.leaves_out for one in around):
        return True
    loop = max((branch for branch, _ in arms if branch in scope.loops), default=0)
    chosen = any((speaks_of_dropout(one.test) or not one.leaves_out) for one in around if one.site > loop)
    return not chosen and any(_is_of_all_parts(one) or _is_of_layers(one) for one in gone_through)


def _is_of_all_parts(iterated: tree.Expr) -> bool:
    """Whether a loop goes through all parts of a module: `for m in model.modules()`."""
    called = {called_name(part.func) for part in walk([iterated]) if isinstance(part, tree.Call)}
    return "filter" not in called and not called.isdisjoint(method_words("all_modules"))


def _is_of_layers(iterated: tree.Expr) -> bool:
    """Whether a loop goes through what is named as dropout layers: `for m in self.dropouts`."""
    match iterated:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            return _LAYERS.fullmatch(name) is not None
    return False


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

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
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.entry_path import EntryRun
from torchrepro_lint.program.running.guards import Place, left_before
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
        if any(_trains_a_part(facts, scope, call, arms) for call, arms in scope.calls)
    ]


def _trains_a_part(facts: ModuleFacts, scope: Scope, call: tree.Call, arms: ArmPath) -> bool:
    """Whether a call puts dropout layers, or all parts of a model, into training mode: normalization draws nothing."""
    match call:
        case tree.Call(func=tree.Attribute(value=tree.Name(id=name) as owner, attr="train"), args=args):
            if any(isinstance(arg.value, tree.Const) and arg.value.value is False for arg in args):
                return False
            around = list(_asked_around(facts, scope, call, arms))
            if any(_speaks_of_dropout(test) and not _leaves_out(test, holds) for _, test, holds in around):
                return True
            loop = max((branch for branch, _ in arms if branch in scope.loops), default=0)
            chosen = any(
                _speaks_of_dropout(test) or not _leaves_out(test, holds) for site, test, holds in around if site > loop
            )
            return not chosen and any(_is_of_all_parts(one) for one in scope.reaching(name, owner.site)[0])
    return False


def _asked_around(
    facts: ModuleFacts, scope: Scope, call: tree.Call, arms: ArmPath
) -> Iterator[tuple[int, tree.Expr, bool]]:
    """The tests on which it hangs that a call runs, each with the site of its statement and its outcome."""
    place = Place(facts, scope, arms, Site(facts.path, call.site))
    for branch, arm in arms:
        match scope.branches.get(branch):
            case tree.If(test=test):
                yield from ((branch, part, holds) for part, holds in _parts(test, arm == "then"))
    for guard in left_before(place):
        if guard.arm is not None:
            yield from ((guard.arm[0], part, holds) for part, holds in _parts(guard.test, guard.holds))


def _parts(test: tree.Expr, holds: bool) -> Iterator[tuple[tree.Expr, bool]]:
    """The parts of a test that `and`, `or` and `not` join, with the outcome that speaks for that of the whole."""
    match test:
        case tree.Unary(op="not", operand=operand):
            yield from _parts(operand, not holds)
        case tree.Boolean(left=left, right=right):
            yield from _parts(left, holds)
            yield from _parts(right, holds)
        case _:
            yield test, holds


def _leaves_out(test: tree.Expr, holds: bool) -> bool:
    """Whether a part of a test with this outcome only leaves some out: what is no normalization, `name != "head"`."""
    match test:
        case tree.Compare(ops=("!=" | "not in" | "is not",)):
            return holds
    return not holds


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
    if binding.kind != "element":
        return False
    called = {called_name(part.func) for part in walk([binding.node]) if isinstance(part, tree.Call)}  # type: ignore[list-item]
    return "filter" not in called and not called.isdisjoint(method_words("all_modules"))


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

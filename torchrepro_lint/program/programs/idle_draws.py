"""Draws on which no result hangs: a port, a name for the run, a colour in a plot; or that are seeds themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.programs.first_weights import draws_weights
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.reach import Event

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_idle"]


def is_idle(ev: Evaluator, event: Event) -> bool:
    """Whether a draw serves no computation, as far as the names around it tell."""
    if event.frame is not None and event.call is not None:
        scope = event.frame.scope
        naming = ev.of_text(("names a file", id(scope)), lambda: _names_of_files(scope))
        if event.call.site in naming:
            return True
    names = [last_part(link.note.removeprefix("calls ")) for link in event.chain]
    if event.frame is not None and event.call is not None:
        scope = event.frame.scope
        if not draws_weights(event):  # `self.cls_token` is a weight, and no token of a session
            names.extend(scope.given_to(event.call))
            given_with = ev.of_text(("given with", id(scope)), partial(_given_with, scope))
            names.extend(given_with.get(event.call.site, ()))
            kept_under = ev.of_text(("kept under", id(scope)), partial(_kept_under, scope))
            names.extend(kept_under.get(event.call.site, ()))
            while isinstance(scope.node, tree.Comprehension) and scope.parent is not None:
                names.extend(scope.parent.given_to(scope.node))
                scope = scope.parent
        if isinstance(scope.node, tree.FunctionDef):
            names.append(scope.node.name)
    return any(function_words("idle_draws").search(name) for name in names)


def _kept_under(scope: Scope) -> dict[int, list[str]]:
    """For the calls whose results are kept under a text, by their sites, that text: `options["seeds"] = draw()`."""
    found: dict[int, list[str]] = {}
    for store in scope.stores:
        match store.target:
            case tree.Subscript(index=tree.Const(value=str() as key)) if isinstance(store.value, tree.Call):
                for node in walk([store.value]):
                    if isinstance(node, tree.Call):
                        found.setdefault(node.site, []).append(key.replace(" ", "_"))
    return found


def _given_with(scope: Scope) -> dict[int, list[str]]:
    """For the calls in the arguments of others, by their sites: the keywords that they are given with, or the texts
    before them, as in `update(cfg, "seed", draw())` and `add_argument("--seed", default=draw())`.
    """
    found: dict[int, list[str]] = {}
    for call, _ in scope.calls:
        text = ""
        for arg in call.args:
            if isinstance(arg.value, tree.Const) and isinstance(arg.value.value, str):
                text = arg.value.value.rpartition(".")[2].lstrip("-").replace("-", "_")
            elif name := text if arg.keyword == "default" and text else arg.keyword or text:
                for node in walk([arg.value]):
                    if isinstance(node, tree.Call):
                        found.setdefault(node.site, []).append(name)
    return found


def _names_of_files(scope: Scope) -> frozenset[int]:
    """The sites of the calls that are a part of the path of a folder which the same function makes, or of a file that
    it writes: in the call that does so, or in a text or a path under a name that this call gets.
    """
    makes_folders = function_words("makes_folders").fullmatch
    made = [call for call, _ in scope.calls if makes_folders(called_name(call.func) or "")]
    parts = [node for call in made for node in walk([call.func, *(arg.value for arg in call.args)])]
    parts += [node for call, _ in scope.calls if _writes(call) for node in walk([call.args[0].value])]
    if not parts:
        return frozenset()
    pending = _names_in(parts)
    seen = set(pending)
    while pending:
        for value in _given_to(scope, pending.pop()):
            if _is_text(value):
                below = list(_below(value))
                parts += below
                further = [name for name in _names_in(below) if name not in seen]
                seen.update(further)
                pending += further
    return frozenset(node.site for node in parts if isinstance(node, tree.Call))


def _writes(call: tree.Call) -> bool:
    """Whether a call opens a file to write it: `open(path, "wb")`."""
    if called_name(call.func) != "open" or not call.args:
        return False
    modes = [arg.value for arg in call.args[1:2] if arg.keyword in (None, "mode")]
    return any(isinstance(one, tree.Const) and isinstance(one.value, str) and one.value[:1] in "wax" for one in modes)


def _names_in(nodes: Iterable[object]) -> list[str]:
    """The names and the attributes, `args.save`, among nodes, each once, in the order of the alphabet."""
    written = (dotted_name(node) for node in nodes if isinstance(node, (tree.Name, tree.Attribute)))
    return sorted({name for name in written if name is not None})


def _given_to(scope: Scope, name: str) -> Iterator[object]:
    """What a scope assigns to a name, or to an attribute of one."""
    yield from (binding.node for binding in scope.bindings.get(name, ()) if binding.kind == "assign")
    if "." in name:
        yield from (store.value for store in scope.stores if not store.unpack and dotted_name(store.target) == name)


def _below(node: object) -> Iterator[tree.Expr]:
    return walk([node]) if isinstance(node, (tree.Call, tree.Binary, tree.FormatString)) else iter(())


def _is_text(node: object) -> bool:
    """Whether an expression is a text or a path, by its form."""
    match node:
        case tree.FormatString() | tree.Const(value=str()):
            return True
        case tree.Call(func=func):
            return function_words("makes_texts").fullmatch(called_name(func) or "") is not None
        case tree.Binary(left=left, right=right):
            return _is_text(left) or _is_text(right)
    return False

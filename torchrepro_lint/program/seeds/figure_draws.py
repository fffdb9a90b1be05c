"""Draws that only place samples in a figure: `TSNE(2).fit_transform(features)`, of which the result goes into a scatter
plot and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue, MethodValue
from torchrepro_lint.program.running.binding_uses import binding_uses
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.parents import Node, parents_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.running.references import known_places_of_use
from torchrepro_lint.program.running.ways import MAX_WAYS
from torchrepro_lint.program.running.written_arguments import receiving_parameter

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_for_a_figure"]

#: What gives the places: methods, but for `fit`, whose result is the object, and an attribute.
_PLACES: Final = frozenset({"fit", "fit_transform", "transform", "embedding_"})
#: What tells nothing of where the places are.
_FORM: Final = frozenset({"len", "shape", "size", "ndim", "dtype"})
#: Functions of a figure that give back numbers of their own.
_COUNTS: Final = frozenset({"hist", "hist2d"})
#: How many functions a result may be given back by.
_MOST_RETURNS: Final = 2


def is_for_a_figure(ev: Evaluator, event: Event) -> bool:
    """Whether a draw places samples in two dimensions or three, and what it gives goes into figures alone."""
    if event.frame is None or event.call is None or canonical(event.name) not in known_calls("places_for_figures"):
        return False
    uses = _Uses(ev)
    return uses.are_shown(event.frame.facts, event.frame.scope, event.call) and uses.fills


class _Uses:
    """The uses of what an expression gives. `fills`: whether one is in a figure."""

    def __init__(self, ev: Evaluator) -> None:
        self._ev = ev
        self._seen: set[tuple[int, int]] = set()
        self._returns = 0
        self.fills = False

    def are_shown(self, facts: ModuleFacts, scope: Scope, node: tree.Expr) -> bool:
        """Whether all uses are in figures and in what is printed, as far as the text tells."""
        if (id(facts), node.site) in self._seen:
            return True
        self._seen.add((id(facts), node.site))
        parents = parents_of(self._ev, facts)
        match parents.of(node):
            case tree.ExprStmt():
                return True
            case tree.Attribute(attr=name) as above:
                return name in _FORM or (
                    (name in _PLACES or _moves(name)) and self._are_those_of_the_member(facts, scope, above)
                )
            case tree.Subscript(value=value) as above if value is node:
                return self.are_shown(facts, scope, above)
            case (
                tree.Binary() | tree.Unary() | tree.Compare() | tree.Display() | tree.DictDisplay() | tree.Starred()
                | tree.FormatString()
            ) as above:  # fmt: skip
                return self.are_shown(facts, scope, above)
            case tree.Arg() as argument:
                call = parents.of(argument)
                return isinstance(call, tree.Call) and self._is_shown_by(facts, scope, call, argument)
            case tree.Assign(targets=targets):
                return all(self._are_those_of_the_target(facts, scope, one, node) for one in targets)
            case tree.For(target=target, iter=value) as loop if value is node:
                return self._are_all_shown(facts, scope, _names_in(target), loop)
            case tree.Clause(target=target, iter=value) as clause if value is node:
                around = parents.of(clause)
                return isinstance(around, tree.Comprehension) and (
                    self._are_all_shown(facts, scope, _names_in(target), around)
                    and self.are_shown(facts, scope, around)
                )
            case tree.Comprehension(element=element) as above if element is node:
                return self.are_shown(facts, scope, above)
            case tree.Return():
                return self._is_shown_by_callers(facts, scope)
        return False

    def _are_those_of_the_member(self, facts: ModuleFacts, scope: Scope, member: tree.Attribute) -> bool:
        above = parents_of(self._ev, facts).of(member)
        return self.are_shown(facts, scope, above if isinstance(above, tree.Call) else member)

    def _is_shown_by(self, facts: ModuleFacts, scope: Scope, call: tree.Call, argument: tree.Arg) -> bool:
        """Whether a call shows its arguments, or gives them in another form that is shown. A function of the project
        does as far as its body tells, and what a call gives back is asked for as well: the counts of a histogram, and
        the groups that `plot_groups(places)` finds.
        """
        name = called_name(call.func) or ""
        own = [
            (value.function, 1) if isinstance(value, MethodValue) else (value, 0)
            for value in self._ev.values(call.func, frame_without_callers(self._ev, facts, scope))
            if isinstance(value, (ClassValue, FunctionValue, MethodValue))
        ]
        if own:  # an object keeps what it is given
            return isinstance(parents_of(self._ev, facts).of(call), tree.ExprStmt) and all(
                isinstance(function, FunctionValue) and self._is_shown_in(function, call, argument, skipped)
                for function, skipped in own
            )
        if function_words("fills_figures").fullmatch(name) or function_words("shows_results").search(name):
            self.fills |= "print" not in name
            return name not in _COUNTS or isinstance(parents_of(self._ev, facts).of(call), tree.ExprStmt)
        return name in _FORM or (_moves(name) and self.are_shown(facts, scope, call))

    def _is_shown_in(self, function: FunctionValue, call: tree.Call, argument: tree.Arg, skipped: int) -> bool:
        """Whether all that a function of the project does with an argument is to show it."""
        node, facts = function.node, function.frame.facts
        if not isinstance(node, tree.FunctionDef):
            return False
        name = receiving_parameter(node, call, argument, skipped=skipped)
        return name is not None and self._are_all_shown(facts, facts.scope_of(node), [name], node)

    def _are_those_of_the_target(self, facts: ModuleFacts, scope: Scope, target: tree.Expr, value: tree.Expr) -> bool:
        match target:
            case tree.Name(id=name):
                binding = next((one for one in scope.bindings.get(name, ()) if one.node is value), None)
                if binding is None:
                    return self._are_all_shown(facts, scope, [name], scope.node)
                uses = binding_uses(parents_of(self._ev, facts), facts, scope, binding)
                return all(self.are_shown(facts, at, use) for use, at in uses)
            case tree.Display(items=items):
                return all(self._are_those_of_the_target(facts, scope, item, value) for item in items)
            case tree.Subscript(value=tree.Name(id=name)):  # a column of a table
                return self._are_all_shown(facts, scope, [name], scope.node)
        return False

    def _are_all_shown(self, facts: ModuleFacts, scope: Scope, names: Iterable[str], around: Node | None) -> bool:
        """Whether all that reads some names, where their scope alone gives them, is shown."""
        parents = parents_of(self._ev, facts)
        names = list(names)
        if any(name in scope.declared for name in names):
            return False
        return all(self.are_shown(facts, scope, use) for name in names for use in parents.reads_in(name, around))

    def _is_shown_by_callers(self, facts: ModuleFacts, scope: Scope) -> bool:
        self._returns += 1
        if self._returns > _MOST_RETURNS or not isinstance(scope.node, tree.FunctionDef):
            return False
        uses, are_all = known_places_of_use(self._ev, facts, scope, MAX_WAYS)
        return (
            bool(uses)
            and are_all
            and all(isinstance(use, tree.Call) and self.are_shown(at, within, use) for at, within, use in uses)
        )


def _moves(name: str) -> bool:
    return function_words("moves_numbers").fullmatch(name) is not None


def _names_in(target: tree.Expr) -> list[str]:
    match target:
        case tree.Name(id=name):
            return [name]
        case tree.Display(items=items):
            return [name for item in items for name in _names_in(item)]
        case tree.Starred(value=value):
            return _names_in(value)
    return []

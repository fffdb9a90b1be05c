"""Whether nothing but the form is asked of a model or a tensor: how many numbers it has, and in which shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.contents import attribute_use, function_use, method_use
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Constant, External, FunctionValue, MethodValue, Value
from torchrepro_lint.program.ops.tensor_values import is_network
from torchrepro_lint.program.running.binding_uses import binding_uses
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.running.written_arguments import receiving_parameter

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Thing", "asks_form_alone", "runs_to_measure"]

_MAX_STEPS = 60
_OF_IDENTITY = frozenset({"is", "is not"})


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """An expression that is a model, or something of its numbers, in code of a scope. `returned_to` are the calls that
    get it if it is returned, from the inside out.
    """

    node: tree.Expr
    facts: ModuleFacts
    scope: Scope
    returned_to: Sequence[Thing] = ()
    is_model: bool = False

    def inside(self, node: tree.Expr, *, is_model: bool = False) -> Thing:
        """What an expression around it makes of it."""
        return replace(self, node=node, is_model=is_model)


def asks_form_alone(program: Program, made: Thing) -> bool:
    """Whether this is so of what a call makes, and somebody uses: where the result is dropped, it was not called for
    it.
    """
    return _Follower(program).is_made_for_form(made)


def runs_to_measure(program: Program, result: Thing) -> bool:
    """Whether the call that gives a result runs a model, or a part of one, of which this is so."""
    return _Follower(program).is_run_to_measure(result)


def _maker(scope: Scope, node: tree.Expr) -> tree.Expr:
    """What makes the object of which a part is called: `Net().cuda()` for `net.eval().body`, if that is `net`."""
    match node:
        case tree.Attribute(value=value):
            return _maker(scope, value)
        case tree.Call(func=tree.Attribute(value=value, attr=attr)) if attr in method_words("same_module"):
            return _maker(scope, value)
    return scope.behind(node)


class _Follower:
    """Follows things through all their uses, as far as a number of steps suffices."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._steps = 0
        self._made: set[tree.Expr] = set()

    def is_made_for_form(self, made: Thing) -> bool:
        if made.node in self._made:  # its uses are looked at already
            return True
        self._made.add(made.node)
        if isinstance(self._parents(made).of(made.node), tree.ExprStmt):
            return False
        return self.is_form_alone(replace(made, is_model=self.is_model(made)))

    def is_run_to_measure(self, result: Thing) -> bool:
        if not isinstance(result.node, tree.Call) or not self.is_model(result.inside(result.node.func)):
            return False
        made = replace(result, node=_maker(result.scope, result.node.func))
        return isinstance(made.node, tree.Call) and self.is_model(made) and self.is_made_for_form(made)

    def is_model(self, thing: Thing) -> bool:
        values = self._values(thing, thing.node)
        return bool(values) and all(is_network(self._program.ev, value) for value in values)

    def is_form_alone(self, thing: Thing) -> bool:
        self._steps += 1
        return self._steps <= _MAX_STEPS and self._use(thing)

    def _values(self, thing: Thing, node: tree.Expr) -> frozenset[Value]:
        return self._program.ev.values(node, self._frame(thing))

    def _frame(self, thing: Thing) -> Frame:
        return frame_without_callers(self._program.ev, thing.facts, thing.scope)

    def _parents(self, thing: Thing) -> Parents:
        return parents_of(self._program.ev, thing.facts)

    # --- one use --------------------------------------------------------------------------------------------------

    def _use(self, thing: Thing) -> bool:
        node, parents = thing.node, self._parents(thing)
        match parents.of(node):
            case tree.ExprStmt() | tree.Delete():
                return True
            case tree.FormatString():
                return thing.is_model
            case tree.Compare(ops=ops):
                return _OF_IDENTITY.issuperset(ops)
            case tree.Binary(op="*", left=left, right=right):
                return any(isinstance(one, tree.Const) and one.value == 0 for one in (left, right))
            case tree.Attribute() as above:
                return self._attribute(thing, above)
            case tree.Subscript(value=value) as above if value is node:
                return self.is_form_alone(thing.inside(above))
            case tree.Call(func=func) as above if func is node:
                return thing.is_model and self.is_form_alone(thing.inside(above))
            case tree.Arg() as arg:
                return self._argument(thing, arg, parents)
            case tree.Display() as inputs:
                given = parents.of(inputs)
                call = parents.of(given) if isinstance(given, tree.Arg) else None
                return isinstance(call, tree.Call) and self._measures(thing, call)
            case tree.Assign(targets=(tree.Name(),)):
                return self._bound(thing, thing.scope)
            case tree.For(iter=iterated) if iterated is node:
                return self._bound(thing, thing.scope)
            case tree.Clause(iter=iterated) as clause if iterated is node:
                return self._bound(thing, thing.facts.scope_of(parents.of(clause)))
            case tree.Comprehension(element=element) as above if element is node:
                return self.is_form_alone(thing.inside(above))
            case tree.Return() | tree.Lambda() if thing.returned_to:
                result = replace(thing.returned_to[0], is_model=thing.is_model)
                return self._runs(result, parents.function(node)) and self.is_form_alone(result)
        return False

    def _runs(self, result: Thing, function: tree.FunctionDef | tree.ClassDef | tree.Lambda | None) -> bool:
        """Whether the call that gives a result is one of this function."""
        if not isinstance(result.node, tree.Call):
            return False
        values = self._values(result, result.node.func)
        called = [value.function if isinstance(value, MethodValue) else value for value in values]
        return any(isinstance(value, FunctionValue) and value.node is function for value in called)

    def _attribute(self, thing: Thing, above: tree.Attribute) -> bool:
        attr, call = above.attr, self._parents(thing).of(above)
        if not (isinstance(call, tree.Call) and call.func is above):
            return (
                attribute_use(attr) == "form"
                or attr in method_words("sizes_of_layers")
                or (thing.is_model and attr in method_words("describes_models"))
                or self._is_constant(thing, above)
                or self.is_form_alone(thing.inside(above))
            )
        if method_use(attr) == "form":
            return True
        if attr in method_words("same_module"):
            return self.is_form_alone(thing.inside(call, is_model=thing.is_model))
        if attr in method_words("parts_of_module") or method_use(attr) == "carries":
            return self.is_form_alone(thing.inside(call))
        if thing.is_model and self.is_model(thing.inside(above)):  # a part of the model, which is run
            return self.is_form_alone(thing.inside(call))
        methods = [value for value in self._values(thing, above) if isinstance(value, MethodValue)]
        return bool(methods) and all(
            self._in_function(thing, call, method.function, self._scope(method.function).self_name)
            for method in methods
        )

    def _is_constant(self, thing: Thing, node: tree.Expr) -> bool:
        values = self._values(thing, node)
        return bool(values) and all(isinstance(value, Constant) for value in values)

    # --- calls ----------------------------------------------------------------------------------------------------

    def _argument(self, thing: Thing, arg: tree.Arg, parents: Parents) -> bool:
        call = parents.of(arg)
        if not isinstance(call, tree.Call) or arg.star:
            return False
        if self._measures(thing, call):
            return True
        values = self._values(thing, call.func)
        functions = [value for value in values if isinstance(value, FunctionValue | MethodValue)]
        if functions and len(functions) == len(values):
            return all(self._receives(thing, call, arg, value) for value in functions)
        word = called_name(call.func)
        if word in method_words("shows") | method_words("shows", "as_text"):
            return thing.is_model
        if word in method_words("gives_elements"):
            return self.is_form_alone(thing.inside(call))
        if self._is_external(values, known_calls("module_holders")):
            return self.is_form_alone(thing.inside(call, is_model=True))
        return not thing.is_model and self.is_run_to_measure(thing.inside(call))

    def _measures(self, thing: Thing, call: tree.Call) -> bool:
        values = self._values(thing, call.func)
        if self._is_external(values, known_calls("measures")):
            return True
        return bool(values) and all(
            isinstance(value, External) and function_use(canonical(value.name)) == "form" for value in values
        )

    def _is_external(self, values: frozenset[Value], names: frozenset[str]) -> bool:
        return bool(values) and all(isinstance(one, External) and canonical(one.name) in names for one in values)

    def _receives(self, thing: Thing, call: tree.Call, arg: tree.Arg, value: FunctionValue | MethodValue) -> bool:
        function = value.function if isinstance(value, MethodValue) else value
        if not isinstance(function.node, tree.FunctionDef):
            return False
        skipped = int(isinstance(value, MethodValue))
        return self._in_function(thing, call, function, receiving_parameter(function.node, call, arg, skipped=skipped))

    def _in_function(self, thing: Thing, call: tree.Call, function: FunctionValue, name: str | None) -> bool:
        """Whether a function that is called asks for nothing but the form of what its parameter gets."""
        scope = self._scope(function)
        params = [one for one in scope.bindings.get(name or "", ()) if one.kind == "param"]
        returned_to = (thing.inside(call), *thing.returned_to)
        received = replace(thing, facts=function.frame.facts, scope=scope, returned_to=returned_to)
        return bool(params) and all(self._named(received, one, scope) for one in params)

    def _scope(self, function: FunctionValue) -> Scope:
        return self._program.ev.function_scope(function)

    # --- names ----------------------------------------------------------------------------------------------------

    def _bound(self, thing: Thing, scope: Scope) -> bool:
        """Whether this is so of all names that a statement, or a clause, binds to the thing or to its elements."""
        found = [one for each in scope.bindings.values() for one in each if one.node is thing.node]
        is_model = thing.is_model and all(one.kind == "assign" for one in found)
        return bool(found) and all(
            self._named(replace(thing, is_model=is_model), one, scope)
            for one in found
            if not _is_label(thing.node, one)
        )

    def _named(self, thing: Thing, binding: Binding, scope: Scope) -> bool:
        name = binding.name
        if name in scope.declared or isinstance(scope.node, tree.ClassDef):
            return False
        if scope.parent is None and self._program.imports.is_imported(thing.facts.path):
            return False
        uses = binding_uses(self._parents(thing), thing.facts, scope, binding)
        return all(self.is_form_alone(replace(thing, node=use, scope=at)) for use, at in uses)


def _is_label(iterated: tree.Expr, binding: Binding) -> bool:
    """Whether a name gets the names of what is iterated over: `for name, weight in net.named_parameters()`."""
    is_named = isinstance(iterated, tree.Call) and called_name(iterated.func) in method_words(
        "parts_of_module", "named"
    )
    return is_named and binding.unpack == (0,)

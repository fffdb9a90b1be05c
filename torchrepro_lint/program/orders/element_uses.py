"""Collections that other uses show to hold numbers, whatever they are called: a tensor is made of them, or `int(...)`
is put into the attribute under which they are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, parts_of_comprehension, walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation.attributes import mro
from torchrepro_lint.program.evaluation.values import ClassValue, External
from torchrepro_lint.program.orders.element_annotations import ElementKind
from torchrepro_lint.program.orders.element_bindings import bindings_of, is_made_of_itself
from torchrepro_lint.program.orders.element_kinds import Reader
from torchrepro_lint.program.running.callers import all_calls, called_name, frame_without_callers
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["shows_numbers"]

_DEPTH: Final = 6
#: Calls whose result holds the elements of an argument, or of what they are called on.
_KEEPING: Final = frozenset(
    {"set", "frozenset", "list", "tuple", "sorted", "reversed", "unique", "copy", "keys", "tolist", "add", "update"}
    | {"union", "intersection", "difference", "symmetric_difference"}
)


def shows_numbers(program: Program, facts: ModuleFacts, scope: Scope, node: tree.Expr) -> bool:
    """Whether another use of a collection, or of what it is made of, shows that it holds numbers, and none shows texts.

    An attribute is followed through the class that has it, one of any other object through all files that mention it.
    """
    kinds = set(_shown(program, facts, scope, node, _DEPTH))
    return "number" in kinds and "text" not in kinds


def _shown(program: Program, facts: ModuleFacts, scope: Scope, node: tree.Expr, depth: int) -> Iterator[ElementKind]:
    if depth == 0:
        return
    match node:
        case tree.Name(id=name):
            if _is_made_a_tensor(program, facts, _function(scope), node):
                yield "number"
            for binding in bindings_of(scope, name):
                if isinstance(binding.node, tree.Param):
                    yield from _handed(program, facts, scope, binding.node, depth)
                elif binding.kind == "assign" and not binding.unpack and not is_made_of_itself(binding):
                    yield from _shown(program, facts, scope, binding.node, depth - 1)  # type: ignore[arg-type]
        case tree.Attribute(value=tree.Name(id=owner), attr=attr):
            yield from _kept(program, facts, scope, owner, attr)
        case tree.Call(func=func, args=args) if called_name(func) in _KEEPING:
            if isinstance(func, tree.Attribute) and not args:
                yield from _shown(program, facts, scope, func.value, depth - 1)
            for arg in args:
                yield from _shown(program, facts, scope, arg.value, depth - 1)
        case tree.Binary(op="-" | "|" | "&" | "+", left=left, right=right):
            yield from _shown(program, facts, scope, left, depth - 1)
            yield from _shown(program, facts, scope, right, depth - 1)


def _handed(program: Program, facts: ModuleFacts, scope: Scope, param: tree.Param, depth: int) -> Iterator[ElementKind]:
    """What the visible calls of a function or method show of what they hand to a parameter."""
    owner = scope.binder(param.name)
    if owner is None or not isinstance(owner.node, tree.FunctionDef):
        return
    parameter = parameter_of(owner, param.name)
    for call, frame in all_calls(program.ev, facts, owner):
        if (made := written_argument(call, parameter)) is not None:
            yield from _shown(program, frame.facts, frame.scope, made, depth - 1)


def _kept(program: Program, facts: ModuleFacts, scope: Scope, owner: str, attr: str) -> Iterator[ElementKind]:
    """What the uses of an attribute show of what is kept under it."""
    method = _function(scope)
    own = owner == method.self_name
    if own:
        scopes = list(_methods_of_class(program, facts, method))
    else:
        scopes = [
            (there, one)
            for path in sorted(program.project.mentioning(attr))
            if (there := program.facts(path)) is not None
            for one in there.walk_scopes()
        ]
    if any(_is_made_over(one, attr) for _, one in scopes):
        return  # `self.labels = [number_of[label] for label in self.labels]`
    for there, one in scopes:
        if (kind := Reader(program, there, one).elements_of_name(f"self.{attr}", _DEPTH)) is not None:
            yield kind
        if there is facts and any(
            isinstance(given, tree.Attribute) and given.attr == attr and dotted_name(given.value) == owner
            for given in _made_tensors(program, there, one)
        ):
            yield "number"


def _is_made_over(scope: Scope, attr: str) -> bool:
    """Whether an attribute is given something else that is made of what it was: other elements may be in it then."""
    for binding in scope.bindings.get(f"self.{attr}", ()):
        if binding.kind == "assign" and binding.node is not None and not _keeps(binding):
            if _mentions(binding.node, binding.name):  # type: ignore[arg-type]
                return True
    return False


def _mentions(node: tree.Expr, name: str) -> bool:
    """Whether an expression reads a name or an attribute, be it in a comprehension."""
    for one in walk([node]):
        if isinstance(one, (tree.Name, tree.Attribute)) and dotted_name(one) == name:
            return True
        if isinstance(one, tree.Comprehension) and any(_mentions(part, name) for part in parts_of_comprehension(one)):
            return True
    return False


def _methods_of_class(program: Program, facts: ModuleFacts, method: Scope) -> Iterator[tuple[ModuleFacts, Scope]]:
    """The methods of the class of a method, of its bases and of what derives from it."""
    if method.parent is None or not isinstance(method.parent.node, tree.ClassDef) or method.parent.parent is None:
        return
    cls = ClassValue(method.parent.node, frame_without_callers(program.ev, facts, method.parent.parent))
    for one in [*mro(program.ev, cls), *program.ev.subclasses(cls)]:
        if isinstance(one, ClassValue):
            for child in one.frame.facts.scope_of(one.node).children:
                yield one.frame.facts, child


def _is_made_a_tensor(program: Program, facts: ModuleFacts, function: Scope, name: tree.Name) -> bool:
    """Whether a tensor is made of what goes by a name in a function, with the elements that it has at a place."""
    before = {id(one) for one in function.reaching(name.id, name.site)[0]}
    for given in _made_tensors(program, facts, function):
        if isinstance(given, tree.Name) and given.id == name.id:
            reaching = function.reaching(name.id, given.site)[0]
            if reaching and all(id(one) in before or _is_assigned(one, name) or _keeps(one) for one in reaching):
                return True
    return False


def _is_assigned(binding: Binding, target: tree.Name) -> bool:
    """Whether a name is the target of its binding: a set that is made empty, and filled under its name."""
    return binding.order >= target.site and binding.kind == "assign" and not _mentions(binding.node, target.id)  # type: ignore[arg-type]


def _made_tensors(program: Program, facts: ModuleFacts, scope: Scope) -> Iterator[tree.Expr]:
    """What tensors are made of in a scope: no tensor holds texts."""
    frame = frame_without_callers(program.ev, facts, scope)
    for call, _ in scope.calls:
        if call.args and called_name(call.func) in _MAKERS:
            names = {one.name for one in program.ev.values(call.func, frame) if isinstance(one, External)}
            if names & ordering_names("tensors_of_numbers"):
                yield call.args[0].value


_MAKERS: Final = frozenset(name.rpartition(".")[2] for name in ordering_names("tensors_of_numbers"))


def _keeps(binding: Binding) -> bool:
    """Whether a name is given what holds the elements that it had: `nodes = list(nodes)`."""
    match binding.node:
        case tree.Call(func=func, args=args) if called_name(func) in _KEEPING:
            parts = [arg.value for arg in args]
            if isinstance(func, tree.Attribute):
                parts.append(func.value)
            return any(dotted_name(one) == binding.name for one in parts)
    return False


def _function(scope: Scope) -> Scope:
    """The function that a comprehension runs in; any other scope itself."""
    while isinstance(scope.node, tree.Comprehension) and scope.parent is not None:
        scope = scope.parent
    return scope

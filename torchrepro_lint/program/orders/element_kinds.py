"""What a collection contains: strings, whose hashes differ between processes, or numbers, whose hashes do not.

If the value of an expression is not known, the code around it decides: how its elements are created (`line.split()`,
`int(...)`), what is appended to it, and last the names (`labels`, `indices`). Otherwise it is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue, MethodValue
from torchrepro_lint.program.orders.element_annotations import ElementKind, annotated_elements, joined
from torchrepro_lint.program.orders.element_bindings import (
    added_to,
    bindings_at,
    bindings_of,
    is_made_of_itself,
    put_into,
)
from torchrepro_lint.program.orders.element_names import by_name, names_numbers
from torchrepro_lint.program.orders.element_nesting import elements_of_elements, field, unpacked, values_of
from torchrepro_lint.program.orders.element_values import kind_of_known
from torchrepro_lint.program.running.callers import all_calls, called_name, contexts, frame_without_callers
from torchrepro_lint.program.running.parents import is_named, parents_of
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["ElementKind", "Reader", "kind_of_elements"]

_DEPTH: Final = 12
_ARRAYS: Final = frozenset({"np", "numpy", "torch", "jnp"})
#: What arrays of class numbers are called.
_TARGETS: Final = frozenset({"y", "ys", "y_train", "target", "targets"})
#: Methods that give the elements of what they are called on.
_SAME_ELEMENTS: Final = frozenset({"keys", "copy", "tolist", "to_list", "unique", "elements"})
#: Methods that give a number, whatever their object holds: the element of a tensor, a position, how many there are.
_ONE_NUMBER: Final = frozenset({"item", "index", "count"})
#: What draws from the numbers below its argument, where that is a number itself.
_DRAWS: Final = frozenset({"choice", "permutation"})
#: Methods of a set that take others.
_JOINED: Final = frozenset({"union", "intersection", "difference", "symmetric_difference"})


def kind_of_elements(program: Program, facts: ModuleFacts, scope: Scope, node: tree.Expr) -> ElementKind | None:
    """What the elements of a collection are, as far as the code shows; a mixture of strings and numbers counts as
    strings.
    """
    return Reader(program, facts, scope).elements(node, _DEPTH)


class Reader:
    """Reads the expressions of one scope. `open_names`: those whose bindings are being read already."""

    def __init__(self, program: Program, facts: ModuleFacts, scope: Scope, open_names: set[str] | None = None) -> None:
        self.program = program
        self.facts = facts
        self.scope = scope
        self.frame = frame_without_callers(program.ev, facts, scope)
        # What is made of a name itself, `xs = list(set(xs))`, tells nothing of it.
        self._open = open_names if open_names is not None else set()

    @property
    def method(self) -> Scope:
        """The function that a comprehension runs in; any other scope itself."""
        scope = self.scope
        while isinstance(scope.node, tree.Comprehension) and scope.parent is not None:
            scope = scope.parent
        return scope

    def inside(self, node: tree.Comprehension) -> Reader:
        """Reads what stands in a comprehension, which has names of its own."""
        if self.scope.node is node:
            return self
        return Reader(self.program, self.facts, self.facts.scope_of(node), self._open)

    def elements(self, node: tree.Expr, depth: int) -> ElementKind | None:
        """What iterating over `node` gives."""
        if depth == 0:
            return None
        known = self._of_values(node)
        if known is not None:
            return known
        match node:
            case tree.Display(items=items):
                return joined(self.kind(item, depth - 1) for item in items)
            case tree.DictDisplay(items=pairs):
                return joined(self.kind(key, depth - 1) for key, _ in pairs if key is not None)
            case tree.Comprehension(element=element, key=key):
                return self.inside(node).kind(key if key is not None else element, depth - 1)
            case tree.Starred(value=value) | tree.Subscript(value=value, index=tree.Opaque()):
                return self.elements(value, depth - 1)
            case tree.Binary(op="-", left=left):
                return self.elements(left, depth - 1)
            case tree.Binary(op="&", left=left, right=right):
                return self.elements(left, depth - 1) or self.elements(right, depth - 1)
            case tree.Binary(left=left, right=right) | tree.Conditional(body=left, orelse=right):
                return joined((self.elements(left, depth - 1), self.elements(right, depth - 1)))
            case tree.Call():
                return self._elements_of_call(node, depth)
            case tree.Name(id=name):
                if name in self._open:
                    return None
                known = self.elements_of_name(name, depth, node) or self._by_loops(name)
                return known or self._of_callers(node) or by_name(node)
            case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == self.method.self_name:
                known = self._elements_of_attribute(f"self.{attr}", depth)
                return known or self._of_callers(node) or by_name(node)
            case tree.Subscript(value=tree.Call() as call, index=tree.Const()):
                return self.elements(call, depth - 1)  # `np.where(mask)[0]`, `line.split()[0]`: parts of the same kind
        return "text" if self._is_text(node) else by_name(node)

    def kind(self, node: tree.Expr, depth: int) -> ElementKind | None:
        """What `node` itself is; a tuple is what its items are."""
        if depth == 0:
            return None
        match node:
            case tree.Const(value=value):
                return "text" if isinstance(value, (str, bytes)) else "number" if value is not None else None
            case tree.FormatString():
                return "text"
            case tree.Display(items=items):
                return joined(self.kind(item, depth - 1) for item in items)
            case tree.Starred(value=value):
                return self.elements(value, depth - 1)
            case tree.Binary(left=left, right=right):
                return joined((self.kind(left, depth - 1), self.kind(right, depth - 1)))
            case tree.Call(
                func=tree.Name(id="int" | "float" | "len" | "ord" | "hash" | "id" | "abs" | "round" | "sum")
            ):
                return "number"
            case tree.Call(func=func, args=args):
                word = called_name(func) or ""
                if word in ordering_names("texts", "words") or _is_text_of(func):
                    return "text"
                if word in _ONE_NUMBER:
                    return "number"
                return self.kind(args[0].value, depth - 1) if word == "tuple" and args else self._returned(func, depth)
            case tree.Attribute(attr=attr) if attr in ordering_names("texts", "attributes"):
                return "text"
            case tree.Attribute(value=tree.Name()) | tree.Subscript(value=tree.Name(), index=tree.Const(value=str())):
                return field(self, node, depth) or by_name(node)
            case tree.Subscript(value=value, index=tree.Const(value=int()) | tree.Unary()):
                return self.elements(value, depth - 1) or by_name(node)
            case tree.Subscript(value=value, index=tree.Opaque()) if self.kind(value, depth - 1) in ("text", "named"):
                return "text"  # a piece of it: `name[:6]`
            case tree.Name(id=name):
                known = joined(self._bound(one, depth) for one in bindings_at(self.scope, node))
                if known is not None:
                    return known
                bindings = bindings_of(self.scope, name)
                # `pid = pid_to_label[pid]`: what is made of the name itself tells least of what it was before.
                first = [one for one in bindings if not is_made_of_itself(one)]
                found = joined(self._bound(one, depth) for one in first)
                return found or joined(self._bound(one, depth) for one in bindings) or by_name(node)
        return by_name(node)

    def _returned(self, func: tree.Expr, depth: int) -> ElementKind | None:
        """What a function of the project returns, as its returns show."""
        return joined(reader.kind(value, depth - 1) for reader, value in self._returns(func))

    def _elements_returned(self, func: tree.Expr, place: int, depth: int) -> ElementKind | None:
        """What a collection holds that a function of the project returns as one of several."""
        return joined(
            reader.elements(value.items[place], depth - 1)
            if isinstance(value, tree.Display) and 0 <= place < len(value.items)
            else None
            for reader, value in self._returns(func)
        )

    def _returns(self, func: tree.Expr) -> list[tuple[Reader, tree.Expr]]:
        """The expressions that a function of the project returns, each with what reads it; none of anything else."""
        found: list[tuple[Reader, tree.Expr]] = []
        for value in self.program.ev.values(func, self.frame):
            function = value.function if isinstance(value, MethodValue) else value
            if not isinstance(function, FunctionValue):
                return []
            scope = self.program.ev.function_scope(function)
            reader = Reader(self.program, function.frame.facts, scope)
            found += [(reader, one.value) for one, _ in scope.returns if one.value is not None]
        return found

    def _by_loops(self, name: str) -> ElementKind | None:
        """Numbers, where a loop says so of what it takes from a name: `for node_idx in token_nodes`."""
        called = (one for found in self.scope.bindings.values() for one in found if one.kind == "element")
        taken = (one for one in called if isinstance(one.node, tree.Name) and one.node.id == name and not one.unpack)
        return "number" if any(names_numbers(one.name) for one in taken) else None

    def _is_text(self, node: tree.Expr) -> bool:
        """Whether it is one text: iterating gives its letters."""
        return isinstance(node, (tree.FormatString, tree.Const)) and self.kind(node, 1) == "text"

    def _elements_of_call(self, node: tree.Call, depth: int) -> ElementKind | None:
        promised = self._promised(node.func)
        if promised is not None:
            return promised
        word = called_name(node.func) or ""
        first = node.args[0].value if node.args else None
        if _is_text_of(node.func) or any(word in ordering_names("texts", key) for key in ("lists", "words")):
            return "text"
        if word in ordering_names("numbers", "words"):
            return "number"
        if word == "map" and len(node.args) > 1:
            inner = called_name(first) if first is not None else None
            if inner in ("str", "int", "float"):
                return "text" if inner == "str" else "number"
            return None
        if isinstance(node.func, tree.Attribute):
            if isinstance(node.func.value, tree.Name) and node.func.value.id in _ARRAYS:
                inner_kind = self.elements(first, depth - 1) if first is not None else None
                if word == "unique" and inner_kind is None and isinstance(first, tree.Name) and first.id in _TARGETS:
                    return "number"
                return inner_kind if word == "unique" else "number"
            if word in _DRAWS and first is not None and self.kind(first, depth - 1) == "number":
                return "number"  # of so many: `np.random.choice(len(data), 8)`
            if word == "sample" and first is not None and is_named(node.func.value, "random"):
                return self.elements(first, depth - 1)
            if word == "numpy" and not node.args:
                return "number"  # a tensor's: it holds no texts, whatever it is called
            if word in _JOINED:
                return self._elements_of_several(node.func.value, node.args, depth)
            if word in _SAME_ELEMENTS:
                return self.elements(node.func.value, depth - 1)
            if word == "astype" and first is not None:
                return _as_type(first)
            if word == "values" and not node.args:
                return values_of(self, node.func.value, depth - 1)
            if word == "from_iterable" and first is not None:
                return elements_of_elements(self, first, depth - 1)
        if word == "sum" and len(node.args) == 2:
            return elements_of_elements(self, node.args[0].value, depth - 1)
        if word in ("set", "frozenset", "list", "tuple", "sorted", "reversed", "Counter", "dict", "filter", "chain"):
            return joined(self.elements(arg.value, depth - 1) for arg in node.args[-1:])
        returned = joined(reader.elements(value, depth - 1) for reader, value in self._returns(node.func))
        return returned or by_name(node.func)

    def _elements_of_several(self, receiver: tree.Expr, args: tuple[tree.Arg, ...], depth: int) -> ElementKind | None:
        """What `first.union(second, *others)` or `set.union(*all_of_them)` holds."""
        kinds = [
            elements_of_elements(self, arg.value, depth - 1) if arg.star else self.elements(arg.value, depth - 1)
            for arg in args
        ]
        if not is_named(receiver, "set") and not is_named(receiver, "frozenset"):
            kinds.append(self.elements(receiver, depth - 1))
        return joined(kind for kind in kinds if kind is not None)

    def _promised(self, func: tree.Expr) -> ElementKind | None:
        """What a function of the project says that it returns."""
        if isinstance(self.scope.node, tree.Comprehension):
            return None
        kinds = set()
        for value in self.program.ev.values(func, self.frame):
            function = value.function if isinstance(value, MethodValue) else value
            if not isinstance(function, FunctionValue) or not isinstance(function.node, tree.FunctionDef):
                return None
            kinds.add(annotated_elements(function.node.returns))
        return kinds.pop() if len(kinds) == 1 else None

    def elements_of_name(self, name: str, depth: int, use: tree.Name | None = None) -> ElementKind | None:
        if name in self._open or depth <= 0:  # a function may hand what it is given to itself
            return None
        self._open.add(name)
        found = joined(one for one in self._held(name, depth, use) if one is not None)
        self._open.discard(name)
        return found

    def _elements_of_attribute(self, name: str, depth: int) -> ElementKind | None:
        """The elements of `self.attr`, by what the methods of the class that stands here assign and append."""
        found = (one for reader in self.methods() if (one := reader.elements_of_name(name, depth)) is not None)
        return joined(found)

    def methods(self) -> list[Reader]:
        """What reads the methods of the class that stands here, and what else stands beside a function."""
        beside = self.method.parent.children if self.method.parent is not None else ()
        return [self.of(method) for method in beside]

    def of_class(self, cls: ClassValue) -> list[Reader]:
        """What reads the methods of another class."""
        facts = cls.frame.facts
        return [Reader(self.program, facts, one, self._open) for one in facts.scope_of(cls.node).children]

    def of(self, scope: Scope) -> Reader:
        """What reads another scope of the file."""
        return Reader(self.program, self.facts, scope, self._open)

    def _is_target(self, name: tree.Name) -> bool:
        """Whether something is assigned to a name here: it stands for all that it holds, then and later."""
        above = parents_of(self.program.ev, self.facts).of(name)
        return isinstance(above, tree.Assign) and any(one is name for one in above.targets)

    def _held(self, name: str, depth: int, use: tree.Name | None) -> Iterator[ElementKind | None]:
        """What is assigned to a name in this scope, as far as it reaches a use of it, and what is put into it."""
        reaching = bindings_at(self.scope, use) if use is not None and not self._is_target(use) else ()
        for binding in reaching or bindings_of(self.scope, name):
            if binding.kind == "param" and isinstance(binding.node, tree.Param):
                yield annotated_elements(binding.node.annotation) or self._handed(binding.node, depth)
            elif binding.kind == "assign" and not binding.unpack and binding.node is not None:
                yield self.elements(binding.node, depth - 1)  # type: ignore[arg-type]
            elif binding.kind == "assign" and isinstance(binding.node, tree.Call) and len(binding.unpack) == 1:
                yield self._elements_returned(binding.node.func, binding.unpack[0], depth)
            elif binding.kind == "element" and not binding.unpack and binding.node is not None:
                yield elements_of_elements(self, binding.node, depth - 1)  # type: ignore[arg-type]
            elif isinstance(binding.node, tree.AugAssign) and binding.node.op in ("|", "+"):
                yield self.elements(binding.node.value, depth - 1)
        for added in added_to(self.scope, name):
            yield self.kind(added, depth - 1)
        for arg in put_into(self.scope, name, "extend", "update"):
            yield self.elements(arg.value, depth - 1)

    def _handed(self, param: tree.Param, depth: int) -> ElementKind | None:
        """What all visible calls hand to a parameter of a function, where it is seen how they make it."""
        return joined(self._given(made, frame, depth) for made, frame in self._arguments(param))

    def of_handed(
        self, param: tree.Param, read: Callable[[Reader, tree.Expr], ElementKind | None]
    ) -> ElementKind | None:
        """What `read` says of what all visible calls hand to a parameter: a display or a name."""
        return joined(
            read(Reader(self.program, frame.facts, frame.scope), made)
            if isinstance(made, (tree.Name, tree.Display))
            else None
            for made, frame in self._arguments(param)
        )

    def _arguments(self, param: tree.Param) -> list[tuple[tree.Expr | None, Frame]]:
        """What all visible calls write for a parameter of a function; nothing for one of a method."""
        owner = self.scope.binder(param.name)
        if owner is None or owner.parent is None or not isinstance(owner.node, tree.FunctionDef):
            return []
        if isinstance(owner.parent.node, tree.ClassDef) or param not in owner.node.params:
            return []
        calls = all_calls(self.program.ev, self.facts, owner)
        parameter = parameter_of(owner, param.name)
        return [(written_argument(call, parameter), frame) for call, frame in calls]

    def _given(self, made: tree.Expr | None, frame: Frame, depth: int) -> ElementKind | None:
        if isinstance(made, tree.Name):
            return Reader(self.program, frame.facts, frame.scope).elements_of_name(made.id, depth - 1)
        if not isinstance(made, (tree.Call, tree.Subscript, tree.Display)):
            return None
        if isinstance(made, tree.Subscript) and not isinstance(made.value, tree.Call):
            return None
        return Reader(self.program, frame.facts, frame.scope).elements(made, depth - 1)

    def _bound(self, binding: Binding, depth: int) -> ElementKind | None:
        """What a name is by one of its bindings."""
        node = binding.node
        match binding.kind, node:
            case "param", tree.Param(annotation=tree.Name(id=word)):
                return "text" if word == "str" else "number" if word in ("int", "float") else None
            case "assign", bound if bound is not None and not binding.unpack:
                return self.kind(bound, depth - 1)  # type: ignore[arg-type]
            case "assign", tree.Display(items=items) if binding.unpack and 0 <= binding.unpack[0] < len(items):
                return self.kind(items[binding.unpack[0]], depth - 1) if len(binding.unpack) == 1 else None
            case "assign", tree.Call(func=func) if called_name(func) in ordering_names("texts", "lists"):
                return "text"
            case "assign", tree.Call(func=tree.Name(id="map")) as call:
                return self._elements_of_call(call, depth)
            case "element", tree.Call(func=tree.Name(id="enumerate"), args=(arg, *_)) if binding.unpack:
                return "number" if binding.unpack[0] == 0 else self.elements(arg.value, depth - 1)
            case "element", bound if bound is not None and binding.unpack:
                return unpacked(self, bound, binding.unpack[0], depth) if len(binding.unpack) == 1 else None  # type: ignore[arg-type]
            case "element", bound if bound is not None:
                return self.elements(bound, depth - 1)  # type: ignore[arg-type]
        return None

    def _of_values(self, node: tree.Expr) -> ElementKind | None:
        """What the evaluation proves, whoever calls the scope."""
        return None if isinstance(self.scope.node, tree.Comprehension) else self._of_values_in(node, self.frame)

    def _of_callers(self, node: tree.Expr) -> ElementKind | None:
        """What the evaluation proves in each of the calls of the scope, of a method those of objects that are made."""
        if not isinstance(self.scope.node, tree.FunctionDef):
            return None
        kinds = {self._of_values_in(node, frame) for frame in contexts(self.program.ev, self.facts, self.scope)}
        return None if None in kinds else joined(kinds)

    def _of_values_in(self, node: tree.Expr, frame: Frame) -> ElementKind | None:
        return kind_of_known(self.program.ev.values(node, frame))


def _is_text_of(func: tree.Expr) -> bool:
    """Whether a function makes a text of anything: `str`, `repr`."""
    return isinstance(func, tree.Name) and f"builtins.{func.id}" in ordering_names("texts")


def _as_type(node: tree.Expr) -> ElementKind | None:
    """What a column or an array holds after `astype(node)`."""
    match node:
        case tree.Name(id=word) | tree.Const(value=str() as word) | tree.Attribute(attr=word):
            return "text" if word.startswith("str") else "number" if word.startswith(("int", "uint", "float")) else None
    return None

"""Classes of the project: their bases, what their bodies bind, and how that is bound to an object."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation import names
from torchrepro_lint.program.evaluation.arguments import bound_frame
from torchrepro_lint.program.evaluation.descriptors import bound_descriptor, is_descriptor
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    ClassValue,
    Constant,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "after",
    "bind",
    "bind_first",
    "class_attribute",
    "decorator_name",
    "external_bases",
    "find_method",
    "has_unknown_base",
    "look_up_along",
    "method_frame",
    "mro",
    "sorted_bases",
    "takes_context",
]

#: The static methods of an autograd function that torch gives its context.
_WITH_CONTEXT: Final = frozenset({"forward", "backward", "jvp", "setup_context"})


def mro(ev: Evaluator, cls: ClassValue) -> tuple[ClassValue | External, ...]:
    """The class and its bases in the order of look-up; bases outside the project are `External`."""
    return ev.remembered(("mro", cls), lambda: _mro(ev, cls), (cls,))


def _mro(ev: Evaluator, cls: ClassValue) -> tuple[ClassValue | External, ...]:
    chains: list[list[ClassValue | External]] = []
    direct: list[ClassValue | External] = []
    for base in cls.node.bases:
        if base.keyword is not None:
            continue
        for value in sorted_bases(ev.values(base.value, cls.frame)):
            direct.append(value)
            chains.append(list(mro(ev, value)) if isinstance(value, ClassValue) else [value])
    order: list[ClassValue | External] = [cls]
    # With one base there is nothing to merge, however long the chain above it.
    merged = _merge([*chains, direct]) if len(direct) > 1 else [value for chain in chains for value in chain]
    order.extend(value for value in merged if value != cls)
    return tuple(order)


def sorted_bases(values: Values) -> list[ClassValue | External]:
    """The classes among `values`, in an order that does not depend on hashing."""
    bases = [value for value in values if isinstance(value, (ClassValue, External))]
    return sorted(bases, key=lambda v: (v.name, str(v.frame.facts.path) if isinstance(v, ClassValue) else ""))


def _merge(chains: list[list[ClassValue | External]]) -> list[ClassValue | External]:
    """Python's C3 order; where the chains contradict each other, the first still unplaced class is taken.

    Of each chain the place of its head is kept, and of each class in how many chains it stands behind the head.
    """
    rest = [iter(chain) for chain in chains]
    behind = Counter(value for chain in chains for value in chain[1:])
    heads = [next(chain, None) for chain in rest]
    placed: dict[ClassValue | External, None] = {}
    while left := [head for head in heads if head is not None]:
        chosen = next((head for head in left if not behind[head]), left[0])
        placed[chosen] = None
        for number, head in enumerate(heads):
            if head == chosen:
                head = next((value for value in rest[number] if value not in placed), None)
                heads[number] = head
                if head is not None:
                    behind[head] -= 1
    return list(placed)


def after(order: tuple[ClassValue | External, ...], cls: ClassValue) -> tuple[ClassValue | External, ...]:
    for index, value in enumerate(order):
        if value == cls or (isinstance(value, ClassValue) and value.node is cls.node):
            return order[index + 1 :]
    return ()


def external_bases(ev: Evaluator, cls: ClassValue) -> tuple[str, ...]:
    """The names of the bases that are not of the project, nearest first."""
    return tuple(base.name for base in mro(ev, cls) if isinstance(base, External))


def has_unknown_base(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether some base could not be resolved, so that attributes may come from anywhere."""
    for base in mro(ev, cls):
        if isinstance(base, ClassValue):
            for arg in base.node.bases:
                values = ev.values(arg.value, base.frame)
                if arg.keyword is None and not all(isinstance(v, (ClassValue, External)) for v in values):
                    return True
    return False


def class_attribute(ev: Evaluator, cls: ClassValue, attr: str) -> Values:
    """What the class's own body binds `attr` to."""
    frame = ev.class_frame(cls)
    bindings, _ = frame.scope.reaching(attr, END, lambda path: ev.decide(path, frame))
    return union(*(names.binding_values(ev, binding, frame) for binding in bindings)) if bindings else NOTHING


def find_method(ev: Evaluator, cls: ClassValue, name: str) -> tuple[ClassValue, Values] | None:
    """The first class in the order of look-up whose body binds `name`, with what it binds."""
    for base in mro(ev, cls):
        if isinstance(base, ClassValue):
            found = class_attribute(ev, base, name)
            if found:
                return base, found
    return None


def look_up_along(
    ev: Evaluator, order: tuple[ClassValue | External, ...], attr: str, receiver: Instance | ClassValue
) -> Values:
    """`attr` looked up along `order` and bound to `receiver`."""
    for base in order:
        if isinstance(base, External):
            member = canonical(f"{base.name}.{attr}")
            if attr.startswith("__") and base.name == "builtins.object":
                continue
            return (
                values_of(MemberOf(receiver, attr)) if isinstance(receiver, Instance) else values_of(External(member))
            )
        found = class_attribute(ev, base, attr)
        if found:
            return union(*(bind(ev, value, receiver, _decorators(base, attr)) for value in found))
    return NOTHING


def bind_first(ev: Evaluator, instance: Instance, attr: str) -> tuple[Values, bool]:
    """A class attribute as the instance sees it, and whether it is a property."""
    for base in mro(ev, instance.cls):
        if isinstance(base, ClassValue):
            found = class_attribute(ev, base, attr)
            if found:
                decorators = _decorators(base, attr)
                is_property = bool(decorators & method_words("decorators", "properties"))
                return union(*(bind(ev, value, instance, decorators) for value in found)), is_property
    return NOTHING, False


def _decorators(cls: ClassValue, attr: str) -> frozenset[str]:
    """The last parts of the names of a method's decorators."""
    scope: Scope = cls.frame.facts.scope_of(cls.node)
    for binding in reversed(scope.bindings.get(attr, ())):
        if isinstance(binding.node, tree.FunctionDef):
            return frozenset(decorator_name(decorator) for decorator in binding.node.decorators)
    return frozenset()


def decorator_name(node: tree.Expr) -> str:
    """`functools.cached_property` -> "cached_property"; of a call, what is called."""
    match node:
        case tree.Name(id=name):
            return name
        case tree.Attribute(attr=attr, value=tree.Name(id=owner)) if attr in ("setter", "getter", "deleter"):
            return "property" if owner else attr
        case tree.Attribute(attr=attr):
            return attr
        case tree.Call(func=func):
            return decorator_name(func)
    return ""


def is_static(node: tree.FunctionDef) -> bool:
    """Whether a method gets neither its object nor its class."""
    return any(decorator_name(decorator) == "staticmethod" for decorator in node.decorators)


def takes_context(scope: Scope) -> bool:
    """Whether torch gives a function its context first, as nobody writes it in `Cube.apply(x)`: `forward(ctx, x)` and
    `backward(ctx, grad)` of an autograd function, whatever they call it. A `forward` beside `setup_context` has none.

    Source: docs.pytorch.org/docs/2.13/notes/extending.html#how-to-use
    """
    node, cls = scope.node, scope.parent
    if not isinstance(node, tree.FunctionDef) or not node.params:
        return False
    if node.params[0].name == "ctx":
        return True
    if cls is None or not isinstance(cls.node, tree.ClassDef) or not is_static(node):
        return False
    if node.name == "forward" and any(other.name == "setup_context" for other in cls.children):
        return False
    is_one = any(decorator_name(base.value) == "Function" for base in cls.node.bases if base.keyword is None)
    return is_one and node.name in _WITH_CONTEXT


def bind(ev: Evaluator, value: Value, receiver: Instance | ClassValue, decorators: frozenset[str]) -> Values:
    """What a class attribute becomes when it is read through an instance or the class."""
    if isinstance(value, ExternalObject) and is_descriptor(value):
        return bound_descriptor(ev, value, receiver)
    if isinstance(value, Instance) and find_method(ev, value.cls, "__get__") is not None:
        owner = receiver if isinstance(receiver, Instance) else Constant(None)
        cls = receiver.cls if isinstance(receiver, Instance) else receiver
        getters = frozenset(one for one in ev.attribute(value, "__get__") if isinstance(one, MethodValue))
        return ev.call_all(getters, Arguments((values_of(owner), values_of(cls))), None) or unknown()
    if not isinstance(value, FunctionValue):
        return values_of(value)
    if "staticmethod" in decorators:
        return values_of(value)
    if "classmethod" in decorators:
        return values_of(MethodValue(value, receiver.cls if isinstance(receiver, Instance) else receiver))
    if isinstance(receiver, ClassValue):
        return values_of(value)
    if decorators & method_words("decorators", "properties"):
        return ev.call(MethodValue(value, receiver), Arguments(), None)
    return values_of(MethodValue(value, receiver))


def method_frame(ev: Evaluator, method: MethodValue, arguments: Arguments) -> Frame:
    """The frame in which the method runs when it is called with `arguments`."""
    with_receiver = Arguments(
        (values_of(method.receiver), *arguments.positional),
        arguments.keywords,
        arguments.open_positional,
        arguments.open_keywords,
    )
    return bound_frame(ev, method.function, with_receiver)

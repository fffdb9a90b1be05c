"""What calls outside the project pass on of what they are given: `list(names)`, `options.get(key)`, `zip(a, b)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.applying import GIVES_RESULT
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.passing import passing_calls
from torchrepro_lint.program.core.access import EACH, HELD, Access, attribute, key
from torchrepro_lint.program.core.queries import Origin, Origins, Query
from torchrepro_lint.program.evaluation.values import External, FunctionValue, MethodValue, Partial, Values

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["passed_on"]

#: Methods of a mapping that give what it has for a key, else their second argument.
_LOOKS_UP: Final = frozenset({"get", "pop", "setdefault"})
#: Methods of a list, a deque or a queue that give one of its elements.
_TAKES_OUT: Final = frozenset({"pop", "popleft", "get", "get_nowait"})


def passed_on(ev: Evaluator, query: Query, node: tree.Call, functions: Values) -> Origins | None:
    """The values that an outside call passes on; None where it makes what it gives."""
    names = [canonical(one.name) for one in functions if isinstance(one, External)]
    if len(names) == 1 == len(functions):
        return _by_name(ev, query, node, names[0])
    match node.func:
        case tree.Attribute(value=receiver, attr=attr):
            return _of_method(ev, query, node, receiver, attr)
    return None


def _by_name(ev: Evaluator, query: Query, node: tree.Call, name: str) -> Origins | None:
    given = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
    first = query.access[0] if query.access else None
    if name in passing_calls("keeps_keywords") and first is not None and first.kind in ("attribute", "key"):
        found = [arg.value for arg in node.args if arg.keyword == first.of]
        if found:
            return _parts(query.below().inside(found[0]))
    if first is not None and first.kind == "bound":
        return _held_by_partial(ev, query, node, first)
    if not given:
        return None
    if name == "builtins.getattr" and len(given) > 1:
        return _looked_up(query, given[0], attribute(_text(ev, given[1], query)), given[2:])
    if name in passing_calls("keys_are_attributes") and first is not None:
        return _parts(query.below().inside(given[0], _other_kind(first)))
    if name in passing_calls("replaces_attributes") and first is not None and first.kind == "attribute":
        found = [arg.value for arg in node.args if arg.keyword == first.of]
        return _parts(query.below().inside(found[0])) if found else _parts(query.inside(given[0]))
    if name in passing_calls("itself") or (name in passing_calls("same") and first is not None):
        return _parts(query.inside(given[0]))
    if name == "typing.cast":
        return _parts(query.inside(given[-1]))
    if name in passing_calls("all_arguments") and first is not None and first.is_into_container:
        chosen = given[first.of : first.of + 1] if first.kind == "item" and isinstance(first.of, int) else given
        return _parts(*(query.below().inside(one) for one in chosen))
    if first is None or not first.is_into_container:
        return _parts(query.inside(given[0], EACH)) if name in passing_calls("one_element") else None
    if name in passing_calls("elements"):
        return _parts(query.below().inside(given[0], EACH))
    if name in passing_calls("all_elements"):
        return _parts(*(query.below().inside(one, EACH) for one in given))
    if name == "itertools.chain.from_iterable":
        return _parts(query.below().inside(given[0], EACH, EACH))
    if name in ("builtins.enumerate", "builtins.zip"):
        return _of_pairs(query, name, given)
    if name == "builtins.filter" and len(given) == 2:
        return _parts(query.below().inside(given[1], EACH))
    return None


def _held_by_partial(ev: Evaluator, query: Query, node: tree.Call, first: Access) -> Origins:
    """What `partial(function, ...)` holds for a parameter, or the partial that it is made of."""
    below = query.below()
    for arg in node.args:
        if arg.keyword is not None and arg.keyword == first.of:
            return _parts(below.inside(arg.value))
    held = [arg.value for arg in node.args[1:] if arg.keyword is None]
    for function in ev.values(node.args[0].value, query.frame) if node.args else ():
        inner = function.function if isinstance(function, MethodValue) else function
        if isinstance(function, Partial):
            return _parts(query.inside(node.args[0].value))
        if isinstance(inner, FunctionValue):
            names = [one.name for one in inner.node.params if one.kind == "positional"]
            names = names[1:] if isinstance(function, MethodValue) else names
            if first.of in names[: len(held)]:
                return _parts(below.inside(held[names.index(str(first.of))]))
    return Origins((), True)


def _of_pairs(query: Query, name: str, given: list[tree.Expr]) -> Origins | None:
    """What `enumerate` and `zip` put at one place of their tuples."""
    below = query.below()
    if not below.access or below.access[0].kind != "item" or not isinstance(below.access[0].of, int):
        return None
    place = below.access[0].of
    if name == "builtins.enumerate":
        return _parts(below.below().inside(given[0], EACH)) if place == 1 else Origins(())
    return _parts(below.below().inside(given[place], EACH)) if 0 <= place < len(given) else None


def _of_method(ev: Evaluator, query: Query, node: tree.Call, receiver: tree.Expr, attr: str) -> Origins | None:
    """What a method passes on of what it is called on, by its name: it is none of a class of the project."""
    given = [arg.value for arg in node.args]
    first = query.access[0] if query.access else None
    if attr in _LOOKS_UP and given:
        known = ev.one_constant(ev.values(given[0], query.frame))
        return _looked_up(query, receiver, key(known.value) if known is not None else HELD, given[1:])
    if attr in _TAKES_OUT and not given:
        return _parts(query.inside(receiver, HELD))
    if attr == GIVES_RESULT and not given:
        return _parts(query.inside(receiver, attribute(GIVES_RESULT)))
    if first is None:
        return None
    if attr == "copy" and not given:
        return _parts(query.inside(receiver))
    if attr in ("keys", "values") and not given and first.is_into_container:
        return _parts(query.below().inside(receiver, EACH if attr == "keys" else HELD))
    if attr == "items" and not given and first.is_into_container:
        below = query.below()
        if below.access and below.access[0].kind == "item":
            return _parts(below.below().inside(receiver, EACH if below.access[0].of == 0 else HELD))
    return None


def _looked_up(query: Query, owner: tree.Expr, step: Access, defaults: list[tree.Expr]) -> Origins:
    found = [Origin(query.inside(owner, step), "part")]
    found += [Origin(query.inside(one), "default") for one in defaults[:1]]
    return Origins(tuple(found))


def _text(ev: Evaluator, node: tree.Expr, query: Query) -> str:
    known = ev.one_constant(ev.values(node, query.frame))
    return known.value if known is not None and isinstance(known.value, str) else ""


def _other_kind(step: Access) -> Access:
    """The attribute for a key, and the key for an attribute."""
    if step.kind == "key" and isinstance(step.of, str):
        return step
    return key(step.of) if step.kind == "attribute" else step


def _parts(*queries: Query) -> Origins:
    return Origins(tuple(Origin(one, "part") for one in queries))

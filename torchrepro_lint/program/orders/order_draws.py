"""Positions that are drawn: one number, the pieces of a permutation, a sample of a range, what a splitter gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.orders import order_callees
from torchrepro_lint.program.orders.order_places import scope_around
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import is_named, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.orders.order_carriers import Carrier
    from torchrepro_lint.program.program import Program

__all__ = ["are_drawn"]

_DEPTH: Final = 6
#: Functions and methods that give the same positions, and `sorted`, which gives those that were drawn.
_SAME: Final = frozenset(
    {"list", "tuple", "sorted", "array", "asarray", "tolist", "numpy", "astype", "long", "copy", "item", "int"}
)


def _cuts() -> frozenset[str]:
    return method_words("permutations", "cuts") | method_words("permutations", "array_cuts")


def are_drawn(program: Program, carrier: Carrier, index: tree.Expr) -> bool:
    """Whether an index, in the file of `carrier`, is one of drawn positions, or several of them."""
    return _is_drawn(program, carrier, index, _DEPTH)


def _is_drawn(program: Program, carrier: Carrier, node: tree.Expr, depth: int) -> bool:
    if depth == 0:
        return False
    match node:
        case tree.Name():
            given = _given(program, carrier, node)
            return _is_shuffled(program, carrier, node) or any(
                _is_drawn(program, carrier, one, depth - 1) for one in given
            )
        case tree.Subscript(value=value, index=index) if not isinstance(index, tree.Const) or isinstance(
            index.value, int
        ):
            return _is_drawn(program, carrier, value, depth - 1)  # some of them, or one
        case tree.Call(func=func, args=args):
            if _draws(program, carrier, node):
                return True
            if called_name(func) in _SAME:
                held = func.value if isinstance(func, tree.Attribute) and not args else args[0].value if args else None
                return held is not None and _is_drawn(program, carrier, held, depth - 1)
            if called_name(func) in _cuts():  # what it is called on, or what it is handed
                parts = [*(arg.value for arg in args[:1]), *([func.value] if isinstance(func, tree.Attribute) else ())]
                return any(_is_drawn(program, carrier, part, depth - 1) for part in parts)
    return False


def _given(program: Program, carrier: Carrier, name: tree.Name) -> list[tree.Expr]:
    """What a name is bound to, or taken out of one after the other, in a comprehension around it or its function."""
    for above in parents_of(program.ev, carrier.facts).around(name):
        for clause in above.clauses if isinstance(above, tree.Comprehension) else ():
            if is_named(clause.target, name.id):
                return [clause.iter]
            match clause.target, clause.iter:
                case tree.Display(items=(_, item)), tree.Call() as iterated if is_named(item, name.id):
                    return _enumerated(iterated)
    bindings, _ = scope_around(program, carrier.facts, name).reaching(name.id, name.site)
    given: list[tree.Expr] = []
    for one in bindings:
        match one.kind, one.node:
            case "element", tree.Call() as iterated if called_name(iterated.func) == "enumerate":
                given += _enumerated(iterated) if one.unpack == (1,) else []
            case (("assign" | "element"), _):
                given.append(one.node)  # type: ignore[arg-type]
    return given


def _enumerated(iterated: tree.Call) -> list[tree.Expr]:
    """What `enumerate(...)` goes through; nothing for another call."""
    return [arg.value for arg in iterated.args[:1]] if called_name(iterated.func) == "enumerate" else []


def _is_shuffled(program: Program, carrier: Carrier, name: tree.Name) -> bool:
    """Whether the function around a name has it shuffled before: `random.shuffle(order)`."""
    parents = parents_of(program.ev, carrier.facts)
    function = parents.function(name)
    for use in parents.names.get(name.id, ()):
        arg = parents.of(use)
        call = parents.of(arg) if isinstance(arg, tree.Arg) and use.site < name.site else None
        if isinstance(call, tree.Call) and called_name(call.func) == "shuffle" and parents.function(use) is function:
            if _draws(program, carrier, call):
                return True
    return False


def _draws(program: Program, carrier: Carrier, call: tree.Call) -> bool:
    draws = ordering_names("draws_by_position") | ordering_names("torch_permutations") | ordering_names("drawn_numbers")
    return bool(order_callees.names_called(program, order_callees.called(program, carrier, call)) & draws)

"""Which option decides a test: of the command line, a configuration, or of the environment.

An object that is called as those are that hold options (`args`, `cfg`) is taken for one, unless the project shows that
what it holds is a constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, sub_expressions
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.core.backward import Backward
from torchrepro_lint.program.core.queries import Origin, Query
from torchrepro_lint.program.evaluation.command_line import is_parsed
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import UNKNOWN, ExternalObject, MemberOf
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.workers.rank_names import names_rank

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["option_in"]

_ENVIRONMENT: Final = frozenset({"environ", "getenv"})
#: What makes another form of a number or a text.
_CONVERTS: Final = frozenset(
    {"int", "float", "bool", "str", "range", "lower", "upper", "startswith", "endswith", "get"}
)


def option_in(ev: Evaluator, node: tree.Expr, frame: Frame) -> str | None:
    """An option on which the value of an expression depends, as it is written; none that gives the rank of a process.

    What a function of the project computes, and what another call gives, is not followed: a score depends on all of
    them.
    """
    return _Options(ev).of(node, frame)


class _Options(Backward[str]):
    """Where an option comes in."""

    def source(self, query: Query) -> str | None:
        node = query.node
        match node:
            case tree.Attribute() | tree.Subscript(index=tree.Const(value=str())):
                name = _written(node)
                owner, _, last = name.rpartition(".") if name is not None else ("", "", "")
                if name is None or names_rank(last):
                    return None
                values = self.ev.values(node, query.frame)
                if any(_is_of_the_command_line(one) for one in values):
                    return name
                if values and not any(one is UNKNOWN or isinstance(one, ExternalObject | MemberOf) for one in values):
                    return None  # the program has it written down
                holds = function_words("holds_arguments")
                parts = owner.split(".")
                if any(holds.fullmatch(part) for part in parts) or not _ENVIRONMENT.isdisjoint(parts):
                    return name
            case tree.Call(func=func):
                word = called_name(func)
                if word == "getenv" or "environ" in (dotted_name(func) or "").split("."):
                    return f"{dotted_name(func)}(...)"
            case tree.Name(id=name):
                if names_rank(name):
                    return None
                if any(_is_of_the_command_line(one) for one in self.ev.values(node, query.frame)):
                    return name
        return None

    def made(self, query: Query) -> str | None:
        """The option in what an operation makes its result of. How many turns a loop over `range(args.epochs)` has is
        not what its counter is in one of them, nor is the turn in which a run goes on that was interrupted, `range(
        args.start_epoch, args.epochs)`; and its last turn, `epoch == args.epochs - 1`, has none after it.
        """
        if isinstance(query.node, tree.Compare) and self._asks_for_the_last_turn(query, query.node):
            return None
        parts = _first_and_step(query.node) if query.access else _parts(query.node)
        found = (one for one in self.operands(query, parts) if one is not None)
        return next((one for one in found if not (query.access and _goes_on_from(one))), None)

    def _asks_for_the_last_turn(self, query: Query, compared: tree.Compare) -> bool:
        if compared.ops not in (("==",), (">=",)):
            return False
        sides = (compared.left, compared.comparators[0])
        for counter, bound in (sides, sides[::-1]):
            if isinstance(counter, tree.Name):
                counted = [
                    self.ask(query.asking(()).inside(one.node))
                    for one in query.frame.scope.bindings.get(counter.id, ())
                    if one.kind == "element" and isinstance(one.node, tree.Call)
                ]
                own = self.ask(query.asking(()).inside(bound))
                if own is not None and own in counted:
                    return True
        return False

    def passed(self, query: Query, origin: Origin, fact: str) -> str | None:
        return fact if origin.how != "returned" else None


def _goes_on_from(option: str) -> bool:
    """Whether an option says with which turn a run goes on: `args.start_epoch`."""
    return function_words("up_to_here").search(last_part(option)) is not None


def _first_and_step(node: tree.Expr) -> list[tree.Expr]:
    """What decides an element of a range beside its place: the first one, and the step."""
    match node:
        case tree.Call(func=func, args=(first, _, *step)) if called_name(func) == "range":
            return [first.value, *(one.value for one in step)]
        case tree.Call(func=func) if called_name(func) == "range":
            return []
    return list(_parts(node))


def _parts(node: tree.Expr) -> Iterator[tree.Expr]:
    match node:
        case tree.Call(func=func, args=args):
            if called_name(func) in _CONVERTS:
                yield from (arg.value for arg in args)
                if isinstance(func, tree.Attribute):
                    yield func.value
        case tree.Binary() | tree.Boolean() | tree.Compare() | tree.Unary() | tree.Conditional() | tree.Display():
            yield from sub_expressions(node)


def _written(node: tree.Expr) -> str | None:
    """`args.name` for an attribute, and for an item under a text: `cfg["name"]`."""
    match node:
        case tree.Subscript(value=value, index=tree.Const(value=str() as key)):
            owner = _written(value)
            return f"{owner}.{key}" if owner is not None else None
        case tree.Attribute(value=value, attr=attr):
            owner = _written(value)
            return f"{owner}.{attr}" if owner is not None else None
        case tree.Name(id=name):
            return name
    return None


def _is_of_the_command_line(value: object) -> bool:
    return isinstance(value, MemberOf) and isinstance(value.receiver, ExternalObject) and is_parsed(value.receiver)

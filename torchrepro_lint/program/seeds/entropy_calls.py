"""Which calls give a number that differs in every run: the clock, the system, Python's hash of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Constant, External, ExternalObject, MemberOf, Values

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["GLOBAL_RNGS", "draws", "draws_globally", "is_entropy", "is_literal", "outside"]

#: The generators that take their first state from the system, and are there without being made.
GLOBAL_RNGS: Final = frozenset({"python", "numpy"})


def outside(value: object) -> str | None:
    """The dotted name of a function or method from outside the project."""
    match value:
        case External(name=name):
            return name
        case MemberOf():
            return member_name(value)
    return None


def is_entropy(name: str, node: tree.Call, ev: Evaluator, frame: Frame) -> bool:
    """Whether the call of an outside function gives another number in every run."""
    effects = rng_effects(name)
    if any(effect.kind == "seed" and effect.package == "torch" and effect.seed_parameter is None for effect in effects):
        return True  # `torch.seed()` takes a seed from the system and gives it back
    found = {effect.rng for effect in effects if effect.kind == "draw"}
    if "hash" in found:
        return len(node.args) == 1 and _holds_text(node.args[0].value, ev, frame)
    return "entropy" in found


def draws(name: str) -> bool:
    """Whether a call draws from a generator: what it gives depends on that one's seed, not on its arguments alone."""
    return any(effect.kind == "draw" for effect in rng_effects(name))


def draws_globally(name: str) -> bool:
    """Whether a call draws from the global generator of Python or of NumPy."""
    return any(effect.kind == "draw" and effect.rng in GLOBAL_RNGS for effect in rng_effects(name))


def _holds_text(node: tree.Expr, ev: Evaluator, frame: Frame) -> bool:
    """Whether the hash of an expression is proven to go over a text: those of numbers are the same in every run."""
    match node:
        case tree.FormatString():
            return True
        case tree.Const(value=value):
            return isinstance(value, (str, bytes)) and bool(value)
        case tree.Display(kind="tuple", items=items):
            return any(_holds_text(item, ev, frame) for item in items)
        case tree.Binary(op="+" | "%", left=left):
            return _holds_text(left, ev, frame)
        case tree.Call(func=tree.Name(id="str" | "repr")):
            return True
        case tree.Name(id=name):
            for binding in frame.scope.bindings.get(name, ()):
                match binding.node:
                    case tree.Param(annotation=tree.Name(id="str")):
                        return True
    return _are_texts(ev.values(node, frame))


def _are_texts(values: Values) -> bool:
    return bool(values) and all(
        (isinstance(value, Constant) and isinstance(value.value, (str, bytes)) and bool(value.value))
        or (isinstance(value, ExternalObject) and value.name in ("builtins.str", "builtins.repr"))
        for value in values
    )


def is_literal(node: tree.Expr) -> bool:
    """Whether an expression is made of constants and names of functions alone."""
    match node:
        case tree.Const():
            return True
        case tree.Binary(left=left, right=right):
            return is_literal(left) and is_literal(right)
        case tree.Unary(operand=operand):
            return is_literal(operand)
        case tree.Name(id="int" | "str" | "abs"):
            return True
        case tree.Attribute():
            return (dotted_name(node) or "").split(".")[0] in ("np", "numpy", "sys", "torch")
        case tree.Call(func=func, args=args):
            return is_literal(func) and all(is_literal(arg.value) for arg in args)
    return False

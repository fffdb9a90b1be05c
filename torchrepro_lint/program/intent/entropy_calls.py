"""Which calls give a number that differs in every run: the clock, the system, Python's hash of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Arguments,
    Constant,
    External,
    ExternalObject,
    MemberOf,
    Partial,
    Values,
)
from torchrepro_lint.program.loaders.worker_runs import condition_holds
from torchrepro_lint.program.running.call_index import called_name

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["draws", "drawn_globally", "is_entropy", "is_literal", "is_of_unseeded", "is_seeded_later", "outside"]

#: The generators that take their first state from the system, and are there without being made.
_GLOBAL_RNGS: Final = frozenset({"python", "numpy", "torch"})
#: Methods by which an object that draws gets its state later on.
_SEED_LATER: Final = frozenset({"seed", "setstate", "set_state"})


def outside(value: object) -> str | None:
    """The dotted name of a function or method from outside the project, also of a partial of it without arguments."""
    match value:
        case External(name=name):
            return name
        case MemberOf():
            return member_name(value)
        case Partial(function=functions, arguments=given) if len(functions) == 1 and given == Arguments():
            return outside(next(iter(functions)))
    return None


def is_entropy(name: str, node: tree.Call, ev: Evaluator, frame: Frame) -> bool:
    """Whether the call of an outside function gives another number in every run."""
    effects = rng_effects(name)
    if any(effect.kind == "seed" and effect.package == "torch" and effect.seed_parameter is None for effect in effects):
        return True  # `torch.seed()` takes a seed from the system and gives it back
    found = [effect for effect in effects if effect.kind == "draw"]
    if any(effect.rng == "hash" for effect in found):
        return len(node.args) == 1 and _holds_text(node.args[0].value, ev, frame)
    given = ev.arguments(node.args, frame)
    return any(
        effect.rng == "entropy" and all(condition_holds(condition, given) is True for condition in effect.when)
        for effect in found
    )


def is_of_unseeded(value: object, ev: Evaluator, frame: Frame) -> bool:
    """Whether a method or attribute gives what an object draws, or is made of, that takes its seed from the system:
    `random.Random().random`, `np.random.SeedSequence().entropy`.
    """
    match value:
        case MemberOf(receiver=ExternalObject(arguments=Arguments() as given) as receiver):
            effects = rng_effects(member_name(value) or "")
            own = any(one.rng == "receiver" and one.kind in ("draw", "read-state") for one in effects)
            return (
                own and given == Arguments() and _takes_entropy(receiver) and not is_seeded_later(receiver, ev, frame)
            )
    return False


def _takes_entropy(receiver: ExternalObject) -> bool:
    """Whether such an object that is made without a seed gets one from the system; torch's get a constant."""
    made = [one for one in rng_effects(receiver.name) if one.kind == "make"]
    return bool(made) and all(one.package != "torch" and one.seed_parameter is not None for one in made)


def is_seeded_later(receiver: ExternalObject, ev: Evaluator, frame: Frame) -> bool:
    """Whether the file of a frame seeds an object that draws, or gives one of NumPy's a state."""
    scopes = tuple(frame.facts.walk_scopes())
    if any(_is_state(store.target) for scope in scopes for store in scope.stores):
        return True
    return any(
        isinstance(call.func, tree.Attribute)
        and call.func.attr in _SEED_LATER
        and (not (found := ev.values(call.func.value, frame)) or UNKNOWN in found or receiver in found)
        for scope in scopes
        for call, _ in scope.calls
    )


def _is_state(target: tree.Expr) -> bool:
    """Whether a target is `rng.bit_generator.state`."""
    match target:
        case tree.Attribute(value=tree.Attribute(attr="bit_generator"), attr="state"):
            return True
    return False


def draws(name: str) -> bool:
    """Whether a call draws from a generator: what it gives depends on that one's seed, not on its arguments alone."""
    return any(effect.kind == "draw" for effect in rng_effects(name))


def drawn_globally(name: str) -> frozenset[str]:
    """The global generators from whose state a call takes its number: by a draw, or as torch's first seed."""
    first = name in known_calls("worker_seed")
    return _GLOBAL_RNGS & {effect.rng for effect in rng_effects(name) if effect.kind == "draw" or first}


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
        case tree.Call(func=func) if called_name(func) in ordering_names("texts", "words"):
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

"""Loops that give every parameter of a model another value, after torch was seeded: nothing of the first ones is left.

for parameter in model.parameters():
    nn.init.normal_(parameter, std=0.02)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.running.guards import Place
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["sets_all_anew"]

_PARAMETERS: Final = frozenset({"parameters", "named_parameters"})
#: Methods of a tensor, and functions of `torch.nn.init`, after which nothing of what it held is left.
_SETS: Final = re.compile(
    r"(?:normal|uniform|zero|fill|copy|exponential|log_normal|bernoulli|random|set)_"
    r"|(?:(?:xavier|glorot|kaiming|he)_(?:uniform|normal)|trunc_normal|orthogonal|sparse|constant|zeros|ones|eye|dirac)_?"
)
_OF_INIT: Final = re.compile(r"(?:normal|uniform)_?")


def sets_all_anew(program: Program, place: Place, built: tree.Call, call: tree.Call) -> bool:
    """Whether a call lists the parameters of a model for a loop that sets each of them, in the function that has built
    the model before, with a seed of torch between the two.
    """
    if not isinstance(call.func, tree.Attribute) or call.func.attr not in _PARAMETERS or call.args:
        return False
    around = parents_of(program.ev, place.facts).of(call)
    match around:
        case tree.For(iter=iterated, target=tree.Name(id=name)) if call.func.attr == "parameters":
            pass
        case tree.For(iter=iterated, target=tree.Display(items=(tree.Name(), tree.Name(id=name)))):
            if call.func.attr != "named_parameters":
                return False
        case _:
            return False
    return iterated is call and _sets(around.body, name) and _is_seeded_between(program, place, built, call)


def _sets(block: tree.Block, name: str) -> bool:
    """Whether a block surely sets the parameter of that name, or raises."""
    for statement in block:
        match statement:
            case tree.Raise():
                return True
            case tree.If(body=body, orelse=orelse) if _sets(body, name) and _sets(orelse, name):
                return True
            case tree.With(body=body) if _sets(body, name):
                return True
            case tree.ExprStmt(value=value) if _is_set_by(value, name):
                return True
            case tree.Assign(targets=(target,)) if _is_data_of(target, name):
                return True
            case tree.If() | tree.For() | tree.While() | tree.Try() | tree.Match() | tree.Jump() | tree.Return():
                return False  # it may go on to the next one
    return False


def _is_set_by(value: tree.Expr, name: str) -> bool:
    match value:
        case tree.Call(func=tree.Attribute(value=owner, attr=attr)) if _is_parameter(owner, name):
            return _SETS.fullmatch(attr) is not None and attr.endswith("_")
        case tree.Call(func=func, args=(tree.Arg(value=given, keyword=None, star=""), *_)):
            module, _, last = (dotted_name(func) or "").rpartition(".")
            known = _SETS.fullmatch(last) or (_OF_INIT.fullmatch(last) if module else None)
            return known is not None and _is_parameter(given, name)
    return False


def _is_data_of(target: tree.Expr, name: str) -> bool:
    """Whether an assignment is to `parameter.data`, or to all of it."""
    match target:
        case tree.Attribute(value=tree.Name(id=found), attr="data"):
            return found == name
    return False


def _is_parameter(node: tree.Expr, name: str) -> bool:
    return dotted_name(node) in (name, f"{name}.data")


def _is_seeded_between(program: Program, place: Place, built: tree.Call, call: tree.Call) -> bool:
    """Whether torch is seeded behind the building and before the loop, by that function or one that it calls."""
    return any(
        waypoint.scope is place.scope and built.site < waypoint.site < call.site
        for one in program.evidence_of("seed")
        if "torch" in one.seeds
        for way in ways_of(program, one)
        for waypoint in way
    )

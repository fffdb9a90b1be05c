"""Loops that give every parameter of a model another value, after torch was seeded: nothing of the first ones is left.

for parameter in model.parameters():
    nn.init.normal_(parameter, std=0.02)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, sub_expressions, walk
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.guards import Place
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.statements import blocks_of

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
#: What tells nothing of the numbers in a tensor: its attributes and methods, and functions of their first argument.
_FORM: Final = re.compile(r"shape|size|dim|ndim|numel|device|dtype|stride|is_\w+|new\w*|requires_grad")
_OF_FORM: Final = re.compile(r"_like$|fan_in|^len$")


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


def _sets(block: tree.Block, name: str, read: Set[str] = frozenset()) -> bool:
    """Whether a block surely sets the parameter of that name to what is not made of what it was, or raises, and goes on
    to the next one. `read` are other names that hold something of the parameter.
    """
    known = {name, *read}
    for place, statement in enumerate(block):
        match statement:
            case tree.Raise():
                return True
            case tree.If(body=body, orelse=orelse) if _sets(body, name, known) and _sets(orelse, name, known):
                return not _leaves(block[place + 1 :])
            case tree.With(body=body) if _sets(body, name, known):
                return not _leaves(block[place + 1 :])
            case tree.ExprStmt(value=value) if _is_set_by(value, name, known):
                return not _leaves(block[place + 1 :])
            case tree.Assign(targets=(target,), value=value) if value is not None and _is_data_of(target, name):
                return not _reads(value, known) and not _leaves(block[place + 1 :])
            case tree.Assign(targets=targets, value=value) if value is not None and _reads(value, known):
                known.update(part.id for part in walk(targets) if isinstance(part, tree.Name))
            case tree.If() | tree.For() | tree.While() | tree.Try() | tree.Match() | tree.Jump() | tree.Return():
                return False  # it may go on to the next one
    return False


def _leaves(block: tree.Block) -> bool:
    """Whether a block may end the loop around it."""
    return any(
        isinstance(one, tree.Return)
        or (isinstance(one, tree.Jump) and one.kind == "break")
        or any(map(_leaves, blocks_of(one)))
        for one in block
    )


def _is_set_by(value: tree.Expr, name: str, known: Set[str]) -> bool:
    match value:
        case tree.Call(func=tree.Attribute(value=owner, attr=attr), args=args) if _is_parameter(owner, name):
            return _SETS.fullmatch(attr) is not None and attr.endswith("_") and not _are_read(args, known)
        case tree.Call(func=func, args=(tree.Arg(value=given, keyword=None, star=""), *others)):
            module, _, last = (dotted_name(func) or "").rpartition(".")
            is_of_init = last_part(module) == "init" or (last.endswith("_") and not _OF_INIT.fullmatch(last))
            is_known = _SETS.fullmatch(last) or _OF_INIT.fullmatch(last)
            return bool(is_known and is_of_init and _is_parameter(given, name)) and not _are_read(others, known)
    return False


def _are_read(args: Iterable[tree.Arg], known: Set[str]) -> bool:
    return any(_reads(arg.value, known) for arg in args)


def _reads(node: tree.Expr, known: Set[str]) -> bool:
    """Whether an expression is made of what some names hold, and not only of their form: `p.data * 0.1` is, and
    `torch.randn_like(p)` and `p.new_empty(p.size())` are not.
    """
    match node:
        case tree.Name(id=name):
            return name in known
        case tree.Attribute(attr=attr) if _FORM.fullmatch(attr):
            return False
        case tree.Call(func=func, args=args) if _OF_FORM.search(called_name(func) or ""):
            return _are_read(args[1:], known)
    return any(_reads(part, known) for part in sub_expressions(node))


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

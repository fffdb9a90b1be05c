"""Before which statement the generator of a loader is made: beside the loader, and above the loops that repeat it.

Each loader has a generator of its own, so that how often one loader is iterated over does not change the order of
another. A loop repeats its loader unless each turn makes another one, or is a run of its own: the program knows that
(`Surroundings.own_turns`).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.fixes.document import Document, dotted_name

__all__ = ["Declined", "Place", "find_place", "receiver_of"]

_ONE_LINE = "the body of the function is on the line of its def"


@dataclass(frozen=True, slots=True)
class Declined:
    """No fix, and in a few words why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    """The statement before which the generator is made."""

    statement: cst.BaseStatement
    blocks: frozenset[int]
    """The blocks around the call, by id: what is made in one of them once is made once for the loader."""
    inline: bool = False
    """Whether a comprehension makes a loader in each turn: the generator is then made in the call itself."""


def find_place(document: Document, call: cst.Call, own_turns: Set[tuple[int, int]] = frozenset()) -> Place | Declined:
    """The place for the generator of the loader, split or sampler `call`, in the function around it.

    `own_turns` are the ranges of the loops in each turn of which the call makes a loader of its own.
    """
    reason = _hopeless(document, call)
    if reason is not None:
        return Declined(reason)
    if _is_held_by_a_dataset(document, call):
        return Declined("a data set that holds a generator is copied into each worker with it")
    inline = False
    chain: list[tuple[cst.CSTNode, cst.BaseStatement]] = []
    inner: cst.CSTNode = call
    for outer in document.ancestors(call):
        if isinstance(inner, cst.BaseStatement) and isinstance(outer, cst.IndentedBlock | cst.Module):
            chain.append((outer, inner))
        if isinstance(outer, cst.BaseComp) and not chain:
            # What the first `for` goes through is evaluated once.
            inline = inline or not _is_in(document, call, outer.for_in.iter)
        if isinstance(outer, cst.FunctionDef) and inner is outer.body:
            break
        inner = outer
    if not chain:
        return Declined(_ONE_LINE)
    chain.reverse()
    loops = [loop for loop in document.loops(call) if document.span(loop) not in own_turns]
    repeating = {id(loop) for loop in loops}
    outermost = next((statement for _, statement in chain if id(statement) in repeating), None)
    if any(_is_of_each_turn(document, call, loop) for loop in loops if loop is not outermost):
        return Declined(
            "the turns of a loop make loaders of several data sets, which would share one generator: pass each its own"
        )
    for index, (_, statement) in enumerate(chain):
        if id(statement) in repeating or (isinstance(statement, cst.ClassDef) and index < len(chain) - 1):
            if inline:
                return Declined("each turn of a loop makes several loaders, and their generators would start anew")
            chain = chain[: index + 1]
            break
    return Place(chain[-1][1], frozenset(id(block) for block, _ in chain), inline)


def _is_of_each_turn(document: Document, call: cst.Call, loop: cst.CSTNode) -> bool:
    """Whether a loop gives a loader its data: `for split, images in parts: DataLoader(images, shuffle=True)`."""
    if not isinstance(loop, cst.For):
        return False
    given = {node.value for node in document.nodes(cst.Name, loop.target)}
    data = next((one.value for one in call.args if one.keyword is None or one.keyword.value == "dataset"), None)
    return data is not None and any(node.value in given for node in document.nodes(cst.Name, data))


def _is_in(document: Document, call: cst.Call, node: cst.BaseExpression) -> bool:
    return call is node or any(outer is node for outer in document.ancestors(call))


def _hopeless(document: Document, call: cst.Call) -> str | None:
    """Why no statement can be put before a call, if none can."""
    inner: cst.CSTNode = call
    for outer in document.ancestors(call):
        if isinstance(outer, cst.Param):
            return "the loader is made in the default value of a parameter"
        if isinstance(outer, cst.Decorator):
            return "the loader is made in a decorator"
        if isinstance(outer, cst.Annotation):
            return "the loader is made in an annotation"
        if isinstance(outer, cst.FormattedString):
            return "the loader is made in an f-string"
        if isinstance(outer, cst.Lambda) and inner is outer.body:
            return "the loader is made in a lambda, which may be called several times"
        if isinstance(outer, cst.FunctionDef) and inner is outer.body:
            return None if isinstance(inner, cst.IndentedBlock) else _ONE_LINE
        inner = outer
    return None


def _is_held_by_a_dataset(document: Document, call: cst.Call) -> bool:
    """Whether an object that gives samples keeps the loader: `self.loaders.append(DataLoader(...))`. Each worker has a
    copy of the object, and would have one of the generator.
    """
    cls = document.enclosing_class(call)
    receiver = receiver_of(document, document.function(call), cls)
    if cls is None or receiver is None:
        return False
    match document.statement(call):
        case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=kept)])]):
            pass
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=kept))]):
            pass
        case _:
            return False
    if not (dotted_name(kept) or "").startswith(f"{receiver}."):
        return False
    named = any((dotted_name(base.value) or "").endswith("Dataset") for base in cls.bases)
    return named or any(isinstance(one, cst.FunctionDef) and one.name.value == "__getitem__" for one in cls.body.body)


def receiver_of(document: Document, function: cst.FunctionDef | None, cls: cst.ClassDef | None) -> str | None:
    """What a method of the class calls its object; None for what is no method of an object."""
    if function is None or cls is None or document.parent(document.parent(function) or cls) is not cls:
        return None
    first = (*function.params.posonly_params, *function.params.params)[:1]
    decorators = {dotted_name(one.decorator) for one in function.decorators}
    return first[0].name.value if first and not decorators & {"staticmethod", "classmethod"} else None

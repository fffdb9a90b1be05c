"""Where cuBLAS is first used: a product of matrices, or a network that is run, after something was moved to a device
that is a GPU where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, inside_first
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.running.blocks import expressions_in
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.parents import Node, parents_of
from torchrepro_lint.program.running.ways import MAX_WAYS, Waypoint, ways
from torchrepro_lint.program.switches.cuda_use import uses_a_gpu

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["first_product_before"]


def first_product_before(program: Program, frame: Frame, site: int) -> Site | None:
    """The product that surely comes before a place on every way that leads there."""
    known = ways(program.ev, frame.facts, frame.scope, site)
    found = [next((hit for one in way for hit in _products(program.ev, one)), None) for way in known]
    return found[0] if len(known) <= MAX_WAYS and None not in found else None


def _products(ev: Evaluator, place: Waypoint) -> Iterator[Site]:
    """The products in the scope of a place that come before it whenever it runs, in the order of the text."""
    scope = place.scope
    if scope.node is not None and not isinstance(scope.node, tree.FunctionDef):
        return
    frame = contexts(ev, place.facts, scope)[0]
    block = scope.node.body if isinstance(scope.node, tree.FunctionDef) else place.facts.body
    parents = parents_of(ev, place.facts)
    moved: set[str] | None = None
    for root in expressions_in(block):
        path = scope.path_at(root.site)
        if path != place.path[: len(path)]:
            continue
        for node in inside_first(root):
            if node.site >= place.site:
                return
            if moved is not None and _multiplies(ev, node, moved, frame):
                yield Site(place.facts.path, node.site)
            if isinstance(node, tree.Call) and uses_a_gpu(ev, node, frame, where_there_is_one=True):
                moved = (moved or set()) | set(_names(parents.statement(node), node))


def _names(statement: Node, call: tree.Call) -> Iterator[str]:
    """The names of what a call moves: `model.to(device)`, `model = Net().to(device)`."""
    targets = statement.targets if isinstance(statement, tree.Assign) else ()
    owner = call.func.value if isinstance(call.func, tree.Attribute) else None
    for node in (*targets, owner):
        name = dotted_name(node) if node is not None else None
        if name is not None:
            yield name


def _is_moved(ev: Evaluator, func: tree.Expr, frame: Frame) -> bool:
    """Whether what is called is what a method has just moved: `nn.Linear(4, 4).to(device)(x)`."""
    match func:
        case tree.Call(func=tree.Attribute()):
            return uses_a_gpu(ev, func, frame, where_there_is_one=True)
    return False


def _multiplies(ev: Evaluator, node: tree.Expr, moved: set[str], frame: Frame) -> bool:
    match node:
        case tree.Binary(op="@"):
            return True
        case tree.Call(func=func):
            if dotted_name(func) in moved or _is_moved(ev, func, frame):
                return True
            if isinstance(func, tree.Attribute) and func.attr in method_words("multiplies"):
                return True
            known = known_calls("multiplies")
            return any(isinstance(one, External) and canonical(one.name) in known for one in ev.values(func, frame))
    return False

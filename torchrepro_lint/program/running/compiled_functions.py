"""Functions that a decorator compiles, so that Python runs nothing of them: `@numba.njit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import uncalled
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.running.call_index import called_name

if TYPE_CHECKING:
    from torchrepro_lint.facts.scopes import ScopeNode
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_compiled"]


def is_compiled(ev: Evaluator, node: ScopeNode, around: Frame) -> bool:
    """Whether a function that is defined in the frame `around` is compiled. With `forceobj=True`, or with
    `nopython=False`, Python may run it all the same.
    """
    if not isinstance(node, tree.FunctionDef):
        return False
    return any(_compiles(ev, decorator, around) for decorator in node.decorators)


def _compiles(ev: Evaluator, decorator: tree.Expr, around: Frame) -> bool:
    compilers = known_calls("compiles")
    called = uncalled(decorator)
    if (called_name(called) or "") not in map(last_part, compilers):
        return False
    values = ev.values(called, around)
    if not values or not all(isinstance(value, External) and value.name in compilers for value in values):
        return False
    return not (isinstance(decorator, tree.Call) and any(map(_is_left_to_python, decorator.args)))


def _is_left_to_python(arg: tree.Arg) -> bool:
    match arg:
        case (
            tree.Arg(keyword="forceobj", value=tree.Const(value=True))
            | tree.Arg(keyword="nopython", value=tree.Const(value=False))
        ):
            return True
    return False

"""What is made when it is first needed, and then kept: `if self.loader is None: self.loader = DataLoader(...)`."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.running.statements import own_statements

__all__ = ["is_made_once"]


def is_made_once(scope: Scope, branch: int, arm: str) -> bool:
    """Whether an arm of an `if` runs only while something is missing, and makes that: an attribute, a name that is not
    a parameter, or an item of a dict.
    """
    statement = scope.branches.get(branch)
    if not isinstance(statement, tree.If):
        return False
    missing = _missing(statement.test, arm == "then")
    if missing is None or any(one.kind == "param" for one in scope.bindings.get(missing, ())):
        return False
    block = statement.body if arm == "then" else statement.orelse
    return any(missing == _made(target) for one in own_statements(block) for target in _targets(one))


def _missing(test: tree.Expr, holds: bool) -> str | None:
    """What is missing if a test holds, or does not hold: its name; of a dict without an item, that of the dict."""
    match test:
        case tree.Unary(
            op="not",
            operand=tree.Call(
                func=tree.Name(id="hasattr"), args=(owner, tree.Arg(value=tree.Const(value=str() as attr)))
            ),
        ) if holds:
            return f"{dotted_name(owner.value)}.{attr}"
        case tree.Unary(op="not", operand=operand):
            return dotted_name(operand) if holds else _missing(operand, True)
        case tree.Compare(left=left, ops=("is" | "==",), comparators=(tree.Const(value=None),)) if holds:
            return dotted_name(left)
        case tree.Compare(left=left, ops=("is not" | "!=",), comparators=(tree.Const(value=None),)) if not holds:
            return dotted_name(left)
        case tree.Compare(ops=("not in",), comparators=(owner,)) if holds:
            return dotted_name(owner)
        case tree.Boolean(op="and", left=left, right=right) if holds:
            return _missing(left, holds) or _missing(right, holds)
    return None


def _targets(statement: tree.Stmt) -> tuple[tree.Expr, ...]:
    return tuple(statement.targets) if isinstance(statement, tree.Assign) else ()


def _made(target: tree.Expr) -> str | None:
    return dotted_name(target.value if isinstance(target, tree.Subscript) else target)

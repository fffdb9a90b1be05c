"""What is made when it is first needed, and then kept: `if self.loader is None: self.loader = DataLoader(...)`."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation.classes import decorator_name
from torchrepro_lint.program.running.statements import own_statements

__all__ = ["comes_after_kept", "is_made_once", "keeps_its_result"]

#: What is raised by reading what is not there.
_MISSING = frozenset({"AttributeError", "KeyError", "NameError"})


def keeps_its_result(scope: Scope) -> bool:
    """Whether what a function gives is kept for further calls with the same arguments: `@cached_property`, `@cache`."""
    if not isinstance(scope.node, tree.FunctionDef) or not scope.node.decorators:
        return False
    return not method_words("decorators", "kept").isdisjoint(map(decorator_name, scope.node.decorators))


def is_made_once(scope: Scope, branch: int, arm: str) -> bool:
    """Whether an arm of an `if`, or an `except`, runs only while something is missing, and makes that: an attribute, a
    name that is not a parameter, or an item of a dict.
    """
    match scope.branches.get(branch):
        case tree.If(test=test, body=body, orelse=orelse):
            return _is_made(scope, _missing(test, arm == "then"), body if arm == "then" else orelse)
        case tree.Try(body=(tried,), handlers=handlers) if arm.startswith("except"):
            handler = handlers[int(arm.removeprefix("except"))]
            return _is_made(scope, _missed(tried, handler.type), handler.body)
    return False


def _missed(tried: tree.Stmt, error: tree.Expr | None) -> str | None:
    """What is missing if a statement that does no more than read it raises the error that says so."""
    match tried:
        case (
            tree.Return(value=tree.Attribute() | tree.Subscript() | tree.Name() as read)
            | tree.Assign(value=tree.Attribute() | tree.Subscript() | tree.Name() as read)
            | tree.ExprStmt(value=tree.Attribute() | tree.Subscript() | tree.Name() as read)
        ):
            errors = error.items if isinstance(error, tree.Display) else (error,)
            if not all(isinstance(one, tree.Name) and one.id in _MISSING for one in errors):
                return None
            return dotted_name(read.value if isinstance(read, tree.Subscript) else read)
    return None


def comes_after_kept(scope: Scope, site: int) -> bool:
    """Whether a function reaches a place only while something is missing that it then makes: where it is there, this
    returns before, `if self.loader is not None: return self.loader`.
    """
    if not isinstance(scope.node, tree.FunctionDef):
        return False
    for index, statement in enumerate(scope.node.body):
        if isinstance(statement, tree.If) and statement.site < site and _returns(statement.body):
            within = any(one.site == site for one in own_statements(statement.body))
            if not within and _is_made(scope, _missing(statement.test, False), scope.node.body[index + 1 :]):
                return True
    return False


def _returns(block: tree.Block) -> bool:
    """Whether a block ends in a `return`; one of `pass` alone is empty."""
    return bool(block) and isinstance(block[-1], tree.Return)


def _is_made(scope: Scope, missing: str | None, block: tree.Block) -> bool:
    """Whether a block makes what is missing, which is no parameter: that is another each time."""
    if missing is None or any(one.kind == "param" for one in scope.bindings.get(missing, ())):
        return False
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
        case tree.Compare(ops=("in",), comparators=(owner,)) if not holds:
            return dotted_name(owner)
        case tree.Name() | tree.Attribute() if not holds:
            return dotted_name(test)
        case tree.Boolean(op="and", left=left, right=right) if holds:
            return _missing(left, holds) or _missing(right, holds)
    return None


def _targets(statement: tree.Stmt) -> tuple[tree.Expr, ...]:
    return tuple(statement.targets) if isinstance(statement, tree.Assign) else ()


def _made(target: tree.Expr) -> str | None:
    return dotted_name(target.value if isinstance(target, tree.Subscript) else target)

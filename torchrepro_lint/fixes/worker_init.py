"""The worker init function of the canonical code: its text, and how to recognise one that is there already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.scopes import Scope, Target
from torchrepro_lint.knowledge.calls import CallTable, known_calls
from torchrepro_lint.knowledge.names import canonical

__all__ = [
    "WORKER_SEED",
    "ExistingInit",
    "canonical_body",
    "find_worker_init",
    "is_annotated",
    "is_known_call",
    "resolved_name",
    "seed_in_range",
    "seed_name",
    "worker_init_source",
]

#: What the canonical definition calls the seed.
WORKER_SEED = "worker_seed"
_WHOLE_RANGE = 2**32


@dataclass(frozen=True, slots=True)
class ExistingInit:
    """A correct worker init function of the project. `module` is where to import it from; None: it is in the file."""

    name: str
    module: str | None = None


def worker_init_source(
    document: Document,
    name: str,
    modules: tuple[str, str, str],
    above: Sequence[str],
    below: Sequence[str],
    *,
    at: cst.BaseStatement,
) -> str:
    """The canonical definition above the statement `at`, with further lines `above` and `below` the canonical ones.

    `modules` are the names under which the file knows torch, NumPy and random. The definition is annotated where the
    functions of the file are.
    """
    argument, returns = ("worker_id: int", " -> None") if document.once(is_annotated) else ("worker_id", "")
    step = document.indent_unit(at)
    body = canonical_body(step, document.newline, *modules)
    first, last = ("".join(f"{step}{line}".rstrip() + document.newline for line in lines) for lines in (above, below))
    return f"def {name}({argument}){returns}:{document.newline}{first}{body}{last}"


def canonical_body(indentation: str, newline: str, torch: str, numpy: str, random: str, more: str = "") -> str:
    """The statements of the canonical definition, each on a line that begins with `indentation`; `more` is what is to
    be added to torch's seed.
    """
    lines = [
        f"{WORKER_SEED} = {seed_in_range(torch, more)}",
        f"{numpy}.random.seed({WORKER_SEED})",
        f"{random}.seed({WORKER_SEED})",
    ]
    return "".join(indentation + line + newline for line in lines)


def seed_in_range(torch: str, more: str) -> str:
    """Torch's seed of the worker, with `more` added to it, in the range of NumPy's seeds."""
    seed = f"{torch}.initial_seed(){more}"
    return f"({seed}) % 2**32" if more else f"{seed} % 2**32"


def find_worker_init(document: Document) -> cst.FunctionDef | None:
    """The first function of the module that seeds NumPy per worker from torch's base seed, and does nothing else."""
    return next(
        (
            statement
            for statement in document.module.body
            if isinstance(statement, cst.FunctionDef) and _is_correct(document, statement)
        ),
        None,
    )


def seed_name(document: Document, function: cst.FunctionDef) -> str | None:
    """The local name to which a function binds torch's seed of the worker, in NumPy's range, once and on every way."""
    scope = document.scope_of(function.body)
    for statement in function.body.body:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            match small:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                    if len(scope.bindings.get(name, ())) == 1 and _is_worker_seed(scope, value, {}):
                        return name
    return None


def resolved_name(scope: Scope, node: cst.CSTNode) -> str | None:
    """The full name of what a chain of names refers to, its root followed through an import: `th.x` is `torch.x`."""
    dotted = dotted_name(node)
    if dotted is None:
        return None
    root, _, rest = dotted.partition(".")
    owner = scope.resolve(root)
    targets: set[Target | None] = set()
    if owner is not None:
        # `np = None` in the handler of a guarded import is not a second meaning.
        targets = {binding.target for binding in owner.bindings[root] if binding.kind == "import"}
    if len(targets) != 1:
        return None
    (target,) = targets
    assert target is not None
    parts = [target[0], target[1] or "", rest]
    return ".".join(part for part in parts if part)


def is_known_call(scope: Scope, func: cst.CSTNode, table: CallTable) -> bool:
    """Whether a callee is a function of that table of calls."""
    return canonical(resolved_name(scope, func) or "") in known_calls(table)


def is_annotated(document: Document) -> bool:
    functions = document.nodes(cst.FunctionDef)
    typed = [
        function
        for function in functions
        if function.returns is not None or any(param.annotation is not None for param in function.params.params)
    ]
    return bool(functions) and 2 * len(typed) > len(functions)


def _is_correct(document: Document, function: cst.FunctionDef) -> bool:
    params = function.params
    if len(params.params) + len(params.posonly_params) != 1 or params.kwonly_params or function.decorators:
        return False
    if function.asynchronous is not None or not isinstance(function.body, cst.IndentedBlock):
        return False
    scope = document.scope_of(function.body)
    values: dict[str, cst.BaseExpression] = {}
    seeds_numpy = False
    for statement in function.body.body:
        if not isinstance(statement, cst.SimpleStatementLine):
            return False
        for small in statement.body:
            if isinstance(small, cst.Assign) and len(small.targets) == 1:
                target = small.targets[0].target
                if not isinstance(target, cst.Name):
                    return False
                values[target.value] = small.value
            elif isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
                called = resolved_name(scope, small.value.func) or ""
                if not called.endswith("seed") or len(small.value.args) != 1:
                    return False
                if called == "numpy.random.seed":
                    seeds_numpy = _is_worker_seed(scope, small.value.args[0].value, values)
                    if not seeds_numpy:
                        return False
            elif not (isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)) and not isinstance(
                small, cst.Import | cst.ImportFrom | cst.Pass
            ):
                return False
    return seeds_numpy


def _is_worker_seed(scope: Scope, node: cst.BaseExpression, values: dict[str, cst.BaseExpression]) -> bool:
    """Whether an expression is torch's seed of the worker, brought into NumPy's range."""
    if isinstance(node, cst.Name) and node.value in values:
        return _is_worker_seed(scope, values[node.value], {k: v for k, v in values.items() if k != node.value})
    if isinstance(node, cst.Call) and dotted_name(node.func) == "int" and len(node.args) == 1:
        return _is_worker_seed(scope, node.args[0].value, values)
    if not isinstance(node, cst.BinaryOperation):
        return False
    limit = _constant(node.right)
    if isinstance(node.operator, cst.Modulo):
        in_range = limit is not None and 2**16 <= limit <= _WHOLE_RANGE
    elif isinstance(node.operator, cst.BitAnd):
        in_range = limit == _WHOLE_RANGE - 1
    else:
        return False
    return in_range and _is_torch_seed(scope, node.left, values)


def _is_torch_seed(scope: Scope, node: cst.BaseExpression, values: dict[str, cst.BaseExpression]) -> bool:
    if isinstance(node, cst.Name) and node.value in values:
        return _is_torch_seed(scope, values[node.value], {k: v for k, v in values.items() if k != node.value})
    if isinstance(node, cst.Call):
        return is_known_call(scope, node.func, "worker_seed") and not node.args
    if isinstance(node, cst.Attribute) and node.attr.value == "seed":
        value = node.value
        if isinstance(value, cst.Name):
            value = values.get(value.value, value)
        if isinstance(value, cst.Call):
            return is_known_call(scope, value.func, "worker_info")
    return False


def _constant(node: cst.BaseExpression) -> int | None:
    """The value of `2**32`, `4294967296`, `0xFFFFFFFF`, `2**32 - 1`, `1 << 32`."""
    if isinstance(node, cst.Integer):
        return node.evaluated_value
    if not isinstance(node, cst.BinaryOperation):
        return None
    left, right = _constant(node.left), _constant(node.right)
    if left is None or right is None or not 0 <= right <= 2**33 or left < 0:
        return None
    if isinstance(node.operator, cst.Power):
        return int(left**right) if left <= 16 and right <= 64 else None
    if isinstance(node.operator, cst.Subtract):
        return left - right
    if isinstance(node.operator, cst.LeftShift):
        return left << right if right <= 64 else None
    return None

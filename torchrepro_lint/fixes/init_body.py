"""Edits of a worker init function that is there already: another body, another seed, a seed brought into range."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.fixes.brackets import call_parentheses
from torchrepro_lint.fixes.document import Document, comments_in, dotted_name
from torchrepro_lint.fixes.generators import fresh_name
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.passed_arguments import replace_argument
from torchrepro_lint.fixes.unused_imports import drop_unused_imports
from torchrepro_lint.fixes.worker_init import canonical_body, is_known_call, resolved_name, seed_in_range, seed_name
from torchrepro_lint.fixes.worker_lines import WorkerTarget, global_lines, worker_lines

__all__ = [
    "is_commented",
    "plan_appended_seed",
    "plan_canonical_body",
    "plan_in_range",
    "plan_seeds",
    "plan_worker_lines",
    "seeds_alone",
]

#: What may be called for the value of a seed that is thrown away: it changes nothing.
_PLAIN_ROOTS = frozenset({"torch", "numpy", "random", "time", "os", "uuid", "datetime", "math", "secrets", "hashlib"})
_PLAIN_NAMES = frozenset({"int", "str", "float", "abs", "hash", "len", "max", "min", "round", "id"})


def seeds_alone(document: Document, function: cst.FunctionDef, seedings: Collection[cst.Call]) -> bool:
    """Whether a function does nothing but compute a seed and make the calls `seedings`, in straight-line code."""
    if not isinstance(function.body, cst.IndentedBlock) or function.asynchronous is not None:
        return False
    calls = {id(call) for call in seedings}
    return all(_is_seeding_line(document, line, calls) for line in _lines(function.body))


def _is_seeding_line(document: Document, line: cst.BaseStatement, calls: set[int]) -> bool:
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    for small in line.body:
        match small:
            case cst.Expr(value=cst.Call() as call) if id(call) in calls:
                values: list[cst.CSTNode] = [argument.value for argument in call.args]
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value):
                values = [value]
            case cst.AugAssign(target=cst.Name(), value=value):
                values = [value]
            case cst.Pass():
                values = []
            case _:
                return False
        if not all(_is_plain(document, value) for value in values):
            return False
    return True


def _is_plain(document: Document, value: cst.CSTNode) -> bool:
    """Whether evaluating an expression has no effect but its value."""
    scope = document.scope_of(value)
    for node in document.walk(value):
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute) and dotted_name(node.func) is None:
                continue  # a method of what another call gives, which is looked at by itself
            name = resolved_name(scope, node.func) or dotted_name(node.func) or ""
            root, _, rest = name.partition(".")
            if not (root in _PLAIN_ROOTS and rest) and name not in _PLAIN_NAMES and not _is_local(node.func):
                return False
        elif isinstance(node, cst.Await | cst.Yield | cst.NamedExpr | cst.Lambda):
            return False
    return True


def _is_local(func: cst.BaseExpression) -> bool:
    """A method such as `rng.integers` of something that has a name here."""
    return isinstance(func, cst.Attribute) and isinstance(func.value, cst.Name | cst.Attribute)


def _lines(body: cst.IndentedBlock) -> list[cst.BaseStatement]:
    """The statements below the docstring and the imports at the head of a body."""
    lines = list(body.body)
    while lines and _is_head(lines[0]):
        lines.pop(0)
    return lines


def _is_head(line: cst.BaseStatement) -> bool:
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    return all(
        isinstance(small, cst.Import | cst.ImportFrom)
        or (isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString | cst.ConcatenatedString))
        for small in line.body
    )


def is_commented(function: cst.FunctionDef) -> bool:
    """Whether a comment stands among the statements that `plan_canonical_body` would replace."""
    assert isinstance(function.body, cst.IndentedBlock)
    return any(True for line in _lines(function.body) for _ in comments_in(line))


def plan_canonical_body(document: Document, function: cst.FunctionDef, more: str = "") -> list[Edit]:
    """Put the canonical statements in the place of a body for which `seeds_alone` holds; name and arguments stay.
    `more` is added to torch's seed.
    """
    assert isinstance(function.body, cst.IndentedBlock)
    lines = _lines(function.body)
    imports = ImportPlanner(document)
    at = lines[0]
    modules = [imports.require(module, at=at) for module in ("torch", "numpy", "random")]
    start, end = document.lead_start(at), document.next_line(document.end(lines[-1]) - 1)
    torch, numpy, random = modules
    body = canonical_body(document.indentation(document.start(at)), document.newline, torch, numpy, random, more)
    dropped = drop_unused_imports(document, lines, body)
    return [*imports.edits(), *dropped, document.replacement(start, end, body)]


def plan_seeds(document: Document, calls: Collection[cst.Call], more: str = "") -> list[Edit] | None:
    """Let each of the seeding calls seed with torch's worker seed; None where one has more than a seed to give. `more`
    is added to torch's seed.
    """
    imports = ImportPlanner(document)
    variable = _own_variable(document, calls)
    if variable is not None:
        seed = seed_in_range(imports.require("torch", at=variable), more)
        return [*imports.edits(), document.replacement(*document.outer_span(variable), seed)]
    edits: list[Edit] = []
    for call in calls:
        torch = imports.require("torch", at=call)
        seed = f"{torch}.initial_seed(){more}"
        if (resolved_name(document.scope_of(call), call.func) or "") != "torch.manual_seed":
            seed = seed_in_range(torch, more)
        if not call.args:
            edits.append(document.insertion(call_parentheses(document, call)[0] + 1, seed))
        elif len(call.args) == 1 and not call.args[0].star:
            edits.append(replace_argument(document, call.args[0], seed))
        else:
            return None
    return [*imports.edits(), *edits]


def _own_variable(document: Document, calls: Collection[cst.Call]) -> cst.BaseExpression | None:
    """The value of the variable that all calls seed with, where a function makes it for them and nothing else."""
    given = [argument.value for call in calls for argument in call.args]
    names = {node.value for node in given if isinstance(node, cst.Name)}
    if len(names) != 1 or len(given) != len(calls) or not all(isinstance(node, cst.Name) for node in given):
        return None
    name = names.pop()
    scope = document.scope_of(given[0])
    bindings = scope.bindings.get(name, [])
    if len(bindings) != 1 or bindings[0].kind != "assign":
        return None
    assigned = document.parent(bindings[0].node)
    made = document.parent(assigned) if isinstance(assigned, cst.AssignTarget) else None
    if not isinstance(made, cst.Assign) or len(made.targets) != 1 or not _is_plain(document, made.value):
        return None
    mentions = {id(node) for node in document.nodes(cst.Name, scope.node) if node.value == name}
    attributes = {id(node.attr) for node in document.nodes(cst.Attribute, scope.node)}
    keywords = {id(node.keyword) for node in document.nodes(cst.Arg, scope.node)}
    own = mentions - attributes - keywords
    return made.value if own == {id(bindings[0].node), *map(id, given)} else None


def plan_in_range(document: Document, call: cst.Call) -> list[Edit] | None:
    """Bring the seed of a call into the range of NumPy's seeds: `% 2**32`."""
    if len(call.args) != 1 or call.args[0].star:
        return None
    value = call.args[0].value
    start, end = document.outer_span(value)
    text = document.text[start:end]
    if isinstance(value, cst.Name | cst.Attribute | cst.Call | cst.Subscript) or value.lpar:
        return [document.replacement(start, end, f"{text} % 2**32")]
    if isinstance(value, cst.BinaryOperation):
        return [document.replacement(start, end, f"({text}) % 2**32")]
    return None


def plan_appended_seed(document: Document, function: cst.FunctionDef) -> list[Edit] | None:
    """Seed NumPy at the end of a function's body; None where the end may not be reached."""
    last = _last_line(document, function)
    if last is None:
        return None
    imports = ImportPlanner(document)
    torch, numpy = (imports.require(module, at=last) for module in ("torch", "numpy"))
    return _appended(document, last, imports, [f"{numpy}.random.seed({torch}.initial_seed() % 2**32)"])


def plan_worker_lines(
    document: Document, function: cst.FunctionDef, targets: Sequence[WorkerTarget]
) -> list[Edit] | None:
    """Seed the targets at the end of a function's body; None where the end may not be reached."""
    last = _last_line(document, function)
    if last is None:
        return None
    imports = ImportPlanner(document)
    seed = seed_name(document, function) or f"{imports.require('torch', at=last)}.initial_seed() % 2**32"
    scope = document.scope_of(function.body)
    if any(target.global_name in scope.bindings for target in targets if target.global_name):
        return None
    own = _dataset_variable(document, function)
    dataset = own or fresh_name(("dataset", "worker_dataset"), scope)
    lines = worker_lines(imports, targets, seed, dataset, is_bound=own is not None, at=last)
    return _appended(document, last, imports, [*global_lines(targets), *lines])


def _dataset_variable(document: Document, function: cst.FunctionDef) -> str | None:
    """The variable that a line of the function's body gives the worker's dataset, and nothing else is given to."""
    scope = document.scope_of(function.body)
    for line in function.body.body:
        small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        match small:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))],
                value=cst.Attribute(value=cst.Call(func=func), attr=cst.Name(value="dataset")),
            ) if len(scope.bindings.get(name, ())) == 1:
                if is_known_call(scope, func, "worker_info"):
                    return name
    return None


def _last_line(document: Document, function: cst.FunctionDef) -> cst.BaseStatement | None:
    if not isinstance(function.body, cst.IndentedBlock):
        return None
    if any(isinstance(node, cst.Return | cst.Raise | cst.Yield) for node in document.walk(function.body)):
        return None
    return function.body.body[-1]


def _appended(document: Document, last: cst.BaseStatement, imports: ImportPlanner, lines: Sequence[str]) -> list[Edit]:
    indentation = document.indentation(document.start(last))
    text = "".join(f"{indentation}{line}{document.newline}" for line in lines)
    return [*imports.edits(), document.insertion(document.next_line(document.end(last) - 1), text)]

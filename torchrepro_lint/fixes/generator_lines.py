"""The lines that make and seed a generator, as they are laid out above a statement."""

from __future__ import annotations

import libcst as cst

from torchrepro_lint.fixes.document import Document

__all__ = ["assignment_source", "generator_source"]


def generator_source(document: Document, name: str, torch: str, seed: str, at: cst.BaseStatement) -> str:
    """The two lines that make a generator and seed it, as they are written above a statement."""
    indentation, step = document.indentation(document.start(at)), document.indent_unit(at)
    lines = [f"{name} = {torch}.Generator()", *_call_lines(document, f"{name}.manual_seed", seed, indentation, step)]
    return "".join(f"{indentation}{line}{document.newline}" for line in lines)


def assignment_source(document: Document, name: str, value: str, at: cst.BaseStatement) -> str:
    """The line that gives a value to a name above a statement; in parentheses over several lines where it is long."""
    indentation, step = document.indentation(document.start(at)), document.indent_unit(at)
    lines = [f"{name} = {value}"]
    if len(indentation + lines[0]) > document.line_length:
        width = document.line_length - len(f"{indentation}{step}".expandtabs(4))
        lines = [
            f"{name} = (",
            *(step + part for part in _parts(document, cst.parse_expression(value), width, step)),
            ")",
        ]
    return "".join(f"{indentation}{line}{document.newline}" for line in lines)


def _call_lines(document: Document, function: str, argument: str, indentation: str, step: str) -> list[str]:
    """A call with one argument, on one line if that is not too long."""
    if len(f"{indentation}{function}({argument})") <= document.line_length:
        return [f"{function}({argument})"]
    width = document.line_length - len(f"{indentation}{step}".expandtabs(4))
    parts = _parts(document, cst.parse_expression(argument), width, step)
    return [f"{function}(", *(f"{step}{part}" for part in parts), ")"]


def _parts(document: Document, node: cst.BaseExpression, width: int, step: str) -> list[str]:
    """The lines of an expression that is as wide as that, parted as black does: a sum before each `+`, a choice before
    its `if` and its `else`.
    """
    code = document.module.code_for_node
    if len(code(node)) <= width:
        return [code(node)]
    if node.lpar:
        inner = _parts(document, node.with_changes(lpar=(), rpar=()), width - len(step), step)
        return ["(", *(f"{step}{line}" for line in inner), ")"]
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            first, *rest = _parts(document, right, width - len("+ "), step)
            return [*_parts(document, left, 0 if _is_sum(left) else width, step), f"+ {first}", *rest]
        case cst.IfExp(body=body, test=test, orelse=orelse):
            return [code(body), f"if {code(test)}", f"else {code(orelse)}"]
    return [code(node)]


def _is_sum(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add) and not node.lpar

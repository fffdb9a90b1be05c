"""Fixes about the switches of a program: another value, or a switch beside the one that is there."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.document import Document, comments_in
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.unsafe_reasons import COMMENTED, Because
from torchrepro_lint.program.evaluation.values import Constant

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["deterministic_algorithms_fix", "is_commented_beside", "set_value_fix"]

# What is said to other tools stays true.
_FOR_A_TOOL = re.compile(r"#\s*(noqa|type:|pylint:|fmt:|yapf:|nosec|pragma|mypy:|pyright:|ruff:)")
#: The two switches of cuDNN as who wants speed sets them.
_FOR_SPEED = {("benchmark", "True"), ("deterministic", "False")}
_SWITCH = re.compile("cudnn|benchmark", re.IGNORECASE)
_NO_STATEMENT = "no separate statement can be placed next to the switch"


def set_value_fix(
    program: Program, one: Evidence, text: str, because: Because | None = None
) -> tuple[Fix | None, str | None]:
    """The fix that writes `text` in the place of the value that a switch gets, or why there is none. Unsafe for the
    reason that is given, or where a comment stands beside the switch: what it says of the value may become false.
    """
    if one.value is None:
        return None, "the value is not written where it is switched"
    if isinstance(one.node, tree.Assign) and len(one.node.targets) > 1:
        return None, "the same statement assigns the value to something else too"
    document = document_of(program, one.site.path)
    value = document.node_at(*program.parsed(one.site.path).span(one.value.site), cst.BaseExpression)
    if value is None:
        return None, "the value could not be located"
    edit = document.replacement(*document.outer_span(value), text)
    if because is None and is_commented_beside(document, value):
        because = COMMENTED
    return Fix.checked(f"Set it to {text}", (edit,), because), None


def is_commented_beside(document: Document, value: cst.BaseExpression) -> bool:
    """Whether a comment that is not for a tool stands in the statement that sets a value, behind it, right above it, or
    above the `if` whose first statement it is; or a text beside it says what is switched: `print("benchmark on")`. So
    does another switch for speed: `cudnn.fastest = True`, or `benchmark = True` next to `deterministic = False`.
    """
    line = document.statement(value)
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    above = _comments_above(line)
    block = document.parent(line)
    around = document.parent(block) if isinstance(block, cst.IndentedBlock) and block.body[0] is line else None
    if isinstance(around, cst.If | cst.With | cst.Try):
        above += _comments_above(around)
    if isinstance(block, cst.IndentedBlock | cst.Module) and any(
        map(partial(_names_it, document, line), _beside(line, block))
    ):
        return True
    own = [comment.value for part in (*line.body, line.trailing_whitespace) for comment in comments_in(part)]
    return not all(_FOR_A_TOOL.match(comment) for comment in (*above, *own))


def _comments_above(line: cst.SimpleStatementLine | cst.If | cst.With | cst.Try) -> list[str]:
    """The comments right above a statement."""
    above: list[str] = []
    for empty in line.leading_lines:
        above = [*above, empty.comment.value] if empty.comment is not None else []
    return above


def _beside(line: cst.BaseStatement, block: cst.IndentedBlock | cst.Module) -> list[cst.BaseStatement]:
    """The other statements of an indented block; at the top of a file those right above and below alone."""
    body = list(block.body)
    if isinstance(block, cst.Module):
        at = next(number for number, one in enumerate(body) if one is line)
        body = body[max(at - 1, 0) : at + 2]
    return [one for one in body if isinstance(one, cst.BaseStatement) and one is not line]


def _names_it(document: Document, line: cst.SimpleStatementLine, statement: cst.BaseStatement) -> bool:
    """Whether a text in a statement, for people or a log, names the switch, or the statement is another for speed."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    if {_switched(document, line), _switched(document, statement)} == _FOR_SPEED:
        return True
    targets = (one.target for one in document.nodes(cst.AssignTarget, statement))
    if any(isinstance(target, cst.Attribute) and target.attr.value == "fastest" for target in targets):
        return True
    return any(_SWITCH.search(one.value) for one in document.nodes(cst.SimpleString, statement))


def _switched(document: Document, line: cst.SimpleStatementLine) -> tuple[str, str] | None:
    """The attribute that a line sets, and the text of what it gets; None of what is no such assignment."""
    match line.body:
        case (cst.Assign(targets=(cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value=name))),), value=value),):
            return name, document.text_of(value)
    return None


def deterministic_algorithms_fix(program: Program, one: Evidence) -> tuple[Fix | None, str | None]:
    """The unsafe fix that calls `torch.use_deterministic_algorithms` in a statement of its own below a seed or a switch
    of cuDNN, or why there is none.
    """
    if program.target.known and not program.target.admits_from("1.8"):
        return None, "torch < 1.8 has no torch.use_deterministic_algorithms"
    document = document_of(program, one.site.path)
    start, end = program.parsed(one.site.path).span(one.site.number)
    node = document.node_at(start, end, cst.Call) or document.node_at(start, end, cst.Assign)
    line = document.statement(node) if node is not None else None
    if node is None or not isinstance(line, cst.SimpleStatementLine) or isinstance(line.body[-1], cst.Return):
        return None, _NO_STATEMENT
    start = document.start(line)
    indentation = document.text[document.text.rfind("\n", 0, start) + 1 : start]
    if indentation.strip():
        return None, _NO_STATEMENT
    planner = ImportPlanner(document)
    called = f"use_deterministic_algorithms({_option(program, one) or True})"
    statement = f"{indentation}{planner.require('torch', at=node)}.{called}"
    below = document.text.find("\n", document.end(line))
    if below == -1:
        edit = document.replacement(len(document.text), len(document.text), f"{document.newline}{statement}")
    else:
        edit = document.replacement(below + 1, below + 1, f"{statement}{document.newline}")
    return Fix(Applicability.UNSAFE, f"Call torch.{called}", (*planner.edits(), edit)), None


def _option(program: Program, one: Evidence) -> str | None:
    """The option that a switch of cuDNN is given, as it is written there (`deterministic = cfg.DETERMINISTIC`): given
    it too, another switch is on in the same runs. None if a plain value is given, or none is written.
    """
    if one.effect != "cudnn" or not isinstance(one.value, (tree.Name, tree.Attribute, tree.Subscript)):
        return None
    if one.values and all(isinstance(value, Constant) for value in one.values):
        return None
    document = document_of(program, one.site.path)
    value = document.node_at(*program.parsed(one.site.path).span(one.value.site), cst.BaseExpression)
    return document.text_of(value) if value is not None else None

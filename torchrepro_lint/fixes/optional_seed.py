"""Whether a program leaves it open that its seed is given at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.none_tests import is_none_test
from torchrepro_lint.fixes.parsed_options import option_names

__all__ = ["as_it_may_be_read", "may_be_none"]

_MEMBER = re.compile(r"""(?P<owner>.+?)(\.(?P<attribute>\w+)|\[(?P<quote>["'])(?P<key>\w+)(?P=quote)\])""")


def as_it_may_be_read(document: Document, text: str, at: cst.BaseStatement) -> tuple[str, bool]:
    """The expression `text` as the program itself reads it where it may not be there (`cfg.get("seed")`), and whether
    it may be None at the statement `at`.
    """
    asked = _as_asked_for(document, text, at)
    return asked or text, asked is not None or may_be_none(document, text, at)


def _as_asked_for(document: Document, text: str, at: cst.BaseStatement) -> str | None:
    """What gives None for `cfg.seed` or `cfg["seed"]` that is not there, where the program asks whether it is:
    `cfg.get("seed")`, `getattr(cfg, "seed", None)`. Not below such a test.
    """
    member = _MEMBER.fullmatch(text)
    if member is None:
        return None
    owner, name = member["owner"], member["attribute"] or member["key"]
    tested = [outer.test for outer in document.ancestors(at) if isinstance(outer, cst.If)]
    below = {id(node) for test in tested for node in document.walk(test)}
    for node in (*document.nodes(cst.Call), *document.nodes(cst.Comparison)):
        of, key, default = _question(node)
        is_asked = of is not None and document.text_of(of) == owner and _is_none(default or cst.Name("None"))
        if is_asked and isinstance(key, cst.SimpleString) and key.evaluated_value == name and id(node) not in below:
            if isinstance(node, cst.Call) and dotted_name(node.func) != "hasattr":
                return document.text_of(node)
            quoted = document.text_of(key)
            return f"getattr({owner}, {quoted}, None)" if member["attribute"] else f"{owner}.get({quoted})"
    return None


_Question = tuple[cst.BaseExpression | None, cst.BaseExpression | None, cst.BaseExpression | None]


def _question(node: cst.BaseExpression) -> _Question:
    """Whose member an expression asks for, by which key, and what it takes where there is none."""
    given = [argument.value for argument in node.args] if isinstance(node, cst.Call) else []
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="get"))) if given:
            return owner, given[0], given[1] if len(given) > 1 else None
        case cst.Call(func=cst.Name(value="getattr")) if len(given) == 3:
            return given[0], given[1], given[2]
        case cst.Call(func=cst.Name(value="hasattr")) if len(given) == 2:
            return given[0], given[1], None
        case cst.Comparison(left=key, comparisons=[cst.ComparisonTarget(operator=cst.In(), comparator=owner)]):
            return owner, key, None
    return None, None, None


def may_be_none(document: Document, text: str, at: cst.BaseStatement) -> bool:
    """Whether the program itself asks if the expression is there: `is None`, a bare test, or a default of None.

    One that is given a value where it is None is there below.
    """
    if _is_replaced(document, text, at):
        return False
    if any(is_none_test(document, node, text) for node in document.nodes(cst.Comparison)):
        return True
    ifs: Sequence[cst.If | cst.IfExp] = [*document.nodes(cst.If), *document.nodes(cst.IfExp)]
    for tested in [node.test for node in ifs]:
        if isinstance(tested, cst.UnaryOperation):
            tested = tested.expression
        if document.text_of(tested) == text:
            return True
    if any(_is_option_without_value(node, text) for node in document.nodes(cst.Call)):
        return True
    return _is_parameter_none(document, text, at) or _is_attribute_none(document, text, at)


def _is_replaced(document: Document, text: str, at: cst.BaseStatement) -> bool:
    """Whether `if X is None: X = ...` is in a block around a place, above it."""
    blocks = {id(outer) for outer in document.ancestors(at)}
    for node in document.nodes(cst.If):
        if (
            node.orelse is None
            and document.start(node) < document.start(at)
            and id(document.parent(node)) in blocks
            and (is_none_test(document, node.test, text) or document.text_of(node.test) == f"not {text}")
        ):
            targets = document.nodes(cst.AssignTarget, node.body)
            if any(document.text_of(one.target) == text for one in targets):
                return True
    return False


def _is_option_without_value(call: cst.Call, text: str) -> bool:
    """`parser.add_argument("--seed", type=int)`, for `args.seed`: nothing given means None."""
    if "." not in text or last_part(text) not in option_names(call):
        return False
    given = {argument.keyword.value: argument.value for argument in call.args if argument.keyword is not None}
    default = given.get("default")
    if default is None:
        return "required" not in given and "action" not in given
    return _is_none(default)


def _is_parameter_none(document: Document, text: str, at: cst.BaseStatement) -> bool:
    owner = document.scope_of(at).resolve(text)
    if owner is None:
        return False
    for binding in owner.bindings[text]:
        if isinstance(binding.node, cst.Param):
            default, annotation = binding.node.default, binding.node.annotation
            if _is_none(default):
                return True
            if default is None and annotation is not None:
                return "None" in (code := document.text_of(annotation.annotation)) or "Optional" in code
    return False


def _is_attribute_none(document: Document, text: str, at: cst.BaseStatement) -> bool:
    """Whether a class keeps None, or a parameter that may be None, as the attribute `self.seed`."""
    own_class = document.enclosing_class(at)
    if own_class is None or not text.startswith("self."):
        return False
    for node in document.nodes(cst.Assign, own_class) + document.nodes(cst.AnnAssign, own_class):
        targets = [node.target] if isinstance(node, cst.AnnAssign) else [one.target for one in node.targets]
        if text in map(document.text_of, targets) and (
            _is_none(node.value)
            or (
                isinstance(node.value, cst.Name)
                and _is_parameter_none(document, node.value.value, document.statement(node))
            )
        ):
            return True
    return False


def _is_none(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"

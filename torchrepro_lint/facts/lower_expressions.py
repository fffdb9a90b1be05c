"""libcst -> `tree`, for expressions. See `lower.py` for the walk."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from torchrepro_lint.dotted import name_beginning
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.alike_expressions import AlikeExpressions
from torchrepro_lint.quiet import without_warnings

__all__ = ["ARITHMETIC", "ExpressionLowering", "is_plain_text"]

_COMPARISONS: dict[type[cst.BaseCompOp], str] = {
    cst.Equal: "==", cst.NotEqual: "!=", cst.LessThan: "<", cst.LessThanEqual: "<=", cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=", cst.In: "in", cst.NotIn: "not in", cst.Is: "is", cst.IsNot: "is not",
}  # fmt: skip
ARITHMETIC: dict[str, str] = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%", "Power": "**",
    "LeftShift": "<<", "RightShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "MatrixMultiply": "@",
}  # fmt: skip
_UNARY: dict[type[cst.BaseUnaryOp], str] = {cst.Not: "not", cst.Minus: "-", cst.Plus: "+", cst.BitInvert: "~"}


class ExpressionLowering(AlikeExpressions):
    """The walk over expressions. With `keep_nodes`, `nodes[site]` becomes the libcst node of each site."""

    def __init__(self, *, keep_nodes: bool = False) -> None:
        self.count = 0
        self.nodes: list[cst.CSTNode] | None = [] if keep_nodes else None
        self.generator_marks: list[bool] = [False]

    def site(self, node: cst.CSTNode) -> int:
        number = self.count
        self.count = number + 1
        if self.nodes is not None:
            self.nodes.append(node)
        return number

    def expression(self, node: cst.CSTNode) -> tree.Expr:
        lower = _EXPRESSIONS.get(type(node))
        if lower is None:
            return tree.Opaque(self.site(node), ())
        return lower(self, node)

    def _name(self, node: cst.Name) -> tree.Expr:
        value = node.value
        site = self.site(node)
        if value == "True":
            return tree.Const(site, True)
        if value == "False":
            return tree.Const(site, False)
        if value == "None":
            return tree.Const(site, None)
        return tree.Name(site, value)

    def _attribute(self, node: cst.Attribute) -> tree.Expr:
        site = self.site(node)
        return tree.Attribute(site, self.expression(node.value), node.attr.value)

    def _call(self, node: cst.Call) -> tree.Expr:
        site = self.site(node)
        func = self.expression(node.func)
        return tree.Call(site, func, self.arguments(node.args))

    def arguments(self, args: Sequence[cst.Arg]) -> tuple[tree.Arg, ...]:
        lowered = []
        for arg in args:
            site = self.site(arg)
            keyword = arg.keyword.value if arg.keyword is not None else None
            lowered.append(tree.Arg(site, self.expression(arg.value), keyword, arg.star))
        return tuple(lowered)

    def _subscript(self, node: cst.Subscript) -> tree.Expr:
        site = self.site(node)
        value = self.expression(node.value)
        if not _is_tuple(node.slice):
            return tree.Subscript(site, value, self._subscript_part(node.slice[0].slice))
        # The tuple of the parts has no libcst node of its own: its site stands for the subscript.
        display = self.site(node)
        parts = tuple(self._subscript_part(element.slice) for element in node.slice)
        return tree.Subscript(site, value, tree.Display(display, "tuple", parts))

    def _subscript_part(self, node: cst.BaseSlice) -> tree.Expr:
        if isinstance(node, cst.Index):
            if node.star:
                return tree.Starred(self.site(node), self.expression(node.value))
            return self.expression(node.value)
        assert isinstance(node, cst.Slice)
        site = self.site(node)
        bounds = (node.lower, node.upper, node.step)
        return tree.Opaque(site, tuple(self.expression(bound) for bound in bounds if bound is not None))

    def _elements(self, elements: Sequence[cst.BaseElement]) -> tuple[tree.Expr, ...]:
        lowered: list[tree.Expr] = []
        for element in elements:
            if isinstance(element, cst.StarredElement):
                lowered.append(tree.Starred(self.site(element), self.expression(element.value)))
            else:
                lowered.append(self.expression(element.value))
        return tuple(lowered)

    def _tuple(self, node: cst.Tuple) -> tree.Expr:
        return tree.Display(self.site(node), "tuple", self._elements(node.elements))

    def _list(self, node: cst.List) -> tree.Expr:
        return tree.Display(self.site(node), "list", self._elements(node.elements))

    def _set(self, node: cst.Set) -> tree.Expr:
        return tree.Display(self.site(node), "set", self._elements(node.elements))

    def _dict(self, node: cst.Dict) -> tree.Expr:
        site = self.site(node)
        items: list[tuple[tree.Expr | None, tree.Expr]] = []
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                key = self.expression(element.key)
                items.append((key, self.expression(element.value)))
            else:
                items.append((None, self.expression(element.value)))
        return tree.DictDisplay(site, tuple(items))

    def _integer(self, node: cst.Integer) -> tree.Expr:
        site = self.site(node)
        try:
            return tree.Const(site, int(node.value, 0))
        except ValueError:  # more digits than int() converts
            return tree.Opaque(site, ())

    def _float(self, node: cst.Float) -> tree.Expr:
        return tree.Const(self.site(node), float(node.value))

    def _imaginary(self, node: cst.Imaginary) -> tree.Expr:
        return tree.Const(self.site(node), complex(node.value))

    def _ellipsis(self, node: cst.Ellipsis) -> tree.Expr:
        return tree.Const(self.site(node), ...)

    def _string(self, node: cst.SimpleString) -> tree.Expr:
        return tree.Const(self.site(node), _string_value(node.value))

    def _concatenated(self, node: cst.ConcatenatedString) -> tree.Expr:
        site = self.site(node)
        parts = _parts(node)
        if any(type(part) not in (cst.SimpleString, cst.FormattedString) for part in parts):
            return tree.Opaque(site, ())
        if any(isinstance(part, cst.FormattedString) for part in parts):
            values: list[tree.Expr] = []
            for part in parts:
                if isinstance(part, cst.FormattedString):
                    self._replacement_fields(part.parts, values)
            return tree.FormatString(site, tuple(values), _beginning(parts))
        texts = [_string_value(part.value) for part in parts if isinstance(part, cst.SimpleString)]
        joined = b"" if isinstance(texts[0], bytes) else ""
        return tree.Const(site, joined.join(texts))  # type: ignore[arg-type]  # the parser lets no mixture pass

    def _format_string(self, node: cst.FormattedString) -> tree.Expr:
        site = self.site(node)
        values: list[tree.Expr] = []
        self._replacement_fields(node.parts, values)
        return tree.FormatString(site, tuple(values), _beginning([node]))

    def _replacement_fields(self, parts: Sequence[cst.BaseFormattedStringContent], out: list[tree.Expr]) -> None:
        for part in parts:
            if isinstance(part, cst.FormattedStringExpression):
                out.append(self.expression(part.expression))
                if part.format_spec is not None:
                    self._replacement_fields(part.format_spec, out)

    def _unary(self, node: cst.UnaryOperation) -> tree.Expr:
        site = self.site(node)
        op = _UNARY[type(node.operator)]
        operand = self.expression(node.expression)
        if op == "-" and isinstance(operand, tree.Const) and isinstance(operand.value, (int, float)):
            return tree.Const(site, -operand.value)
        return tree.Unary(site, op, operand)

    def _binary(self, node: cst.BinaryOperation) -> tree.Expr:
        # A long sum nests to the left; its spine is walked in a loop, since recursion would end a 3,000-term one.
        spine: list[tuple[int, cst.BinaryOperation]] = []
        left: cst.CSTNode = node
        while isinstance(left, cst.BinaryOperation):
            spine.append((self.site(left), left))
            left = left.left
        value = self.expression(left)
        for site, operation in reversed(spine):
            op = ARITHMETIC[type(operation.operator).__name__]
            value = tree.Binary(site, op, value, self.expression(operation.right))
        return value

    def _boolean(self, node: cst.BooleanOperation) -> tree.Expr:
        spine: list[tuple[int, cst.BooleanOperation]] = []
        left: cst.CSTNode = node
        while isinstance(left, cst.BooleanOperation):
            spine.append((self.site(left), left))
            left = left.left
        value = self.expression(left)
        for site, operation in reversed(spine):
            op = "and" if isinstance(operation.operator, cst.And) else "or"
            value = tree.Boolean(site, op, value, self.expression(operation.right))
        return value

    def _comparison(self, node: cst.Comparison) -> tree.Expr:
        site = self.site(node)
        left = self.expression(node.left)
        ops = tuple(_COMPARISONS[type(target.operator)] for target in node.comparisons)
        return tree.Compare(site, left, ops, tuple(self.expression(target.comparator) for target in node.comparisons))

    def _lambda(self, node: cst.Lambda) -> tree.Expr:
        site = self.site(node)
        params = self.parameters(node.params)
        self.generator_marks.append(False)
        body = self.expression(node.body)
        self.generator_marks.pop()
        return tree.Lambda(site, params, body)

    def _comprehension(self, node: cst.BaseComp) -> tree.Expr:
        site = self.site(node)
        clauses = []
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            iterated = self.expression(clause.iter)
            target = self.expression(clause.target)
            conditions = tuple(self.expression(condition.test) for condition in clause.ifs)
            clauses.append(tree.Clause(target, iterated, conditions))
            clause = clause.inner_for_in
        if isinstance(node, cst.DictComp):
            key = self.expression(node.key)
            return tree.Comprehension(site, "dict", key, self.expression(node.value), tuple(clauses))
        assert isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp))
        kind = {cst.ListComp: "list", cst.SetComp: "set", cst.GeneratorExp: "generator"}[type(node)]
        return tree.Comprehension(site, kind, None, self.expression(node.elt), tuple(clauses))

    def _await(self, node: cst.Await) -> tree.Expr:
        return tree.Await(self.site(node), self.expression(node.expression))

    def _yield(self, node: cst.Yield) -> tree.Expr:
        site = self.site(node)
        self.generator_marks[-1] = True
        if node.value is None:
            return tree.Yield(site, None, False)
        if isinstance(node.value, cst.From):
            return tree.Yield(site, self.expression(node.value.item), True)
        return tree.Yield(site, self.expression(node.value), False)

    # --- parameters -------------------------------------------------------------------------------------------

    def parameters(self, node: cst.Parameters) -> tuple[tree.Param, ...]:
        params: list[tree.Param] = []
        for param in (*node.posonly_params, *node.params):
            params.append(self._parameter(param, "positional"))
        if isinstance(node.star_arg, cst.Param):
            params.append(self._parameter(node.star_arg, "star"))
        for param in node.kwonly_params:
            params.append(self._parameter(param, "keyword"))
        if node.star_kwarg is not None:
            params.append(self._parameter(node.star_kwarg, "double-star"))
        return tuple(params)

    def _parameter(self, node: cst.Param, kind: str) -> tree.Param:
        site = self.site(node)
        default = self.expression(node.default) if node.default is not None else None
        annotation = self.expression(node.annotation.annotation) if node.annotation is not None else None
        return tree.Param(site, node.name.value, kind, default, annotation)


def _is_tuple(elements: Sequence[cst.SubscriptElement]) -> bool:
    """Whether what stands in the brackets of a subscript is a tuple: `a[1, 2]`, `a[1,]` or `a[*b]`."""
    only = elements[0]
    return len(elements) > 1 or isinstance(only.comma, cst.Comma) or bool(getattr(only.slice, "star", None))


def is_plain_text(node: cst.CSTNode) -> bool:
    """Whether an expression is a text literal, of one or several parts, with nothing to compute in it."""
    return isinstance(node, cst.SimpleString) or (
        isinstance(node, cst.ConcatenatedString) and all(isinstance(part, cst.SimpleString) for part in _parts(node))
    )


def _parts(node: cst.ConcatenatedString) -> list[cst.BaseString]:
    """The parts of a text. They nest to the right, as many as there are lines in a long one: walked in a loop."""
    parts: list[cst.BaseString] = []
    rest: cst.BaseString = node
    while isinstance(rest, cst.ConcatenatedString):
        parts.append(rest.left)
        rest = rest.right
    return [*parts, rest]


def _beginning(parts: Sequence[cst.BaseString]) -> str:
    """The text before the first replacement field of an f-string, where it may begin a name."""
    texts: list[str | bytes] = []
    for part in parts:
        if isinstance(part, cst.SimpleString):
            texts.append(_string_value(part.value))
            continue
        assert isinstance(part, cst.FormattedString)
        opening = "".join(letter for letter in part.start if letter not in "fF")
        for piece in part.parts:
            if isinstance(piece, cst.FormattedStringText):
                texts.append(_string_value(f"{opening}{piece.value}{part.end}"))
            else:
                is_shown = isinstance(piece, cst.FormattedStringExpression) and piece.equal is not None
                return "" if is_shown else name_beginning("".join(map(str, texts)))
    return ""


def _string_value(literal: str) -> str | bytes:
    """The value of a string literal; the text between the quotes where it cannot be evaluated."""
    quote = literal[0]
    if quote in "'\"" and "\\" not in literal:
        width = 3 if literal.startswith(quote * 3) and len(literal) >= 6 else 1
        return literal[width:-width].replace("\r\n", "\n").replace("\r", "\n")
    try:
        with without_warnings():
            value = ast.literal_eval(literal)
    except (SyntaxError, ValueError):
        return literal
    return value if isinstance(value, (str, bytes)) else literal


_Lower = Callable[[ExpressionLowering, Any], tree.Expr]

_EXPRESSIONS: dict[type[cst.CSTNode], _Lower] = {
    cst.Name: ExpressionLowering._name,
    cst.Attribute: ExpressionLowering._attribute,
    cst.Call: ExpressionLowering._call,
    cst.Subscript: ExpressionLowering._subscript,
    cst.Tuple: ExpressionLowering._tuple,
    cst.List: ExpressionLowering._list,
    cst.Set: ExpressionLowering._set,
    cst.Dict: ExpressionLowering._dict,
    cst.Integer: ExpressionLowering._integer,
    cst.Float: ExpressionLowering._float,
    cst.Imaginary: ExpressionLowering._imaginary,
    cst.Ellipsis: ExpressionLowering._ellipsis,
    cst.SimpleString: ExpressionLowering._string,
    cst.ConcatenatedString: ExpressionLowering._concatenated,
    cst.FormattedString: ExpressionLowering._format_string,
    cst.UnaryOperation: ExpressionLowering._unary,
    cst.BinaryOperation: ExpressionLowering._binary,
    cst.BooleanOperation: ExpressionLowering._boolean,
    cst.Comparison: ExpressionLowering._comparison,
    cst.IfExp: ExpressionLowering._conditional,
    cst.Lambda: ExpressionLowering._lambda,
    cst.ListComp: ExpressionLowering._comprehension,
    cst.SetComp: ExpressionLowering._comprehension,
    cst.DictComp: ExpressionLowering._comprehension,
    cst.GeneratorExp: ExpressionLowering._comprehension,
    cst.Await: ExpressionLowering._await,
    cst.Yield: ExpressionLowering._yield,
    cst.NamedExpr: ExpressionLowering._walrus,
    cst.StarredElement: ExpressionLowering._starred,
}

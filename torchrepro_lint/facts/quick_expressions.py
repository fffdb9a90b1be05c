"""`ast` -> `tree`, for expressions. See `quick_lower.py` for the walk."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torchrepro_lint.dotted import name_beginning
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.alike_expressions import AlikeExpressions

__all__ = ["ARITHMETIC", "QuickExpressions"]

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.MatMult: "@",
}  # fmt: skip
#: The numbers from 0 on, each once for all files: a number of its own for each node is a fifth of what facts take.
_SITES: list[int] = []
_GROWTH = threading.Lock()  # a number at another's place would be another node's
_UNARY: dict[type[ast.unaryop], str] = {ast.Not: "not", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}


class QuickExpressions(AlikeExpressions):
    """The walk over expressions; it hands out the sites in the order in which `ExpressionLowering` does."""

    def __init__(self) -> None:
        self.count = 0
        self.generator_marks: list[bool] = [False]

    def site(self, node: ast.AST) -> int:
        """The next site, which is that of `node`."""
        number = self.count
        self.count = number + 1
        try:
            return _SITES[number]
        except IndexError:
            with _GROWTH:
                _SITES.extend(range(len(_SITES), number + 1_000))
            return _SITES[number]

    def expression(self, node: ast.AST) -> tree.Expr:
        lower = _EXPRESSIONS.get(type(node))
        if lower is None:
            return tree.Opaque(self.site(node), ())
        return lower(self, node)

    def expressions(self, nodes: Sequence[ast.AST]) -> tuple[tree.Expr, ...]:
        return tuple([self.expression(node) for node in nodes])

    def optional(self, node: ast.AST | None) -> tree.Expr | None:
        return None if node is None else self.expression(node)

    def _constant(self, node: ast.Constant) -> tree.Expr:
        return tree.Const(self.site(node), node.value)

    def _name(self, node: ast.Name) -> tree.Expr:
        return tree.Name(self.site(node), node.id)

    def _attribute(self, node: ast.Attribute) -> tree.Expr:
        return tree.Attribute(self.site(node), self.expression(node.value), node.attr)

    def _call(self, node: ast.Call) -> tree.Expr:
        site = self.site(node)
        func = self.expression(node.func)
        return tree.Call(site, func, self.arguments(_in_order(node.args, node.keywords)))

    def arguments(self, args: Sequence[ast.expr | ast.keyword]) -> tuple[tree.Arg, ...]:
        lowered = []
        for arg in args:
            site = self.site(arg)
            if isinstance(arg, ast.keyword):
                star = "**" if arg.arg is None else ""
                lowered.append(tree.Arg(site, self.expression(arg.value), arg.arg, star))
            elif isinstance(arg, ast.Starred):
                lowered.append(tree.Arg(site, self.expression(arg.value), None, "*"))
            else:
                lowered.append(tree.Arg(site, self.expression(arg)))
        return tuple(lowered)

    def _subscript(self, node: ast.Subscript) -> tree.Expr:
        return tree.Subscript(self.site(node), self.expression(node.value), self.expression(node.slice))

    def _slice(self, node: ast.Slice) -> tree.Expr:
        site = self.site(node)
        bounds = (node.lower, node.upper, node.step)
        return tree.Opaque(site, tuple([self.expression(bound) for bound in bounds if bound is not None]))

    def _tuple(self, node: ast.Tuple) -> tree.Expr:
        return tree.Display(self.site(node), "tuple", self.expressions(node.elts))

    def _list(self, node: ast.List) -> tree.Expr:
        return tree.Display(self.site(node), "list", self.expressions(node.elts))

    def _set(self, node: ast.Set) -> tree.Expr:
        return tree.Display(self.site(node), "set", self.expressions(node.elts))

    def _dict(self, node: ast.Dict) -> tree.Expr:
        site = self.site(node)
        pairs = zip(node.keys, node.values, strict=True)
        return tree.DictDisplay(site, tuple([(self.optional(key), self.expression(value)) for key, value in pairs]))

    def _format_string(self, node: ast.JoinedStr) -> tree.Expr:
        site = self.site(node)
        values = tuple([self.expression(value) for value in _replacement_fields(node)])
        first = node.values[0] if len(node.values) > 1 else None
        beginning = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        return tree.FormatString(site, values, name_beginning(beginning))

    def _unary(self, node: ast.UnaryOp) -> tree.Expr:
        site = self.site(node)
        op = _UNARY[type(node.op)]
        operand = self.expression(node.operand)
        if op == "-" and isinstance(operand, tree.Const) and isinstance(operand.value, (int, float)):
            return tree.Const(site, -operand.value)
        return tree.Unary(site, op, operand)

    def _binary(self, node: ast.BinOp) -> tree.Expr:
        # A long sum nests to the left; its spine is walked in a loop, since recursion would end a 3,000-term one.
        spine: list[tuple[int, ast.BinOp]] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            spine.append((self.site(left), left))
            left = left.left
        value = self.expression(left)
        for site, operation in reversed(spine):
            value = tree.Binary(site, ARITHMETIC[type(operation.op)], value, self.expression(operation.right))
        return value

    def _boolean(self, node: ast.BoolOp) -> tree.Expr:
        # `a and b and c` is one node here, and two that nest to the left in the text.
        op = "and" if isinstance(node.op, ast.And) else "or"
        first, *others = node.values
        sites = [self.site(node) for _ in others]
        value = self.expression(first)
        for site, other in zip(reversed(sites), others, strict=True):
            value = tree.Boolean(site, op, value, self.expression(other))
        return value

    def _comparison(self, node: ast.Compare) -> tree.Expr:
        site = self.site(node)
        left = self.expression(node.left)
        ops = tuple([_COMPARISONS[type(op)] for op in node.ops])
        return tree.Compare(site, left, ops, self.expressions(node.comparators))

    def _lambda(self, node: ast.Lambda) -> tree.Expr:
        site = self.site(node)
        params = self.parameters(node.args)
        self.generator_marks.append(False)
        body = self.expression(node.body)
        self.generator_marks.pop()
        return tree.Lambda(site, params, body)

    def _clauses(self, generators: Sequence[ast.comprehension]) -> tuple[tree.Clause, ...]:
        clauses = []
        for clause in generators:
            iterated = self.expression(clause.iter)
            target = self.expression(clause.target)
            clauses.append(tree.Clause(target, iterated, self.expressions(clause.ifs)))
        return tuple(clauses)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> tree.Expr:
        site = self.site(node)
        clauses = self._clauses(node.generators)
        kind = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "generator"}[type(node)]
        return tree.Comprehension(site, kind, None, self.expression(node.elt), clauses)

    def _dict_comprehension(self, node: ast.DictComp) -> tree.Expr:
        site = self.site(node)
        clauses = self._clauses(node.generators)
        key = self.expression(node.key)
        return tree.Comprehension(site, "dict", key, self.expression(node.value), clauses)

    def _await(self, node: ast.Await) -> tree.Expr:
        return tree.Await(self.site(node), self.expression(node.value))

    def _yield(self, node: ast.Yield) -> tree.Expr:
        site = self.site(node)
        self.generator_marks[-1] = True
        return tree.Yield(site, self.optional(node.value), False)

    def _yield_from(self, node: ast.YieldFrom) -> tree.Expr:
        site = self.site(node)
        self.generator_marks[-1] = True
        return tree.Yield(site, self.expression(node.value), True)

    # --- parameters -------------------------------------------------------------------------------------------

    def parameters(self, node: ast.arguments) -> tuple[tree.Param, ...]:
        params: list[tree.Param] = []
        positional = [*node.posonlyargs, *node.args]
        without = len(positional) - len(node.defaults)
        for index, param in enumerate(positional):
            default = node.defaults[index - without] if index >= without else None
            params.append(self._parameter(param, "positional", default))
        if node.vararg is not None:
            params.append(self._parameter(node.vararg, "star", None))
        for param, keyword_default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            params.append(self._parameter(param, "keyword", keyword_default))
        if node.kwarg is not None:
            params.append(self._parameter(node.kwarg, "double-star", None))
        return tuple(params)

    def _parameter(self, node: ast.arg, kind: str, default: ast.expr | None) -> tree.Param:
        site = self.site(node)
        value = self.optional(default)
        return tree.Param(site, node.arg, kind, value, self.optional(node.annotation))


def _in_order(args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Sequence[ast.expr | ast.keyword]:
    """The arguments as they are written: `*rest` may be after keywords, everything else that has none may not."""
    if not keywords or not any(isinstance(arg, ast.Starred) for arg in args):
        return [*args, *keywords]
    return sorted([*args, *keywords], key=lambda arg: (arg.lineno, arg.col_offset))


def _replacement_fields(node: ast.JoinedStr) -> Iterator[ast.expr]:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            yield part.value
            if isinstance(part.format_spec, ast.JoinedStr):
                yield from _replacement_fields(part.format_spec)


_Lower = Callable[[QuickExpressions, Any], tree.Expr]

_EXPRESSIONS: dict[type[ast.AST], _Lower] = {
    ast.Constant: QuickExpressions._constant,
    ast.Name: QuickExpressions._name,
    ast.Attribute: QuickExpressions._attribute,
    ast.Call: QuickExpressions._call,
    ast.Subscript: QuickExpressions._subscript,
    ast.Slice: QuickExpressions._slice,
    ast.Tuple: QuickExpressions._tuple,
    ast.List: QuickExpressions._list,
    ast.Set: QuickExpressions._set,
    ast.Dict: QuickExpressions._dict,
    ast.JoinedStr: QuickExpressions._format_string,
    ast.UnaryOp: QuickExpressions._unary,
    ast.BinOp: QuickExpressions._binary,
    ast.BoolOp: QuickExpressions._boolean,
    ast.Compare: QuickExpressions._comparison,
    ast.IfExp: QuickExpressions._conditional,
    ast.Lambda: QuickExpressions._lambda,
    ast.ListComp: QuickExpressions._comprehension,
    ast.SetComp: QuickExpressions._comprehension,
    ast.GeneratorExp: QuickExpressions._comprehension,
    ast.DictComp: QuickExpressions._dict_comprehension,
    ast.Await: QuickExpressions._await,
    ast.Yield: QuickExpressions._yield,
    ast.YieldFrom: QuickExpressions._yield_from,
    ast.NamedExpr: QuickExpressions._walrus,
    ast.Starred: QuickExpressions._starred,
}

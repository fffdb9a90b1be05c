"""libcst -> `tree`: the one walk over a file's syntax.

The walk looks only at the fields that carry meaning, numbers the nodes it meets (their sites), and never looks at
white space. Header expressions of a compound statement are visited before its body, so that sites grow in the order in
which the text is read: `scopes.py` relies on that.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from torchrepro_lint.facts import tree

__all__ = ["Lowering", "lower_module"]

_COMPARISONS: dict[type[cst.BaseCompOp], str] = {
    cst.Equal: "==", cst.NotEqual: "!=", cst.LessThan: "<", cst.LessThanEqual: "<=", cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=", cst.In: "in", cst.NotIn: "not in", cst.Is: "is", cst.IsNot: "is not",
}  # fmt: skip
_ARITHMETIC: dict[str, str] = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%", "Power": "**",
    "LeftShift": "<<", "RightShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "MatrixMultiply": "@",
}  # fmt: skip
_UNARY: dict[type[cst.BaseUnaryOp], str] = {cst.Not: "not", cst.Minus: "-", cst.Plus: "+", cst.BitInvert: "~"}


class Lowering:
    """One walk. With `keep_nodes`, `nodes[site]` is afterwards the libcst node of that site."""

    def __init__(self, *, keep_nodes: bool = False) -> None:
        self.count = 0
        self.nodes: list[cst.CSTNode] | None = [] if keep_nodes else None
        self._generator_marks: list[bool] = [False]

    def site(self, node: cst.CSTNode) -> int:
        number = self.count
        self.count = number + 1
        if self.nodes is not None:
            self.nodes.append(node)
        return number

    # --- expressions ------------------------------------------------------------------------------------------

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
        parts = [self._subscript_part(element.slice) for element in node.slice]
        index = parts[0] if len(parts) == 1 else tree.Display(site, "tuple", tuple(parts))
        return tree.Subscript(site, value, index)

    def _subscript_part(self, node: cst.BaseSlice) -> tree.Expr:
        if isinstance(node, cst.Index):
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
        return tree.Opaque(self.site(node), ())

    def _ellipsis(self, node: cst.Ellipsis) -> tree.Expr:
        return tree.Const(self.site(node), ...)

    def _string(self, node: cst.SimpleString) -> tree.Expr:
        return tree.Const(self.site(node), _string_value(node.value))

    def _concatenated(self, node: cst.ConcatenatedString) -> tree.Expr:
        site = self.site(node)
        left = self.expression(node.left)
        right = self.expression(node.right)
        match left, right:
            case tree.Const(value=str() as a), tree.Const(value=str() as b):
                return tree.Const(site, a + b)
            case tree.Const(value=bytes() as a), tree.Const(value=bytes() as b):
                return tree.Const(site, a + b)
        return tree.FormatString(site, (left, right))

    def _format_string(self, node: cst.FormattedString) -> tree.Expr:
        site = self.site(node)
        values = []
        for part in node.parts:
            if isinstance(part, cst.FormattedStringExpression):
                values.append(self.expression(part.expression))
        return tree.FormatString(site, tuple(values))

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
            op = _ARITHMETIC[type(operation.operator).__name__]
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

    def _conditional(self, node: cst.IfExp) -> tree.Expr:
        site = self.site(node)
        test = self.expression(node.test)
        body = self.expression(node.body)
        return tree.Conditional(site, test, body, self.expression(node.orelse))

    def _lambda(self, node: cst.Lambda) -> tree.Expr:
        site = self.site(node)
        params = self.parameters(node.params)
        self._generator_marks.append(False)
        body = self.expression(node.body)
        self._generator_marks.pop()
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
        self._generator_marks[-1] = True
        if node.value is None:
            return tree.Yield(site, None, False)
        if isinstance(node.value, cst.From):
            return tree.Yield(site, self.expression(node.value.item), True)
        return tree.Yield(site, self.expression(node.value), False)

    def _walrus(self, node: cst.NamedExpr) -> tree.Expr:
        site = self.site(node)
        value = self.expression(node.value)
        return tree.Walrus(site, self.expression(node.target), value)

    def _starred(self, node: cst.StarredElement) -> tree.Expr:
        return tree.Starred(self.site(node), self.expression(node.value))

    # --- statements -------------------------------------------------------------------------------------------

    def block(self, node: cst.BaseSuite) -> tree.Block:
        statements: list[tree.Stmt] = []
        if isinstance(node, cst.IndentedBlock):
            for statement in node.body:
                self.statement(statement, statements)
        elif isinstance(node, cst.SimpleStatementSuite):
            for small in node.body:
                self.small_statement(small, statements)
        return tuple(statements)

    def statement(self, node: cst.CSTNode, out: list[tree.Stmt]) -> None:
        if isinstance(node, cst.SimpleStatementLine):
            for small in node.body:
                self.small_statement(small, out)
            return
        lower = _COMPOUND.get(type(node))
        if lower is not None:
            out.append(lower(self, node))

    def small_statement(self, node: cst.BaseSmallStatement, out: list[tree.Stmt]) -> None:
        match node:
            case cst.Expr(value=value):
                if isinstance(value, (cst.SimpleString, cst.ConcatenatedString)):
                    return  # a docstring, or text that does nothing
                site = self.site(node)
                out.append(tree.ExprStmt(site, self.expression(value)))
            case cst.Assign(targets=targets, value=value):
                site = self.site(node)
                lowered = self.expression(value)
                out.append(tree.Assign(site, tuple(self.expression(target.target) for target in targets), lowered))
            case cst.AnnAssign():
                site = self.site(node)
                lowered_value = self.expression(node.value) if node.value is not None else None
                target = self.expression(node.target)
                annotation = self.expression(node.annotation.annotation)
                out.append(tree.Assign(site, (target,), lowered_value, annotation))
            case cst.AugAssign():
                site = self.site(node)
                op = _ARITHMETIC[type(node.operator).__name__.removesuffix("Assign")]
                lowered = self.expression(node.value)
                out.append(tree.AugAssign(site, self.expression(node.target), op, lowered))
            case cst.Return(value=returned):
                site = self.site(node)
                out.append(tree.Return(site, self.expression(returned) if returned is not None else None))
            case cst.Raise(exc=raised):
                site = self.site(node)
                out.append(tree.Raise(site, self.expression(raised) if raised is not None else None))
            case cst.Assert(test=test):
                site = self.site(node)
                out.append(tree.Assert(site, self.expression(test)))
            case cst.Del(target=deleted):
                site = self.site(node)
                lowered = self.expression(deleted)
                targets_deleted = lowered.items if isinstance(lowered, tree.Display) else (lowered,)
                out.append(tree.Delete(site, targets_deleted))
            case cst.Break():
                out.append(tree.Jump(self.site(node), "break"))
            case cst.Continue():
                out.append(tree.Jump(self.site(node), "continue"))
            case cst.Global(names=items):
                out.append(tree.ScopeDeclaration(self.site(node), "global", tuple(i.name.value for i in items)))
            case cst.Nonlocal(names=items):
                out.append(tree.ScopeDeclaration(self.site(node), "nonlocal", tuple(i.name.value for i in items)))
            case cst.Import(names=aliases):
                for alias in aliases:
                    out.append(tree.Import(self.site(alias), _dotted(alias.name), _alias(alias)))
            case cst.ImportFrom():
                site = self.site(node)
                names: tuple[tuple[str, str | None], ...]
                if isinstance(node.names, cst.ImportStar):
                    names = (("*", None),)
                else:
                    names = tuple((_dotted(alias.name), _alias(alias)) for alias in node.names)
                module = _dotted(node.module) if node.module is not None else ""
                out.append(tree.ImportFrom(site, module, len(node.relative), names))

    def _if(self, node: cst.If) -> tree.Stmt:
        site = self.site(node)
        test = self.expression(node.test)
        body = self.block(node.body)
        orelse: tree.Block = ()
        if isinstance(node.orelse, cst.If):
            orelse = (self._if(node.orelse),)
        elif node.orelse is not None:
            orelse = self.block(node.orelse.body)
        return tree.If(site, test, body, orelse)

    def _for(self, node: cst.For) -> tree.Stmt:
        site = self.site(node)
        iterated = self.expression(node.iter)
        target = self.expression(node.target)
        body = self.block(node.body)
        orelse = self.block(node.orelse.body) if node.orelse is not None else ()
        return tree.For(site, target, iterated, body, orelse)

    def _while(self, node: cst.While) -> tree.Stmt:
        site = self.site(node)
        test = self.expression(node.test)
        body = self.block(node.body)
        orelse = self.block(node.orelse.body) if node.orelse is not None else ()
        return tree.While(site, test, body, orelse)

    def _with(self, node: cst.With) -> tree.Stmt:
        site = self.site(node)
        items = []
        for item in node.items:
            context = self.expression(item.item)
            items.append((context, self.expression(item.asname.name) if item.asname is not None else None))
        return tree.With(site, tuple(items), self.block(node.body))

    def _try(self, node: cst.Try | cst.TryStar) -> tree.Stmt:
        site = self.site(node)
        body = self.block(node.body)
        handlers = []
        for handler in node.handlers:
            handler_site = self.site(handler)
            kind = self.expression(handler.type) if handler.type is not None else None
            name = None
            if handler.name is not None and isinstance(handler.name.name, cst.Name):
                name = handler.name.name.value
            handlers.append(tree.Handler(handler_site, kind, name, self.block(handler.body)))
        orelse = self.block(node.orelse.body) if node.orelse is not None else ()
        final = self.block(node.finalbody.body) if node.finalbody is not None else ()
        return tree.Try(site, body, tuple(handlers), orelse, final)

    def _match(self, node: cst.Match) -> tree.Stmt:
        site = self.site(node)
        subject = self.expression(node.subject)
        cases = []
        for case in node.cases:
            captures: list[str] = []
            literals = self._pattern(case.pattern, captures)
            guard = self.expression(case.guard) if case.guard is not None else None
            cases.append(tree.Case(literals, tuple(captures), guard, self.block(case.body)))
        return tree.Match(site, subject, tuple(cases))

    def _pattern(self, node: cst.MatchPattern, captures: list[str]) -> tuple[tree.Expr, ...] | None:
        match node:
            case cst.MatchValue(value=value) | cst.MatchSingleton(value=value):
                return (self.expression(value),)
            case cst.MatchOr(patterns=elements):
                parts = [self._pattern(element.pattern, captures) for element in elements]
                return None if any(part is None for part in parts) else tuple(e for part in parts for e in part or ())
            case cst.MatchAs(pattern=inner, name=name):
                if name is not None:
                    captures.append(name.value)
                return () if inner is None else self._pattern(inner, captures)
        if isinstance(node, cst.MatchMapping) and node.rest is not None:
            captures.append(node.rest.value)
        for child in node.children:
            if isinstance(child, cst.MatchPattern):
                self._pattern(child, captures)
            elif isinstance(child, cst.MatchSequenceElement):
                self._pattern(child.value, captures)
            elif isinstance(child, (cst.MatchMappingElement, cst.MatchKeywordElement)):
                self._pattern(child.pattern, captures)
            elif isinstance(child, cst.MatchStar) and child.name is not None:
                captures.append(child.name.value)
        return None

    def _function(self, node: cst.FunctionDef) -> tree.Stmt:
        site = self.site(node)
        decorators = tuple(self.expression(decorator.decorator) for decorator in node.decorators)
        params = self.parameters(node.params)
        returns = self.expression(node.returns.annotation) if node.returns is not None else None
        self._generator_marks.append(False)
        body = self.block(node.body)
        is_generator = self._generator_marks.pop()
        is_async = node.asynchronous is not None
        return tree.FunctionDef(
            site, node.name.value, params, decorators, returns, body, is_async, is_generator
        )  # fmt: skip

    def _class(self, node: cst.ClassDef) -> tree.Stmt:
        site = self.site(node)
        decorators = tuple(self.expression(decorator.decorator) for decorator in node.decorators)
        bases = self.arguments((*node.bases, *node.keywords))
        return tree.ClassDef(site, node.name.value, bases, decorators, self.block(node.body))

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


def _dotted(node: cst.CSTNode) -> str:
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if isinstance(node, cst.Name):
        parts.append(node.value)
    return ".".join(reversed(parts))


def _alias(node: cst.ImportAlias) -> str | None:
    if node.asname is not None and isinstance(node.asname.name, cst.Name):
        return node.asname.name.value
    return None


def _string_value(literal: str) -> str | bytes:
    """The value of a string literal; the text between the quotes where it cannot be evaluated."""
    quote = literal[0]
    if quote in "'\"" and "\\" not in literal:
        width = 3 if literal.startswith(quote * 3) and len(literal) >= 6 else 1
        return literal[width:-width]
    try:
        value = ast.literal_eval(literal)
    except (SyntaxError, ValueError):
        return literal
    return value if isinstance(value, (str, bytes)) else literal


_Lower = Callable[[Lowering, Any], Any]

_EXPRESSIONS: dict[type[cst.CSTNode], _Lower] = {
    cst.Name: Lowering._name,
    cst.Attribute: Lowering._attribute,
    cst.Call: Lowering._call,
    cst.Subscript: Lowering._subscript,
    cst.Tuple: Lowering._tuple,
    cst.List: Lowering._list,
    cst.Set: Lowering._set,
    cst.Dict: Lowering._dict,
    cst.Integer: Lowering._integer,
    cst.Float: Lowering._float,
    cst.Imaginary: Lowering._imaginary,
    cst.Ellipsis: Lowering._ellipsis,
    cst.SimpleString: Lowering._string,
    cst.ConcatenatedString: Lowering._concatenated,
    cst.FormattedString: Lowering._format_string,
    cst.UnaryOperation: Lowering._unary,
    cst.BinaryOperation: Lowering._binary,
    cst.BooleanOperation: Lowering._boolean,
    cst.Comparison: Lowering._comparison,
    cst.IfExp: Lowering._conditional,
    cst.Lambda: Lowering._lambda,
    cst.ListComp: Lowering._comprehension,
    cst.SetComp: Lowering._comprehension,
    cst.DictComp: Lowering._comprehension,
    cst.GeneratorExp: Lowering._comprehension,
    cst.Await: Lowering._await,
    cst.Yield: Lowering._yield,
    cst.NamedExpr: Lowering._walrus,
    cst.StarredElement: Lowering._starred,
}

_COMPOUND: dict[type[cst.CSTNode], _Lower] = {
    cst.If: Lowering._if,
    cst.For: Lowering._for,
    cst.While: Lowering._while,
    cst.With: Lowering._with,
    cst.Try: Lowering._try,
    cst.TryStar: Lowering._try,
    cst.Match: Lowering._match,
    cst.FunctionDef: Lowering._function,
    cst.ClassDef: Lowering._class,
}


def lower_module(module: cst.Module, *, keep_nodes: bool = False) -> tuple[tree.Block, list[cst.CSTNode] | None]:
    """The statements of `module` and, with `keep_nodes`, the libcst node of each site.

    Raises RecursionError for a tree that is nested too deeply.
    """
    lowering = Lowering(keep_nodes=keep_nodes)
    statements: list[tree.Stmt] = []
    for statement in module.body:
        lowering.statement(statement, statements)
    return tuple(statements), lowering.nodes

"""`ast` -> `tree`: the walk of `lower.py` over the tree of Python's own parser.

Python parses some ten times as fast as libcst, which builds a node for every blank. Facts need no blanks, so they are
made from this tree where Python can parse the text; libcst is asked for the newer syntax that this Python does not
know, and for what is fixed. Both walks give the same nodes with the same sites:
the tests compare them over the standard library and over random programs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torchrepro_lint.facts import capture_steps, tree
from torchrepro_lint.facts.quick_expressions import ARITHMETIC, QuickExpressions
from torchrepro_lint.quiet import without_warnings

__all__ = ["QuickLowering", "quick_module", "quick_parse"]


class QuickLowering(QuickExpressions):
    """The whole walk: blocks, statements and patterns."""

    def block(self, nodes: Sequence[ast.stmt]) -> tree.Block:
        out: list[tree.Stmt] = []
        for node in nodes:
            lower = _STATEMENTS.get(type(node))
            if lower is not None:
                statement = lower(self, node)
                if statement is not None:
                    out.append(statement)
            elif isinstance(node, ast.Import):
                out.extend([tree.Import(self.site(alias), alias.name, alias.asname) for alias in node.names])
        return tuple(out)

    def _expression_statement(self, node: ast.Expr) -> tree.Stmt | None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, (str, bytes)):
            return None  # a docstring, or text that does nothing
        return tree.ExprStmt(self.site(node), self.expression(node.value))

    def _assign(self, node: ast.Assign) -> tree.Stmt:
        site = self.site(node)
        value = self.expression(node.value)
        return tree.Assign(site, self.expressions(node.targets), value)

    def _annotated(self, node: ast.AnnAssign) -> tree.Stmt:
        site = self.site(node)
        value = self.optional(node.value)
        target = self.expression(node.target)
        return tree.Assign(site, (target,), value, self.expression(node.annotation))

    def _augmented(self, node: ast.AugAssign) -> tree.Stmt:
        site = self.site(node)
        value = self.expression(node.value)
        return tree.AugAssign(site, self.expression(node.target), ARITHMETIC[type(node.op)], value)

    def _return(self, node: ast.Return) -> tree.Stmt:
        return tree.Return(self.site(node), self.optional(node.value))

    def _raise(self, node: ast.Raise) -> tree.Stmt:
        site = self.site(node)
        error = self.optional(node.exc)
        return tree.Raise(site, error, self.optional(node.cause))

    def _assert(self, node: ast.Assert) -> tree.Stmt:
        site = self.site(node)
        test = self.expression(node.test)
        return tree.Assert(site, test, self.optional(node.msg))

    def _delete(self, node: ast.Delete) -> tree.Stmt:
        site = self.site(node)
        return tree.Delete(site, self.expressions(list(_leaves(node.targets))))

    def _break(self, node: ast.Break) -> tree.Stmt:
        return tree.Jump(self.site(node), "break")

    def _continue(self, node: ast.Continue) -> tree.Stmt:
        return tree.Jump(self.site(node), "continue")

    def _global(self, node: ast.Global) -> tree.Stmt:
        return tree.ScopeDeclaration(self.site(node), "global", tuple(node.names))

    def _nonlocal(self, node: ast.Nonlocal) -> tree.Stmt:
        return tree.ScopeDeclaration(self.site(node), "nonlocal", tuple(node.names))

    def _type_alias(self, node: Any) -> tree.Stmt:  # ast.TypeAlias, from Python 3.12 on
        site = self.site(node)
        return tree.Assign(site, (self.expression(node.name),), tree.Opaque(self.site(node.value), ()))

    def _import_from(self, node: ast.ImportFrom) -> tree.Stmt:
        names = tuple([(alias.name, alias.asname) for alias in node.names])
        return tree.ImportFrom(self.site(node), node.module or "", node.level, names)

    def _if(self, node: ast.If) -> tree.Stmt:
        # Each `elif` nests one deeper: walked in a loop, and put together from the last one.
        heads: list[tuple[int, tree.Expr, tree.Block]] = []
        current = node
        while True:
            site = self.site(current)
            test = self.expression(current.test)
            heads.append((site, test, self.block(current.body)))
            if len(current.orelse) != 1 or not isinstance(current.orelse[0], ast.If):
                break
            current = current.orelse[0]
        orelse = self.block(current.orelse)
        for site, test, body in reversed(heads[1:]):
            orelse = (tree.If(site, test, body, orelse),)
        site, test, body = heads[0]
        return tree.If(site, test, body, orelse)

    def _for(self, node: ast.For | ast.AsyncFor) -> tree.Stmt:
        site = self.site(node)
        iterated = self.expression(node.iter)
        target = self.expression(node.target)
        body = self.block(node.body)
        return tree.For(site, target, iterated, body, self.block(node.orelse))

    def _while(self, node: ast.While) -> tree.Stmt:
        site = self.site(node)
        test = self.expression(node.test)
        body = self.block(node.body)
        return tree.While(site, test, body, self.block(node.orelse))

    def _with(self, node: ast.With | ast.AsyncWith) -> tree.Stmt:
        site = self.site(node)
        items = [(self.expression(item.context_expr), self.optional(item.optional_vars)) for item in node.items]
        return tree.With(site, tuple(items), self.block(node.body))

    def _try(self, node: Any) -> tree.Stmt:  # ast.Try, or ast.TryStar from Python 3.11 on
        site = self.site(node)
        body = self.block(node.body)
        handlers = []
        for handler in node.handlers:
            handler_site = self.site(handler)
            kind = self.optional(handler.type)
            handlers.append(tree.Handler(handler_site, kind, handler.name, self.block(handler.body)))
        orelse = self.block(node.orelse)
        return tree.Try(site, body, tuple(handlers), orelse, self.block(node.finalbody))

    def _match(self, node: ast.Match) -> tree.Stmt:
        site = self.site(node)
        subject = self.expression(node.subject)
        cases = []
        for case in node.cases:
            captures: list[tree.Capture] = []
            literals = self._pattern(case.pattern, captures, ())
            guard = self.optional(case.guard)
            cases.append(tree.Case(literals, tuple(captures), guard, self.block(case.body)))
        return tree.Match(site, subject, tuple(cases))

    def _pattern(
        self, node: ast.pattern, captures: list[tree.Capture], steps: tuple[tree.Step, ...] | None
    ) -> tuple[tree.Expr, ...] | None:
        match node:
            case ast.MatchValue(value=value):
                return (self.expression(value),)
            case ast.MatchSingleton(value=constant):
                return (tree.Const(self.site(node), constant),)
            case ast.MatchOr(patterns=patterns):
                # Each alternative may have bound the name.
                parts = [self._pattern(pattern, captures, None) for pattern in patterns]
                if () in parts:  # `case 1 | _` takes everything
                    return ()
                return None if None in parts else tuple(literal for part in parts for literal in part or ())
            case ast.MatchAs(pattern=inner, name=name):
                if name is not None:
                    captures.append(tree.Capture(name, steps))
                return () if inner is None else self._pattern(inner, captures, steps)
            case ast.MatchSequence(patterns=patterns):
                star = next((i for i, one in enumerate(patterns) if isinstance(one, ast.MatchStar)), None)
                for index, pattern in enumerate(patterns):
                    inside = capture_steps.of_item(steps, index, star, len(patterns))
                    if not isinstance(pattern, ast.MatchStar):
                        self._pattern(pattern, captures, inside)
                    elif pattern.name is not None:
                        captures.append(tree.Capture(pattern.name, inside))
            case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                if rest is not None:
                    captures.append(tree.Capture(rest, None))
                for key, pattern in zip(keys, patterns, strict=True):
                    inside = capture_steps.of_key(steps, key.value if isinstance(key, ast.Constant) else None)
                    self._pattern(pattern, captures, inside)
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=keyword_patterns):
                inside = capture_steps.of_class(steps, cls.id if isinstance(cls, ast.Name) else None)
                for pattern in patterns:
                    self._pattern(pattern, captures, inside)
                for name, pattern in zip(names, keyword_patterns, strict=True):
                    self._pattern(pattern, captures, capture_steps.of_attribute(steps, name))
        return None

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> tree.Stmt:
        site = self.site(node)
        decorators = self.expressions(node.decorator_list)
        params = self.parameters(node.args)
        returns = self.optional(node.returns)
        self.generator_marks.append(False)
        body = self.block(node.body)
        is_generator = self.generator_marks.pop()
        is_async = isinstance(node, ast.AsyncFunctionDef)
        return tree.FunctionDef(site, node.name, params, decorators, returns, body, is_async, is_generator)

    def _class(self, node: ast.ClassDef) -> tree.Stmt:
        site = self.site(node)
        decorators = self.expressions(node.decorator_list)
        bases = self.arguments([*node.bases, *node.keywords])
        return tree.ClassDef(site, node.name, bases, decorators, self.block(node.body))


def _leaves(targets: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """What `del` takes away: the brackets around its targets mean nothing."""
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from _leaves(target.elts)
        else:
            yield target


_Lower = Callable[[QuickLowering, Any], "tree.Stmt | None"]

_STATEMENTS: dict[type[ast.stmt], _Lower] = {
    ast.Expr: QuickLowering._expression_statement,
    ast.Assign: QuickLowering._assign,
    ast.AnnAssign: QuickLowering._annotated,
    ast.AugAssign: QuickLowering._augmented,
    ast.Return: QuickLowering._return,
    ast.Raise: QuickLowering._raise,
    ast.Assert: QuickLowering._assert,
    ast.Delete: QuickLowering._delete,
    ast.Break: QuickLowering._break,
    ast.Continue: QuickLowering._continue,
    ast.Global: QuickLowering._global,
    ast.Nonlocal: QuickLowering._nonlocal,
    ast.ImportFrom: QuickLowering._import_from,
    ast.If: QuickLowering._if,
    ast.For: QuickLowering._for,
    ast.AsyncFor: QuickLowering._for,
    ast.While: QuickLowering._while,
    ast.With: QuickLowering._with,
    ast.AsyncWith: QuickLowering._with,
    ast.Try: QuickLowering._try,
    ast.Match: QuickLowering._match,
    ast.FunctionDef: QuickLowering._function,
    ast.AsyncFunctionDef: QuickLowering._function,
    ast.ClassDef: QuickLowering._class,
}
if sys.version_info >= (3, 11):
    _STATEMENTS[ast.TryStar] = QuickLowering._try
if sys.version_info >= (3, 12):
    _STATEMENTS[ast.TypeAlias] = QuickLowering._type_alias


def quick_module(text: str) -> ast.Module | None:
    """Python's tree of `text`; None where this Python cannot parse it."""
    try:
        with without_warnings():
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def quick_parse(text: str) -> tree.Block | None:
    """The statements of `text`; None where this Python cannot parse it, or it nests too deeply for this walk."""
    module = quick_module(text)
    try:
        return QuickLowering().block(module.body) if module is not None else None
    except (ValueError, RecursionError, MemoryError):
        return None

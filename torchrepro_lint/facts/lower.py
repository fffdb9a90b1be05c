"""libcst -> `tree`: the one walk over a file's syntax.

The walk looks only at the fields that carry meaning, numbers the nodes it meets (their sites), and never looks at
white space. Header expressions of a compound statement are visited before its body, so that sites grow in the order in
which the text is read: `scope_builder.py` relies on that. Type parameters (`def f[T]()`) are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import libcst as cst

from torchrepro_lint.facts import capture_steps, tree
from torchrepro_lint.facts.lower_expressions import ARITHMETIC, ExpressionLowering, is_plain_text

__all__ = ["Lowering", "lower_module"]


class Lowering(ExpressionLowering):
    """The whole walk: blocks, statements and patterns."""

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
                if is_plain_text(value):
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
                op = ARITHMETIC[type(node.operator).__name__.removesuffix("Assign")]
                lowered = self.expression(node.value)
                out.append(tree.AugAssign(site, self.expression(node.target), op, lowered))
            case cst.Return(value=returned):
                site = self.site(node)
                out.append(tree.Return(site, self.expression(returned) if returned is not None else None))
            case cst.Raise(exc=raised, cause=cause):
                site = self.site(node)
                error = self.expression(raised) if raised is not None else None
                out.append(tree.Raise(site, error, self.expression(cause.item) if cause is not None else None))
            case cst.Assert(test=test, msg=message):
                site = self.site(node)
                tested = self.expression(test)
                out.append(tree.Assert(site, tested, self.expression(message) if message is not None else None))
            case cst.Del(target=deleted):
                site = self.site(node)
                out.append(tree.Delete(site, tuple(self.expression(target) for target in _leaves(deleted))))
            case cst.Break():
                out.append(tree.Jump(self.site(node), "break"))
            case cst.Continue():
                out.append(tree.Jump(self.site(node), "continue"))
            case cst.Global(names=items):
                out.append(tree.ScopeDeclaration(self.site(node), "global", tuple(i.name.value for i in items)))
            case cst.Nonlocal(names=items):
                out.append(tree.ScopeDeclaration(self.site(node), "nonlocal", tuple(i.name.value for i in items)))
            case cst.TypeAlias(name=name):
                # `type Name = ...` is evaluated only when something asks for its value: nothing here does.
                site = self.site(node)
                out.append(tree.Assign(site, (self.expression(name),), tree.Opaque(self.site(node.value), ())))
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
        # Each `elif` nests one deeper: walked in a loop, and put together from the last one.
        heads: list[tuple[int, tree.Expr, tree.Block]] = []
        current: cst.If | cst.Else | None = node
        while isinstance(current, cst.If):
            site = self.site(current)
            test = self.expression(current.test)
            heads.append((site, test, self.block(current.body)))
            current = current.orelse
        orelse = self.block(current.body) if current is not None else ()
        for site, test, body in reversed(heads[1:]):
            orelse = (tree.If(site, test, body, orelse),)
        site, test, body = heads[0]
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
            captures: list[tree.Capture] = []
            literals = self._pattern(case.pattern, captures, ())
            guard = self.expression(case.guard) if case.guard is not None else None
            cases.append(tree.Case(literals, tuple(captures), guard, self.block(case.body)))
        return tree.Match(site, subject, tuple(cases))

    def _pattern(
        self, node: cst.MatchPattern, captures: list[tree.Capture], steps: tuple[tree.Step, ...] | None
    ) -> tuple[tree.Expr, ...] | None:
        match node:
            case cst.MatchValue(value=value) | cst.MatchSingleton(value=value):
                return (self.expression(value),)
            case cst.MatchOr(patterns=elements):
                # Each alternative may have bound the name.
                parts = [self._pattern(element.pattern, captures, None) for element in elements]
                if () in parts:  # `case 1 | _` takes everything
                    return ()
                return None if None in parts else tuple(literal for part in parts for literal in part or ())
            case cst.MatchAs(pattern=inner, name=name):
                if name is not None:
                    captures.append(tree.Capture(name.value, steps))
                return () if inner is None else self._pattern(inner, captures, steps)
            case cst.MatchSequence(patterns=patterns):
                star = next((i for i, one in enumerate(patterns) if isinstance(one, cst.MatchStar)), None)
                for index, one in enumerate(patterns):
                    inside = capture_steps.of_item(steps, index, star, len(patterns))
                    if isinstance(one, cst.MatchSequenceElement):
                        self._pattern(one.value, captures, inside)
                    elif isinstance(one, cst.MatchStar) and one.name is not None:
                        captures.append(tree.Capture(one.name.value, inside))
            case cst.MatchMapping(elements=elements, rest=rest):
                if rest is not None:
                    captures.append(tree.Capture(rest.value, None))
                for element in elements:
                    known = isinstance(element.key, (cst.SimpleString, cst.ConcatenatedString, cst.Integer))
                    inside = capture_steps.of_key(steps, element.key.evaluated_value if known else None)  # type: ignore[attr-defined]
                    self._pattern(element.pattern, captures, inside)
            case cst.MatchClass(cls=cls, patterns=patterns, kwds=keywords):
                inside = capture_steps.of_class(steps, cls.value if isinstance(cls, cst.Name) else None)
                for one in patterns:
                    self._pattern(one.value, captures, inside)
                for keyword in keywords:
                    named = capture_steps.of_attribute(steps, keyword.key.value)
                    self._pattern(keyword.pattern, captures, named)
        return None

    def _function(self, node: cst.FunctionDef) -> tree.Stmt:
        site = self.site(node)
        decorators = tuple(self.expression(decorator.decorator) for decorator in node.decorators)
        params = self.parameters(node.params)
        returns = self.expression(node.returns.annotation) if node.returns is not None else None
        self.generator_marks.append(False)
        body = self.block(node.body)
        is_generator = self.generator_marks.pop()
        is_async = node.asynchronous is not None
        return tree.FunctionDef(site, node.name.value, params, decorators, returns, body, is_async, is_generator)

    def _class(self, node: cst.ClassDef) -> tree.Stmt:
        site = self.site(node)
        decorators = tuple(self.expression(decorator.decorator) for decorator in node.decorators)
        bases = self.arguments((*node.bases, *node.keywords))
        return tree.ClassDef(site, node.name.value, bases, decorators, self.block(node.body))


def _leaves(target: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What `del` takes away: the brackets around its targets mean nothing."""
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _leaves(element.value)
    else:
        yield target


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


_Lower = Callable[[Lowering, Any], tree.Stmt]

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

"""One walk over a module that finds every form of binding: the scopes of `scopes.py` come from here."""

from __future__ import annotations

from weakref import ref

import libcst as cst

from torchrepro_lint.fixes.scopes import Binding, Scope, Target, children

__all__ = ["analyse"]

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def analyse(module: cst.Module) -> Scope:
    """The scopes of a module."""
    root = Scope("module", module)
    collector = _Collector()
    for statement in module.body:
        collector.visit(statement, root)
    return root


class _Collector:
    """One recursive walk; a method per kind of node that binds."""

    def visit(self, node: cst.CSTNode, scope: Scope) -> None:
        handler = getattr(self, f"_{type(node).__name__}", None)
        if handler is not None:
            handler(node, scope)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, scope)
        else:
            self._children(node, scope)

    def _children(self, node: cst.CSTNode, scope: Scope) -> None:
        for child in children(node):
            self.visit(child, scope)

    def _bind(self, scope: Scope, name: str, kind: str, node: cst.CSTNode, target: Target | None = None) -> None:
        passed = scope.passed_out.get(name)
        if passed == "global":
            scope = scope.root
        elif passed == "nonlocal" and scope.parent is not None:
            scope = scope.parent.resolve(name) or scope
        scope.bindings.setdefault(name, []).append(Binding(name, kind, node, target))

    def _open(self, kind: str, node: cst.CSTNode, parent: Scope) -> Scope:
        scope = Scope(kind, node, ref(parent))
        parent.inner.append(scope)
        parent.root.by_node[id(node)] = scope
        return scope

    def _Name(self, node: cst.Name, scope: Scope) -> None:
        scope.reads.add(node.value)

    def _Attribute(self, node: cst.Attribute, scope: Scope) -> None:
        self.visit(node.value, scope)

    def _Arg(self, node: cst.Arg, scope: Scope) -> None:
        self.visit(node.value, scope)

    def _target(self, node: cst.CSTNode, scope: Scope, kind: str) -> None:
        if isinstance(node, cst.Name):
            self._bind(scope, node.value, kind, node)
        elif isinstance(node, cst.Tuple | cst.List):
            for element in node.elements:
                self._target(element.value, scope, kind)
        else:
            self.visit(node, scope)

    def _AssignTarget(self, node: cst.AssignTarget, scope: Scope) -> None:
        self._target(node.target, scope, "assign")

    def _AnnAssign(self, node: cst.AnnAssign, scope: Scope) -> None:
        self._target(node.target, scope, "assign")
        self.visit(node.annotation, scope)
        if node.value is not None:
            self.visit(node.value, scope)

    def _AugAssign(self, node: cst.AugAssign, scope: Scope) -> None:
        self._target(node.target, scope, "augmented")
        self.visit(node.target, scope)
        self.visit(node.value, scope)

    def _NamedExpr(self, node: cst.NamedExpr, scope: Scope) -> None:
        outer = scope
        while outer.kind == "comprehension" and outer.parent is not None:
            outer = outer.parent
        self._target(node.target, outer, "walrus")
        self.visit(node.value, scope)

    def _For(self, node: cst.For, scope: Scope) -> None:
        self._target(node.target, scope, "for")
        for child in (node.iter, node.body, node.orelse):
            if child is not None:
                self.visit(child, scope)

    def _WithItem(self, node: cst.WithItem, scope: Scope) -> None:
        self.visit(node.item, scope)
        if node.asname is not None:
            self._target(node.asname.name, scope, "with")

    def _ExceptHandler(self, node: cst.ExceptHandler | cst.ExceptStarHandler, scope: Scope) -> None:
        if node.type is not None:
            self.visit(node.type, scope)
        if node.name is not None:
            self._target(node.name.name, scope, "except")
        self.visit(node.body, scope)

    _ExceptStarHandler = _ExceptHandler

    def _Del(self, node: cst.Del, scope: Scope) -> None:
        self._target(node.target, scope, "del")

    def _Global(self, node: cst.Global, scope: Scope) -> None:
        for item in node.names:
            scope.passed_out[item.name.value] = "global"

    def _Nonlocal(self, node: cst.Nonlocal, scope: Scope) -> None:
        for item in node.names:
            scope.passed_out[item.name.value] = "nonlocal"

    def _Import(self, node: cst.Import, scope: Scope) -> None:
        for alias in node.names:
            module = _dotted(alias.name)
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                self._bind(scope, alias.asname.name.value, "import", alias, (module, None))
            else:
                top = module.partition(".")[0]
                self._bind(scope, top, "import", alias, (top, None))

    def _ImportFrom(self, node: cst.ImportFrom, scope: Scope) -> None:
        module = "." * len(node.relative) + (_dotted(node.module) if node.module is not None else "")
        if isinstance(node.names, cst.ImportStar):
            scope.stars.append(node)
            return
        for alias in node.names:
            attribute = _dotted(alias.name)
            bound = alias.asname.name if alias.asname is not None else alias.name
            assert isinstance(bound, cst.Name)
            self._bind(scope, bound.value, "import", alias, (module, attribute))

    def _FunctionDef(self, node: cst.FunctionDef, scope: Scope) -> None:
        self._bind(scope, node.name.value, "def", node)
        for decorator in node.decorators:
            self.visit(decorator, scope)
        inner = self._open("function", node, scope)
        self._parameters(node.params, scope, inner)
        if node.returns is not None:
            self.visit(node.returns, scope)
        if node.type_parameters is not None:
            self._type_parameters(node.type_parameters, inner)
        self._declarations(node.body, inner)
        self.visit(node.body, inner)

    def _ClassDef(self, node: cst.ClassDef, scope: Scope) -> None:
        self._bind(scope, node.name.value, "class", node)
        for child in (*node.decorators, *node.bases, *node.keywords):
            self.visit(child, scope)
        inner = self._open("class", node, scope)
        if node.type_parameters is not None:
            self._type_parameters(node.type_parameters, inner)
        self._declarations(node.body, inner)
        self.visit(node.body, inner)

    def _Lambda(self, node: cst.Lambda, scope: Scope) -> None:
        inner = self._open("lambda", node, scope)
        self._parameters(node.params, scope, inner)
        self.visit(node.body, inner)

    def _parameters(self, params: cst.Parameters, outer: Scope, inner: Scope) -> None:
        stars = [params.star_arg, params.star_kwarg]
        for param in (*params.posonly_params, *params.params, *params.kwonly_params, *stars):
            if not isinstance(param, cst.Param):
                continue
            self._bind(inner, param.name.value, "param", param)
            if param.default is not None:
                self.visit(param.default, outer)
            if param.annotation is not None:
                self.visit(param.annotation, outer)

    def _type_parameters(self, node: cst.TypeParameters, scope: Scope) -> None:
        for param in node.params:
            self._bind(scope, param.param.name.value, "type", param)

    def _TypeAlias(self, node: cst.TypeAlias, scope: Scope) -> None:
        self._bind(scope, node.name.value, "type", node.name)
        self.visit(node.value, scope)

    def _comprehension(self, node: cst.CSTNode, scope: Scope) -> None:
        self._children(node, self._open("comprehension", node, scope))

    def _CompFor(self, node: cst.CompFor, scope: Scope) -> None:
        self._target(node.target, scope, "for")
        for child in (node.iter, *node.ifs, node.inner_for_in):
            if child is not None:
                self.visit(child, scope)

    def _MatchAs(self, node: cst.MatchAs, scope: Scope) -> None:
        if node.pattern is not None:
            self.visit(node.pattern, scope)
        if node.name is not None:
            self._bind(scope, node.name.value, "match", node.name)

    def _MatchStar(self, node: cst.MatchStar, scope: Scope) -> None:
        if node.name is not None:
            self._bind(scope, node.name.value, "match", node.name)

    def _MatchMapping(self, node: cst.MatchMapping, scope: Scope) -> None:
        for element in node.elements:
            self.visit(element, scope)
        if node.rest is not None:
            self._bind(scope, node.rest.value, "match", node.rest)

    def _declarations(self, body: cst.CSTNode, scope: Scope) -> None:
        """`global` and `nonlocal` count for the whole function, wherever they are in it."""
        stack = [body]
        while stack:
            node = stack.pop()
            if isinstance(node, cst.Global | cst.Nonlocal):
                self.visit(node, scope)
            elif not isinstance(node, cst.FunctionDef | cst.ClassDef | cst.BaseExpression):
                stack.extend(children(node))


def _dotted(node: cst.CSTNode) -> str:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    assert isinstance(node, cst.Name)
    return ".".join([node.value, *reversed(parts)])

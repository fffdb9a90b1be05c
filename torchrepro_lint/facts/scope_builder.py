"""From the statements of a module to its scopes, with all that is bound, stored and called in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.capture_steps import part_at
from torchrepro_lint.facts.exits import beyond, exits_of
from torchrepro_lint.facts.expressions import last_site, sub_expressions
from torchrepro_lint.facts.growing import entered, grown, included
from torchrepro_lint.facts.raising import Around, EarlyReads
from torchrepro_lint.facts.scopes import ELSEWHERE, NEVER, Binding, Exit, Path, Scope, ScopeNode, Store
from torchrepro_lint.facts.unbound import cannot_have_run, names_in, note_until

__all__ = ["build_scopes"]


def build_scopes(
    body: tree.Block, *, in_cells: bool = False, around: Around | None = None
) -> tuple[Scope, Callable[[object], Scope]]:
    """The module's scope, and a function from a scope-making node to its scope. Cells are run below one that raises.

    `around` tells of the project around the file; without it, names that nothing binds are taken to have a value.
    """
    builder = _Builder(in_cells)
    module = builder.build(body)
    if raising := builder.reads.raising(None if in_cells else body, module, around):  # in few files
        builder = _Builder(in_cells, raising)
        module = builder.build(body)
    by_node = builder.by_node
    return module, lambda node: by_node[id(node)]


class _Builder:
    """One walk over the statements of a module."""

    def __init__(self, in_cells: bool, raises: Mapping[int, int] | None = None) -> None:
        self.in_cells = in_cells
        self.by_node: dict[int, Scope] = {}
        #: The statements that surely raise, by their ids, each with the site of what does.
        self.raises = raises or {}
        # How the blocks end, by the ids of their last statements: each `elif` would ask it of all that come after it.
        self.exits: dict[int, frozenset[Exit] | None] = dict.fromkeys(self.raises, frozenset({"leaves"}))
        # The function that is built, and the names that its text reads before it binds them, if it does.
        self.inside: Scope | None = None
        self.early: set[str] = set()
        self.reads = EarlyReads()

    def build(self, body: tree.Block) -> Scope:
        module = Scope(None, None, "")
        self.block(body, module, ())
        self._resolve_declarations(module, module)
        return module

    def _resolve_declarations(self, scope: Scope, module: Scope) -> None:
        """Moves what a function binds under `global` or `nonlocal` to the scope that owns the name."""
        pending = [scope]
        while pending:
            current = pending.pop()
            pending.extend(reversed(current.children))
            for name, kind in current.declared.items():
                owner = module if kind == "global" else _function_with(name, current.parent)
                moved = _taken_from(current, name) if owner is not None and owner is not current else ()
                for binding in moved:
                    # It may have run or not whenever the name is read: an arm of its own, after all others.
                    binding.path = ELSEWHERE
                    binding.order = -1
                    binding.scope = current
                    if owner is not None:
                        _bind(owner, binding)

    def open(self, node: ScopeNode, parent: Scope, name: str) -> Scope:
        scope = Scope(node, parent, name)
        parent.children = grown(parent.children, scope)
        self.by_node[id(node)] = scope
        return scope

    def bind(
        self, scope: Scope, name: str, kind: str, node: tree.Expr | tree.Stmt | tree.Param | None, order: int,
        path: Path, unpack: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        _bind(scope, Binding(name, kind, node, order, path, unpack))

    def target(
        self, scope: Scope, target: tree.Expr, kind: str, value: tree.Expr, statement: tree.Stmt | None,
        order: int, path: Path, unpack: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        match target:
            case tree.Name(id=name):
                self.bind(scope, name, kind, value, order, path, unpack)
            case tree.Display(items=items):
                star = next((index for index, item in enumerate(items) if isinstance(item, tree.Starred)), len(items))
                for index, item in enumerate(items):
                    place = index if index <= star else _from_the_end(index - len(items), value, unpack, kind)
                    rest = (len(items) - star - 1,) if index == star else ()
                    self.target(scope, item, kind, value, statement, order, path, (*unpack, place, *rest))
            case tree.Starred(value=inner):
                # Not in a list or tuple (`*x = y`), Python compiles none; `*[x, y], z = w` has names for single items.
                is_rest = kind == "assign" and unpack and not isinstance(inner, tree.Display)
                self.target(scope, inner, "rest" if is_rest else "opaque", value, statement, order, path, unpack)
            case tree.Attribute() | tree.Subscript():
                self.expression(target, scope, path)
                if kind == "assign" and statement is not None:
                    scope.stores = grown(scope.stores, Store(target, value, statement, path, unpack))
                self.of_self(scope, target, kind, value, order, path, unpack)

    def of_self(
        self, scope: Scope, target: tree.Attribute | tree.Subscript, kind: str, value: tree.Expr, order: int,
        path: Path, unpack: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        """Binds an attribute of `self` that is set, and a global name that a module sets by `globals()["name"]`."""
        match target:
            case tree.Subscript(
                value=tree.Call(func=tree.Name(id="globals"), args=()), index=tree.Const(value=str() as name)
            ) if scope.parent is None and name.isidentifier():
                self.bind(scope, name, kind, value, order, path, unpack)
            case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == _self_name_in(scope):
                self.bind(scope, f"self.{attr}", kind, value, order, path, unpack)

    # --- statements -------------------------------------------------------------------------------------------

    def block(self, block: tree.Block, scope: Scope, path: Path) -> None:
        for statement in block:
            if id(statement) in self.raises:
                self.broken_off(statement, scope, path)
            else:
                scope.note_statement(statement.site, path)
                self.statement(statement, scope, path)
            if path or scope.parent is not None or not self.in_cells:
                path = beyond(statement, path, self.exits)

    def broken_off(self, statement: tree.Stmt, scope: Scope, path: Path) -> None:
        """A statement that raises: what it evaluates behind that, and what is in it, never runs."""
        raised, never = self.raises[id(statement)], (*path, (statement.site, NEVER))
        scope.raises = entered(scope.raises, statement.site, raised)
        note_until(scope, statement, raised, path, never)
        before = len(scope.calls)
        self.statement(statement, scope, never)
        calls = (
            (call, scope.path_at(call.site) if call.site < raised else arms) for call, arms in scope.calls[before:]
        )
        scope.calls = [*scope.calls[:before], *calls]

    def arm(self, scope: Scope, branch: int, name: str, block: tree.Block, path: Path) -> None:
        exits = exits_of(block, self.exits)
        if exits is not None:
            scope.ended = entered(scope.ended, (branch, name), exits)
        self.block(block, scope, (*path, (branch, name)))

    def statement(self, statement: tree.Stmt, scope: Scope, path: Path) -> None:
        match statement:
            case tree.Assign(targets=targets, value=value, annotation=annotation):
                if annotation is not None:
                    self.expression(annotation, scope, path)
                if value is None:
                    return
                last = self.expression(value, scope, path)
                for target in targets:
                    self.target(scope, target, "assign", value, statement, last, path)
            case tree.AugAssign():
                self.augmented(statement, scope, path)
            case tree.ExprStmt(value=value):
                last = self.expression(value, scope, path)
                match value:
                    case (
                        tree.Call(
                            func=tree.Name(id="setattr"),
                            args=(tree.Arg(value=owner), tree.Arg(value=tree.Const(value=str() as attr)), given),
                        )
                        | tree.Call(
                            func=tree.Attribute(value=owner, attr="add_module" | "register_module"),
                            args=(tree.Arg(value=tree.Const(value=str() as attr)), given),
                        )
                    ) if attr.isidentifier():
                        target = tree.Attribute(value.site, owner, attr)
                        scope.stores = grown(scope.stores, Store(target, given.value, statement, path))
                        self.of_self(scope, target, "assign", given.value, last, path)
            case tree.Return(value=returned):
                scope.returns = grown(scope.returns, (statement, path))
                if returned is not None:
                    self.expression(returned, scope, path)
            case tree.Raise(value=raised, cause=cause):
                for part in (raised, cause):
                    if part is not None:
                        self.expression(part, scope, path)
            case tree.Assert(test=test, message=message):
                scope.asserted = grown(scope.asserted, (statement, path))
                self.expression(test, scope, path)
                if message is not None:
                    self.expression(message, scope, path)
            case tree.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, tree.Name):
                        self.bind(scope, target.id, "delete", None, statement.site, path)
                        self.reads.suspects.add(id(scope))
                    else:
                        self.expression(target, scope, path)
            case tree.ScopeDeclaration(kind=kind, names=names):
                self.reads.declared.update(names)
                for name in names:
                    scope.declared = entered(scope.declared, name, kind)
            case tree.Import(module=module, alias=alias):
                bound = alias if alias is not None else module.partition(".")[0]
                self.bind(scope, bound, "import", statement, statement.site, path)
            case tree.ImportFrom(names=names):
                for name, alias in names:
                    if name == "*":
                        scope.stars = grown(scope.stars, statement)
                    else:
                        self.bind(scope, alias or name, "import-from", statement, statement.site, path)
            case tree.If():
                self.condition(statement, scope, path)
            case tree.For() | tree.While():
                self.loop(statement, scope, path)
            case tree.With(items=items, body=body):
                for context, bound_to in items:
                    last = self.expression(context, scope, path)
                    if bound_to is not None:
                        self.target(scope, bound_to, "context", context, None, last, path)
                self.block(body, scope, path)
            case tree.Try():
                self.attempt(statement, scope, path)
            case tree.Match():
                self.match(statement, scope, path)
            case tree.FunctionDef():
                self.function(statement, scope, path)
            case tree.ClassDef():
                self.class_(statement, scope, path)

    def augmented(self, statement: tree.AugAssign, scope: Scope, path: Path) -> None:
        last = self.expression(statement.value, scope, path)
        self.expression(statement.target, scope, path)
        match statement.target:
            case tree.Name(id=name):
                self.bind(scope, name, "augmented", statement, last, path)
            case tree.Attribute() | tree.Subscript() as target:
                scope.stores = grown(scope.stores, Store(target, statement.value, statement, path, augmented=True))
                self_name = _self_name_in(scope)
                match target:
                    case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == self_name:
                        self.bind(scope, f"self.{attr}", "augmented", statement, last, path)

    def condition(self, statement: tree.If, scope: Scope, path: Path) -> None:
        self.expression(statement.test, scope, path)
        scope.arms = entered(scope.arms, statement.site, ("then", "else"))
        scope.branches = entered(scope.branches, statement.site, statement)
        self.arm(scope, statement.site, "then", statement.body, path)
        self.arm(scope, statement.site, "else", statement.orelse, path)

    def loop(self, statement: tree.For | tree.While, scope: Scope, path: Path) -> None:
        site = statement.site
        last = self.expression(statement.iter if isinstance(statement, tree.For) else statement.test, scope, path)
        scope.arms = entered(scope.arms, site, ("body", "none"))
        scope.loops = included(scope.loops, site)
        if isinstance(statement, tree.For):
            self.target(scope, statement.target, "element", statement.iter, None, last, (*path, (site, "body")))
        # Not an arm that may end early: that ends only the loop, not what comes after it.
        self.block(statement.body, scope, (*path, (site, "body")))
        self.block(statement.orelse, scope, path)

    def attempt(self, statement: tree.Try, scope: Scope, path: Path) -> None:
        site = statement.site
        names = tuple(f"except{index}" for index in range(len(statement.handlers)))
        scope.arms = entered(scope.arms, site, ("try", *names))
        scope.branches = entered(scope.branches, site, statement)
        inside = (*path, (site, "try"))
        if (exits := exits_of(statement.body + statement.orelse, self.exits)) is not None:
            scope.ended = entered(scope.ended, (site, "try"), exits)
        self.block(statement.body, scope, inside)
        for name, handler in zip(names, statement.handlers, strict=True):
            if handler.type is not None:
                scope.note_statement(handler.type.site, path)
                self.expression(handler.type, scope, path)
            if handler.name is not None:
                kind = "caught" if handler.type is not None else "opaque"
                self.bind(scope, handler.name, kind, handler.type, handler.site, (*path, (site, name)))
            self.arm(scope, site, name, handler.body, path)
        # After the handlers, as in the text: statements are noted in the order of their sites.
        self.block(statement.orelse, scope, inside)
        self.block(statement.final, scope, path)

    def match(self, statement: tree.Match, scope: Scope, path: Path) -> None:
        site = statement.site
        last = self.expression(statement.subject, scope, path)
        names = tuple(f"case{index}" for index in range(len(statement.cases)))
        exhaustive = any(case.literals == () and case.guard is None for case in statement.cases)
        scope.branches = entered(scope.branches, site, statement)
        scope.arms = entered(scope.arms, site, names if exhaustive else (*names, "none"))
        for name, case in zip(names, statement.cases, strict=True):
            for capture in case.captures:
                if capture.steps is None:
                    self.bind(scope, capture.name, "opaque", None, last, (*path, (site, name)))
                else:
                    part, kind, unpack = part_at(statement.subject, capture.steps)
                    self.bind(scope, capture.name, kind, part, last, (*path, (site, name)), unpack)
            if case.guard is not None:
                scope.note_statement(case.guard.site, (*path, (site, name)))
                self.expression(case.guard, scope, path)
            self.arm(scope, site, name, case.body, path)

    def function(self, statement: tree.FunctionDef, scope: Scope, path: Path) -> None:
        for decorator in statement.decorators:
            self.expression(decorator, scope, path)
        self.defaults(statement.params, scope, path)
        if statement.returns is not None:
            self.expression(statement.returns, scope, path)
        self.bind(scope, statement.name, "function", statement, statement.site, path)
        inner = self.open(statement, scope, statement.name)
        self.params(statement.params, inner)
        around, self.inside, self.early = (self.inside, self.early), inner, set()
        self.block(statement.body, inner, _never(path))
        if not self.early.isdisjoint(inner.bindings):
            self.reads.suspects.add(id(inner))
        self.reads.functions.append((statement, inner, self.early))
        self.inside, self.early = around

    def class_(self, statement: tree.ClassDef, scope: Scope, path: Path) -> None:
        for decorator in statement.decorators:
            self.expression(decorator, scope, path)
        for base in statement.bases:
            self.expression(base.value, scope, path)
        self.bind(scope, statement.name, "class", statement, statement.site, path)
        inner = self.open(statement, scope, statement.name)
        self.block(statement.body, inner, _never(path))

    def defaults(self, params: tuple[tree.Param, ...], scope: Scope, path: Path) -> None:
        for param in params:
            for part in (param.default, param.annotation):
                if part is not None:
                    self.expression(part, scope, path)

    def params(self, params: tuple[tree.Param, ...], scope: Scope) -> None:
        for param in params:
            self.bind(scope, param.name, "param", param, -1, ())

    # --- expressions ------------------------------------------------------------------------------------------

    def expression(self, root: tree.Expr, scope: Scope, path: Path) -> int:
        """Notes the calls, yields, walruses and inner scopes of an expression. Returns its last site."""
        last = root.site
        pending: list[tree.Expr] = [root]
        while pending:
            node = pending.pop()
            if node.site > last:
                last = node.site
            kind = type(node)
            if kind is tree.Const:  # half of all are constants and names, which hold nothing
                continue
            if kind is tree.Name:
                if scope is self.inside:  # may a binding have run that the text has before?
                    bindings = scope.bindings.get(node.id)  # type: ignore[union-attr]
                    if bindings is None:
                        self.early.add(node.id)  # type: ignore[union-attr]
                    elif bindings[0].path and all(cannot_have_run(one.path, path, scope.ended) for one in bindings):
                        self.reads.suspects.add(id(scope))
                continue
            match node:
                case tree.Call():
                    scope.calls = grown(scope.calls, (node, path))
                case tree.Yield():
                    scope.yields = grown(scope.yields, node)
                case tree.Walrus(target=target, value=value):
                    self.walrus(target, value, scope, path)
                case tree.Lambda(params=params, body=body):
                    inner = self.open(node, scope, "<lambda>")
                    self.params(params, inner)
                    self.defaults(params, scope, path)
                    inner.note_statement(body.site, ())
                    last = max(last, self.expression(body, inner, ()))
                    continue
                case tree.Comprehension():
                    last = max(last, self.comprehension(node, scope, path))
                    continue
            pending.extend(reversed(sub_expressions(node)))
        return last

    def walrus(self, target: tree.Expr, value: tree.Expr, scope: Scope, path: Path) -> None:
        """`target := value`; in a comprehension it binds in the scope around, where the items are not known."""
        if not isinstance(scope.node, tree.Comprehension):
            self.target(scope, target, "assign", value, None, last_site(value), path)
            self.reads.in_expressions.update((id(scope), name) for name in names_in((target,)))
            return
        owner = scope
        while isinstance(owner.node, tree.Comprehension) and owner.parent is not None:
            owner = owner.parent
        self.reads.in_expressions.update((id(owner), name) for name in names_in((target,)))
        around = owner.path_at(value.site)
        self.target(owner, target, "opaque", value, None, last_site(value), (*around, (scope.node.site, "item")))

    def comprehension(self, node: tree.Comprehension, scope: Scope, path: Path) -> int:
        inner = self.open(node, scope, f"<{node.kind}>")
        inner.note_statement(node.site, ())
        last = node.site
        for index, clause in enumerate(node.clauses):
            # The first iterable is evaluated outside, the others inside.
            last = max(last, self.expression(clause.iter, scope if index == 0 else inner, path if index == 0 else ()))
            self.target(inner, clause.target, "element", clause.iter, None, -1, ())
            for condition in clause.conditions:
                last = max(last, self.expression(condition, inner, ()))
        if node.key is not None:
            last = max(last, self.expression(node.key, inner, ()))
        return max(last, self.expression(node.element, inner, ()))


def _from_the_end(place: int, value: tree.Expr, unpack: tuple[int, ...], kind: str) -> int:
    """The place of a target behind a star, counted from the end (-1 is the last): from the start where what is
    unpacked is written out.
    """
    if kind != "assign":
        return place
    for outer in unpack:
        if not isinstance(value, tree.Display) or not -len(value.items) <= outer < len(value.items):
            return place
        value = value.items[outer]
    if not isinstance(value, tree.Display) or any(isinstance(item, tree.Starred) for item in value.items):
        return place
    return max(len(value.items) + place, 0)


def _bind(scope: Scope, binding: Binding) -> None:
    known = scope.bindings.get(binding.name, ())
    scope.bindings = entered(scope.bindings, binding.name, grown(known, binding))


def _taken_from(scope: Scope, name: str) -> Sequence[Binding]:
    """The bindings of a name, which the scope no longer has."""
    return scope.bindings.pop(name, ()) if isinstance(scope.bindings, dict) else ()


def _function_with(name: str, scope: Scope | None) -> Scope | None:
    """The nearest function around that binds the name."""
    while scope is not None and (name not in scope.bindings or isinstance(scope.node, tree.ClassDef)):
        scope = scope.parent
    return scope


def _self_name_in(scope: Scope) -> str | None:
    """The name that stands for the instance in this scope: a method's own, or that of the method around it."""
    current: Scope | None = scope
    while current is not None:
        name = current.self_name
        if name is not None:
            return name if current is scope else None
        current = current.parent
    return None


def _never(path: Path) -> Path:
    """The arms that never run: what is in them is not defined either, and nothing in it runs."""
    return tuple(arm for arm in path if arm[1] == NEVER)

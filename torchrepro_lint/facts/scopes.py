"""Scopes and bindings: which assignments of a name can reach a use of it.

Python's scopes are modules, functions, classes, lambdas and comprehensions. Each knows its bindings in the order of the
text, and for every binding the arms of `if`, `for`, `while`, `try` and `match` in which it stands. From that alone
follows what reaches a use: in straight-line code the last binding before it, after branches every arm that can fall
through, in a loop also what a later line of its body binds.

The attributes of `self` that a method assigns are bindings too, under the name `self.attribute`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, Union

from torchrepro_lint.facts import tree

__all__ = ["Binding", "Scope", "ScopeNode", "Store", "build_scopes"]

ScopeNode: TypeAlias = Union[tree.FunctionDef, tree.ClassDef, tree.Lambda, tree.Comprehension, None]

#: The arms in which a statement stands, from the outside in: (site of the branching statement, name of the arm).
Path: TypeAlias = tuple[tuple[int, str], ...]

END = 1 << 60  # a use "at the end of the scope"


@dataclass(slots=True, eq=False)
class Binding:
    """One way in which a name gets a value.

    `kind` says how to read `node`: "assign" (an expression, with `unpack` the places taken out of it), "augmented" (an
    AugAssign), "element" (an expression that is iterated), "context" (an expression entered by `with`), "import",
    "import-from", "function", "class", "param", "delete" or "opaque" (an exception, a match capture).
    """

    name: str
    kind: str
    node: tree.Expr | tree.Stmt | tree.Param | None
    order: int  # the site after which it holds
    path: Path
    unpack: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Store:
    """An assignment to an attribute or an item: `target = value` where `target` is no plain name."""

    target: tree.Attribute | tree.Subscript
    value: tree.Expr
    statement: tree.Stmt
    path: Path
    unpack: tuple[int, ...] = ()
    augmented: bool = False


@dataclass(slots=True, eq=False)
class Scope:
    """One scope with all that is bound, stored and called directly in it."""

    node: ScopeNode
    parent: Scope | None
    name: str
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)  # name -> "global" | "nonlocal"
    stores: list[Store] = field(default_factory=list)
    calls: list[tuple[tree.Call, Path]] = field(default_factory=list)
    returns: list[tuple[tree.Return, Path]] = field(default_factory=list)
    yields: list[tree.Yield] = field(default_factory=list)
    stars: list[tree.ImportFrom] = field(default_factory=list)
    children: list[Scope] = field(default_factory=list)
    arms: dict[int, tuple[str, ...]] = field(default_factory=dict)  # branching statement -> all of its arms
    branches: dict[int, tree.Stmt] = field(default_factory=dict)
    loops: set[int] = field(default_factory=set)  # sites of loops
    ended: set[tuple[int, str]] = field(default_factory=set)  # arms that never fall through
    _starts: list[int] = field(default_factory=list)
    _paths: list[Path] = field(default_factory=list)

    @property
    def self_name(self) -> str | None:
        """The first parameter's name, where this is a function directly in a class body."""
        if isinstance(self.node, tree.FunctionDef) and self.parent is not None and self.node.params:
            if isinstance(self.parent.node, tree.ClassDef) and self.node.params[0].kind == "positional":
                return self.node.params[0].name
        return None

    @property
    def statement_sites(self) -> list[int]:
        """The first site of every statement directly in this scope, in order."""
        return self._starts

    def note_statement(self, site: int, path: Path) -> None:
        self._starts.append(site)
        self._paths.append(path)

    def path_at(self, site: int) -> Path:
        """The arms in which the statement stands that begins last at or before `site`."""
        index = bisect_right(self._starts, site) - 1
        return self._paths[index] if index >= 0 else ()

    def reaching(
        self, name: str, site: int = END, decide: Callable[[Path], bool | None] = lambda path: None
    ) -> tuple[list[Binding], bool]:
        """The bindings of `name` that can reach a use at `site`, and whether one of them surely has.

        Without `site`: what holds when the scope has run to its end, as a nested function sees it. `decide` says
        whether the arms of a path are proven to run (True), proven not to (False), or neither (None).
        """
        bindings = self.bindings.get(name)
        if not bindings:
            return [], False
        use_path = self.path_at(site) if site != END else ()
        use_arms = dict(use_path)
        found: list[Binding] = []
        covered: dict[int, set[str]] = {}
        last: Binding | None = None
        for binding in reversed(bindings):
            if binding.order >= site:
                continue
            verdict = self._reaches(binding.path, use_arms, site, covered, decide)
            if verdict is False:
                continue
            found.append(binding)
            if verdict is True:
                last = binding
                break
        found.extend(self._from_later_in_loop(bindings, site, use_path, last))
        return found, last is not None

    def _reaches(
        self, path: Path, use_arms: dict[int, str], site: int, covered: dict[int, set[str]],
        decide: Callable[[Path], bool | None],
    ) -> bool | None:  # fmt: skip
        """Whether what is bound at `path` holds at the use: surely (True), never (False), perhaps (None)."""
        depth = 0
        certain = True
        for branch, arm in path:
            used_arm = use_arms.get(branch)
            if used_arm is None:
                break
            if used_arm != arm:
                if arm == "try" and used_arm.startswith("except"):
                    certain = False
                else:
                    return False
            depth += 1
        rest = path[depth:]
        if not rest:
            return True if certain else None
        runs = decide(rest)
        if runs is False:
            return False
        if site != END and any(inner in self.ended for inner in rest):
            # The arm leaves the function or the loop: what it binds is never seen after it.
            return False
        if runs is True:
            return True if certain else None
        # Where every arm of a branching statement binds the name, one of them has.
        for branch, arm in reversed(rest):
            arms = covered.setdefault(branch, set())
            arms.add(arm)
            if not all(
                other in arms or (branch, other) in self.ended or decide(((branch, other),)) is False
                for other in self.arms.get(branch, (arm, "none"))
            ):
                return None
        return True if certain else None

    def _from_later_in_loop(
        self, bindings: list[Binding], site: int, use_path: Path, last: Binding | None
    ) -> Iterator[Binding]:
        loops = [branch for branch, _ in use_path if branch in self.loops]
        if not loops or (last is not None and any(branch == loops[-1] for branch, _ in last.path)):
            return
        for binding in bindings:
            if binding.order >= site and any(branch in loops for branch, _ in binding.path):
                yield binding


_LEAVES = (tree.Return, tree.Raise, tree.Jump)


def _never_falls_through(block: tree.Block) -> bool:
    if not block:
        return False
    last = block[-1]
    if isinstance(last, _LEAVES):
        return True
    if isinstance(last, tree.If):
        return _never_falls_through(last.body) and _never_falls_through(last.orelse)
    if isinstance(last, tree.With):
        return _never_falls_through(last.body)
    if isinstance(last, tree.ExprStmt) and isinstance(last.value, tree.Call):
        match last.value.func:
            case tree.Attribute(value=tree.Name(id="sys" | "os"), attr="exit" | "_exit"):
                return True
            case tree.Name(id="exit" | "quit"):
                return True
    return False


class _Builder:
    def __init__(self) -> None:
        self.by_node: dict[int, Scope] = {}

    def build(self, body: tree.Block) -> Scope:
        module = Scope(None, None, "")
        self.block(body, module, ())
        self._resolve_declarations(module, module)
        return module

    def _resolve_declarations(self, scope: Scope, module: Scope) -> None:
        """Moves what a function binds under `global` or `nonlocal` to the scope that owns the name."""
        for name, kind in scope.declared.items():
            moved = scope.bindings.pop(name, [])
            owner: Scope | None = module
            if kind == "nonlocal":
                owner = scope.parent
                while owner is not None and name not in owner.bindings:
                    owner = owner.parent
            if owner is not None and moved:
                # Such a binding may have run or not whenever the name is read: it stands in an arm of its own.
                for binding in moved:
                    binding.path = ((-1, "elsewhere"),)
                    binding.order = -1
                owner.bindings[name] = moved + owner.bindings.get(name, [])
        for child in scope.children:
            self._resolve_declarations(child, module)

    def open(self, node: ScopeNode, parent: Scope, name: str) -> Scope:
        scope = Scope(node, parent, name)
        parent.children.append(scope)
        self.by_node[id(node)] = scope
        return scope

    def bind(
        self, scope: Scope, name: str, kind: str, node: tree.Expr | tree.Stmt | tree.Param | None, order: int,
        path: Path, unpack: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        scope.bindings.setdefault(name, []).append(Binding(name, kind, node, order, path, unpack))

    def target(
        self, scope: Scope, target: tree.Expr, kind: str, value: tree.Expr, statement: tree.Stmt | None,
        order: int, path: Path, unpack: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        match target:
            case tree.Name(id=name):
                self.bind(scope, name, kind, value, order, path, unpack)
            case tree.Display(items=items):
                for index, item in enumerate(items):
                    self.target(scope, item, kind, value, statement, order, path, (*unpack, index))
            case tree.Starred(value=inner):
                self.target(scope, inner, "opaque", value, statement, order, path, unpack)
            case tree.Attribute() | tree.Subscript():
                self.expression(target, scope, path)
                if kind == "assign" and statement is not None:
                    scope.stores.append(Store(target, value, statement, path, unpack))
                self_name = _self_name_in(scope)
                if isinstance(target, tree.Attribute) and self_name is not None:
                    match target.value:
                        case tree.Name(id=owner) if owner == self_name:
                            self.bind(scope, f"self.{target.attr}", kind, value, order, path, unpack)

    # --- statements -------------------------------------------------------------------------------------------

    def block(self, block: tree.Block, scope: Scope, path: Path) -> None:
        for statement in block:
            scope.note_statement(statement.site, path)
            self.statement(statement, scope, path)

    def arm(self, scope: Scope, branch: int, name: str, block: tree.Block, path: Path) -> None:
        if _never_falls_through(block):
            scope.ended.add((branch, name))
        self.block(block, scope, (*path, (branch, name)))

    def statement(self, statement: tree.Stmt, scope: Scope, path: Path) -> None:
        match statement:
            case tree.Assign(targets=targets, value=value):
                if value is None:
                    return
                last = self.expression(value, scope, path)
                for target in targets:
                    self.target(scope, target, "assign", value, statement, last, path)
            case tree.AugAssign(target=target, value=value):
                last = self.expression(value, scope, path)
                self.expression(target, scope, path)
                match target:
                    case tree.Name(id=name):
                        self.bind(scope, name, "augmented", statement, last, path)
                    case tree.Attribute() | tree.Subscript():
                        scope.stores.append(Store(target, value, statement, path, augmented=True))
                        self_name = _self_name_in(scope)
                        match target:
                            case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == self_name:
                                self.bind(scope, f"self.{attr}", "opaque", statement, last, path)
            case tree.ExprStmt(value=value):
                self.expression(value, scope, path)
            case tree.Return(value=returned):
                scope.returns.append((statement, path))
                if returned is not None:
                    self.expression(returned, scope, path)
            case tree.Raise(value=raised):
                if raised is not None:
                    self.expression(raised, scope, path)
            case tree.Assert(test=test):
                self.expression(test, scope, path)
            case tree.Delete(targets=targets):
                for target in targets:
                    match target:
                        case tree.Name(id=name):
                            self.bind(scope, name, "delete", None, statement.site, path)
            case tree.ScopeDeclaration(kind=kind, names=names):
                for name in names:
                    scope.declared[name] = kind
            case tree.Import(module=module, alias=alias):
                bound = alias if alias is not None else module.partition(".")[0]
                self.bind(scope, bound, "import", statement, statement.site, path)
            case tree.ImportFrom(names=names):
                for name, alias in names:
                    if name == "*":
                        scope.stars.append(statement)
                    else:
                        self.bind(scope, alias or name, "import-from", statement, statement.site, path)
            case tree.If(site=site, test=test, body=body, orelse=orelse):
                self.expression(test, scope, path)
                scope.arms[site] = ("then", "else")
                scope.branches[site] = statement
                self.arm(scope, site, "then", body, path)
                self.arm(scope, site, "else", orelse, path)
            case tree.For(site=site, target=target, iter=iterated, body=body, orelse=orelse):
                last = self.expression(iterated, scope, path)
                scope.arms[site] = ("body", "none")
                scope.loops.add(site)
                inside = (*path, (site, "body"))
                self.target(scope, target, "element", iterated, None, last, inside)
                self.arm(scope, site, "body", body, path)
                scope.ended.discard((site, "body"))
                self.block(orelse, scope, path)
            case tree.While(site=site, test=test, body=body, orelse=orelse):
                self.expression(test, scope, path)
                scope.arms[site] = ("body", "none")
                scope.loops.add(site)
                self.arm(scope, site, "body", body, path)
                scope.ended.discard((site, "body"))
                self.block(orelse, scope, path)
            case tree.With(items=items, body=body):
                for context, bound_to in items:
                    last = self.expression(context, scope, path)
                    if bound_to is not None:
                        self.target(scope, bound_to, "context", context, None, last, path)
                self.block(body, scope, path)
            case tree.Try(site=site, body=body, handlers=handlers, orelse=orelse, final=final):
                names = tuple(f"except{index}" for index in range(len(handlers)))
                scope.arms[site] = ("try", *names)
                scope.branches[site] = statement
                self.arm(scope, site, "try", body + orelse, path)
                for name, handler in zip(names, handlers, strict=True):
                    if handler.type is not None:
                        self.expression(handler.type, scope, path)
                    if handler.name is not None:
                        self.bind(scope, handler.name, "opaque", None, handler.site, (*path, (site, name)))
                    self.arm(scope, site, name, handler.body, path)
                self.block(final, scope, path)
            case tree.Match(site=site, subject=subject, cases=cases):
                last = self.expression(subject, scope, path)
                names = tuple(f"case{index}" for index in range(len(cases)))
                exhaustive = any(case.literals == () and case.guard is None for case in cases)
                scope.branches[site] = statement
                scope.arms[site] = names if exhaustive else (*names, "none")
                for name, case in zip(names, cases, strict=True):
                    for capture in case.captures:
                        self.bind(scope, capture, "opaque", None, last, (*path, (site, name)))
                    if case.guard is not None:
                        self.expression(case.guard, scope, path)
                    self.arm(scope, site, name, case.body, path)
            case tree.FunctionDef():
                for decorator in statement.decorators:
                    self.expression(decorator, scope, path)
                self.defaults(statement.params, scope, path)
                self.bind(scope, statement.name, "function", statement, statement.site, path)
                inner = self.open(statement, scope, statement.name)
                self.params(statement.params, inner)
                self.block(statement.body, inner, ())
            case tree.ClassDef():
                for decorator in statement.decorators:
                    self.expression(decorator, scope, path)
                for base in statement.bases:
                    self.expression(base.value, scope, path)
                self.bind(scope, statement.name, "class", statement, statement.site, path)
                inner = self.open(statement, scope, statement.name)
                self.block(statement.body, inner, ())

    def defaults(self, params: tuple[tree.Param, ...], scope: Scope, path: Path) -> None:
        for param in params:
            if param.default is not None:
                self.expression(param.default, scope, path)

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
            match node:
                case tree.Call():
                    scope.calls.append((node, path))
                case tree.Yield():
                    scope.yields.append(node)
                case tree.Walrus(target=target, value=value):
                    owner = scope
                    while isinstance(owner.node, tree.Comprehension) and owner.parent is not None:
                        owner = owner.parent
                    self.target(owner, target, "assign", value, None, value.site, path)
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
            pending.extend(reversed(tuple(sub_expressions(node))))
        return last

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


def _self_name_in(scope: Scope) -> str | None:
    """The name that stands for the instance in this scope: a method's own, or that of the method around it."""
    current: Scope | None = scope
    while current is not None:
        name = current.self_name
        if name is not None:
            return name if current is scope else None
        current = current.parent
    return None


def sub_expressions(node: tree.Expr) -> Iterator[tree.Expr]:
    """The direct parts of an expression, without those that live in a scope of their own."""
    match node:
        case tree.Attribute(value=value) | tree.Starred(value=value) | tree.Await(value=value):
            yield value
        case tree.Call(func=func, args=args):
            yield func
            for arg in args:
                yield arg.value
        case tree.Subscript(value=value, index=index):
            yield value
            yield index
        case tree.Display(items=items):
            yield from items
        case tree.DictDisplay(items=pairs):
            for key, value in pairs:
                if key is not None:
                    yield key
                yield value
        case tree.Unary(operand=operand):
            yield operand
        case tree.Binary(left=left, right=right) | tree.Boolean(left=left, right=right):
            yield left
            yield right
        case tree.Compare(left=left, comparators=comparators):
            yield left
            yield from comparators
        case tree.Conditional(test=test, body=body, orelse=orelse):
            yield test
            yield body
            yield orelse
        case tree.Yield(value=value):
            if value is not None:
                yield value
        case tree.Walrus(target=target, value=value):
            yield target
            yield value
        case tree.FormatString(values=values):
            yield from values
        case tree.Opaque(parts=parts):
            yield from parts


def build_scopes(body: tree.Block) -> tuple[Scope, Callable[[object], Scope]]:
    """The module's scope, and a function from a scope-making node to its scope."""
    builder = _Builder()
    module = builder.build(body)
    by_node = builder.by_node
    return module, lambda node: by_node[id(node)]

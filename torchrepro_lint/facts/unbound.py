"""Statements that surely raise, as they evaluate a name that has no value there, or one whose value has no length.

A name that a function binds is local to it: read where none of its bindings can have run, it raises an
UnboundLocalError, whatever the module calls by that name (Python's reference, 4.2.2); a name that no scope around binds
and no builtin has raises a NameError. What may have run is taken
generously: all that a loop around binds anywhere, all that a `try` binds, both arms of an `if`. What is evaluated for
sure is taken narrowly: no right side of `and` and `or`, no arm of a conditional expression, no inner scope, nothing in
a `try` with handlers, which go on from there.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Set
from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.exits import exits_of, swallows
from torchrepro_lint.facts.expressions import last_site, sub_expressions
from torchrepro_lint.facts.iterators import taken_by_number
from torchrepro_lint.facts.scopes import Exit, Path, Scope

__all__ = ["BUILTIN_NAMES", "cannot_have_run", "header", "names_in", "note_until", "unbound_uses"]

#: Names that no file need bind: the builtins of Python 2 and 3, also of later versions than this one, and what
#: notebooks, profilers, type checkers and runners of scripts bring.
BUILTIN_NAMES: Final = frozenset(dir(builtins)) | {
    "_", "BaseExceptionGroup", "EncodingWarning", "ExceptionGroup", "PythonFinalizationError", "StandardError",
    "WindowsError", "aiter", "anext", "apply", "basestring", "buffer", "cmp", "coerce", "copyright", "credits",
    "dbutils", "display", "displayHTML", "execfile", "exit", "file", "get_ipython", "intern", "license", "long",
    "profile", "quit", "raw_input", "reduce", "reload", "reveal_locals", "reveal_type", "sc", "snakemake", "spark",
    "sqlContext", "unichr", "unicode", "xrange",
}  # fmt: skip
#: Contexts that let every exception through (builtins, torch).
_LETS_THROUGH: Final = frozenset(
    {"open", "no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast", "device", "fork_rng"}
)
_LEAVES: Final[frozenset[Exit]] = frozenset({"leaves"})


def unbound_uses(
    body: tree.Block, local: Set[str], unknown: Set[str] = frozenset(), iterators: Set[str] = frozenset()
) -> Mapping[int, int]:
    """The statements of a function's body that surely raise so: by the id of each, the site of the name.

    `local` are the names that the body binds and no parameter has, `unknown` those that nothing at all binds. A name
    that is bound within an expression (`:=`) is in neither. To take the length or an item of one of the `iterators`
    raises a TypeError.
    """
    walk = _Walk(local, unknown, iterators)
    walk.block(body, set())
    return walk.found


def cannot_have_run(path: Path, use: Path, ended: Mapping[tuple[int, str], frozenset[Exit]]) -> bool:
    """Whether what stands earlier in the text, in the arms `path`, cannot have run in the same pass over the text as a
    use in the arms `use`: it is in another arm of a statement around both, or in one that leaves the function.
    """
    around = dict(use)
    for branch, arm in path:
        other = around.get(branch)
        if other is None:
            if ended.get((branch, arm)) == _LEAVES:
                return True
        elif other != arm and not (arm == "try" and other.startswith("except")):
            return True
    return False


def note_until(scope: Scope, statement: tree.Stmt, raised: int, path: Path, never: Path) -> None:
    """Notes the arms of a statement that raises at the site `raised`: what is evaluated before that runs, in `path`; a
    call that what raises is an argument of does not, and nothing behind it.
    """
    if raised == statement.site:
        scope.note_statement(statement.site, never)
        return
    scope.note_statement(statement.site, path)
    pending = list(header(statement))[::-1]
    is_in_call = False
    while pending:
        node = pending.pop()
        if node.site == raised:
            break
        if last_site(node) < raised:
            if is_in_call:
                scope.note_statement(node.site, path)
            continue
        if isinstance(node, tree.Call):
            scope.note_statement(node.site, never)
            is_in_call = True
        parts = (node.clauses[0].iter,) if isinstance(node, tree.Comprehension) else sub_expressions(node)
        pending.extend(reversed(parts))
    scope.note_statement(raised, never)


def header(statement: tree.Stmt) -> Iterator[tree.Expr]:
    """What a statement itself surely evaluates, in order: of a compound one what stands before its blocks."""
    match statement:
        case tree.Assign(targets=targets, value=value):
            if value is not None:
                yield value
                yield from _stored_in(targets)
        case tree.AugAssign(target=target, value=value):
            yield value
            yield target
        case tree.ExprStmt(value=value):
            yield value
        case tree.Return(value=value) | tree.Raise(value=value):
            if value is not None:
                yield value
        case tree.Assert(test=test) | tree.If(test=test) | tree.While(test=test):
            yield test
        case tree.For(iter=iterated):
            yield iterated
        case tree.With(items=items):
            if items:
                yield items[0][0]
        case tree.Match(subject=subject):
            yield subject
        case tree.Delete(targets=targets):
            yield from _stored_in(targets)
        case tree.FunctionDef(decorators=decorators, params=params):
            yield from decorators
            yield from (param.default for param in params if param.default is not None)
        case tree.ClassDef(decorators=decorators, bases=bases):
            yield from decorators
            yield from (base.value for base in bases)


def _lets_through(context: tree.Expr) -> bool:
    """Whether a context is known to swallow no exception: a file, or a mode of torch."""
    match context:
        case tree.Call(func=tree.Name(id=name) | tree.Attribute(attr=name)):
            return name in _LETS_THROUGH
    return False


def _stored_in(targets: tuple[tree.Expr, ...]) -> Iterator[tree.Expr]:
    """What is evaluated in order to store into targets."""
    for target in targets:
        match target:
            case tree.Attribute(value=value):
                yield value
            case tree.Subscript(value=value, index=index):
                yield value
                yield index
            case tree.Display(items=items):
                yield from _stored_in(items)
            case tree.Starred(value=value):
                yield from _stored_in((value,))


def names_in(targets: tuple[tree.Expr, ...]) -> Iterator[str]:
    """The plain names among targets of an assignment."""
    for target in targets:
        match target:
            case tree.Name(id=name):
                yield name
            case tree.Display(items=items):
                yield from names_in(items)
            case tree.Starred(value=value):
                yield from names_in((value,))


def _read(root: tree.Expr) -> Iterator[tree.Name]:
    """The names that evaluating an expression surely reads, in order."""
    pending = [root]
    while pending:
        node = pending.pop()
        match node:
            case tree.Name():
                yield node
            case tree.Boolean(left=first) | tree.Conditional(test=first) | tree.Walrus(value=first):
                pending.append(first)
            case tree.Compare(left=left, comparators=comparators):
                pending += (comparators[0], left)
            case tree.Comprehension(clauses=clauses):
                pending.append(clauses[0].iter)
            case _:
                pending.extend(reversed(sub_expressions(node)))


def _bound_by(statement: tree.Stmt) -> Iterator[str]:
    """The names that a statement binds itself: of a compound one without its blocks."""
    match statement:
        case tree.Assign(targets=targets, value=value) if value is not None:
            yield from names_in(targets)
        case tree.AugAssign(target=target) | tree.For(target=target):
            yield from names_in((target,))
        case tree.Import(module=module, alias=alias):
            yield alias or module.partition(".")[0]
        case tree.ImportFrom(names=names):
            yield from (alias or name for name, alias in names)
        case tree.With(items=items):
            yield from names_in(tuple(to for _, to in items if to is not None))
        case tree.FunctionDef(name=name) | tree.ClassDef(name=name):
            yield name
        case tree.Try(handlers=handlers):
            yield from (handler.name for handler in handlers if handler.name is not None)
        case tree.Match(cases=cases):
            yield from (capture.name for case in cases for capture in case.captures)


def _bound_in(block: tree.Block) -> Iterator[str]:
    """The names that the statements of a block bind, those of inner blocks included."""
    for statement in block:
        yield from _bound_by(statement)
        match statement:
            case (
                tree.If(body=body, orelse=orelse)
                | tree.For(body=body, orelse=orelse)
                | tree.While(body=body, orelse=orelse)
            ):
                yield from _bound_in(body + orelse)
            case tree.With(body=body):
                yield from _bound_in(body)
            case tree.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                for inner in (body, *(handler.body for handler in handlers), orelse, final):
                    yield from _bound_in(inner)
            case tree.Match(cases=cases):
                for case in cases:
                    yield from _bound_in(case.body)


class _Walk:
    """One walk over a function's body, with the names that may be bound at each statement."""

    def __init__(self, local: Set[str], unknown: Set[str], iterators: Set[str]) -> None:
        self.local = local
        self.unknown = unknown
        self.iterators = iterators
        self.found: dict[int, int] = {}
        self.caught = 0  # how many `try` with handlers are around

    def block(self, block: tree.Block, bound: set[str]) -> set[str] | None:
        """The names that may be bound behind a block at whose start `bound` may be; None where nothing runs there."""
        known: set[str] | None = bound
        for statement in block:
            if known is None:
                break
            known = self._statement(statement, known)
        return known

    def _statement(self, statement: tree.Stmt, bound: set[str]) -> set[str] | None:
        if isinstance(statement, tree.While):
            bound = bound.union(_bound_in((statement,)))
        site = self._unbound_at(statement, bound)
        if site is not None and not self.caught:
            self.found[id(statement)] = site
            return None
        match statement:
            case tree.If(body=body, orelse=orelse):
                return self._either(self.block(body, set(bound)), self.block(orelse, set(bound)))
            case tree.For(body=body, orelse=orelse) | tree.While(body=body, orelse=orelse):
                around = bound.union(_bound_in((statement,)))
                self.block(body, set(around))
                return self._either(around, self.block(orelse, set(around)))
            case tree.With(items=items, body=body):
                # A context may swallow what is raised inside, unless it is known not to.
                is_known = all(_lets_through(context) for context, _ in items)
                self.caught += not is_known
                after = self.block(body, bound.union(_bound_by(statement)))
                self.caught -= not is_known
                all_of_it = bound.union(_bound_in((statement,)))
                return all_of_it if after is not None or any(swallows(context) for context, _ in items) else None
            case tree.Try():
                return self._attempt(statement, bound)
            case tree.Match(cases=cases):
                # What a pattern captures stays bound where its guard does not hold.
                behind: set[str] | None = bound.union(_bound_by(statement))
                for case in cases:
                    behind = self._either(behind, self.block(case.body, bound.union(_bound_by(statement))))
                return behind
            case tree.Delete(targets=targets):
                return bound.difference(names_in(targets))
        bound.update(_bound_by(statement))
        return None if exits_of((statement,), {}) is not None else bound

    def _attempt(self, statement: tree.Try, bound: set[str]) -> set[str] | None:
        self.caught += bool(statement.handlers)
        tried = self.block(statement.body, set(bound))
        self.caught -= bool(statement.handlers)
        in_part = bound.union(_bound_in(statement.body))
        ends = self.block(statement.orelse, tried) if tried is not None else None
        for handler in statement.handlers:
            named = in_part if handler.name is None else {*in_part, handler.name}
            ends = self._either(ends, self.block(handler.body, set(named)))
        around = bound.union(_bound_in((statement,)))
        final = self.block(statement.final, set(around))
        return around if ends is not None and final is not None else None

    def _either(self, one: set[str] | None, other: set[str] | None) -> set[str] | None:
        if one is None or other is None:
            return one if other is None else other
        return one | other

    def _unbound_at(self, statement: tree.Stmt, bound: set[str]) -> int | None:
        """The site from which on nothing of a statement is evaluated; None where no name surely lacks a value."""
        match statement:
            case tree.AugAssign(target=tree.Name(id=name)) if self._lacks(name, bound):
                return statement.site  # the target is read first
            case tree.Delete(targets=targets):
                lacking = (one for one in targets if isinstance(one, tree.Name) and self._lacks(one.id, bound))
                if (first := next(lacking, None)) is not None:
                    return first.site
        if isinstance(statement, tree.Assert):
            return None  # `python -O` leaves it out
        for part in header(statement):
            taken = set(taken_by_number(part, self.iterators)) if self.iterators else ()
            for read in _read(part):
                if self._lacks(read.id, bound) or read.site in taken:
                    return read.site
        return None

    def _lacks(self, name: str, bound: set[str]) -> bool:
        return name in self.unknown or (name in self.local and name not in bound)

"""Where the values of one file may go, by names alone: the statements of the file as edges of a graph.

Nothing is evaluated, and neither order nor conditions count: where no edge leads, no value goes, but a value need not
go where one leads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import intern
from typing import Final, NamedTuple, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, strings_in, uncalled
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.flow_expressions import Around, Expressions
from torchrepro_lint.program.running.flow_names import Defined, FileNames, names_in
from torchrepro_lint.program.running.flow_transfers import ESCAPED, SAME, TRANSFERS, Flow, Vertex

__all__ = ["FileEdges", "edges_of"]

_RUN_BY_A_CALL: Final = frozenset({"__call__", "forward"})
_TUPLE_CLASSES: Final = frozenset({"namedtuple", "NamedTuple", "make_dataclass"})

#: The edges that leave a vertex: where each leads, and its transfer.
Edges: TypeAlias = dict[Vertex, Sequence[Flow]]


class FileEdges(NamedTuple):
    """The edges of a file: those that leave its own variables, and those that leave what other files may have as well;
    its names; those that it mentions without a call; and what functions and classes are called elsewhere.
    """

    own: Edges
    shared: Edges
    names: FileNames
    mentioned: frozenset[str]
    renamed: dict[str, set[str]]


def edges_of(facts: ModuleFacts, number: int, defined: Defined, sources: Iterable[tree.Expr] = ()) -> FileEdges:
    """The edges of a file that has a number among others, with those that leave the sources."""
    names = names_in(facts)
    statements = _Statements(number, names, defined, frozenset(map(id, sources)))
    statements.module(facts)
    own: Edges = {}
    shared: Edges = {}
    mine = statements.variable("")
    kept: dict[Flow, Flow] = {}
    for vertex, edges in statements.edges.items():
        # Most ends stand in many edges of the file, and what is shared stands in those of other files too.
        ends = (kept.setdefault(flow, (intern(flow[0]), flow[1])) for flow in dict.fromkeys(edges))
        (own if vertex.startswith(mine) else shared)[intern(vertex)] = tuple(ends)
    return FileEdges(own, shared, names, frozenset(statements.mentioned), statements.renamed)


class _Statements(Expressions):
    """The walk over the statements of a file."""

    def __init__(self, number: int, names: FileNames, defined: Defined, sources: frozenset[int]) -> None:
        super().__init__(number, names, defined, sources)
        self.renamed: dict[str, set[str]] = {}

    def module(self, facts: ModuleFacts) -> None:
        for name in facts.scope.bindings:
            self.lead([(f"@{name}", SAME)], self.variable(name))
            self.lead([(self.variable(name), SAME)], f".{name}")
        self.block(facts.body, Around())

    def block(self, block: tree.Block, around: Around) -> None:
        for statement in block:
            self.statement(statement, around)

    def statement(self, statement: tree.Stmt, around: Around) -> None:
        match statement:
            case tree.Assign(targets=targets, value=value, annotation=annotation):
                if around.cls and not around.function and annotation is not None:
                    self.field(targets[0], around)
                self.tuple_class(targets[0], value)
                if value is not None:
                    flows = self.flows(value, around)
                    for target in targets:
                        self.store(target, flows, around)
            case tree.AugAssign(target=target, value=value):
                self.store(target, self.flows(value, around), around)
            case tree.ExprStmt(value=value):
                self.flows(value, around)
            case tree.Return(value=value):
                if value is not None:
                    self.lead(self.flows(value, around), f"{around.function}()")
            case tree.Raise(value=value, cause=cause):
                for part in (value, cause):
                    if part is not None:
                        self.flows(part, around)
            case tree.Assert(test=test, message=message):
                for part in (test, message):
                    if part is not None:
                        self.flows(part, around)
            case tree.Delete(targets=targets):
                for target in targets:
                    self.flows(target, around)
            case tree.ImportFrom(names=names):
                for name, alias in names:
                    if name != "*":
                        imported = ((f".{name}", SAME), (f"{name}()", SAME), *self.attributes)
                        self.lead(imported, self.variable(alias or name))
                        if alias is not None and alias != name:
                            self.renamed.setdefault(alias, set()).add(name)
                            self.lead(((f"{name}()", SAME),), f"{alias}()")
            case tree.If(test=test, body=body, orelse=orelse) | tree.While(test=test, body=body, orelse=orelse):
                self.flows(test, around)
                self.block(body, around)
                self.block(orelse, around)
            case tree.For(target=target, iter=iterated, body=body, orelse=orelse):
                flows = self.flows(iterated, around)
                self.iterated(flows, around)
                self.store(target, self.items(flows), around)
                self.block(body, around)
                self.block(orelse, around)
            case tree.With(items=items, body=body):
                for context, bound in items:
                    flows = self.flows(context, around)
                    if bound is not None:
                        entered = [*flows, *TRANSFERS.taken(flows), ("__enter__()", SAME)]
                        self.store(bound, entered, around)
                self.block(body, around)
            case tree.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                for inner in (body, *(handler.body for handler in handlers), orelse, final):
                    self.block(inner, around)
            case tree.Match(subject=subject, cases=cases):
                flows = self.flows(subject, around)
                flows += TRANSFERS.taken(flows)
                for case in cases:
                    for capture in case.captures:
                        self.lead(flows, self.variable(capture.name))
                    if case.guard is not None:
                        self.flows(case.guard, around)
                    self.block(case.body, around)
            case tree.FunctionDef():
                self.function(statement, around)
            case tree.ClassDef():
                self.class_(statement, around)

    def function(self, statement: tree.FunctionDef, around: Around) -> None:
        name = statement.name
        result = (f"{name}()", SAME)
        self.decorated(statement, around)
        self.lead((result,), self.variable(name))
        self.lead((result,), f".{name}")
        is_method = bool(around.cls) and not around.function
        called = around.cls if is_method and name == "__init__" else name
        positional = [param for param in statement.params if param.kind == "positional"]
        for param in statement.params:
            vertex = self.variable(param.name)
            if param.default is not None:
                self.lead(self.flows(param.default, around), vertex)
            at_all, to_any = (f"{called}(?", SAME), (f"{called}(*", SAME)
            if param.kind in ("star", "double-star"):
                self.lead((*TRANSFERS.held([at_all, to_any]), to_any), vertex)
                continue
            places: list[int | str] = [param.name]
            if param.kind == "positional":
                place = positional.index(param)
                places += (place, place - 1) if is_method else (place,)
            self.lead([(f"{called}({one}", SAME) for one in places], vertex)
            self.lead([to_any, *TRANSFERS.taken([to_any])], vertex)
            for one in places:
                self.lead([(f"{vertex}!", SAME)], f"{called}<{one}")
            if name in _RUN_BY_A_CALL:
                self.lead(((ESCAPED, SAME),), vertex)
        own = around.own if around.function and all(one.name != around.own for one in statement.params) else ""
        if is_method and positional and all(dotted_name(one) != "staticmethod" for one in statement.decorators):
            own = positional[0].name
        self.block(statement.body, Around(around.cls, around.bases, own, name, False))

    def class_(self, statement: tree.ClassDef, around: Around) -> None:
        name = statement.name
        made = (f"{name}()", SAME)
        self.decorated(statement, around)
        bases: list[str] = []
        for base in statement.bases:
            self.flows(base.value, around)
            match base.value:
                case tree.Name(id=base_name) | tree.Attribute(attr=base_name):
                    bases.append(base_name)
                    self.lead(((f"{base_name}()", SAME),), made[0])
        self.lead((made,), self.variable(name))
        self.lead((made,), f".{name}")
        if not any(isinstance(one, tree.FunctionDef) and one.name == "__init__" for one in statement.body):
            self.renamed.setdefault(name, set()).update(bases)
            given = [(f"{name}(?", SAME)]
            self.lead([*TRANSFERS.into_object(given), *TRANSFERS.held(given)], made[0])
        self.block(statement.body, Around(name, tuple(bases), "", "", True))

    def field(self, target: tree.Expr, around: Around) -> None:
        """A field of a dataclass gets what the constructor is given."""
        if isinstance(target, tree.Name):
            self.lead(((f"{around.cls}(?", SAME),), f".{target.id}")

    def tuple_class(self, target: tree.Expr, value: tree.Expr | None) -> None:
        """`Pair = namedtuple("Pair", "first second")`: the fields get what the constructor is given."""
        match target, value:
            case tree.Name(id=name), tree.Call(func=func, args=args) if called_name(func) in _TUPLE_CLASSES:
                for text in (text for arg in args for text in strings_in(arg.value)):
                    for field in text.replace(",", " ").split():
                        self.lead([(f"{name}(?", SAME)], f".{field}")

    def decorated(self, statement: tree.FunctionDef | tree.ClassDef, around: Around) -> None:
        """What decorators of the project make of a function or a class, and may do with it, as a registry does."""
        result = (f"{statement.name}()", SAME)
        for decorator in statement.decorators:
            self.lead(self.flows(decorator, around), result[0])
            root = dotted_name(uncalled(decorator))
            if root is None or not self.defined.names.isdisjoint(root.split(".")):
                name = called_name(uncalled(decorator))
                self.lead([result], f"{name}(?")
                self.lead([result], f"{name}(0")
                self.lead([(f"{statement.name}(?", SAME)], ESCAPED)  # what is put in its place may call it
                self.mentioned.add(statement.name)
                if isinstance(decorator, tree.Call):
                    self.lead([result], ESCAPED)

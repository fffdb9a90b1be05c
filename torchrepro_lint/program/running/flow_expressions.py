"""What comes into an expression, by names alone, and where the calls in it lead what they are given."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.flow_transfers import ESCAPED, SAME, SOURCE, TRANSFERS, Flow, Vertex

__all__ = ["ATTRIBUTES", "Around", "Defined", "Expressions", "FileNames", "defined_in", "names_in"]

#: Methods that put what they are given into what they are called on; the second kind puts its items there.
_PUTS: Final = frozenset({"append", "appendleft", "add", "insert", "put", "put_nowait", "setdefault", "push"})
_PUTS_ITEMS: Final = frozenset({"extend", "extendleft", "update"})
#: What gives tuples with the items of what it is given.
_IN_TUPLES: Final = frozenset(
    {"enumerate", "zip", "items", "zip_longest", "product", "combinations", "pairwise", "popitem"}
)
#: What gives nothing of what it is given: a size, a truth, a class.
_NOTHING_OF_IT: Final = frozenset(
    {"len", "isinstance", "issubclass", "bool", "id", "type", "hasattr", "callable", "print", "any", "all"}
)
#: What gives one item of what it is given.
_ONE_ITEM: Final = frozenset({"next", "pop", "popleft", "get", "get_nowait", "choice", "max", "min"})
#: What gives a part of something by the text that it is given.
_BY_TEXT: Final = frozenset({"getattr", "get", "pop", "setdefault", "attrgetter", "itemgetter", "__getitem__"})
#: What a loop over an object of the project takes, and an index: what these methods return.
ITERATED: Final = tuple((f"{name}()", SAME) for name in ("__next__", "__getitem__"))
ITERATOR: Final = TRANSFERS.taken([("__iter__()", SAME)])[0]
#: Functions of Python that call others with the items of what they are given; those that call others at all.
_CALLS_WITH_ITEMS: Final = frozenset({"map", "filter", "sorted", "max", "min", "reduce", "groupby"})
_CALLS_BACK: Final = _CALLS_WITH_ITEMS | {"getattr", "setattr", "iter", "property", "type"}
BUILTINS: Final = frozenset(dir(builtins))
#: Functions of Python that call none of the project but by the special methods of what they are given.
_CALLS_NOTHING: Final = BUILTINS - _CALLS_BACK
#: What an attribute may be that a class computes.
ATTRIBUTES: Final = tuple((f"{name}()", SAME) for name in ("__getattr__", "__getattribute__", "__get__"))


class Around(NamedTuple):
    """What a statement is in: the class whose method it is in, the name of its own object there, the function; and
    whether names that are bound here are attributes of a module or a class.
    """

    cls: str = ""
    bases: tuple[str, ...] = ()
    own: str = ""
    function: str = ""
    is_outer: bool = True


class Defined(NamedTuple):
    """The names of functions and classes in some files, and of attributes that are given a value there."""

    names: frozenset[str]
    stored: frozenset[str]


def defined_in(files: Iterable[ModuleFacts]) -> Defined:
    """The names that decide, in all of some files, what a call means."""
    names: set[str] = set()
    stored: set[str] = set()
    for facts in files:
        for scope in facts.walk_scopes():
            if isinstance(scope.node, (tree.FunctionDef, tree.ClassDef)):
                names.add(scope.name)
            stored.update(store.target.attr for store in scope.stores if isinstance(store.target, tree.Attribute))
            if isinstance(scope.node, tree.ClassDef):
                stored.update(name for name, bound in scope.bindings.items() if bound[-1].kind != "function")
    return Defined(frozenset(names), frozenset(stored))


class FileNames(NamedTuple):
    """The names that a file binds; those that it imports; and these with its functions and classes."""

    bound: frozenset[str]
    imported: frozenset[str]
    known: frozenset[str]


def names_in(facts: ModuleFacts) -> FileNames:
    """The names of a file."""
    bound: set[str] = set()
    imported: set[str] = set()
    known: set[str] = set()
    for scope in facts.walk_scopes():
        for name, found in scope.bindings.items():
            bound.add(name)
            kinds = {one.kind for one in found}
            if not kinds.isdisjoint(("import", "import-from")):
                imported.add(name)
            if not kinds.isdisjoint(("import", "import-from", "function", "class")):
                known.add(name)
    return FileNames(frozenset(bound), frozenset(imported), frozenset(known))


class Expressions:
    """The walk over the expressions of a file that has a number among others."""

    def __init__(self, number: int, names: FileNames, defined: Defined, sources: frozenset[int] = frozenset()) -> None:
        self.number = number
        self.bound, self.imported, self.known = names
        self.defined = defined
        self.sources = sources
        self.mentioned: set[str] = set()
        self.edges: dict[Vertex, dict[Flow, None]] = {}

    def lead(self, flows: Iterable[Flow], target: Vertex) -> None:
        """Adds an edge to a vertex for each of some flows."""
        for vertex, transfer in flows:
            if vertex != target:
                edges = self.edges.get(vertex)
                if edges is None:
                    self.edges[vertex] = {(target, transfer): None}
                else:
                    edges[target, transfer] = None

    def variable(self, name: str) -> Vertex:
        """The variable of that name in this file."""
        return f"{self.number}:{name}"

    def items(self, flows: list[Flow]) -> list[Flow]:
        """What a loop takes out of what it goes through."""
        return [*TRANSFERS.taken(flows), *ITERATED, ITERATOR] if flows else []

    def store(self, target: tree.Expr, flows: Sequence[Flow], around: Around) -> None:
        match target:
            case tree.Name(id=name):
                if name != around.own:
                    self.lead(flows, self.variable(name))
                    if around.is_outer:
                        self.lead(flows, f".{name}")
            case tree.Attribute(value=owner, attr=attr):
                self.lead(flows, f".{attr}")
                if isinstance(owner, tree.Name) and owner.id in self.imported:
                    self.lead(flows, f"@{attr}")
                inside = TRANSFERS.into_object(flows)
                if isinstance(owner, tree.Name) and owner.id == around.own:
                    self.lead(inside, f"{around.cls}()")
                else:
                    self.store(owner, inside, around)
            case tree.Subscript(value=owner, index=index):
                self.flows(index, around)
                match index:
                    case tree.Const(value=str() as key):
                        self.lead(flows, f".{key}")
                        if isinstance(owner, tree.Call) and called_name(owner.func) in ("globals", "vars", "locals"):
                            self.lead(flows, self.variable(key))
                self.store(owner, TRANSFERS.held(flows), around)
            case tree.Display(items=items):
                taken = TRANSFERS.taken(flows)
                for item in items:
                    self.store(item, flows if isinstance(item, tree.Starred) else taken, around)
            case tree.Starred(value=value):
                self.store(value, flows, around)
            case tree.Call(func=tree.Attribute(value=owner)):
                self.store(owner, flows, around)

    def flows(self, node: tree.Expr, around: Around) -> list[Flow]:
        """What comes into an expression; the edges of its calls are added."""
        found = self._flows(node, around)
        return [*found, (SOURCE, SAME)] if id(node) in self.sources else found

    def _flows(self, node: tree.Expr, around: Around) -> list[Flow]:
        match node:
            case tree.Const():
                return []
            case tree.Name(id=name):
                if name == around.own:
                    return [(f"{around.cls}()", SAME)]
                self.mentioned.add(name)
                return self._named(name)
            case tree.Attribute(value=value, attr=attr):
                self.mentioned.add(attr)
                if not (isinstance(value, tree.Name) and (value.id == around.own or value.id in self.imported)):
                    self.flows(value, around)  # for the calls in it
                return [(f".{attr}", SAME), *ATTRIBUTES]
            case tree.Call():
                return self.call(node, around)
            case tree.Subscript(value=value, index=index):
                return self._item(value, index, around)
            case tree.Display(items=items):
                found = []
                for item in items:
                    flows = self.flows(item, around)
                    found += flows if isinstance(item, tree.Starred) else TRANSFERS.held(flows)
                return found
            case tree.DictDisplay(items=pairs):
                found = []
                for key, value in pairs:
                    flows = self.flows(value, around)
                    found += flows if key is None else TRANSFERS.held(flows)
                    if key is not None:
                        found += TRANSFERS.held(self.flows(key, around))
                return found
            case tree.Binary(left=left, right=right) | tree.Boolean(left=left, right=right):
                return [*self.flows(left, around), *self.flows(right, around)]
            case tree.Unary(operand=operand):
                return self.flows(operand, around)
            case tree.Compare(left=left, comparators=others):
                for part in (left, *others):
                    self.flows(part, around)
                return []
            case tree.Conditional(test=test, body=body, orelse=orelse):
                self.flows(test, around)
                return [*self.flows(body, around), *self.flows(orelse, around)]
            case tree.Starred(value=value) | tree.Await(value=value):
                return self.flows(value, around)
            case tree.Walrus(target=target, value=value):
                flows = self.flows(value, around)
                self.store(target, flows, around)
                return flows
            case tree.Yield(value=given, delegates=delegates):
                if given is not None:
                    flows = self.flows(given, around)
                    yielded = flows if delegates else TRANSFERS.held(flows)
                    self.lead(yielded, f"{around.function}()")
                return [("send(0", SAME), ("asend(0", SAME)]
            case tree.Lambda(params=params, body=body):
                for param in params:
                    self.lead(((ESCAPED, SAME), *TRANSFERS.taken([(ESCAPED, SAME)])), self.variable(param.name))
                    if param.default is not None:
                        self.lead(self.flows(param.default, around), self.variable(param.name))
                return self.flows(body, around)
            case tree.Comprehension():
                return self._comprehension(node, around)
            case tree.FormatString(values=parts) | tree.Opaque(parts=parts):
                return [flow for part in parts for flow in self.flows(part, around)]

    def _comprehension(self, node: tree.Comprehension, around: Around) -> list[Flow]:
        inner = around._replace(is_outer=False)
        for clause in node.clauses:
            self.store(clause.target, self.items(self.flows(clause.iter, around)), inner)
            for condition in clause.conditions:
                self.flows(condition, around)
        elements = self.flows(node.element, around)
        if node.key is not None:
            elements = [*elements, *self.flows(node.key, around)]
        return TRANSFERS.held(elements)

    def _named(self, name: str) -> list[Flow]:
        found = [(self.variable(name), SAME)]
        return found if name in self.bound else [*found, (f".{name}", SAME)]

    def _item(self, value: tree.Expr, index: tree.Expr, around: Around) -> list[Flow]:
        self.flows(index, around)
        flows = self.flows(value, around)
        match index:
            case tree.Const(value=str() as key):
                return [*TRANSFERS.taken(flows), *ITERATED, (f".{key}", SAME)]
            case tree.Const() | tree.Unary():
                return [*TRANSFERS.taken(flows), *ITERATED]
            case tree.Opaque():
                return flows
        return [*flows, *TRANSFERS.taken(flows), *ITERATED]

    def call(self, call: tree.Call, around: Around) -> list[Flow]:
        owned: list[Flow] = []
        match call.func:
            case tree.Name(id=name):
                result = [] if name == around.own else self._named(name)
                called = [name]
                is_unseen = name not in self.known and (name in self.bound or name not in BUILTINS)
            case tree.Attribute(value=tree.Call(func=tree.Name(id="super")), attr="__init__" as name):
                result, called, is_unseen = [], list(around.bases), False
            case tree.Attribute(value=tree.Name(id=base) | tree.Attribute(attr=base), attr="__init__" as name):
                result, called, is_unseen = [], [base], False
            case tree.Attribute(value=owner, attr=name):
                result = [(f".{name}", SAME)]
                if not (isinstance(owner, tree.Name) and (owner.id == around.own or owner.id in self.imported)):
                    owned = TRANSFERS.of_values(self.flows(owner, around))
                called = [name]
                is_unseen = name in self.defined.stored and name not in self.defined.names
            case tree.Call(func=tree.Name(id="getattr"), args=(_, tree.Arg(value=tree.Const(value=str() as name)), *_)):
                result, called, is_unseen = self.flows(call.func, around), [name], False
            case func:
                name, result, called, is_unseen = "", self.flows(func, around), [], True
        given = self._arguments(call, name, called, around)
        if is_unseen:
            self.lead(given, ESCAPED)
        if isinstance(call.func, tree.Attribute):
            if name in _PUTS:
                self.store(call.func.value, TRANSFERS.held(given), around)
            elif name in _PUTS_ITEMS:
                self.store(call.func.value, given, around)
        if name == "setattr" and len(call.args) == 3:
            self._set_attribute(call, around)
        for arg in call.args:
            match arg.value:
                case tree.Const(value=str() as text) if name in _BY_TEXT:
                    self.mentioned.add(text)
                    result = [*result, (f".{text}", SAME)]
        if name in _NOTHING_OF_IT and isinstance(call.func, tree.Name) and name not in self.bound:
            return []
        passed = [*owned, *given] if name not in self.defined.names else owned
        if name in _IN_TUPLES:
            return [*result, *TRANSFERS.held(passed)]
        if name in _ONE_ITEM:
            return [*result, *passed, *TRANSFERS.taken(passed), *ITERATED]
        if (name not in BUILTINS and len(call.args) > 1) or name == "dict":  # `prepare(first, second)` gives both
            return [*result, *passed, *TRANSFERS.held(passed)]
        return [*result, *passed]

    def _arguments(self, call: tree.Call, name: str, called: list[str], around: Around) -> list[Flow]:
        given: list[Flow] = []
        for place, arg in enumerate(call.args):
            flows = self.flows(arg.value, around)
            for one in called:
                self.lead(flows, f"{one}(?")
                if arg.star:
                    self.lead(flows, f"{one}(*")
                elif arg.keyword is not None:
                    self.lead(flows, f"{one}({arg.keyword}")
                    self.lead(flows, f".{arg.keyword}")
                else:
                    self.lead(flows, f"{one}({place}")
                    if name == "__init__" and place:
                        self.lead(flows, f"{one}({place - 1}")
            given += TRANSFERS.taken(flows) if arg.star == "*" else []
            given += flows
        if given and name not in _CALLS_NOTHING and not self.defined.names.issuperset(called):
            self._to_functions(call, [*TRANSFERS.taken(given), *(() if name in _CALLS_WITH_ITEMS else given)])
        return given

    def _to_functions(self, call: tree.Call, given: list[Flow]) -> None:
        """A call out of sight may run functions that are among its arguments with what else it is given."""
        for arg in call.args:
            match arg.value:
                case tree.Lambda(params=params):
                    for param in params:
                        self.lead(given, self.variable(param.name))
                case tree.Name(id=name) if name in self.known and name in self.defined.names:
                    self.lead(given, f"{name}(*")
                case tree.Attribute(attr=name) if name in self.defined.names:
                    self.lead(given, f"{name}(*")

    def _set_attribute(self, call: tree.Call, around: Around) -> None:
        owner, attribute, value = (arg.value for arg in call.args)
        flows = self.flows(value, around)
        match attribute:
            case tree.Const(value=str() as name):
                self.store(tree.Attribute(call.site, owner, name), flows, around)
            case _:
                self.lead(flows, ".*")

"""What comes into an expression, by names alone, and where the calls in it lead what they are given."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.flow_names import Defined, FileNames
from torchrepro_lint.program.running.flow_transfers import ESCAPED, SAME, SOURCE, TRANSFERS, Flow, Vertex

__all__ = ["Around", "Expressions"]

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
#: What gives a container with what it is given, or with what functions give that it is given.
_IN_CONTAINERS: Final = frozenset(
    {"dict", "defaultdict", "map", "starmap", "imap", "gather", "repeat", "tee", "setdefault"}
)
#: What gives the items of its first argument, whatever else it is given.
_ITERTOOLS: Final = frozenset({"islice", "cycle", "tqdm", "track", "takewhile", "dropwhile", "chain"})
#: What calls a function later that it is given, and the keywords that name one.
_HANDS_ON: Final = frozenset({"partial", "partialmethod"})
_FUNCTION_KEYWORDS: Final = frozenset({"target", "func", "fn", "function", "callback"})
#: What a call of an object gives.
_CALLED: Final = ("__call__", "forward")
#: What gives a part of something by the text that it is given.
_BY_TEXT: Final = frozenset({"getattr", "get", "pop", "setdefault", "attrgetter", "itemgetter", "__getitem__"})
#: What a loop over an object of the project takes, and an index: what these methods return.
_ITERATED: Final = ("__next__", "__getitem__")
_ITERATOR: Final = ("__iter__",)
#: Functions of Python that call others with the items of what they are given; those that call others at all.
_CALLS_WITH_ITEMS: Final = frozenset({"map", "filter", "sorted", "max", "min", "reduce", "groupby"})
_CALLS_BACK: Final = _CALLS_WITH_ITEMS | {"getattr", "setattr", "iter", "property", "type"}
BUILTINS: Final = frozenset(dir(builtins))
#: Functions of Python that call none of the project but by the special methods of what they are given.
_CALLS_NOTHING: Final = BUILTINS - _CALLS_BACK
#: What an attribute may be that a class computes.
_ATTRIBUTES: Final = ("__getattr__", "__getattribute__", "__get__")


class Around(NamedTuple):
    """What a statement is in: the class whose method it is in, the name of its own object there, the function; and
    whether names that are bound here are attributes of a module or a class.
    """

    cls: str = ""
    bases: tuple[str, ...] = ()
    own: str = ""
    function: str = ""
    is_outer: bool = True


class Expressions:
    """The walk over the expressions of a file that has a number among others."""

    def __init__(self, number: int, names: FileNames, defined: Defined, sources: frozenset[int] = frozenset()) -> None:
        self.number = number
        self.names = names
        self.defined = defined
        self.sources = sources
        self.mentioned: set[str] = set()
        self.edges: dict[Vertex, dict[Flow, None]] = {}
        self.attributes = self._results(_ATTRIBUTES)
        self.iterated_over = self._results(_ITERATED)
        self.iterators = self._results(_ITERATOR)
        self.called = self._results(_CALLED)

    def _results(self, methods: Iterable[str]) -> tuple[Flow, ...]:
        """What those of some special methods return that the files define."""
        return tuple((f"{one}()", SAME) for one in methods if one in self.defined.names or one in self.defined.stored)

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
        return [*TRANSFERS.taken(flows), *self.iterated_over, *TRANSFERS.taken(self.iterators)] if flows else []

    def put(self, target: tree.Expr, flows: Sequence[Flow], around: Around) -> None:
        """Values are put into what an expression has: who gave that to a parameter has them as well."""
        self.store(target, flows, around)
        if isinstance(target, tree.Name):
            self.lead(flows, f"{self.variable(target.id)}!")

    def store(self, target: tree.Expr, flows: Sequence[Flow], around: Around) -> None:
        match target:
            case tree.Name(id=name):
                self.lead(flows, self.variable(name))
                if name == around.own:
                    self.lead(flows, f"{around.cls}()")
                if around.is_outer:
                    self.lead(flows, f".{name}")
                    if around.cls:
                        self.lead(TRANSFERS.into_object(flows), f"{around.cls}()")
            case tree.Attribute(value=owner, attr=attr):
                self.lead(flows, f".{attr}")
                self.lead(flows, f"@{attr}")
                inside = TRANSFERS.into_object(flows)
                if isinstance(owner, tree.Name) and owner.id == around.own:
                    self.lead(inside, f"{around.cls}()")
                else:
                    self.put(owner, inside, around)
            case tree.Subscript(value=owner, index=index):
                self.flows(index, around)
                match index:
                    case tree.Const(value=str() as key):
                        self.lead(flows, f".{key}")
                        if isinstance(owner, tree.Call) and called_name(owner.func) in ("globals", "vars", "locals"):
                            self.lead(flows, self.variable(key))
                self.put(owner, TRANSFERS.held(flows), around)
            case tree.Display(items=items):
                taken = self.items(list(flows))
                for item in items:
                    self.store(item, flows if isinstance(item, tree.Starred) else taken, around)
            case tree.Starred(value=value):
                self.store(value, flows, around)
            case tree.Call(func=tree.Attribute(value=owner, attr=name)):
                self.store(owner, flows, around)
                self.store(owner, TRANSFERS.held(flows), around)
                self.lead(flows, f"{name}()")
            case tree.Call(func=tree.Name(id=name)):
                self.lead(flows, f"{name}()")

    def flows(self, node: tree.Expr, around: Around) -> list[Flow]:
        """What comes into an expression; the edges of its calls are added."""
        found = self._flows(node, around)
        return [*found, (SOURCE, SAME)] if id(node) in self.sources else found

    def _flows(self, node: tree.Expr, around: Around) -> list[Flow]:
        match node:
            case tree.Const():
                return []
            case tree.Name(id=name):
                self.mentioned.add(name)
                found = self._named(name)
                return [*found, (f"{around.cls}()", SAME)] if name == around.own else found
            case tree.Attribute(value=value, attr=attr):
                self.mentioned.add(attr)
                if not (isinstance(value, tree.Name) and (value.id == around.own or value.id in self.names.imported)):
                    self.flows(value, around)  # for the calls in it
                return [(f".{attr}", SAME), *self.attributes]
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
                    match key:
                        case tree.Const(value=str() as text):
                            self.lead(flows, f".{text}")
                return found
            case tree.Binary(left=left, right=right) | tree.Boolean(left=left, right=right):
                return [*self.flows(left, around), *self.flows(right, around)]
            case tree.Unary(op=op, operand=operand):
                flows = self.flows(operand, around)
                return [] if op == "not" else flows
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
                    if delegates:
                        self.iterated(flows, around)
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

    def iterated(self, flows: list[Flow], around: Around) -> None:
        """What the `__iter__` of a class goes through is what a loop over its objects goes through."""
        if around.cls and around.function == "__iter__":
            self.lead(TRANSFERS.into_object(flows), f"{around.cls}()")

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
        return found if name in self.names.bound and not self.names.has_stars else [*found, (f".{name}", SAME)]

    def _item(self, value: tree.Expr, index: tree.Expr, around: Around) -> list[Flow]:
        self.flows(index, around)
        flows = self.flows(value, around)
        match index:
            case tree.Const(value=str() as key):
                return [*TRANSFERS.taken(flows), *self.iterated_over, (f".{key}", SAME)]
            case tree.Const() | tree.Unary():
                return [*TRANSFERS.taken(flows), *self.iterated_over]
            case tree.Opaque():
                return flows
        return [*flows, *TRANSFERS.taken(flows), *self.iterated_over]

    def call(self, call: tree.Call, around: Around) -> list[Flow]:
        owned: list[Flow] = []
        match call.func:
            case tree.Name(id=name):
                result = self._named(name)
                called = [name]
                is_unseen = name in self.names.bound or name not in BUILTINS
                if name in self.names.known:
                    is_unseen = name not in self.names.own and name not in self.defined.names
            case tree.Attribute(value=tree.Call(func=tree.Name(id="super")), attr="__init__" as name):
                result, called, is_unseen = [], list(around.bases), False
            case tree.Attribute(value=tree.Name(id=base) | tree.Attribute(attr=base), attr="__init__" as name):
                result, called, is_unseen = [], [base], False
            case tree.Attribute(value=owner, attr=name):
                result = [(f".{name}", SAME)]
                if not (isinstance(owner, tree.Name) and (owner.id == around.own or owner.id in self.names.imported)):
                    owned = TRANSFERS.of_values(self.flows(owner, around))
                called = [name]
                is_unseen = name in self.defined.stored
            case tree.Subscript(index=tree.Const(value=str() as name)):
                result, called, is_unseen = self.flows(call.func, around), [name], True
            case tree.Call(func=tree.Name(id="getattr"), args=(_, tree.Arg(value=tree.Const(value=str() as name)), *_)):
                result, called, is_unseen = self.flows(call.func, around), [name], False
            case func:
                name, result, called, is_unseen = "", self.flows(func, around), [], True
        given = self._arguments(call, name, called, around)
        if is_unseen or name in _HANDS_ON or any(arg.keyword in _FUNCTION_KEYWORDS for arg in call.args):
            self.lead(given, ESCAPED)
            result = [*result, *self.called]
        if name == "iter":
            self.iterated(given, around)
        if isinstance(call.func, tree.Attribute):
            if name in _PUTS:
                self.put(call.func.value, TRANSFERS.held(given), around)
            elif name in _PUTS_ITEMS:
                self.put(call.func.value, given, around)
        if name == "setattr" and len(call.args) == 3:
            self._set_attribute(call, around)
        for arg in call.args:
            match arg.value:
                case tree.Const(value=str() as text) if name in _BY_TEXT:
                    self.mentioned.add(text)
                    result = [*result, (f".{text}", SAME)]
        if name in _NOTHING_OF_IT and isinstance(call.func, tree.Name) and name not in self.names.bound:
            return []
        passed = owned
        if not (isinstance(call.func, tree.Name) and name in self.names.own) and not self._is_own(call.func, around):
            passed = [*owned, *given, *(self.iterators if given else ())]
        if name in _IN_TUPLES:
            return [*result, *TRANSFERS.held(passed)]
        if name == "next":
            return [*result, *self.items(passed)]
        if name in _ONE_ITEM:
            return [*result, *passed, *self.items(passed)]
        # `prepare(first, second)` gives both.
        several = len([arg for arg in call.args if arg.keyword is None]) > 1
        if name in _IN_CONTAINERS or (several and name not in BUILTINS and name not in _ITERTOOLS):
            return [*result, *passed, *TRANSFERS.held(passed)]
        return [*result, *passed]

    def _is_own(self, func: tree.Expr, around: Around) -> bool:
        """Whether a method of the object itself is called that the project defines: what it returns tells all."""
        match func:
            case tree.Attribute(value=tree.Name(id=name), attr=attr):
                return name == around.own and attr in self.defined.names and attr not in self.defined.stored
        return False

    def _arguments(self, call: tree.Call, name: str, called: list[str], around: Around) -> list[Flow]:
        given: list[Flow] = []
        for place, arg in enumerate(call.args):
            flows = self.flows(arg.value, around)
            for one in called:
                self.lead(flows, f"{one}(?")
                if isinstance(arg.value, (tree.Name, tree.Attribute)):
                    self.put(arg.value, [(f"{one}<{arg.keyword or place}", SAME)], around)
                if arg.star or (arg.keyword is None and any(before.star for before in call.args[:place])):
                    self.lead(flows, f"{one}(*")
                if arg.star:
                    continue
                if arg.keyword is not None:
                    self.lead(flows, f"{one}({arg.keyword}")
                    if one not in self.defined.names or one in self.defined.classes:
                        self.lead(flows, f".{arg.keyword}")
                else:
                    self.lead(flows, f"{one}({place}")
                    if name == "__init__" and place:
                        self.lead(flows, f"{one}({place - 1}")
            given += TRANSFERS.taken(flows) if arg.star == "*" else []
            given += flows
        if given and name not in _CALLS_NOTHING and not (isinstance(call.func, tree.Name) and name in self.names.own):
            self._to_functions(call, [*TRANSFERS.taken(given), *(() if name in _CALLS_WITH_ITEMS else given)])
        return given

    def _to_functions(self, call: tree.Call, given: list[Flow]) -> None:
        """A call out of sight may run functions that are among its arguments with what else it is given."""
        for arg in call.args:
            match arg.value:
                case tree.Lambda(params=params):
                    for param in params:
                        self.lead(given, self.variable(param.name))
                case tree.Name(id=name) if name in self.names.known and name in self.defined.names:
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

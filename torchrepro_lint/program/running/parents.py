"""From a node of a file to what is around it: the way up that the tree itself does not have."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar, Union

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.growing import grown
from torchrepro_lint.facts.module import ModuleFacts

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Node", "Parents", "children", "is_named", "parents_of"]

#: Anything that is in the tree. A `Clause` and a `Case` have no site of their own.
Node: TypeAlias = Union[tree.Expr, tree.Stmt, tree.Arg, tree.Param, tree.Clause, tree.Handler, tree.Case]

_SITELESS = (tree.Clause, tree.Case)
#: In which uses of a name are looked for.
_SURROUNDING = (tree.FunctionDef, tree.ClassDef, tree.Lambda, tree.For, tree.While, tree.Comprehension)
_Use = TypeVar("_Use", tree.Name, tree.Attribute)

#: The fields of each kind of node in which nodes can stand.
_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.type not in ("int", "str", "bool", "ConstantValue"))
    for kind in vars(tree).values()
    if is_dataclass(kind) and isinstance(kind, type)
}


def is_named(node: Node | None, name: str) -> bool:
    """Whether a node is the name `name` and nothing more."""
    return isinstance(node, tree.Name) and node.id == name


@dataclass(slots=True, eq=False)
class Parents:
    """The nodes around each node of one file; its loops by their sites, its names, attributes, sets, text
    keys and slices.

    It can be asked about the nodes of this file alone: they are known by their sites.
    """

    _above: list[Node | None]  # by the site of the node; as long as it must be
    _above_siteless: dict[Node, Node]
    loops: dict[int, tree.For | tree.While]
    names: dict[str, Sequence[tree.Name]]
    attributes: dict[str, Sequence[tree.Attribute]]
    sets: list[tree.Display]
    texts: list[tuple[str, tree.Subscript]]
    slices: list[tree.Subscript]
    _turns: array[int]  # by the site of the node: when the walk over the file came to it
    _last_inside: dict[int, int]  # by the site of what surrounds others: when it came to the last of these
    _reads: dict[str, Sequence[tree.Name]] = field(default_factory=dict)

    def of(self, node: Node) -> Node | None:
        """What the node stands directly in; None for a statement of the module."""
        if isinstance(node, _SITELESS):
            return self._above_siteless.get(node)
        return self._above[node.site] if node.site < len(self._above) else None

    def around(self, node: Node) -> Iterator[Node]:
        """All that the node is in, from the inside out."""
        above = self.of(node)
        while above is not None:
            yield above
            above = self.of(above)

    def names_in(self, name: str, around: Node | None) -> Sequence[tree.Name]:
        """The uses of a name in a function, class, loop or comprehension; all that the file has for None."""
        return self._inside(self.names.get(name, ()), around)

    def reads(self, name: str) -> Sequence[tree.Name]:
        """The uses of a name in the file but for those that are given a value, alone or as one of several."""
        if name not in self._reads:
            self._reads[name] = [use for use in self.names.get(name, ()) if not self._is_given(use)]
        return self._reads[name]

    def reads_in(self, name: str, around: Node | None) -> Sequence[tree.Name]:
        """Those of `reads` in a function, class, lambda, loop or comprehension; all of them for None."""
        return self._inside(self.reads(name), around)

    def _is_given(self, use: tree.Name) -> bool:
        node: tree.Expr = use
        while isinstance(above := self.of(node), tree.Display | tree.Starred):
            node = above
        return self.is_bound(node)

    def attributes_in(self, name: str, around: Node | None) -> Sequence[tree.Attribute]:
        """The same for an attribute of any object."""
        return self._inside(self.attributes.get(name, ()), around)

    def _inside(self, uses: Sequence[_Use], around: Node | None) -> Sequence[_Use]:
        if around is None or not uses:
            return uses
        turns, site = self._turns, around.site  # type: ignore[union-attr]
        first = bisect_right(uses, turns[site], key=lambda use: turns[use.site])
        return uses[first : bisect_right(uses, self._last_inside[site], first, key=lambda use: turns[use.site])]

    def function(self, node: Node) -> tree.FunctionDef | tree.ClassDef | tree.Lambda | None:
        """The function, class or lambda in whose body the node is; None for the module's own code."""
        for above in self.around(node):
            if isinstance(above, (tree.FunctionDef, tree.ClassDef, tree.Lambda)):
                return above
        return None

    def is_bound(self, node: Node) -> bool:
        """Whether the node is the target of an assignment or a loop: it is given a value there, and not read."""
        match self.of(node):
            case tree.Assign(targets=targets):
                return any(target is node for target in targets)
            case tree.For(target=target) | tree.Clause(target=target) | tree.Walrus(target=target):
                return target is node
        return False

    def target_of(self, value: Node) -> tree.Expr | None:
        """What an assignment gives a value to, alone or as one of several: `a, b = value, other`."""
        match self.of(value):
            case tree.Assign(targets=(target,)):
                return target
            case tree.Display(kind="tuple", items=items) as values:
                match self.of(values):
                    case tree.Assign(targets=(tree.Display(items=targets),)) if len(targets) == len(items):
                        return next(target for target, item in zip(targets, items, strict=True) if item is value)
        return None

    def target_name(self, value: Node) -> str:
        """The name, attribute or key that the value of an expression gets; none where it gets none of these."""
        match self.target_of(value):
            case tree.Name(id=name) | tree.Attribute(attr=name) | tree.Subscript(index=tree.Const(value=str() as name)):
                return name
        return ""

    def statement(self, node: Node) -> Node:
        """The statement in which a node is."""
        if isinstance(node, _STATEMENTS):
            return node
        return next(above for above in self.around(node) if isinstance(above, _STATEMENTS))


_STATEMENTS = (
    tree.Assign, tree.AugAssign, tree.ExprStmt, tree.Return, tree.Raise, tree.Assert, tree.Delete, tree.If, tree.For,
    tree.While, tree.With, tree.Try, tree.Match, tree.FunctionDef, tree.ClassDef,
)  # fmt: skip


def parents_of(ev: Evaluator, facts: ModuleFacts) -> Parents:
    """The way up in a file; computed once."""
    return ev.of_text(("parents", id(facts)), lambda: _parents(facts))


def _parents(facts: ModuleFacts) -> Parents:
    above: list[Node | None] = []
    above_siteless: dict[Node, Node] = {}
    loops: dict[int, tree.For | tree.While] = {}
    names: dict[str, Sequence[tree.Name]] = {}
    attributes: dict[str, Sequence[tree.Attribute]] = {}
    sets: list[tree.Display] = []
    texts: list[tuple[str, tree.Subscript]] = []
    slices: list[tree.Subscript] = []
    turns = array("I")
    last_inside: dict[int, int] = {}
    turn = 0
    pending: list[Node | int] = list(reversed(facts.body))  # a number is the site of what is done with
    while pending:
        node = pending.pop()
        if isinstance(node, int):
            last_inside[node] = turn
            continue
        turn += 1
        if not isinstance(node, _SITELESS):
            if node.site >= len(turns):
                turns.extend([0] * (node.site + 1 - len(turns)))
            turns[node.site] = turn
        if isinstance(node, (tree.For, tree.While)):
            loops[node.site] = node
        elif isinstance(node, tree.Name):
            names[node.id] = grown(names.get(node.id, ()), node)
        elif isinstance(node, tree.Attribute):
            attributes[node.attr] = grown(attributes.get(node.attr, ()), node)
        elif isinstance(node, tree.Display) and node.kind == "set":
            sets.append(node)
        elif isinstance(node, tree.Subscript) and isinstance(node.index, tree.Const):
            if isinstance(node.index.value, str):
                texts.append((node.index.value, node))
        elif isinstance(node, tree.Subscript) and isinstance(node.index, tree.Opaque):
            slices.append(node)
        inner = children(node)
        for child in inner:
            if isinstance(child, _SITELESS):
                above_siteless[child] = node
                continue
            if child.site >= len(above):
                above.extend([None] * (child.site + 1 - len(above)))
            above[child.site] = node
        if isinstance(node, _SURROUNDING):
            pending.append(node.site)
        pending.extend(reversed(inner))
    return Parents(above, above_siteless, loops, names, attributes, sets, texts, slices, turns, last_inside)


def children(node: Node) -> list[Node]:
    """The nodes that stand directly in a node, in the order of the text."""
    found: list[Node] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name)
        if type(value) in _FIELDS:
            found.append(value)
        elif value.__class__ is tuple:
            _add_nodes(value, found)
    return found


def _add_nodes(values: tuple[object, ...], found: list[Node]) -> None:
    for value in values:
        if type(value) in _FIELDS:
            found.append(value)  # type: ignore[arg-type]
        elif value.__class__ is tuple:
            _add_nodes(value, found)

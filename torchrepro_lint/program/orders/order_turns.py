"""The turns of a loop or a comprehension: where they name the element, its position, or a number that counts up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.orders.order_places import scope_around
from torchrepro_lint.program.running.parents import Node, parents_of
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Turns", "names_in", "text_of"]


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of `around`, a loop or comprehension. The element of each goes by the names `elements`, or is looked up
    as in `lookup`; `numbers` are the names of its position.
    """

    program: Program
    facts: ModuleFacts
    around: tree.For | tree.Comprehension
    numbers: set[str]
    elements: set[str]
    lookup: tree.Subscript | tree.Call | None

    def are_read(self) -> bool:
        """Whether they read one of the names that they give to their elements."""
        parents = parents_of(self.program.ev, self.facts)
        names = self.elements | self.numbers
        return any(not parents.is_bound(use) for name in names for use in parents.names_in(name, self.around))

    def have_position(self, node: tree.Expr) -> bool:
        """Whether the position is in an expression; where elements are looked up, not as the index of a look-up."""
        parts = list(walk([node]))
        looked_up = set()
        if self.lookup is not None:
            looked_up = {id(part.index) for part in parts if isinstance(part, tree.Subscript)}
        return any(
            isinstance(part, tree.Name) and part.id in self.numbers and id(part) not in looked_up for part in parts
        )

    def have_element(self, node: tree.Expr) -> bool:
        """Whether the element is in an expression."""
        return any(self._is_lookup(part) for part in walk([node])) or not self.elements.isdisjoint(names_in(node))

    def _is_lookup(self, node: Node) -> bool:
        if not isinstance(self.lookup, tree.Subscript):
            return self.lookup is not None and node is self.lookup
        match node, self.lookup.index:
            case tree.Subscript(value=value, index=tree.Name(id=index)), tree.Name(id=position):
                return node is self.lookup or (index == position and text_of(value) == text_of(self.lookup.value) != "")
        return False

    def have_title(self, node: tree.Expr) -> bool:
        """Whether a number is only written beside its element: `f"{i}: {name}"`."""
        return isinstance(node, tree.FormatString) and self.have_element(node)

    def are_numbered(self, node: tree.Expr) -> bool:
        """Whether an expression is the position: the key in `self.samples[i] = (path, label)`."""
        return isinstance(node, tree.Name) and node.id in self.numbers

    def count_up(self, value: tree.Expr) -> bool:
        """Whether a value counts up along the loop: `len(mapping)`, or a counter that the body augments. What each turn
        makes anew, such as a counter that starts again or `len(file)`, is about the element.
        """
        if any(self._bind(name) - {"augmented"} for name in names_in(value)):
            return False
        match value:
            case tree.Call(func=tree.Name(id="len")):
                return not self.have_element(value)
            case tree.Name(id=name) if isinstance(self.around, tree.For):
                return any(_augments(statement, name) for statement in own_statements(self.around.body))
        return False

    def have_number(self, node: tree.Expr) -> bool:
        """Whether the position, or a counter that the body augments, is in an expression."""
        names = [part for part in walk([node]) if isinstance(part, tree.Name)]
        return any(self.are_numbered(part) or self.count_up(part) for part in names)

    def pair_with_a_number(self, node: tree.Expr) -> bool:
        """Whether a number stands beside something else: `(path, i)`, `(path, label)`, `{"path": path, "label": i}`."""
        match node:
            case tree.Display(items=items):
                return any(self._is_number(item) for item in items)
            case tree.DictDisplay(items=items):
                return any(
                    isinstance(key, tree.Const) and isinstance(key.value, str) and _is_label(key.value)
                    for key, value in items
                    if self._is_number(value)
                )
        return False

    def _is_number(self, node: tree.Expr) -> bool:
        """Whether an expression is the position, or a counter that is called a label."""
        return self.are_numbered(node) or (isinstance(node, tree.Name) and _is_label(node.id) and self.count_up(node))

    def make_anew(self, owner: tree.Expr) -> bool:
        """Whether each turn makes the list that is filled: then it holds nothing of the loop's order."""
        while isinstance(owner, tree.Subscript):
            owner = owner.value
        return isinstance(owner, tree.Name) and "assign" in self._bind(owner.id)

    def keep_by_element(self, owner: tree.Expr) -> bool:
        """Whether each element has a list of its own: `lists[x].append(...)`, of which none holds the loop's order."""
        match owner, self.around:
            case tree.Subscript(index=tree.Name(id=key)), tree.For(target=tree.Name(id=element)):
                return key == element
        return False

    def _bind(self, name: str) -> set[str]:
        """How the body of the loop binds a name, by the kinds of its bindings."""
        if not isinstance(self.around, tree.For):
            return set()
        turn = (self.around.site, "body")
        bindings = scope_around(self.program, self.facts, self.around).bindings.get(name, ())
        return {binding.kind for binding in bindings if turn in binding.path}


def _augments(statement: tree.Stmt, name: str) -> bool:
    match statement:
        case tree.AugAssign(target=tree.Name(id=counted), op="+", value=tree.Const()):
            return counted == name
    return False


def _is_label(name: str) -> bool:
    return function_words("labels").search(name) is not None


def names_in(*nodes: tree.Expr) -> set[str]:
    """The names in some expressions."""
    return {part.id for part in walk(nodes) if isinstance(part, tree.Name)}


def text_of(node: tree.Expr) -> str:
    """The text of a name with its attributes and items, by which two of them are compared; "" for other expressions."""
    match node:
        case tree.Name(id=name):
            return name
        case tree.Attribute(value=value, attr=attr):
            return f"{text_of(value)}.{attr}"
        case tree.Subscript(value=value, index=index):
            return f"{text_of(value)}[{index.value!r}]" if isinstance(index, tree.Const) else f"{text_of(value)}[]"
    return ""

"""What is followed: an expression whose elements come in an order that is not fixed. And where it decides something."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.parents import Node
from torchrepro_lint.program.running.reach import Link

__all__ = ["MAX_HOPS", "Carrier", "Reads", "Sink", "SinkKind", "Slice", "Step", "Stored", "Use", "sink"]

#: How often an order is followed from a function to what calls it.
MAX_HOPS: Final = 4

SinkKind = Literal["samples", "split", "index", "position"]
#: The file and the expression of a set that is iterated over: sorting it there gives an order to all that follows.
SetIteration: TypeAlias = tuple[ModuleFacts, tree.Expr]


@dataclass(frozen=True, slots=True, eq=False)
class Carrier:
    """An expression whose elements come in the order that is followed.

    Attributes:
        numbered: Each element comes with its position.
        is_set: Nothing has a position in it yet.
        is_dict: Its keys were inserted in this order; a look-up by key does not reveal the order.
        rows: It is a table whose rows come from what was in this order.
        text: It is a text that was put together in this order: a position in it numbers nothing.
        part: It is a dict of such tables, and the one under this key is followed.
        iterated: Where a set was iterated over, unless that was in a function that the set was passed to, which may be
            called with lists as well.
        taken: The conditional expressions that were passed, each with its file and the part of it that has the order.
        entered: The calls through which the search came into functions, each with the function and the file of the
            call: a function returns its result to the call that entered it, and to no other.
    """

    facts: ModuleFacts
    node: tree.Expr
    hops: int = 0
    numbered: bool = False
    is_set: bool = False
    is_dict: bool = False
    rows: bool = False
    text: bool = False
    part: str | None = None
    iterated: SetIteration | None = None
    chain: tuple[Link, ...] = ()
    taken: tuple[tuple[ModuleFacts, tree.Conditional | tree.Boolean, tree.Expr], ...] = ()
    entered: tuple[tuple[tree.FunctionDef, ModuleFacts, tree.Call], ...] = ()

    @property
    def key(self) -> tuple[int, bool, bool, bool, tuple[int, ...]]:
        """What distinguishes it from other carriers with the same expression."""
        return id(self.node), self.is_set, self.is_dict, self.rows, tuple(id(call) for _, _, call in self.entered)

    def to(self, node: tree.Expr, *, numbered: bool | None = None) -> Carrier:
        return replace(self, node=node, numbered=self.numbered if numbered is None else numbered)

    def out_of(self, whole: tree.Conditional | tree.Boolean) -> Carrier:
        """The same for a conditional expression of which this is an arm: what it gives if it takes the arm."""
        return replace(self, node=whole, taken=(*self.taken, (self.facts, whole, self.node)))

    def listed(self, node: tree.Expr, *, numbered: bool | None = None) -> Carrier:
        """The same for a list, an iterator or an array with the elements."""
        return replace(self.to(node, numbered=numbered), is_set=False, is_dict=False, iterated=self.iterated_here)

    def as_text(self, node: tree.Expr) -> Carrier:
        """The same for a text that is put together of the elements."""
        return replace(self.listed(node, numbered=False), text=True)

    def as_keys(self) -> Carrier:
        """The same for a dict with the elements, or something derived from each, as its keys."""
        return replace(self, numbered=False, is_set=False, is_dict=True, iterated=self.iterated_here)

    @property
    def iterated_here(self) -> SetIteration | None:
        """What gives the elements their order, including a set that is iterated over here."""
        return (self.facts, self.node) if self.is_set and not self.entered else self.iterated

    def hop(self, facts: ModuleFacts, node: tree.Expr, at: Site, note: str) -> Carrier:
        chain = (*self.chain, Link(at, note))
        return replace(self, facts=facts, node=node, hops=self.hops + 1, numbered=False, chain=chain)


@dataclass(frozen=True, slots=True, eq=False)
class Sink:
    """Where the order decides something; the chain ends there.

    Nothing is decided if `beside` has the same order: then what is at the same position belongs together. `kept_in` is
    the name under which what has the order is kept there, where that is known.
    """

    kind: SinkKind
    chain: tuple[Link, ...]
    beside: tree.Expr | None = None
    iterated: SetIteration | None = None
    kept_in: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A target that gets the elements: they go on to its uses."""

    carrier: Carrier
    target: tree.Expr


@dataclass(frozen=True, slots=True, eq=False)
class Reads:
    """An attribute that has the elements, or a property that returns them: they go on to where it is read."""

    carrier: Carrier
    given: tree.Attribute | tree.FunctionDef


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A read of an attribute that has the elements, or a call without arguments of a method that returns them."""

    carrier: Carrier
    read: tree.Attribute | tree.Call


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """A slice of what has the order, which may be a part of a split."""

    carrier: Carrier
    piece: tree.Subscript


#: Where an order goes from an expression: to another one, to its end, or to what order_flow.py follows on from there.
Step: TypeAlias = Carrier | Sink | Stored | Reads | Use | Slice


def sink(carrier: Carrier, kind: SinkKind, at: Node, note: str, *, kept_in: str | None = None) -> Sink:
    """The end of a search, at `at`."""
    chain = (*carrier.chain, Link(Site(carrier.facts.path, at.site), note))  # type: ignore[union-attr]
    return Sink(kind, chain, iterated=carrier.iterated_here, kept_in=kept_in)

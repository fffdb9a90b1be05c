"""Seeds of the main process that come from the clock, the system or Python's hash of a string, and differ in every run.

The reader goes backwards from the expression that seeds, over the bindings that reach it, into the project's functions
for what they return, and out to their callers for what they are given. It finds the call from which the number comes,
and whether that call is only a fallback behind a seed that the user can give.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import sub_expressions
from torchrepro_lint.program.core.backward import Backward
from torchrepro_lint.program.core.queries import Origin, Query
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.entropy_calls import (
    drawn_globally,
    draws,
    is_entropy,
    is_literal,
    is_of_unseeded,
    outside,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Entropy", "drawn_of", "entropy_of", "hashed_of"]


@dataclass(frozen=True, slots=True)
class Entropy:
    """Where a seed that differs in every run comes from.

    `node` is the largest expression that is only such a number (`int(time.time()) % 2**32`), to be replaced by a
    constant; `name` the call inside it; `fallback`: it is used only where the user gives no seed. `path` are the places
    that the number passes between there and the call that seeds.
    """

    node: tree.Expr
    name: str
    frame: Frame
    fallback: bool = False
    path: tuple[Site, ...] = ()

    @property
    def site(self) -> Site:
        return Site(self.frame.facts.path, self.node.site)


def entropy_of(ev: Evaluator, node: tree.Expr, frame: Frame) -> Entropy | None:
    """The entropy that an expression is made of; None where none is proven."""
    return _EntropySources(ev).of(node, frame)


def drawn_of(ev: Evaluator, node: tree.Expr, frame: Frame) -> Entropy | None:
    """The same with draws from the global generators as its source."""
    return _DrawSources(ev).of(node, frame)


def hashed_of(ev: Evaluator, node: tree.Expr, frame: Frame) -> Entropy | None:
    """The same with Python's hash of a text as its source."""
    return _HashSources(ev).of(node, frame)


class _Sources(Backward[Entropy]):
    """Where a number that is another one in every run comes from."""

    def source(self, query: Query) -> Entropy | None:
        """The call that gives such a number."""
        node, frame = query.node, query.frame
        if not isinstance(node, tree.Call):
            return None
        functions = self.ev.values(node.func, frame)
        names = [outside(value) for value in functions]
        if len(names) == 1 and names[0] is not None and self.is_source(names[0], node, frame):
            return Entropy(node, names[0], frame)
        return None

    def is_source(self, name: str, node: tree.Call, frame: Frame) -> bool:
        """Whether the call of a function outside the project gives such a number."""
        raise NotImplementedError

    def made(self, query: Query) -> Entropy | None:
        """The entropy that takes part in an operation, or in what an outside call makes of its arguments."""
        node = query.node
        match node:
            case tree.Lambda() | tree.Const():
                return None
            case tree.Call(func=func, args=args):
                functions = self.ev.values(func, query.frame)
                names = [outside(value) for value in functions]
                if any(name is not None and (name.startswith("time.") or draws(name)) for name in names):
                    return None
                parts = [arg.value for arg in args]
                if isinstance(func, tree.Attribute):
                    if None in names or not functions or not isinstance(func.value, tree.Name):
                        parts.append(func.value)
                return self._within(query, parts)
        return self._within(query, sub_expressions(node))

    def _within(self, query: Query, parts: Iterable[tree.Expr]) -> Entropy | None:
        """What an expression over `parts` is: entropy if one of them is; all of it if the others are literals."""
        parts = tuple(parts)
        found = list(zip(parts, self.operands(query, parts), strict=True))
        sources = [one for _, one in found if one is not None]
        if not sources:
            return None
        only = all((one is not None and one.node is part) or is_literal(part) for part, one in found)
        first = sources[0]
        return replace(first, node=query.node) if only and not first.fallback else first

    def passed(self, query: Query, origin: Origin, fact: Entropy) -> Entropy | None:
        """Adds the call that the number passes; a part of what is only entropy is only entropy too."""
        if not origin.is_sure:
            return None
        if origin.how == "part" and isinstance(query.node, (tree.Attribute, tree.Subscript)):
            return replace(fact, node=query.node) if fact.node is origin.query.node and not fact.fallback else fact
        if origin.how == "default":
            return replace(fact, fallback=True)
        return replace(fact, path=(*fact.path, origin.site)) if origin.site is not None else fact

    def joined(self, query: Query, facts: Sequence[tuple[Entropy | None, Origin]], is_open: bool) -> Entropy | None:
        """One of several: entropy among others is a fallback, and so is all if one of them is. Each call that gives an
        argument is a seeding of its own, though: one that gives the clock is at fault whatever the others do.
        """
        sources = [fact for fact, _ in facts if fact is not None]
        if not sources:
            return None
        if any(origin.how == "argument" for _, origin in facts):
            return sources[0]
        if len(sources) < len(facts) or (is_open and isinstance(query.node, tree.Attribute)):
            return replace(sources[0], fallback=True)
        return next((one for one in sources if one.fallback), sources[0])


class _EntropySources(_Sources):
    """The clock, the system, and what takes its seed from there."""

    def source(self, query: Query) -> Entropy | None:
        """As above, and what an object gives that takes its seed from the system."""
        node, frame = query.node, query.frame
        asked = node.func if isinstance(node, tree.Call) else node
        if isinstance(node, (tree.Call, tree.Attribute)):
            values = self.ev.values(asked, frame)
            if any(is_of_unseeded(value, self.ev, frame) for value in values):
                only = next(iter(values)) if len(values) == 1 else None
                if isinstance(node, tree.Attribute):
                    return Entropy(node, node.attr, frame)
                if only is not None:
                    return Entropy(node, outside(only) or "", frame)
        return super().source(query)

    def is_source(self, name: str, node: tree.Call, frame: Frame) -> bool:
        """Whether the call asks the clock or the system."""
        return is_entropy(name, node, self.ev, frame)


class _DrawSources(_Sources):
    """Draws from the global generators."""

    def is_source(self, name: str, node: tree.Call, frame: Frame) -> bool:
        """Whether the call draws from a global generator."""
        return bool(drawn_globally(name))


class _HashSources(_Sources):
    """Python's hash of a text, which is another one in every process."""

    def is_source(self, name: str, node: tree.Call, frame: Frame) -> bool:
        """Whether the call is a hash, and its argument proven to be a text."""
        return name == "builtins.hash" and is_entropy(name, node, self.ev, frame)

"""Whether the rank of the process takes part in an expression: here, in a variable, or in what callers pass."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, sub_expressions
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.core.backward import Backward
from torchrepro_lint.program.core.queries import Origin, Query
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent import running_modules
from torchrepro_lint.program.running.callers import frame_without_callers

if TYPE_CHECKING:
    from collections.abc import Set
    from pathlib import Path

    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["depends_on_rank", "names_rank", "rank_in"]

#: What gives a variable of the environment.
_ENVIRONMENT: Final = frozenset({"environ", "getenv"})
#: Methods that take a number to another device.
_MOVES: Final = frozenset({"to", "cuda"})


def names_rank(name: str) -> bool:
    """Whether a name is that of a rank, or of a number that stands for one."""
    return function_words("rank").search(name) is not None


def depends_on_rank(ev: Evaluator, node: tree.Expr, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a rank is named in an expression, in what its names are bound to, or in what callers pass for them, or
    may be, as there is more of that than is looked at.
    """
    somewhere = Site(facts.path, node.site)
    return _Ranks(ev, beyond=somewhere).of(node, frame_without_callers(ev, facts, scope)) is not None


def rank_in(
    ev: Evaluator, node: tree.Expr, facts: ModuleFacts, scope: Scope, *, programs: Set[Path] | None = None
) -> Site | None:
    """Where a rank is named in an expression, in what its names are bound to, or in what callers pass for them.

    With `programs`, only the calls that one of these modules makes run count.
    """
    return _Ranks(ev, programs).of(node, frame_without_callers(ev, facts, scope))


class _Ranks(Backward[Site]):
    """Where a rank comes in: what has the name of one."""

    def __init__(self, ev: Evaluator, programs: Set[Path] | None = None, *, beyond: Site | None = None) -> None:
        super().__init__(ev, beyond=beyond)
        self._programs = frozenset(programs) if programs is not None else None

    @property
    def key(self) -> Hashable:
        """The questions differ by the programs whose calls count, and by what is said past the limits."""
        return "ranks", self._programs, self._beyond is not None

    def source(self, query: Query) -> Site | None:
        """A name or an attribute that is called after the rank, or the environment variable in which a launcher says
        it: `os.environ["RANK"]`, `os.environ.get("RANK")`.
        """
        match query.node:
            case tree.Name(id=word) | tree.Attribute(attr=word) if names_rank(word):
                return Site(query.frame.facts.path, query.node.site)
            case (
                tree.Subscript(value=owner, index=tree.Const(value=str() as word))
                | tree.Call(func=owner, args=(tree.Arg(value=tree.Const(value=str() as word)), *_))
            ) if names_rank(word) and not _ENVIRONMENT.isdisjoint((dotted_name(owner) or "").split(".")):
                return Site(query.frame.facts.path, query.node.site)
        return None

    def made(self, query: Query) -> Site | None:
        """The rank in what an operation or an outside call makes its result of."""
        return next((one for one in self.operands(query, _parts(query.node)) if one is not None), None)

    def passed(self, query: Query, origin: Origin, fact: Site) -> Site | None:
        """What a call gives that none of the programs makes run does not count."""
        if origin.how == "argument" and self._programs is not None:
            caller = origin.query.frame
            if self._programs.isdisjoint(running_modules(self.ev, caller.facts, caller.scope)):
                return None
        return fact


def _parts(node: tree.Expr) -> Iterator[tree.Expr]:
    """The expressions of which a number is computed, without those that say only on which device it lies."""
    match node:
        case tree.Call(func=tree.Attribute(value=receiver, attr=attr)) if attr in _MOVES:
            yield receiver
        case tree.Call(func=func, args=args):
            yield func
            yield from (arg.value for arg in args if arg.keyword != "device")
        case _:
            yield from sub_expressions(node)

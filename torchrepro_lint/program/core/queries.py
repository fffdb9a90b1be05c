"""Questions about where a value comes from, and the answers of one step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.core.access import Access, AccessPath, prefixed
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Site

__all__ = ["CallSite", "Origin", "Origins", "Query"]

#: How many calls of a call path are known; of a longer one the outermost calls are forgotten, and what the parameters
#: are that they give.
MAX_CALL_PATH: Final = 4


class CallSite(NamedTuple):
    """A call through which a value was followed into a function: where that returns, its parameters are what this call
    gives, and not what others do.
    """

    scope: Scope
    call: tree.Call
    caller: Frame


@dataclass(frozen=True, slots=True)
class Query:
    """The question where a value comes from: that of `node` in `frame`, or the part of it to which `access` leads.

    `calls` are the calls that were entered on the way and not left again, the innermost last; with `is_cut` there were
    more before them.
    """

    node: tree.Expr
    frame: Frame
    access: AccessPath = ()
    calls: tuple[CallSite, ...] = ()
    is_cut: bool = False

    def inside(self, part: tree.Expr, *access: Access) -> Query:
        """The same about another expression of the frame, and the part of it to which the steps `access` lead."""
        return self.at(part, self.frame, *access)

    def at(self, node: tree.Expr, frame: Frame, *access: Access) -> Query:
        """The same about an expression in another frame on the same call path."""
        return replace(self, node=node, frame=frame, access=prefixed(access, self.access))

    def asking(self, access: AccessPath) -> Query:
        """The same about another part of the value."""
        return replace(self, access=access)

    def below(self) -> Query:
        """The same without the first step of the access path, which has been taken."""
        return replace(self, access=self.access[1:])

    def entering(self, one: CallSite) -> Query:
        """The same inside a function that a call enters."""
        calls = (*self.calls, one)
        return replace(self, calls=calls[-MAX_CALL_PATH:], is_cut=self.is_cut or len(calls) > MAX_CALL_PATH)

    def leaving(self) -> Query:
        """The same where the innermost call is made."""
        return replace(self, calls=self.calls[:-1])


class Origin(NamedTuple):
    """One of the values from which that of a query may come.

    `how`: "part" of the same expression; a "binding"; an "argument" that a caller gives, which is a run of its own;
    what a function has "returned"; a "default", where nothing else is given. `site` is the call that it passes. It is
    not `is_sure` where it may be the value of another key than the one that is asked for.
    """

    query: Query
    how: Literal["part", "binding", "argument", "returned", "default"]
    site: Site | None = None
    is_sure: bool = True


class Origins(NamedTuple):
    """The values from which that of a query comes. It is one of them, unless `is_open`: then it may be another one that
    was not found.
    """

    options: tuple[Origin, ...]
    is_open: bool = False

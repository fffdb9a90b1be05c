"""Events: the calls of outside functions that matter for randomness, each with the chain that leads to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    External,
    ExternalObject,
    MemberOf,
    Site,
    Value,
)
from torchrepro_lint.program.running.library_chances import draws_in_vain

__all__ = ["MAX_EVENTS", "Event", "Found", "Link", "distinct", "is_notable", "outside_name", "shown"]

MAX_EVENTS = 300


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a chain: where, and what happens there.

    `depth` is how far in it is shown, in steps; None for one step further than the link before it. `frame` is the one
    in which a call runs.
    """

    site: Site
    note: str
    depth: int | None = None
    frame: Frame | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Event:
    """A call of something outside the project.

    `name` is its canonical dotted name; "" for a call that could not be followed, and then `note` says why. `receiver`
    is the object whose method is called. `chain` leads from what was asked about to the call at `site`, which
    is not itself a link of it. `call` is the call in the text, and `frame` the frame in which it runs, if there is one.
    """

    name: str
    site: Site
    arguments: Arguments
    chain: tuple[Link, ...]
    receiver: Value | None = None
    call: tree.Call | None = None
    frame: Frame | None = None
    note: str = ""

    @property
    def sites(self) -> tuple[Site, ...]:
        """The places of its chain, and its own last."""
        return (*(link.site for link in self.chain), self.site)

    def after(self, link: Link) -> Event:
        return Event(
            self.name, self.site, self.arguments, (link, *self.chain), self.receiver, self.call, self.frame, self.note
        )


class Found(list[Event]):
    """Events in the order in which a walk finds them. They are thinned out, each time only
    when there are twice as many as were left the last time.
    """

    def __init__(self) -> None:
        super().__init__()
        self._most = MAX_EVENTS * 4
        self._looked_at = 0
        self._sites: set[Site] = set()

    def thin_out(self) -> bool:
        """Leave `distinct` events where there are many; whether it did."""
        if len(self) <= self._most:
            return False
        self[:] = distinct(self)
        self._most = max(self._most, len(self) * 2)
        self._looked_at = 0
        return True

    def has_each(self, sites: frozenset[Site]) -> bool:
        """Whether something has happened at each of these places."""
        self._sites.update(event.site for event in self[self._looked_at :])
        self._looked_at = len(self)
        return sites <= self._sites


def outside_name(value: Value) -> str | None:
    """The dotted name by which knowledge knows calling this value; None for project code, and for a transform
    that does the same whatever it draws.
    """
    match value:
        case External(name=name):
            return name
        case ExternalObject(name=name):
            return None if draws_in_vain(value) else f"{name}.__call__"
        case MemberOf():
            return member_name(value)
    return None


def is_notable(name: str) -> bool:
    """Whether a call of this outside function is an event."""
    return canonical(name) in known_calls("notable") or bool(rng_effects(name)) or seeding_call(name) is not None


def distinct(events: Iterable[Event]) -> tuple[Event, ...]:
    """One event for each outside call at each place: the one with the shortest chain, first come first. Of more than
    `MAX_EVENTS`, those that set a generator are kept, since what is drawn may be decided by them.
    """
    best: dict[tuple[str, Site, Value | None], Event] = {}
    for event in events:
        key = (event.name, event.site, event.receiver)
        known = best.get(key)
        if known is None:
            if len(best) < MAX_EVENTS or _sets(event.name):
                best[key] = event
        elif len(event.chain) < len(known.chain):
            best[key] = event
    return tuple(best.values())


def _sets(name: str) -> bool:
    return seeding_call(name) is not None or any(one.kind in ("seed", "restore-state") for one in rng_effects(name))


def shown(node: tree.Expr) -> str:
    """A short text for an expression, for the notes of a chain."""
    match node:
        case tree.Name(id=name):
            return name
        case tree.Attribute(value=value, attr=attr):
            return f"{shown(value)}.{attr}"
        case tree.Call(func=func):
            return f"{shown(func)}(...)"
        case tree.Subscript(value=value):
            return f"{shown(value)}[...]"
        case tree.Const(value=value):
            text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "..."
            return text if len(text) <= 60 else f"{text[:40]}...{text[:1]}"
    return "..."

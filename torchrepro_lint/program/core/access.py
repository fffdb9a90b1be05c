"""Access paths: which part of a value is asked for, an attribute, an item, or each of its elements."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from torchrepro_lint.facts import tree

__all__ = [
    "EACH",
    "HELD",
    "Access",
    "AccessPath",
    "attribute",
    "bound",
    "item",
    "items",
    "key",
    "may_be_at",
    "prefixed",
]


class Access(NamedTuple):
    """One step into a value. `of` is the name of an attribute, the position of an item, a constant key, or the name of
    a parameter.

    "each" is what iterating gives: the elements of a list, the keys of a dict. "held" is what an unknown index gives:
    the elements of a list, the values of a dict. "bound" is what a partial holds for a parameter. "lost" ends a path
    that is too long: what follows is not known.
    """

    kind: Literal["attribute", "item", "key", "each", "held", "bound", "lost"]
    of: tree.ConstantValue = None

    @property
    def is_into_container(self) -> bool:
        """Whether it leads into a list, tuple, set or dict."""
        return self.kind in ("item", "key", "each", "held")

    @property
    def is_of_one(self) -> bool:
        """Whether it leads to one item or key, and not to any of them."""
        return self.kind in ("item", "key")


#: The steps into a value, the outermost first.
AccessPath: TypeAlias = tuple[Access, ...]

EACH: Final = Access("each")
HELD: Final = Access("held")


#: How many steps of an access path are known.
MAX_ACCESS: Final = 4


def prefixed(steps: AccessPath, path: AccessPath) -> AccessPath:
    """An access path behind further steps."""
    whole = (*steps, *path)
    return whole if len(whole) <= MAX_ACCESS else (*whole[:MAX_ACCESS], Access("lost"))


def attribute(name: str) -> Access:
    """The step to `value.name`."""
    return Access("attribute", name)


def bound(name: str) -> Access:
    """The step to what a partial holds for a parameter."""
    return Access("bound", name)


def item(position: int) -> Access:
    """The step to the item at a position of a sequence."""
    return Access("item", position)


def items(positions: tuple[int, ...]) -> AccessPath:
    """The steps of an unpacking: the positions, the outermost first, at which a target stands."""
    return tuple(map(item, positions))


def key(value: tree.ConstantValue) -> Access:
    """The step to what a constant index gives: an item of a sequence, or what a dict has for a key."""
    if isinstance(value, int) and not isinstance(value, bool):
        return item(value)
    return Access("key", value)


def may_be_at(stored: Access, wanted: Access) -> bool:
    """Whether what is stored by one step may be what another one leads to."""
    if not (stored.is_into_container and wanted.is_into_container):
        return stored == wanted
    if stored.kind in ("each", "held") or wanted.kind in ("each", "held"):
        return True
    return stored == wanted

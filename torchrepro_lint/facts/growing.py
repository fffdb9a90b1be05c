"""Sequences, mappings and sets that mostly stay empty or hold one entry, of which a code base has millions.

Empty ones are shared, and a sequence of one is a tuple: half as large as a list. A longer one grows in place: each
function gives back what is to stand in the place of what it was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any, Final, TypeVar

__all__ = ["entered", "grown", "included", "no_entries"]

_Item = TypeVar("_Item")
_Key = TypeVar("_Key")

_NO_ENTRIES: Final[Mapping[Any, Any]] = MappingProxyType({})


def no_entries() -> Mapping[Any, Any]:
    """The one empty mapping."""
    return _NO_ENTRIES


def grown(items: Sequence[_Item], item: _Item) -> Sequence[_Item]:
    """The items with one more at their end."""
    if isinstance(items, list):
        items.append(item)
        return items
    return [*items, item] if items else (item,)


def entered(entries: Mapping[_Key, _Item], key: _Key, item: _Item) -> Mapping[_Key, _Item]:
    """The entries with this one, in the place of an earlier one under the key."""
    if isinstance(entries, dict):
        entries[key] = item
        return entries
    return {key: item}


def included(members: Set[_Item], member: _Item) -> Set[_Item]:
    """The members with one more."""
    if isinstance(members, set):
        members.add(member)
        return members
    return {member}

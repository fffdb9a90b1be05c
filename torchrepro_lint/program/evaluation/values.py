"""What an expression can evaluate to.

A `Values` is a set of possible values; the member `UNKNOWN` means that it may be something else as well. Values are
immutable, compare by content, and cache their hash, since they are keys of every memo table here. Sets and nesting are
bounded: beyond the bound a value becomes `UNKNOWN`, never something wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from torchrepro_lint.facts import tree

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.program.evaluation.frames import Frame

__all__ = [
    "UNKNOWN",
    "Arguments",
    "ClassValue",
    "Constant",
    "DictValue",
    "External",
    "ExternalObject",
    "FunctionValue",
    "Instance",
    "MemberOf",
    "MethodValue",
    "ModuleValue",
    "Partial",
    "SequenceValue",
    "Site",
    "SuperValue",
    "Unknown",
    "Value",
    "Values",
    "NOTHING",
    "union",
    "unknown",
    "values_of",
]

MAX_MEMBERS = 24  # where each is of a kind of its own, as the classes that a configuration chooses from are
MAX_ALIKE = 12  # where some are objects of one class, or lists
MAX_DEPTH = 7
#: A sequence or dict of more parts is a table of data, not of code: which part is where is no longer known.
MAX_PARTS = 400


@dataclass(frozen=True, slots=True)
class Site:
    """A node of one file: what locations are computed from."""

    path: Path
    number: int


class _Value:
    """What all values share: a cached hash, and how deeply other values are nested inside."""

    __slots__ = ()
    depth = 0

    def shallower(self, depth: int) -> Value:
        """The same with at most `depth` values, 1 or more, nested inside; what lies deeper is no longer known."""
        return UNKNOWN


class Unknown(_Value):
    """May be anything. There is one instance, `UNKNOWN`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


class _Keyed(_Value):
    """A value that equals another of its class with an equal key."""

    __slots__ = ("_hash", "_shallower", "depth", "key")

    def __init__(self, key: tuple[Any, ...], depth: int = 0) -> None:
        self.key = key
        self.depth = depth
        self._hash = hash((type(self).__name__, key))
        # By depth, once they were asked for: a value that is inside many others is not taken apart for each.
        self._shallower: dict[int, Any] | None = None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return False
        assert isinstance(other, _Keyed)
        if self.key is other.key:
            return True
        if self._hash != other._hash or self.key != other.key:
            return False
        # From now on they share the key: values that hold others many times are not taken apart for each of these.
        self.key = other.key
        return True

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.key!r}"


class Constant(_Keyed):
    """A literal value. `True` and `1` are two constants."""

    __slots__ = ("value",)

    def __init__(self, value: tree.ConstantValue) -> None:
        super().__init__((type(value).__name__, value))
        self.value = value


class External(_Keyed):
    """Something of a package outside the project, by its canonical dotted name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__((name,))
        self.name = name


class ModuleValue(_Keyed):
    """A module of the project; `facts` is None for a namespace package. Different facts make a different value."""

    __slots__ = ("facts", "folder", "path")

    def __init__(self, path: Path, facts: ModuleFacts | None) -> None:
        super().__init__((path, facts))
        self.path = path
        self.facts = facts
        self.folder = path.parent if path.name == "__init__.py" else path


class FunctionValue(_Keyed):
    """A function or lambda of the project, with the frame in which it was defined."""

    __slots__ = ("frame", "node")

    def __init__(self, node: tree.FunctionDef | tree.Lambda, frame: Frame) -> None:
        super().__init__((node, frame))
        self.node = node
        self.frame = frame

    @property
    def name(self) -> str:
        return self.node.name if isinstance(self.node, tree.FunctionDef) else "<lambda>"


class ClassValue(_Keyed):
    """A class of the project, with the frame in which it was defined."""

    __slots__ = ("frame", "node")

    def __init__(self, node: tree.ClassDef, frame: Frame) -> None:
        super().__init__((node, frame))
        self.node = node
        self.frame = frame

    @property
    def name(self) -> str:
        return self.node.name


class MethodValue(_Keyed):
    """A function of the project bound to an instance or a class."""

    __slots__ = ("function", "receiver")

    def __init__(self, function: FunctionValue, receiver: Instance | ClassValue) -> None:
        super().__init__((function, receiver), receiver.depth)  # a method of an object that is kept is kept
        self.function = function
        self.receiver = receiver

    def shallower(self, depth: int) -> Value:
        receiver = _limited(self.receiver, depth - 1)
        return MethodValue(self.function, receiver) if isinstance(receiver, (Instance, ClassValue)) else UNKNOWN


class Arguments(_Keyed):
    """The arguments of one call.

    `keywords` are (name, values, certain); one that is not certain may be missing. `open_positional` and
    `open_keywords` mean that there may be more (`*args` or `**kwargs` that could not be followed).
    """

    __slots__ = ("keywords", "open_keywords", "open_positional", "positional")

    def __init__(
        self,
        positional: tuple[Values, ...] = (),
        keywords: tuple[tuple[str, Values, bool], ...] = (),
        open_positional: bool = False,
        open_keywords: bool = False,
    ) -> None:
        depth = max(map(depth_of, (*positional, *[values for _, values, _ in keywords])), default=0)
        super().__init__((positional, keywords, open_positional, open_keywords), depth)
        self.positional = positional
        self.keywords = keywords
        self.open_positional = open_positional
        self.open_keywords = open_keywords

    def keyword(self, name: str) -> tuple[Values, bool] | None:
        for key, values, certain in self.keywords:
            if key == name:
                return values, certain
        return None

    @property
    def unseen(self) -> Values:
        """What positional arguments may be that are not seen: anything, or nothing where all are."""
        return _UNKNOWN_SET if self.open_positional else frozenset()

    def within(self, depth: int) -> Arguments:
        """The same with at most `depth` values nested inside."""
        if self.depth <= depth:
            return self
        known = self._shallower = self._shallower or {}
        if depth not in known:
            known[depth] = Arguments(
                tuple(within(values, depth) for values in self.positional),
                tuple((name, within(values, depth), certain) for name, values, certain in self.keywords),
                self.open_positional,
                self.open_keywords,
            )
        shallower: Arguments = known[depth]
        return shallower


class Instance(_Keyed):
    """An object of a project class, created at `site` by a call with `arguments` (None if it is created where the tool
    cannot see). `set_last` are the attributes that it surely has at the moment, whatever is assigned elsewhere.
    """

    __slots__ = ("arguments", "cls", "set_last", "site")

    def __init__(
        self,
        cls: ClassValue,
        arguments: Arguments | None,
        site: Site | None,
        set_last: tuple[tuple[str, Values], ...] = (),
    ) -> None:
        if arguments is not None and arguments.depth >= MAX_DEPTH:
            arguments = arguments.within(MAX_DEPTH - 1)
        super().__init__((cls, arguments, site, set_last), 1 + (arguments.depth if arguments is not None else 0))
        self.cls = cls
        self.arguments = arguments
        self.site = site
        self.set_last = set_last

    def shallower(self, depth: int) -> Value:
        kept = self.arguments.within(depth - 1) if self.arguments is not None and depth > 1 else None
        return Instance(self.cls, kept, self.site)


class ExternalObject(_Keyed):
    """The result of calling something external: an object of the class `name`, or what the function returns."""

    __slots__ = ("arguments", "name", "site")

    def __init__(self, name: str, arguments: Arguments | None = None, site: Site | None = None) -> None:
        if arguments is not None and arguments.depth >= MAX_DEPTH:
            arguments = arguments.within(MAX_DEPTH - 1)
        super().__init__((name, arguments, site), 1 + (arguments.depth if arguments is not None else 0))
        self.name = name
        self.arguments = arguments
        self.site = site

    def shallower(self, depth: int) -> Value:
        kept = self.arguments.within(depth - 1) if self.arguments is not None and depth > 1 else None
        return ExternalObject(self.name, kept, self.site)


class MemberOf(_Keyed):
    """An attribute of a value that does not belong to the project: a method of an external object, list or dict.

    `never_none`: it is proven not to be None, like an option with a default.
    """

    __slots__ = ("attr", "never_none", "receiver")

    def __init__(self, receiver: Value, attr: str, never_none: bool = False) -> None:
        super().__init__((receiver, attr, never_none), receiver.depth + 1)
        self.receiver = receiver
        self.attr = attr
        self.never_none = never_none

    def shallower(self, depth: int) -> Value:
        return MemberOf(_limited(self.receiver, depth - 1), self.attr, self.never_none) if depth > 1 else UNKNOWN


class Partial(_Keyed):
    """`functools.partial(function, ...)`."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: Values, arguments: Arguments) -> None:
        super().__init__((function, arguments), max(depth_of(function), arguments.depth) + 1)
        self.function = function
        self.arguments = arguments

    def shallower(self, depth: int) -> Value:
        kept = self.arguments.within(depth - 1) if depth > 1 else Arguments((), (), True, True)
        return Partial(within(self.function, depth - 1), kept)


class SequenceValue(_Keyed):
    """A tuple, list, set or generator. With `items` its length is known; otherwise each element is one of `element`.

    Of more than `MAX_PARTS` items, only what they can be is kept.
    """

    __slots__ = ("element", "items", "kind")

    def __init__(self, kind: str, items: tuple[Values, ...] | None, element: Values) -> None:
        if items is not None and len(items) > MAX_PARTS:
            element = union(element, *frozenset(items))
            items = None
        depth = max(map(depth_of, items or ()), default=0)
        super().__init__((kind, items, element), 1 + max(depth, depth_of(element)))
        self.kind = kind
        self.items = items
        self.element = element

    def elements(self) -> Values:
        return self.element if self.items is None else _any_of_parts(self.items)

    def shallower(self, depth: int) -> Value:
        items = None if self.items is None else tuple(within(values, depth - 1) for values in self.items)
        return SequenceValue(self.kind, items, within(self.element, depth - 1))


class DictValue(_Keyed):
    """A dict. Entries are (key, values, certain); `open` means that there may be other keys, with the values `rest`.

    Of more than `MAX_PARTS` entries, only what their values can be is kept.
    """

    __slots__ = ("entries", "open", "rest")

    def __init__(
        self, entries: tuple[tuple[tree.ConstantValue, Values, bool], ...], open: bool, rest: Values = frozenset()
    ) -> None:
        if len(entries) > MAX_PARTS:
            rest = union(rest, *frozenset(values for _, values, _ in entries))
            entries, open = (), True
        depth = max([depth_of(values) for _, values, _ in entries], default=0)
        keyed = tuple((type(key).__name__, key, values, certain) for key, values, certain in entries)
        super().__init__((keyed, open, rest), 1 + max(depth, depth_of(rest)))
        self.entries = entries
        self.open = open
        self.rest = rest

    def get(self, key: tree.ConstantValue) -> tuple[Values, bool] | None:
        for entry, values, certain in self.entries:
            if type(entry) is type(key) and entry == key:
                return values, certain
        return None

    def all_values(self) -> Values:
        return _any_of_parts([*(values for _, values, _ in self.entries), self.rest])

    def shallower(self, depth: int) -> Value:
        entries = tuple((key, within(values, depth - 1), certain) for key, values, certain in self.entries)
        return DictValue(entries, self.open, within(self.rest, depth - 1))


class SuperValue(_Keyed):
    """`super()` in a method of `cls`, for `receiver`."""

    __slots__ = ("cls", "receiver")

    def __init__(self, cls: ClassValue, receiver: Instance | ClassValue) -> None:
        super().__init__((cls, receiver), receiver.depth + 1)
        self.cls = cls
        self.receiver = receiver


Value: TypeAlias = Union[
    Unknown, Constant, External, ModuleValue, FunctionValue, ClassValue, MethodValue, Instance, ExternalObject,
    MemberOf, Partial, SequenceValue, DictValue, SuperValue,
]  # fmt: skip

Values: TypeAlias = frozenset[Value]

NOTHING: Values = frozenset()
_UNKNOWN_SET: Values = frozenset((UNKNOWN,))


def unknown() -> Values:
    return _UNKNOWN_SET


def depth_of(values: Values) -> int:
    deepest = 0
    for value in values:  # a third faster than max(), and asked of every value that is made
        if value.depth > deepest:
            deepest = value.depth
    return deepest


def values_of(*values: Value) -> Values:
    """A set of these values, each bounded in depth."""
    return bounded(values)


def bounded(values: Collection[Value]) -> Values:
    kept = within(values, MAX_DEPTH)
    return kept if _are_few(kept) else _UNKNOWN_SET


def within(values: Collection[Value], depth: int) -> Values:
    """The values with at most `depth` others nested inside each: what lies deeper is no longer known."""
    for value in values:
        if value.depth > depth:
            return frozenset([_limited(value, depth) for value in values])
    return frozenset(values)


def _limited(value: Value, depth: int) -> Value:
    if value.depth <= depth:
        return value
    if depth <= 0 or isinstance(value, Unknown):
        return UNKNOWN
    known = value._shallower = value._shallower or {}
    if depth not in known:
        known[depth] = value.shallower(depth)
    shallower: Value = known[depth]
    return shallower


def union(*sets: Values) -> Values:
    if len(sets) == 1:
        return sets[0]
    joined = frozenset().union(*sets)
    return joined if _are_few(joined) else _UNKNOWN_SET


def _any_of_parts(parts: Collection[Values]) -> Values:
    """What any of the parts of a list or dict can be. Where these are too many, the tuples or lists among them that are
    of one length count as one, as the rows of a table do: what is at a place of it can be what is there in any of them.
    """
    every = frozenset[Value]().union(*parts)
    if _are_few(every):
        return every
    alike: dict[tuple[str, int | None], list[SequenceValue]] = {}
    for value in every:
        if isinstance(value, SequenceValue):
            alike.setdefault((value.kind, None if value.items is None else len(value.items)), []).append(value)
    fewer = every.difference(*alike.values()).union(_joined_rows(rows) for rows in alike.values())
    return fewer if _are_few(fewer) else _UNKNOWN_SET


def _joined_rows(rows: Sequence[SequenceValue]) -> SequenceValue:
    known = [row.items for row in rows if row.items is not None]
    items = tuple(union(*column) for column in zip(*known, strict=True)) if known else None
    return SequenceValue(rows[0].kind, items, union(*(row.element for row in rows)))


def _are_few(values: Values) -> bool:
    """Whether a set is small enough to be kept: what is made of it is followed once for each of its values."""
    if len(values) <= MAX_ALIKE:
        return True
    return len(values) <= MAX_MEMBERS and len({_kind(value) for value in values}) == len(values)


def _kind(value: Value) -> object:
    match value:
        case Instance(cls=cls):
            return cls
        case ExternalObject(name=name):
            return name
        case SequenceValue() | DictValue() | Partial() | MemberOf():
            return type(value)
    return value

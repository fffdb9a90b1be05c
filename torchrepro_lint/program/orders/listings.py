"""Listings of directories, and where their order goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import strings_in, walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Path, Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import UNKNOWN, Constant, External, MemberOf, Site
from torchrepro_lint.program.orders.element_bindings import assigned, bindings_of
from torchrepro_lint.program.orders.order_backward import sinks_of
from torchrepro_lint.program.orders.order_carriers import Sink
from torchrepro_lint.program.orders.order_flow import find_sink
from torchrepro_lint.program.orders.order_places import own_bindings
from torchrepro_lint.program.orders.walks import sink_of_walk
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers
from torchrepro_lint.program.running.never_read import is_given_up
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Listing", "listing_words", "listings_in", "unsorted_listings"]

_TABLES: Final = ("names", "lazy", "walks")
#: What lists the files of one folder that a pattern matches, and what in a pattern stands for more than itself.
_PATTERNS: Final = frozenset({"glob", "iglob"})
_WILDCARDS: Final = frozenset("*?[")


def listing_words() -> frozenset[str]:
    """The last words of the names of all listings."""
    return frozenset(last_part(name) for table in _TABLES for name in ordering_names("listings", table))


_WORDS: Final = any_word(listing_words())


def _path_words() -> frozenset[str]:
    """The methods of a path that list a folder."""
    return ordering_names("listings", "methods") | {"glob"}


def _path_makers() -> tuple[str, ...]:
    """How the names begin of all that modules and functions give that make paths."""
    return tuple(f"{name}." for name in ordering_names("listings", "paths"))


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """One listing whose order decides something.

    `lazy`: an iterator; `entries`: of objects that have no order; `walks`: of one folder after the other.
    """

    name: str
    call: tree.Call
    facts: ModuleFacts
    lazy: bool
    entries: bool
    walks: bool
    sink: Sink

    @property
    def site(self) -> Site:
        return Site(self.facts.path, self.call.site)


def unsorted_listings(program: Program) -> Iterator[Listing]:
    """The listings whose order goes, unsorted, into samples, a split or an index: file by file those that a walk along
    the uses shows, then those that the evaluator shows.
    """
    walking = ordering_names("listings", "walks")
    unseen: list[tuple[ModuleFacts, _ListingCall]] = []
    for path in program.asked_with(_WORDS):
        facts = program.facts(path)
        if facts is None:
            continue
        found: list[Listing] = []
        for one in _listing_calls(program, facts):
            walks = one.name in walking
            sink = sink_of_walk(program, facts, one.call) if walks else find_sink(program, facts, one.call)
            if sink is None and not walks:
                unseen.append((facts, one))
            elif sink is not None and _is_for_a_caller(program, facts, one):
                found.append(_deciding(one, facts, sink))
        yield from sorted(found, key=lambda one: one.call.site)
    sinks = sinks_of(program, [(facts, one.call) for facts, one in unseen])
    for facts, one in unseen:
        sink = sinks.get(Site(facts.path, one.call.site))
        if sink is not None and _is_for_a_caller(program, facts, one):
            yield _deciding(one, facts, sink)


def _deciding(one: _ListingCall, facts: ModuleFacts, sink: Sink) -> Listing:
    lazy, entries = one.name not in ordering_names("listings"), one.name in ordering_names("listings", "entries")
    return Listing(one.name, one.call, facts, lazy, entries, one.name in ordering_names("listings", "walks"), sink)


class _ListingCall(NamedTuple):
    """A call that lists a folder, and the name of what it calls."""

    name: str
    scope: Scope
    call: tree.Call
    arms: Path


def listings_in(program: Program, facts: ModuleFacts) -> Iterator[tree.Call]:
    """The calls in a file that list a folder for some caller."""
    return (one.call for one in _listing_calls(program, facts) if _is_for_a_caller(program, facts, one))


def _listing_calls(program: Program, facts: ModuleFacts) -> Iterator[_ListingCall]:
    words = listing_words()
    for scope in facts.walk_scopes():
        for call, arms in scope.calls:
            if called_name(call.func) not in words:
                continue
            program.ev.begin_question()
            frame = frame_without_callers(program.ev, facts, scope)
            name = _listing(program, facts, scope, call)
            if name is None or (last_part(name) in _PATTERNS and _is_of_one_file(program, facts, scope, call)):
                continue
            if program.ev.may_run(call.site, arms, frame) and not is_given_up(program.ev, facts, call):
                yield _ListingCall(name, scope, call, arms)


def _is_for_a_caller(program: Program, facts: ModuleFacts, one: _ListingCall) -> bool:
    """Whether some caller comes to a listing that is not sorted for it: an arm that no caller comes to is none, like
    that of `if recurse:` where all of them leave the default. Who calls the function is much to ask.
    """
    _, scope, call, arms = one
    if not arms and not _is_sorted_in_an_arm(scope, call):
        return True
    program.ev.begin_question()
    reached = [frame for frame in contexts(program.ev, facts, scope) if program.ev.may_run(call.site, arms, frame)]
    lists = [frame for frame in reached if not _is_given_instead(program, arms, frame)]
    return bool(not arms or reached) and not (lists and all(_is_sorted_below(program, call, frame) for frame in lists))


def _is_sorted_in_an_arm(scope: Scope, call: tree.Call) -> bool:
    """Whether the name that a listing gets is bound to something sorted in an arm of its function."""
    names = [key for key, bound in scope.bindings.items() if any(one.node is call for one in bound)]
    return any(
        one.path and isinstance(one.node, tree.Call) and called_name(one.node.func) == "sorted"
        for name in names[:1]
        for one in scope.bindings[name]
    )


def _is_of_one_file(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether a pattern ends in the name of a file, and none of its texts has a wildcard: `glob(folder + "/a.png")`.
    What a folder lists is such a name too: `for name in os.listdir(home): glob(home + "/" + name + ".png")`.
    """
    if not call.args:
        return False
    pattern = call.args[0].value
    if any(isinstance(one, tree.FormatString) for one in walk([pattern])):
        return False
    if any(map(_WILDCARDS.intersection, strings_in(pattern))):
        return False
    end = _last_part(pattern)
    return bool(end) and all(isinstance(one, str) or _is_listed(program, facts, scope, one) for one in end)


def _last_part(path: tree.Expr) -> list[str | tree.Expr]:
    """What the last part of a path is put together of, without what is empty; from the beginning where the code shows
    no end of the part before.
    """
    match path:
        case tree.Const(value=str() as text):
            text = text.rpartition("/")[2]
            return [text] if text else []
        case tree.Binary(op="+", left=left, right=right):
            ends_before = isinstance(right, tree.Const) and isinstance(right.value, str) and "/" in right.value
            return _last_part(right) if ends_before else [*_last_part(left), *_last_part(right)]
        case tree.Call(func=func, args=(_, *_, tree.Arg(value=end))) if called_name(func) == "join":
            return _last_part(end)
    return [path]


def _is_listed(program: Program, facts: ModuleFacts, scope: Scope, node: str | tree.Expr) -> bool:
    """Whether something is a name that a folder lists, by the loop that binds it: `for name in sorted(names):`."""
    if not isinstance(node, tree.Name):
        return False
    bindings = bindings_of(scope, node.id)
    if len(bindings) != 1 or bindings[0].kind != "element" or bindings[0].unpack:
        return False
    over = bindings[0].node
    names: set[str] = set()
    while True:
        match over:
            case tree.Call(func=tree.Name(id="sorted"), args=(tree.Arg(value=inner), *_)):
                over = inner
            case tree.Name(id=name) if name not in names and len(bindings_of(scope, name)) == 1:
                names.add(name)
                over = next(iter(assigned(scope, name)), None)
            case tree.Call(func=func):
                return called_name(func) in listing_words() and _listing(program, facts, scope, over) is not None
            case _:
                return False


def _is_given_instead(program: Program, arms: Path, frame: Frame) -> bool:
    """Whether a caller gives what a function lists where it gets nothing: `if names is None: names = os.listdir(home)`.
    What is given may be unknown.
    """
    for branch, arm in arms:
        match frame.scope.branches.get(branch):
            case tree.If(
                test=tree.Compare(left=tree.Name() as given, ops=("is",), comparators=(tree.Const(value=None),))
            ) if arm == "then" and Constant(None) not in program.ev.values(given, frame):
                return True
    return False


def _is_sorted_below(program: Program, call: tree.Call, frame: Frame) -> bool:
    """Whether a function that lists under a name sorts that below under a test which this caller is proven to pass, and
    takes no part of it before: `if is_sort: names = sorted(names)` for those who do not give the names themselves.
    """
    scope, ev = frame.scope, program.ev
    name = next((key for key, all_of in scope.bindings.items() for one in all_of if one.node is call), None)
    if name is None:
        return False
    for binding in scope.bindings[name]:
        match binding.node:
            case tree.Call(func=tree.Name(id="sorted"), args=(tree.Arg(value=tree.Name(id=same)), *_)) if same == name:
                is_below = binding.path and binding.order > call.site
            case _:
                continue
        others = [one for one in scope.bindings[name] if one.node is not call]
        between = [one for one in others if call.site < one.order < binding.order]
        if is_below and ev.decide(binding.path, frame) is True:
            return not any(ev.may_run(one.order, one.path, frame) for one in between)
    return False


def _listing(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> str | None:
    """The name of the listing function; None for a call of something else."""
    known = frozenset[str]().union(*(ordering_names("listings", table) for table in _TABLES))
    word = called_name(call.func)
    values = program.ev.values(call.func, frame_without_callers(program.ev, facts, scope))
    for value in ordered(values):
        name = None
        if isinstance(value, External):
            name = canonical(value.name)
        elif isinstance(value, MemberOf):
            name = member_name(value)
        if name in known:
            return name
        if name is not None and word in _path_words() and name.startswith(_path_makers()):
            return f"pathlib.Path.{word}"
    if (UNKNOWN in values or not values) and isinstance(call.func, tree.Attribute) and call.func.attr != "listdir":
        # Most paths come from somewhere that cannot be followed; their methods have names of their own.
        if word in ordering_names("listings", "methods"):
            return f"pathlib.Path.{word}"
        if word == "glob" and (_imports_pathlib(facts) or _is_path(scope, call.func.value)):
            return "pathlib.Path.glob"
    return None


def _is_path(scope: Scope, node: tree.Expr) -> bool:
    """Whether something that has `glob` is a path by how it is made: `folder / name`."""
    bindings: Iterable[Binding] = ()
    match node:
        case tree.Binary(op="/"):
            return True
        case tree.Name(id=name):
            owner = scope.binder(name)
            bindings = owner.bindings[name] if owner is not None else ()
        case tree.Attribute():
            bindings = own_bindings(scope, node)
    return any(isinstance(one.node, tree.Binary) and one.node.op == "/" and not one.unpack for one in bindings)


def _imports_pathlib(facts: ModuleFacts) -> bool:
    for bindings in facts.scope.bindings.values():
        for binding in bindings:
            match binding.node:
                case tree.Import(module="pathlib") | tree.ImportFrom(module="pathlib", level=0):
                    return True
    return False

"""Sets, and where the order in which they are iterated goes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.orders.element_kinds import ElementKind, kind_of_elements
from torchrepro_lint.program.orders.element_removals import does_without_a_number
from torchrepro_lint.program.orders.element_uses import shows_numbers
from torchrepro_lint.program.orders.order_backward import sinks_of
from torchrepro_lint.program.orders.order_carriers import Sink
from torchrepro_lint.program.orders.order_flow import find_sink
from torchrepro_lint.program.orders.order_places import name_uses, scope_around
from torchrepro_lint.program.orders.order_ties import is_counter
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["OrderedSet", "iterations_of", "ordered_sets"]

_SPACE: Final = rb"(?:\s|#[^\n]*\n)*"
_TEXT: Final = rb"[rRbBuU]{0,2}(?:\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
#: A call that makes a set, what is made of the keys of a dict, a comprehension without a colon outside its f-strings, a
#: display in which a text stands that no colon follows, or that begins with the elements of something else. Each begins
#: with a letter or a brace, which the search then leaps to: where what must not be before a word comes first, it takes
#: four times as long.
_WORDS: Final = re.compile(
    rb"s(?<!\ws)et\s*(?:\(|\.\s*[uids])|k(?<=\.k)eys\(\)\s*[-&|^]|f(?<!\wf)rozenset\s*\("
    rb"|\{(?:[^:{}]*(?:\{[^{}]*\}[^:{}]*)*\sfor\s"
    rb"|" + _SPACE + rb"\*(?!\*)"
    rb"|" + _SPACE + rb"(?:" + _TEXT + _SPACE + rb")+,"
    rb"|[^:{}'\"]*," + _SPACE + _TEXT + rb")"
)  # fmt: skip


#: Methods that make another set of a set.
_OPERATIONS: Final = frozenset({"union", "difference", "intersection", "symmetric_difference"})
_ITERATE: Final = frozenset({"list", "tuple", "enumerate", "zip", "map", "fromkeys"})
_MAX_ITERATIONS: Final = 6
_TEXTS: Final = ("text", "named")


@dataclass(frozen=True, slots=True, eq=False)
class OrderedSet:
    """A set expression whose order of iteration decides something.

    `at_once`: it is iterated where it is made, so that it can be sorted there; else it may be needed as a set too.
    `by_name`: nothing but names says that it holds texts.
    """

    node: tree.Expr
    facts: ModuleFacts
    sink: Sink
    at_once: bool
    by_name: bool = False

    @property
    def site(self) -> Site:
        return Site(self.facts.path, self.node.site)


def ordered_sets(program: Program) -> Iterator[OrderedSet]:
    """The sets of texts whose order is fixed somewhere: file by file those that a walk along the uses shows, then those
    that are found back from where an order decides something.
    """
    unseen: list[tuple[ModuleFacts, Scope, tree.Expr]] = []
    for path in program.asked_with(_WORDS):
        facts = program.facts(path)
        if facts is None:
            continue
        found: dict[int, OrderedSet] = {}
        for scope, node in _sets(program, facts):
            program.ev.begin_question()
            whole = _whole(program, facts, node)
            # What its order decides is asked first: what its elements are takes far longer.
            known = whole.site in found or _is_of_one(program, facts, whole)
            known = known or does_without_a_number(parents_of(program.ev, facts), whole)
            ordered = _ordered(program, facts, whole) if not known else None
            if ordered is None and not known:
                unseen.append((facts, scope, whole))
            elif ordered and (kind := _kind(program, facts, scope, whole)) in _TEXTS:
                found[whole.site] = replace(ordered, by_name=kind == "named")
        for one in [one for one in found.values() if not one.at_once]:
            for whole in _made_of(program, one):
                if (ordered := _ordered(program, facts, whole)) is not None:
                    found.setdefault(whole.site, ordered)
        by_name: dict[str, list[OrderedSet]] = {}
        for one in found.values():
            if (name := _name_of(program, one)) is not None:
                by_name.setdefault(name, []).append(one)
        yield from (found[at] for at in sorted(found) if not _is_spoken_of(program, found[at], found, by_name))
    yield from _found_back(program, unseen)


def _found_back(program: Program, unseen: Sequence[tuple[ModuleFacts, Scope, tree.Expr]]) -> Iterator[OrderedSet]:
    """Of the sets whose uses show nothing, those of texts whose order decides something elsewhere."""
    sinks = sinks_of(program, [(facts, node) for facts, _, node in unseen], of_sets=True)
    seen: set[Site] = set()
    for facts, scope, node in unseen:
        site = Site(facts.path, node.site)
        if (sink := sinks.get(site)) is not None and site not in seen:
            seen.add(site)
            program.ev.begin_question()
            if (kind := _kind(program, facts, scope, node)) in _TEXTS:
                at_once = _is_iterated_at_once(program, facts, node)
                yield OrderedSet(node, facts, sink, at_once, by_name=kind == "named")


def _kind(program: Program, facts: ModuleFacts, scope: Scope, node: tree.Expr) -> ElementKind | None:
    holder = _holder(program, facts, node)
    kind = kind_of_elements(program, facts, scope, holder)
    return "number" if kind == "named" and shows_numbers(program, facts, scope, holder) else kind


def iterations_of(program: Program, one: OrderedSet) -> list[Site] | None:
    """The places where a set that is kept is iterated so that its order decides something; None where one of them is
    not to be told, or there are many.
    """
    found: list[tree.Expr] = []
    sites: list[Site] = []
    sink: Sink | None = one.sink
    while sink is not None:
        if sink.iterated is None or len(found) == _MAX_ITERATIONS:
            return None
        facts, node = sink.iterated
        if node is one.node or any(node is other for other in found):
            return None
        found.append(node)
        sites.append(Site(facts.path, node.site))
        sink = find_sink(program, one.facts, one.node, of_set=True, but=found)
    return sites


def _ordered(program: Program, facts: ModuleFacts, node: tree.Expr) -> OrderedSet | None:
    """A set with what its order decides; None where that is nothing."""
    sink = find_sink(program, facts, node, of_set=True)
    return OrderedSet(node, facts, sink, _is_iterated_at_once(program, facts, node)) if sink is not None else None


def _made_of(program: Program, one: OrderedSet) -> Iterator[tree.Expr]:
    """The sets that are made of one that has a name: `names & others`."""
    match parents_of(program.ev, one.facts).of(one.node):
        case tree.Assign(targets=(tree.Name() as target,)):
            for use in name_uses(program, one.facts, target):
                whole = _whole(program, one.facts, use)
                if whole is not use:
                    yield whole


def _name_of(program: Program, one: OrderedSet) -> str | None:
    """The name that is given to a set."""
    target = parents_of(program.ev, one.facts).target_of(one.node)
    return target.id if isinstance(target, tree.Name) else None


def _is_spoken_of(
    program: Program, one: OrderedSet, found: Mapping[int, OrderedSet], by_name: Mapping[str, Sequence[OrderedSet]]
) -> bool:
    """Whether the set is kept and its order goes on through other sets alone that are found, or they fill it."""
    if one.at_once or len(found) == 1:
        return False
    others = [other for other in found.values() if other is not one]
    name = _name_of(program, one)
    if name is not None and any(_is_grown_of(program, one, other, name) for other in by_name[name]):
        return True  # `words = words.union(line.split())`
    made = list(_made_of(program, one))
    filling = [other for other in others if other.node not in made]
    if _is_made_empty(one.node) and any(other.sink.chain[-1] == one.sink.chain[-1] for other in filling):
        return True  # `words |= set(line.split())`
    return find_sink(program, one.facts, one.node, of_set=True, but=[other.node for other in others]) is None


def _is_grown_of(program: Program, one: OrderedSet, other: OrderedSet, name: str) -> bool:
    """Whether a set is made of what has its name, which began as the other of that name, and decides the same."""
    return (
        other.node.site < one.node.site
        and one.sink.chain[-1] == other.sink.chain[-1]
        and scope_around(program, one.facts, one.node) is scope_around(program, other.facts, other.node)
        and any(isinstance(part, tree.Name) and part.id == name for part in walk([one.node]))
    )


def _sets(program: Program, facts: ModuleFacts) -> Iterator[tuple[Scope, tree.Expr]]:
    """The expressions of a file that make a set, each with the scope in which it is."""
    parents = parents_of(program.ev, facts)
    for scope in facts.walk_scopes():
        if isinstance(scope.node, tree.Comprehension) and scope.node.kind == "set":
            yield scope, scope.node
        for call, _ in scope.calls:
            match call.func:
                case tree.Name(id="set" | "frozenset" as word) if call.args or word == "set":
                    frame = frame_without_callers(program.ev, facts, scope)
                    if any(
                        isinstance(v, External) and v.name.startswith("builtins.")
                        for v in program.ev.values(call.func, frame)
                    ):
                        yield scope, call
                case tree.Attribute(value=tree.Name(id="set" | "frozenset"), attr=attr) if attr in _OPERATIONS:
                    yield scope, call  # `set.intersection(*all_of_them)`
                case tree.Attribute(attr="keys") if not call.args:
                    match parents.of(call):
                        case tree.Binary(op="-" | "|" | "&" | "^") as made:
                            yield scope, made
    for node in parents.sets:
        around = next((one for one in parents.around(node) if isinstance(one, _SCOPES)), None)
        yield facts.scope_of(around) if around is not None else facts.scope, node


_SCOPES: Final = (tree.FunctionDef, tree.ClassDef, tree.Lambda, tree.Comprehension)


def _holder(program: Program, facts: ModuleFacts, node: tree.Expr) -> tree.Expr:
    """What tells the elements of a set: of one that is made empty, the name under which it is filled."""
    if _is_made_empty(node):
        match parents_of(program.ev, facts).target_of(node):
            case tree.Name() | tree.Attribute() as target:
                return target
    return node


def _whole(program: Program, facts: ModuleFacts, node: tree.Expr) -> tree.Expr:
    """The set of which a set is an operand: `set(a) - set(b)`, `set({x for x in xs})`, `a.union(b)`."""
    parents = parents_of(program.ev, facts)
    while True:
        above = parents.of(node)
        outer = parents.of(above) if above is not None else None
        match above:
            case tree.Binary(op="-" | "|" | "&" | "^"):
                node = above
            case tree.Attribute(attr=attr) if attr in _OPERATIONS:
                if not isinstance(outer, tree.Call):
                    return node
                node = outer
            case tree.Arg() if isinstance(outer, tree.Call) and (_is_set_call(outer) or _is_set_operation(outer)):
                if _is_counted(program, facts, outer):
                    return node
                node = outer
            case _:
                return node


def _is_iterated_at_once(program: Program, facts: ModuleFacts, node: tree.Expr) -> bool:
    parents = parents_of(program.ev, facts)
    match parents.of(node):
        case tree.For() | tree.Clause():
            return True
        case tree.Arg() as arg:
            call = parents.of(arg)
            return isinstance(call, tree.Call) and (
                called_name(call.func) in _ITERATE or _is_counted(program, facts, call)
            )
    return False


def _is_set_operation(node: tree.Call) -> bool:
    return isinstance(node.func, tree.Attribute) and node.func.attr in ("union", "difference", "intersection", "update")


def _is_counted(program: Program, facts: ModuleFacts, node: tree.Call) -> bool:
    """Whether a call counts the elements of a set: `counts.update(set(words))`."""
    match node.func:
        case tree.Attribute(value=owner, attr="update"):
            return is_counter(program, facts, scope_around(program, facts, node), owner)
    return False


def _is_of_one(program: Program, facts: ModuleFacts, node: tree.Expr) -> bool:
    """Whether a set is handed on with one element, and so without an order."""
    match node:
        case tree.Display(kind="set", items=(item,)) if not isinstance(item, tree.Starred):
            return isinstance(parents_of(program.ev, facts).of(node), tree.Arg)
    return False


def _is_made_empty(node: tree.Expr) -> bool:
    return isinstance(node, tree.Call) and _is_set_call(node) and not node.args


def _is_set_call(node: object) -> bool:
    return isinstance(node, tree.Call) and isinstance(node.func, tree.Name) and node.func.id in ("set", "frozenset")

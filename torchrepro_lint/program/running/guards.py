"""Under which conditions a place in the code runs: the arms around it, and what their tests depend on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import words_in
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.inner_tests import tests_inside
from torchrepro_lint.program.evaluation.values import Site

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "Guard",
    "Place",
    "excludes",
    "guards",
    "hangs_on_settings_only",
    "is_main_guard",
    "left_before",
    "mentions",
    "place_of",
]

_MAX_ALIASES = 4


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A place in a file: its scope, and the arms of that scope in which it is."""

    facts: ModuleFacts
    scope: Scope
    arms: ArmPath
    site: Site

    @property
    def in_loop(self) -> bool:
        """Whether it is in the body of a loop of its scope."""
        return any(branch in self.scope.loops for branch, _ in self.arms)


def place_of(ev: Evaluator, site: Site) -> Place | None:
    """The place of a node; None where its file cannot be read."""
    facts = ev.project.facts(site.path)
    if facts is None:
        return None
    starts, scopes = ev.of_text(("statements", id(facts)), lambda: _statements(facts))
    index = bisect_right(starts, site.number) - 1
    scope = scopes[index] if index >= 0 else facts.scope
    return Place(facts, scope, scope.path_at(site.number), site)


def _statements(facts: ModuleFacts) -> tuple[tuple[int, ...], tuple[Scope, ...]]:
    """The first site of every statement of the module, each with its scope, in order."""
    # The body of a lambda or comprehension is a statement of its own, but what stands after it on the line belongs to
    # the statement around it again: both are left to that statement.
    pairs = [
        (start, scope)
        for scope in facts.walk_scopes()
        if not isinstance(scope.node, (tree.Lambda, tree.Comprehension))
        for start in scope.statement_sites
    ]
    pairs.sort(key=lambda pair: pair[0])
    return tuple(start for start, _ in pairs), tuple(scope for _, scope in pairs)


def excludes(first: Place, second: Place) -> bool:
    """Whether two places of one scope are in different arms of one statement, so that only one of them runs."""
    if first.scope is not second.scope:
        return False
    arms = dict(first.arms)
    return any(branch in arms and arms[branch] != arm for branch, arm in second.arms)


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A test on which it hangs that a place runs, and the arm of its statement (None: a test inside an expression).

    `holds`: the place runs where the test holds, and not where it does not.
    """

    test: tree.Expr
    arm: tuple[int, str] | None
    holds: bool


def guards(ev: Evaluator, place: Place) -> Iterator[Guard]:
    """The tests on which it hangs that the place runs: of the arms around it, and of `a if b else c`, `a or b`."""
    for branch, arm in place.arms:
        match place.scope.branches.get(branch):
            case tree.If(test=test):
                yield Guard(test, (branch, arm), arm == "then")
            case tree.Match(subject=subject):
                yield Guard(subject, (branch, arm), arm == "then")
            case tree.Try(site=site) if arm != "try":
                # What an exception decides is not a condition that could be read.
                yield Guard(tree.Opaque(site, ()), (branch, arm), False)
    for test, holds in tests_inside(ev, place.facts, place.site.number):
        yield Guard(test, None, holds)


def left_before(place: Place) -> Iterator[Guard]:
    """The tests of the statements before the place that leave the function in one arm: it runs where they do not."""
    scope = place.scope
    own = dict(place.arms)
    for branch, left in scope.ended:
        statement = scope.branches.get(branch)
        if not isinstance(statement, tree.If) or branch >= place.site.number or branch in own:
            continue
        around = scope.path_at(branch)
        stays = "else" if left == "then" else "then"
        if place.arms[: len(around)] == around and (branch, stays) not in scope.ended:
            yield Guard(statement.test, (branch, stays), stays == "then")


# --- what a test depends on -------------------------------------------------------------------------------------


def hangs_on_settings_only(scope: Scope, test: tree.Expr, depth: int = 0) -> bool:
    """Whether a test has the same outcome for every item: it asks attributes that only `__init__` sets, and constants.

    False for what asks the item, what another method changes (`if self.rng is None`), and what calls something.
    """
    match test:
        case tree.Const():
            return True
        case tree.Attribute():
            return _is_setting(test, scope)
        case tree.Subscript(value=value, index=index):
            return hangs_on_settings_only(scope, value, depth) and isinstance(index, tree.Const)
        case tree.Unary(operand=operand):
            return hangs_on_settings_only(scope, operand, depth)
        case tree.Boolean(left=left, right=right):
            return all(hangs_on_settings_only(scope, part, depth) for part in (left, right))
        case tree.Compare(left=left, comparators=comparators):
            return all(hangs_on_settings_only(scope, part, depth) for part in (left, *comparators))
        case tree.Display(items=items):
            return all(hangs_on_settings_only(scope, part, depth) for part in items)
        case tree.Call(func=tree.Attribute(value=owner, attr="get" | "lower" | "startswith"), args=args):
            return all(hangs_on_settings_only(scope, part, depth) for part in (owner, *(arg.value for arg in args)))
        case tree.Name(id=name):
            bindings = scope.bindings.get(name)
            if bindings is None:
                return not _is_local_further_out(name, scope)
            if depth >= _MAX_ALIASES or any(binding.kind != "assign" or binding.path for binding in bindings):
                return False
            return all(
                hangs_on_settings_only(scope, binding.node, depth + 1)  # type: ignore[arg-type]
                for binding in bindings
            )
    return False


def _is_local_further_out(name: str, scope: Scope) -> bool:
    outer = scope.parent
    while outer is not None and outer.node is not None:
        if name in outer.bindings:
            return True
        outer = outer.parent
    return False


def _is_setting(node: tree.Attribute, scope: Scope) -> bool:
    """Whether an attribute is one of `self` that no method but `__init__` sets, or one of a global name."""
    chain: list[str] = [node.attr]
    value = node.value
    while isinstance(value, tree.Attribute):
        chain.append(value.attr)
        value = value.value
    if not isinstance(value, tree.Name):
        return False
    if value.id != scope.self_name:
        return value.id not in scope.bindings and not _is_local_further_out(value.id, scope)
    assert scope.parent is not None
    key = f"self.{chain[-1]}"
    return not any(
        key in method.bindings and method.name != "__init__" for method in scope.parent.children
    )  # fmt: skip


# --- names in code --------------------------------------------------------------------------------------------


def mentions(roots: Iterable[tree.Expr], words: frozenset[str]) -> bool:
    """Whether a name, an attribute or a text in the expressions is one of `words`."""
    return any(word.lower() in words for word in words_in(roots))


def is_main_guard(statement: tree.Stmt) -> bool:
    """Whether a statement is `if __name__ == "__main__":`."""
    match statement:
        case tree.If(test=tree.Compare(left=tree.Name(id="__name__"), ops=("==",))):
            return True
        case tree.If(test=tree.Compare(left=tree.Const(value="__main__"), ops=("==",))):
            return True
    return False

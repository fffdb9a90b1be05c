"""Options of the command line as the tests on a way ask them: an option has one value in a run.

`if args.augment: return augmented(args)` leaves, and what then runs asks `args.augment` again in another function, or
`self.augment` of an object that was made with it: the arm in which it is set does not run there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.command_line import is_assigned, is_parsed
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.inner_tests import tests_inside
from torchrepro_lint.program.evaluation.narrowing import parts_of_test
from torchrepro_lint.program.evaluation.values import ExternalObject, MemberOf, Site
from torchrepro_lint.program.running.callers import all_calls, contexts
from torchrepro_lint.program.running.guards import Place, guards, left_before, place_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "Asked",
    "asked_at",
    "asked_by_all_callers",
    "asked_by_callers",
    "asked_on_the_way",
    "contradict",
    "option_in",
]

#: A constant, told apart from those that only equal it: `1` and `True`.
_Said: TypeAlias = tuple[type, object]
#: An option, the constants of which it is asked to be one (None: whether it is true), and whether that holds. The
#: option is that of a parser, or what is written: `args.mode`.
Asked: TypeAlias = tuple[MemberOf | str, frozenset[_Said] | None, bool]
_NONE: Final[frozenset[Asked]] = frozenset()


def asked_at(ev: Evaluator, site: Site, frame: Frame) -> frozenset[Asked]:
    """What the tests on the way to a place, in its own function, say of options where it runs in this frame."""
    return ev.remembered(("options-asked", site, frame), lambda: frozenset(_asked(ev, site, frame)), _NONE)


def asked_by_callers(ev: Evaluator, frame: Frame) -> list[frozenset[Asked]]:
    """What they say for each call of the function of a frame; none where there are more than are looked at."""
    if frame.parent is None or not isinstance(frame.scope.node, tree.FunctionDef):
        return []
    calls = all_calls(ev, frame.facts, frame.scope)
    return [asked_at(ev, ev.site(call, caller), caller) for call, caller in calls]


def asked_by_all_callers(ev: Evaluator, facts: ModuleFacts, scope: Scope, number: int) -> frozenset[Asked]:
    """What the tests on the way to a place, in its own function, say of options whoever calls that."""
    if not scope.branches and not any(tests_inside(ev, facts, number)):
        return _NONE
    asked = [asked_at(ev, Site(facts.path, number), frame) for frame in contexts(ev, facts, scope)]
    return frozenset.intersection(*asked) if asked else _NONE


def asked_on_the_way(ev: Evaluator, sites: Iterable[Site]) -> frozenset[Asked]:
    """What they say for each of the places that a run comes through one after the other; what is written alike on that
    way, `self.args.mode` and `args.mode`, is one option, unless a file on the way assigns it.
    """
    places = [place for site in sites if (place := place_of(ev, site)) is not None]
    files = {one.facts.path: one.facts for one in places}.values()
    written = (one for place in places for one in _asked_as_written(ev, place))
    kept = (one for one in written if not any(is_assigned(file, last_part(one[0])) for file in files))
    asked = (asked_by_all_callers(ev, one.facts, one.scope, one.site.number) for one in places)
    return frozenset(kept).union(*asked)


def contradict(asked: Iterable[Asked]) -> bool:
    """Whether an option would have two values where all of this holds in one run."""
    true: dict[MemberOf | str, bool] = {}
    left: dict[MemberOf | str, frozenset[_Said]] = {}
    never: dict[MemberOf | str, set[_Said]] = {}
    for option, said, holds in asked:
        if said is None:
            if true.setdefault(option, holds) is not holds:
                return True
        elif holds:
            left[option] = left.get(option, said) & said
        else:
            never.setdefault(option, set()).update(said)
    return any(possible <= never.get(option, set()) for option, possible in left.items())


def _asked(ev: Evaluator, site: Site, frame: Frame) -> Iterator[Asked]:
    place = place_of(ev, site)
    if place is None or place.scope is not frame.scope:
        return
    for subject, said, holds in _tests(ev, place):
        if (option := option_in(ev, subject, frame)) is not None:
            yield option, said, holds


def _asked_as_written(ev: Evaluator, place: Place) -> Iterator[tuple[str, frozenset[_Said] | None, bool]]:
    """What the tests on the way to a place say of options, by the names in them alone."""
    for subject, said, holds in _tests(ev, place):
        *_, owner, name = ("", "", *(dotted_name(subject) or "").split("."))
        if function_words("holds_arguments").fullmatch(owner):
            yield f"{owner}.{name}", said, holds


def _tests(ev: Evaluator, place: Place) -> Iterator[tuple[tree.Expr, frozenset[_Said] | None, bool]]:
    """Names and attributes that are tested on the way to a place, of which constants each is asked to be one (None:
    whether it is true), and whether that holds there.
    """
    for guard in (*guards(ev, place), *left_before(place)):
        for test, holds in parts_of_test(guard.test, guard.holds):
            match test:
                case tree.Name() | tree.Attribute() as subject:
                    yield subject, None, holds
                case tree.Compare(left=subject, ops=("==" | "!=" as op,), comparators=(tree.Const() as other,)):
                    yield subject, _said((other,)), holds is (op == "==")
                case tree.Compare(left=subject, ops=("in" | "not in" as op,), comparators=(tree.Display() as several,)):
                    if all(isinstance(one, tree.Const) for one in several.items):
                        yield subject, _said(several.items), holds is (op == "in")


def _said(constants: Iterable[tree.Expr]) -> frozenset[_Said]:
    return frozenset((type(one.value), one.value) for one in constants if isinstance(one, tree.Const))


def option_in(ev: Evaluator, node: tree.Expr, frame: Frame) -> MemberOf | None:
    """The option that an expression is in every case; None where a file of the program may set it anew."""
    values = ev.values(node, frame)
    match next(iter(values)) if len(values) == 1 else None:
        case MemberOf(receiver=ExternalObject(site=Site() as parsed) as receiver) as option if is_parsed(receiver):
            files = (frame.facts, ev.project.facts(parsed.path))
            return None if any(one is None or is_assigned(one, option.attr) for one in files) else option
    return None

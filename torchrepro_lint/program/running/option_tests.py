"""Options of the command line as the tests on a way ask them: an option has one value in a run.

`if args.augment: return augmented(args)` leaves, and what then runs asks `args.augment` again in another function, or
`self.augment` of an object that was made with it: the arm in which it is set does not run there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.command_line import is_assigned, is_parsed
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.narrowing import parts_of_test
from torchrepro_lint.program.evaluation.values import ExternalObject, MemberOf, Site
from torchrepro_lint.program.running.callers import all_calls
from torchrepro_lint.program.running.guards import guards, left_before, place_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Asked", "asked_at", "asked_by_callers", "contradict"]

#: An option, the constant that it is compared with (None: whether it is true), and whether that holds.
Asked: TypeAlias = tuple[MemberOf, tree.Const | None, bool]
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


def contradict(asked: Iterable[Asked]) -> bool:
    """Whether an option would have two values where all of this holds in one run."""
    found: dict[tuple[MemberOf, object], bool] = {}
    equal: dict[MemberOf, object] = {}
    for option, constant, holds in asked:
        said = None if constant is None else (type(constant.value), constant.value)
        if found.setdefault((option, said), holds) is not holds:
            return True
        if said is not None and holds and equal.setdefault(option, said) != said:
            return True
    return False


def _asked(ev: Evaluator, site: Site, frame: Frame) -> Iterator[Asked]:
    place = place_of(ev, site)
    if place is None or place.scope is not frame.scope:
        return
    for guard in (*guards(ev, place), *left_before(place)):
        for test, holds in parts_of_test(guard.test, guard.holds):
            constant: tree.Const | None = None
            match test:
                case tree.Name() | tree.Attribute() as subject:
                    pass
                case tree.Compare(left=subject, ops=("==" | "!=" as op,), comparators=(tree.Const() as other,)):
                    constant, holds = other, holds is (op == "==")
                case _:
                    continue
            if (option := _option(ev, subject, frame)) is not None:
                yield option, constant, holds


def _option(ev: Evaluator, node: tree.Expr, frame: Frame) -> MemberOf | None:
    """The option that an expression is in every case; None where a file of the program may set it anew."""
    values = ev.values(node, frame)
    match next(iter(values)) if len(values) == 1 else None:
        case MemberOf(receiver=ExternalObject(site=Site() as parsed) as receiver) as option if is_parsed(receiver):
            files = (frame.facts, ev.project.facts(parsed.path))
            return None if any(one is None or is_assigned(one, option.attr) for one in files) else option
    return None

"""What is done to lists and dicts after they were made: `.append`, `d[key] = value`, `.update`; and to data sets of
libraries that are given a transform in place.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import held_by
from torchrepro_lint.facts.scopes import END, Binding, Path, Scope, Store, Touch
from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.aliases import aliases_in, aliases_of, shares_object
from torchrepro_lint.program.evaluation.container_methods import METHODS, after_item, after_method
from torchrepro_lint.program.evaluation.containers import inner_changed, unpack
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.handed_lists import Handing, after_handing, handings
from torchrepro_lint.program.evaluation.held_lists import held_lists, holding
from torchrepro_lint.program.evaluation.joining import joined, opened
from torchrepro_lint.program.evaluation.module_containers import held_modules, holding_modules, is_changeable
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Constant,
    DictValue,
    ExternalObject,
    SequenceValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "after_changes",
    "after_stages",
    "changes_by_root",
    "changes_of",
    "with_changes",
]

#: Methods by which a data set of a library gets what its items go through.
_STAGE_CHANGES = frozenset({"set_transform"})
_CHANGES = METHODS | _STAGE_CHANGES

#: How many changes between a binding and a use are followed one after another; of more, any may have come last.
MAX_CHANGES: Final = 100
#: How many functions that change one global dict are followed for each value that its name is bound to.
MAX_CHANGING_SCOPES: Final = 16


def after_changes(ev: Evaluator, name: str, values: Values, binding: Binding, site: int, frame: Frame) -> Values:
    """The list or dict `name` at `site`, with what was done to it between its binding and there."""
    if not any(_is_changed_in_place(value) for value in values):
        return values
    values = with_changes(ev, values, frame, binding.order, site, name, binding.path)
    if frame.scope.parent is None:
        values = _after_other_scopes(ev, name, values, frame)
    return values


def after_stages(ev: Evaluator, node: tree.Subscript, values: Values, frame: Frame) -> Values:
    """The data set of a library that is in a dict of them, with what it was given in place under the same keys:
    `data["train"].set_transform(crop)`.
    """
    if not any(_stage(value, method) for value in values for method in _STAGE_CHANGES):
        return values
    owner, within = held_by(node)
    for touch in changes_of(ev, frame.scope, owner) if owner is not None else ():
        if touch.method in _STAGE_CHANGES and touch.last < node.site and len(touch.within) == len(within):
            indexes = [ev.one_constant(ev.values(index, frame)) for index in (*touch.within, *within)]
            is_same = None not in indexes and indexes[: len(within)] == indexes[len(within) :]
            runs = ev.decide(touch.path, frame)
            if is_same and runs is not False:
                values = union(*(_changed(ev, value, touch.made, runs is True, frame) for value in values))
    return values


def _is_changed_in_place(value: Value) -> bool:
    if is_changeable(value) or any(held_lists(value)):
        return True
    return any(_stage(value, method) for method in _STAGE_CHANGES)


def _stage(value: Value, method: str) -> str | None:
    """The full name of a method that adds a stage to a data set of a library."""
    name = canonical(f"{value.name}.{method}") if isinstance(value, ExternalObject) else None
    known = external_callable(name) if name is not None else None
    return name if known is not None and known.gives_receiver else None


def _after_other_scopes(ev: Evaluator, name: str, values: Values, module: Frame) -> Values:
    """What functions of the module put into its global list or dict: `REGISTRY[name] = cls` in a decorator.

    It is the same at every place that asks, so that it is computed once for each value that the name is bound to.
    """
    scopes = _scopes_changing(ev, module).get(name)
    if not scopes:
        return values
    question = ("changed-elsewhere", name, values, module)
    return ev.remembered(question, lambda: _changed_in(ev, name, values, module, scopes), values, unknown())


def _changed_in(ev: Evaluator, name: str, values: Values, module: Frame, scopes: Sequence[Scope]) -> Values:
    if len(scopes) > MAX_CHANGING_SCOPES and all(isinstance(value, DictValue) for value in values):
        question = ("put-in-elsewhere", name, module)
        put_in = ev.remembered(question, lambda: _put_in(ev, name, module, scopes), NOTHING, unknown())
        return joined(put_in, *map(opened, values))
    for scope in scopes:
        values = _changed_in_one(ev, name, values, module, scope)
    return values


def _changed_in_one(ev: Evaluator, name: str, values: Values, module: Frame, scope: Scope) -> Values:
    changed = [with_changes(ev, values, frame, -1, END, name) for frame in ev.contexts(module.facts, scope)]
    return joined(values, *(opened(value) for after in changed for value in after))


def _put_in(ev: Evaluator, name: str, module: Frame, scopes: Sequence[Scope]) -> Values:
    """What so many functions put into a dict that it is not followed for each value that the name is bound to: a dict
    with all of it. What it holds may be anything if one of them changes what is in it.
    """
    values = values_of(DictValue((), True))
    for scope in scopes:
        if any(change.within for change in changes_of(ev, scope, name)):
            return values_of(DictValue((), True, unknown()))
        values = _changed_in_one(ev, name, values, module, scope)
    return values


def _scopes_changing(ev: Evaluator, module: Frame) -> dict[str, list[Scope]]:
    return ev.remembered(("scopes-changing", module), lambda: _find_scopes_changing(module), {})


def _find_scopes_changing(module: Frame) -> dict[str, list[Scope]]:
    """The functions that change a list or dict which is not a local of theirs, by its name."""
    found: dict[str, list[Scope]] = {}
    for scope in module.facts.walk_scopes():
        if not isinstance(scope.node, tree.FunctionDef):
            continue
        names = {
            name
            for name, touches in scope.all_touches().items()
            if any(isinstance(one.made, Store) or one.method in _CHANGES for one in touches)
        }
        for name in sorted(names):
            if name not in scope.bindings and name in module.scope.bindings:
                found.setdefault(name, []).append(scope)
    return found


def with_changes(
    ev: Evaluator, values: Values, frame: Frame, start: int, end: int, target: str, taken: Path = ()
) -> Values:
    """Applies, in the order of the text, the changes that `frame` makes between two sites to the dotted name `target`.

    Also those to the lists that it holds: `pipeline.transforms.append(...)`. `taken` are the arms that have run, where
    what is changed was made in them: of their own lines all are run, and of the arms beside them none.
    """
    for value in values:
        for attr, held in held_lists(value):
            after = with_changes(ev, held, frame, start, end, f"{target}.{attr}", taken)
            if after != held:
                assert isinstance(value, ExternalObject)
                values = union(values - {value}, values_of(holding(value, attr, after)))
    changes = changes_of(ev, frame.scope, target)
    between = changes[
        bisect_right(changes, start, key=attrgetter("site")) : bisect_left(changes, end, key=attrgetter("site"))
    ]
    if len(between) > MAX_CHANGES:
        question = ("many-changes", target, values, frame)
        return ev.remembered(question, lambda: _after_many(ev, values, changes, frame), unknown())
    handed = [one for one in handings(ev, frame.scope, target) if start < one.site and one.last < end]
    around = frame.scope.path_at(end) if (between or handed) and taken and end != END else ()
    made: Sequence[Touch | Handing] = sorted((*between, *handed), key=attrgetter("site")) if handed else between
    for change in made:
        # What is stored may be made of the target: it is not changed yet where that is read.
        runs = _runs(ev, change.path, taken, around, frame) if change.last < end else False
        if isinstance(change, Handing):
            values = _after_handing(ev, values, change, runs, frame) if runs is not False else values
        elif runs is not False:
            values = _all_changed(ev, values, change, runs is True, frame)
    return values


def _after_handing(ev: Evaluator, values: Values, handing: Handing, runs: bool | None, frame: Frame) -> Values:
    """Lists and dicts after a call of a function that they were passed to."""
    after, is_sure = after_handing(
        ev,
        values,
        handing,
        frame,
        lambda scope, parameter: bool(changes_of(ev, scope, parameter)),
        lambda inner, parameter: _changed_inside(ev, values, inner, parameter),
    )
    if after == values or (is_sure and runs is True):
        return after
    return union(values, *(opened(value) or values_of(value) for value in after))


def _changed_inside(ev: Evaluator, values: Values, inner: Frame, parameter: str) -> Values:
    """Lists and dicts after a run of a function that was passed them. Found once for a frame: a function that passes on
    what it was passed, to itself in each of its branches, would be followed as often as there are ways through it.
    """
    return ev.remembered(
        ("handed", inner, parameter, values),
        lambda: with_changes(ev, values, inner, -1, END, parameter),
        values,
        union(values, unknown()),
    )


def _runs(ev: Evaluator, path: Path, taken: Path, around: Path, frame: Frame) -> bool | None:
    """Whether a change in the arms of `path` is made, if those of `taken` were gone through before it.

    `around` are those of the place that asks: where it is in the same loop or `try`, none is left before it.
    """
    scope = frame.scope
    turns = False
    for place, (branch, arm) in enumerate(taken):
        if not isinstance(scope.branches.get(branch), (tree.If, tree.Match)) and (branch, arm) not in around:
            break  # it may be left before the change
        turns = turns or branch in scope.loops
        if place == len(path) or path[place][0] != branch:
            return ev.decide(path[place:], frame)
        if path[place][1] != arm:
            # The next turn of a loop may take the other arm.
            return None if turns and ev.decide(path[place:], frame) is not False else False
    else:
        return ev.decide(path[len(taken) :], frame)
    return ev.decide(path, frame)


def changes_by_root(scope: Scope) -> dict[str, list[Touch]]:
    """What may change the lists and dicts of a scope, by the name with which theirs begin; not by that of `self`."""
    found: dict[str, list[Touch]] = {}
    for owner, touches in scope.all_touches().items():
        root = owner.partition(".")[0]
        if root != scope.self_name:
            found.setdefault(root, []).extend(_changes(touches))
    shared = {
        name: [one for other in others for one in found.get(other, ())]
        for name, others in aliases_in(scope).items()
        if "." not in name
    }
    for name, touches in shared.items():
        found[name] = [*found.get(name, ()), *touches]
    return found


def changes_of(ev: Evaluator, scope: Scope, target: str) -> tuple[Touch, ...]:
    """What a scope does directly to a list or dict under its dotted name or an alias, in the order of the text."""
    nothing: tuple[Touch, ...] = ()
    touches = [*scope.touches(target)]
    for alias in aliases_of(ev, scope, target):
        touches += [one for one in scope.touches(alias) if shares_object(scope, target, alias, one.site)]
    touches.sort(key=attrgetter("site"))
    return ev.of_text(("changes", id(scope), target), lambda: _changes(touches)) if touches else nothing


def _changes(touches: Sequence[Touch]) -> tuple[Touch, ...]:
    return tuple(one for one in touches if isinstance(one.made, Store) or one.method in _CHANGES)


def _after_many(ev: Evaluator, values: Values, changes: Sequence[Touch], frame: Frame) -> Values:
    """The list or dict after so many changes that their order is not followed: each has happened, or has not yet."""
    return union(*(_mixed(ev, value, changes, frame) for value in values)) if values else NOTHING


def _mixed(ev: Evaluator, value: Value, changes: Sequence[Touch], frame: Frame) -> Values:
    if isinstance(value, SequenceValue):
        for change in changes:
            (value,) = _all_changed(ev, values_of(value), change, False, frame)
        return values_of(value)
    if not isinstance(value, DictValue):
        return values_of(value)
    entries = {(type(key), key): values for key, values, _ in value.entries}
    rest = value.rest
    for change in changes:
        if not isinstance(change.made, Store) or change.within:
            return values_of(DictValue((), True, unknown()))
        index, stored = _stored(ev, change.made, frame)
        for key in index:
            if isinstance(key, Constant):
                place = type(key.value), key.value
                entries[place] = union(entries.get(place, NOTHING), stored)
            else:
                rest = union(rest, stored)
    return values_of(DictValue(tuple((key, found, False) for (_, key), found in entries.items()), True, rest))


def _all_changed(ev: Evaluator, values: Values, change: Touch, certain: bool, frame: Frame) -> Values:
    indexes = [ev.values(index, frame) for index in change.within]
    return inner_changed(
        ev, values, indexes, lambda value, sure: _changed(ev, value, change.made, sure, frame), certain
    )


def _changed(ev: Evaluator, value: Value, change: tree.Call | Store, certain: bool, frame: Frame) -> Values:
    if modules := held_modules(value):
        held = union(*(_changed(ev, one, change, certain, frame) for one in modules))
        return values_of(holding_modules(value, held))
    if isinstance(change, tree.Call):
        assert isinstance(change.func, tree.Attribute)
        arguments = ev.arguments(change.args, frame)
        stage = _stage(value, change.func.attr) if change.func.attr in _STAGE_CHANGES else None
        if stage is not None:
            return values_of(value, ExternalObject(stage, arguments, ev.site(change, frame)))
        return after_method(ev, value, change.func.attr, arguments, certain)
    index, stored = _stored(ev, change, frame)
    if isinstance(value, DictValue):
        return values_of(after_item(value, index, stored, certain and not change.augmented))
    if isinstance(value, SequenceValue):
        return values_of(SequenceValue(value.kind, None, union(value.elements(), stored)))
    return values_of(value)


def _stored(ev: Evaluator, store: Store, frame: Frame) -> tuple[Values, Values]:
    """What `owner[index] = value` can have for its index and for its value."""
    assert isinstance(store.target, tree.Subscript)
    stored = unpack(ev, ev.values(store.value, frame), store.unpack)
    return ev.values(store.target.index, frame), union(stored, unknown()) if store.augmented else stored

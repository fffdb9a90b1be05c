"""What is done to lists and dicts after they were made: `.append`, `d[key] = value`, `.update`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, Binding, Scope, Store, sub_expressions
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.program.evaluation.containers import elements, unpack, updated
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.held_lists import held_lists, holding
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
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

__all__ = ["after_changes", "joined", "opened", "with_changes"]

_LIST_CHANGES = frozenset({"append", "extend", "insert", "add"})
_DICT_CHANGES = frozenset({"update", "setdefault", "pop"})


def after_changes(ev: Evaluator, name: str, values: Values, binding: Binding, site: int, frame: Frame) -> Values:
    """The list or dict `name` at `site`, with what was done to it between its binding and there."""
    if not any(isinstance(value, (DictValue, SequenceValue)) or any(held_lists(value)) for value in values):
        return values
    values = with_changes(ev, values, frame, binding.order, site, lambda node: _is_name(node, name))
    if frame.scope.parent is None:
        values = _after_other_scopes(ev, name, values, frame)
    return values


def _after_other_scopes(ev: Evaluator, name: str, values: Values, module: Frame) -> Values:
    """What functions of the module put into its global list or dict: `REGISTRY[name] = cls` in a decorator."""
    for scope in _scopes_changing(ev, module).get(name, ()):
        changed = [
            with_changes(ev, values, frame, -1, END, lambda node: _is_name(node, name))
            for frame in ev.contexts(module.facts, scope)
        ]
        values = joined(union(values, *(opened(value) for after in changed for value in after)))
    return values


def joined(values: Values) -> Values:
    """The values with one dict for all of theirs: what many calls leave behind, of which each has put in something."""
    dicts = [value for value in values if isinstance(value, DictValue)]
    if len(dicts) < 2:
        return values
    entries: dict[tuple[type, tree.ConstantValue], tuple[tree.ConstantValue, Values, bool]] = {}
    for key, found, _ in (entry for value in dicts for entry in value.entries):
        before = entries.get((type(key), key))
        entries[type(key), key] = (key, union(before[1], found) if before is not None else found, False)
    in_order = sorted(entries.values(), key=lambda entry: (type(entry[0]).__name__, repr(entry[0])))
    whole = DictValue(tuple(in_order), True, union(*(value.rest for value in dicts)))
    return union(frozenset(v for v in values if not isinstance(v, DictValue)), values_of(whole))


def opened(value: Value) -> Values:
    """A list or dict that may hold more, or less, than was seen: its entries are no longer certain."""
    if isinstance(value, DictValue):
        entries = tuple((key, values, False) for key, values, _ in value.entries)
        return values_of(DictValue(entries, True, value.rest))
    if isinstance(value, SequenceValue):
        return values_of(SequenceValue(value.kind, None, value.elements()))
    return NOTHING


def _scopes_changing(ev: Evaluator, module: Frame) -> dict[str, list[Scope]]:
    return ev.remembered(("scopes-changing", module), lambda: _find_scopes_changing(module), {})


def _find_scopes_changing(module: Frame) -> dict[str, list[Scope]]:
    """The functions that change a list or dict which is no local of theirs, by its name."""
    found: dict[str, list[Scope]] = {}
    for scope in module.facts.walk_scopes():
        if not isinstance(scope.node, tree.FunctionDef):
            continue
        names: set[str] = set()
        for store in scope.stores:
            match store.target:
                case tree.Subscript(value=tree.Name(id=owner)):
                    names.add(owner)
        for call, _ in scope.calls:
            match call.func:
                case tree.Attribute(value=tree.Name(id=owner), attr=attr) if attr in _LIST_CHANGES | _DICT_CHANGES:
                    names.add(owner)
        for name in sorted(names):
            if name not in scope.bindings and name in module.scope.bindings:
                found.setdefault(name, []).append(scope)
    return found


def _is_name(node: tree.Expr, name: str) -> bool:
    return isinstance(node, tree.Name) and node.id == name


def with_changes(
    ev: Evaluator, values: Values, frame: Frame, start: int, end: int, is_target: Callable[[tree.Expr], bool]
) -> Values:
    """Applies, in the order of the text, the changes that `frame` makes between two sites to what `is_target` names.

    Also those to the lists that it holds: `pipeline.transforms.append(...)`.
    """
    for value in values:
        for attr, held in held_lists(value):
            after = with_changes(ev, held, frame, start, end, lambda node, attr=attr: _is_held(node, attr, is_target))  # type: ignore[misc]
            if after != held:
                assert isinstance(value, ExternalObject)
                values = union(values - {value}, values_of(holding(value, attr, after)))
    changes: list[tuple[int, tree.Call | Store, ArmPath]] = []
    for store in frame.scope.stores:
        match store.target:
            case tree.Subscript(value=owner) if start < store.statement.site < end and is_target(owner):
                if _last_site(store.value) >= end:
                    continue  # what is stored is made of what was there before
                changes.append((store.statement.site, store, store.path))
    for call, path in frame.scope.calls:
        match call.func:
            case tree.Attribute(value=owner, attr=attr) if attr in _LIST_CHANGES or attr in _DICT_CHANGES:
                if start < call.site < end and is_target(owner) and _last_site(call) < end:
                    changes.append((call.site, call, path))
    for _, change, path in sorted(changes, key=lambda item: item[0]):
        runs = ev.decide(path, frame)
        if runs is False:
            continue
        values = union(*(_changed(ev, value, change, runs is True, frame) for value in values)) if values else NOTHING
    return values


def _is_held(node: tree.Expr, attr: str, is_holder: Callable[[tree.Expr], bool]) -> bool:
    return isinstance(node, tree.Attribute) and node.attr == attr and is_holder(node.value)


def _last_site(root: tree.Expr) -> int:
    """The last site in an expression: a use there comes before what the expression does."""
    last = root.site
    pending = [root]
    while pending:
        node = pending.pop()
        last = max(last, node.site)
        pending.extend(sub_expressions(node))
    return last


def _changed(ev: Evaluator, value: Value, change: tree.Call | Store, certain: bool, frame: Frame) -> Values:
    if isinstance(change, tree.Call):
        assert isinstance(change.func, tree.Attribute)
        arguments = ev.arguments(change.args, frame)
        return _after_call(ev, value, change.func.attr, arguments, certain)
    assert isinstance(change.target, tree.Subscript)
    stored = unpack(ev, ev.values(change.value, frame), change.unpack)
    index = ev.values(change.target.index, frame)
    if isinstance(value, DictValue):
        return values_of(_after_item(value, index, stored, certain))
    if isinstance(value, SequenceValue):
        return values_of(SequenceValue(value.kind, None, union(value.elements(), stored)))
    return values_of(value)


def _after_item(value: DictValue, index: Values, stored: Values, certain: bool) -> DictValue:
    keys = [key for key in index if isinstance(key, Constant)]
    if len(keys) != len(index) or not keys:
        return DictValue(value.entries, True, union(value.rest, stored))
    one = len(keys) == 1
    return updated(value, DictValue(tuple((key.value, stored, one) for key in keys), False), certain)


def _after_call(ev: Evaluator, value: Value, method: str, arguments: Arguments, certain: bool) -> Values:
    first = arguments.positional[0] if arguments.positional else NOTHING
    if isinstance(value, SequenceValue) and method in _LIST_CHANGES:
        added = (
            elements(ev, first)
            if method == "extend"
            else (arguments.positional[-1] if arguments.positional else NOTHING)
        )
        if method == "append" and certain and value.items is not None and len(value.items) < 32:
            return values_of(SequenceValue(value.kind, (*value.items, added), NOTHING))
        return values_of(SequenceValue(value.kind, None, union(value.elements(), added)))
    if isinstance(value, DictValue) and method == "update":
        result = value
        for other in first:
            source = other if isinstance(other, DictValue) else DictValue((), True, unknown())
            result = updated(result, source, certain and len(first) == 1)
        if arguments.keywords or arguments.open_keywords:
            entries = tuple((key, values, sure) for key, values, sure in arguments.keywords)
            result = updated(result, DictValue(entries, arguments.open_keywords), certain)
        return values_of(result)
    if isinstance(value, DictValue) and method in ("setdefault", "pop"):
        key = ev.one_constant(first)
        if key is None:
            return values_of(DictValue(value.entries, True, union(value.rest, unknown())))
        present = value.get(key.value)
        if method == "pop":
            kept = tuple(
                (k, values, sure and k != key.value)
                for k, values, sure in value.entries
                if not (certain and k == key.value)
            )
            return values_of(DictValue(kept, value.open, value.rest))
        if present is None or not present[1]:
            given = arguments.positional[1] if len(arguments.positional) > 1 else values_of(Constant(None))
            return values_of(updated(value, DictValue(((key.value, given, present is None),), False), certain))
    return values_of(value)

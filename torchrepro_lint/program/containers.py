"""Lists, tuples and dicts: what is in them, taken out of them, and done to them after they were made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, Binding, Scope
from torchrepro_lint.program.frames import Frame
from torchrepro_lint.program.registries import is_registry, registered
from torchrepro_lint.program.values import (
    NOTHING,
    Arguments,
    Constant,
    DictValue,
    ExternalObject,
    Instance,
    SequenceValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluator import Evaluator

_LIST_CHANGES = frozenset({"append", "extend", "insert", "add"})
_DICT_CHANGES = frozenset({"update", "setdefault", "pop"})
TENSOR = "torch.Tensor"


def elements(ev: Evaluator, values: Values) -> Values:
    """What iterating over any of `values` can give."""
    parts: list[Values] = []
    for value in values:
        match value:
            case SequenceValue():
                parts.append(value.elements())
            case DictValue(entries=entries, open=is_open):
                parts.append(frozenset(Constant(key) for key, _, _ in entries))
                if is_open:
                    parts.append(unknown())
            case Instance():
                iterators = ev.attribute(value, "__iter__")
                if iterators:
                    made = ev.call_all(iterators, Arguments(), None)
                    parts.append(union(*(v.elements() if isinstance(v, SequenceValue) else unknown() for v in made)))
                else:
                    getters = ev.attribute(value, "__getitem__")
                    parts.append(ev.call_all(getters, Arguments((unknown(),)), None) if getters else unknown())
            case ExternalObject(name=name) if name == TENSOR:
                parts.append(values_of(value))
            case _:
                parts.append(unknown())
    return union(*parts) if parts else NOTHING


def unpack(ev: Evaluator, values: Values, places: tuple[int, ...]) -> Values:
    """What destructuring assigns to the target at `places`: `a, (b, c) = x` gives `c` the places (1, 1)."""
    for place in places:
        values = union(*(_item(ev, value, place) for value in values)) if values else NOTHING
    return values


def _item(ev: Evaluator, value: Value, place: int) -> Values:
    match value:
        case SequenceValue(items=items) if items is not None:
            return items[place] if -len(items) <= place < len(items) else NOTHING
        case SequenceValue(element=element):
            return element
        case ExternalObject(name=name) if name == TENSOR:
            return values_of(value)
    return elements(ev, values_of(value))


def subscript(ev: Evaluator, values: Values, index: Values, is_slice: bool) -> Values:
    """What `values[index]` can be."""
    parts: list[Values] = []
    constant = ev.one_constant(index)
    for value in values:
        match value:
            case DictValue():
                parts.append(_dict_item(value, index))
            case SequenceValue(items=items) if is_slice:
                parts.append(values_of(SequenceValue(value.kind, None, value.elements())) if items != () else NOTHING)
            case SequenceValue(items=items):
                if items is not None and constant is not None and isinstance(constant.value, int):
                    parts.append(_item(ev, value, constant.value))
                else:
                    parts.append(value.elements())
            case Instance():
                getters = ev.attribute(value, "__getitem__")
                parts.append(ev.call_all(getters, Arguments((index,)), None) if getters else unknown())
            case ExternalObject(name=name) if name == TENSOR:
                parts.append(values_of(value))
            case ExternalObject() if is_registry(value):
                parts.append(registered(ev, value))
            case _:
                parts.append(unknown())
    return union(*parts) if parts else NOTHING


def _dict_item(value: DictValue, index: Values) -> Values:
    parts: list[Values] = []
    for key in index:
        if not isinstance(key, Constant):
            return value.all_values() or unknown()
        entry = value.get(key.value)
        if entry is not None:
            parts.append(entry[0])
        elif value.open:
            parts.append(value.rest or unknown())
    return union(*parts) if parts else (unknown() if value.open or not index else NOTHING)


def combine(ev: Evaluator, op: str, left: Values, right: Values) -> Values:
    """What `left op right` can be: arithmetic on constants, joined sequences and dicts, tensors."""
    parts = []
    for a in left:
        for b in right:
            added = _added(ev, a, b) if op == "+" else None
            parts.append(added if added is not None else _combine_two(op, a, b))
            if len(parts) > 64:
                return unknown()
    return union(*parts) if parts else unknown()


def _added(ev: Evaluator, left: Value, right: Value) -> Values | None:
    """`left + right` for an object: torch's datasets join what is added, and so do classes that derive from them."""
    if isinstance(left, Instance):
        methods = ev.attribute(left, "__add__")
        if methods:
            return ev.call_all(methods, Arguments((values_of(right),)), None)
    joiner = _joiner(ev, left)
    if joiner is None:
        return None
    both = SequenceValue("list", (values_of(left), values_of(right)), NOTHING)
    return values_of(ExternalObject(joiner, Arguments((values_of(both),))))


def _joiner(ev: Evaluator, value: Value) -> str | None:
    from torchrepro_lint.knowledge.callables import external_callable
    from torchrepro_lint.program.attributes import external_bases

    names: tuple[str, ...] = ()
    if isinstance(value, Instance):
        names = external_bases(ev, value.cls)
    elif isinstance(value, ExternalObject):
        names = (value.name,)
    if "torch.utils.data.IterableDataset" in names:
        return "torch.utils.data.ChainDataset"
    known = [external_callable(name) for name in names]
    if "torch.utils.data.Dataset" in names or any(one is not None and one.is_dataset for one in known):
        return "torch.utils.data.ConcatDataset"
    return None


def _combine_two(op: str, left: Value, right: Value) -> Values:
    match left, right:
        case Constant(value=a), Constant(value=b):
            return _arithmetic(op, a, b)
        case SequenceValue(), SequenceValue() if op == "+":
            if left.items is not None and right.items is not None:
                return values_of(SequenceValue(left.kind, left.items + right.items, NOTHING))
            return values_of(SequenceValue(left.kind, None, union(left.elements(), right.elements())))
        case DictValue(), DictValue() if op == "|":
            return values_of(updated(left, right, True))
        case SequenceValue(), _ if op == "*":
            return values_of(SequenceValue(left.kind, None, left.elements()))
    for value in (left, right):
        if isinstance(value, ExternalObject) and value.name == TENSOR:
            return values_of(ExternalObject(TENSOR))
    return unknown()


def _arithmetic(op: str, a: tree.ConstantValue, b: tree.ConstantValue) -> Values:
    if isinstance(a, str) and isinstance(b, str) and op == "+":
        return values_of(Constant(a + b)) if len(a) + len(b) < 1000 else unknown()
    if not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        return unknown()
    try:
        match op:
            case "+":
                return values_of(Constant(a + b))
            case "-":
                return values_of(Constant(a - b))
            case "*":
                return values_of(Constant(a * b))
            case "/":
                return values_of(Constant(a / b))
            case "//":
                return values_of(Constant(a // b))
            case "%":
                return values_of(Constant(a % b))
            case "**" if abs(a) <= 1024 and 0 <= b <= 1024:
                return values_of(Constant(a**b))
            case "<<" if isinstance(a, int) and isinstance(b, int) and 0 <= b <= 256:
                return values_of(Constant(a << b))
    except (ArithmeticError, TypeError, ValueError):
        return unknown()
    return unknown()


def updated(base: DictValue, other: DictValue, certain: bool) -> DictValue:
    """`base` after `base.update(other)`, which surely happened or perhaps did."""
    entries = {(type(k), k): (k, values, sure) for k, values, sure in base.entries}
    for key, values, sure in other.entries:
        place = (type(key), key)
        if place in entries and not (sure and certain):
            _, before, was_sure = entries[place]
            entries[place] = (key, union(before, values), was_sure)
        else:
            entries[place] = (key, values, sure and certain)
    if other.open:
        # What is not known of the other may have replaced anything.
        entries = {k: (key, union(values, unknown()), sure) for k, (key, values, sure) in entries.items()}
    return DictValue(tuple(entries.values()), base.open or other.open, union(base.rest, other.rest))


# --- changes after creation -----------------------------------------------------------------------------------


def after_changes(ev: Evaluator, name: str, values: Values, binding: Binding, site: int, frame: Frame) -> Values:
    """The list or dict `name` at `site`, with what was done to it between its binding and there."""
    if not any(isinstance(value, (DictValue, SequenceValue)) for value in values):
        return values
    values = with_changes(ev, values, frame, binding.order, site, lambda node: _is_name(node, name))
    if frame.scope.parent is None and site == END:
        values = _after_other_scopes(ev, name, values, frame)
    return values


def _after_other_scopes(ev: Evaluator, name: str, values: Values, module: Frame) -> Values:
    """What functions of the module put into its global list or dict: `REGISTRY[name] = cls` in a decorator."""
    from torchrepro_lint.program.callers import contexts

    for scope in _scopes_changing(ev, module).get(name, ()):
        joined = [
            with_changes(ev, values, frame, -1, END, lambda node: _is_name(node, name))
            for frame in contexts(ev, module.facts, scope)
        ]
        values = union(values, *(opened(value) for after in joined for value in after))
        # One open dict says as much as the many that the calls leave behind.
        values = _joined(values)
    return values


def _joined(values: Values) -> Values:
    dicts = [value for value in values if isinstance(value, DictValue)]
    if len(dicts) < 2:
        return values
    entries: dict[tuple[type, tree.ConstantValue], tuple[tree.ConstantValue, Values, bool]] = {}
    for key, found, _ in (entry for value in dicts for entry in value.entries):
        before = entries.get((type(key), key))
        entries[type(key), key] = (key, union(before[1], found) if before is not None else found, False)
    in_order = sorted(entries.values(), key=lambda entry: (type(entry[0]).__name__, repr(entry[0])))
    joined = DictValue(tuple(in_order), True, union(*(value.rest for value in dicts)))
    return union(frozenset(v for v in values if not isinstance(v, DictValue)), values_of(joined))


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
        names = {s.target.value.id for s in scope.stores if _is_item_of_name(s.target)}  # type: ignore[union-attr]
        for call, _ in scope.calls:
            match call.func:
                case tree.Attribute(value=tree.Name(id=owner), attr=attr) if attr in _LIST_CHANGES | _DICT_CHANGES:
                    names.add(owner)
        for name in sorted(names):
            if name not in scope.bindings and name in module.scope.bindings:
                found.setdefault(name, []).append(scope)
    return found


def _is_item_of_name(target: tree.Expr) -> bool:
    return isinstance(target, tree.Subscript) and isinstance(target.value, tree.Name)


def _is_name(node: tree.Expr, name: str) -> bool:
    return isinstance(node, tree.Name) and node.id == name


def with_changes(
    ev: Evaluator, values: Values, frame: Frame, start: int, end: int, is_target: object
) -> Values:  # fmt: skip
    """Applies, in the order of the text, the changes that `frame` makes between two sites to what `is_target` names."""
    changes: list[tuple[int, Scope, object, object]] = []
    scope = frame.scope
    matches = is_target if callable(is_target) else None
    assert matches is not None
    for store in scope.stores:
        if start < store.statement.site < end and isinstance(store.target, tree.Subscript) and matches(store.target.value):
            changes.append((store.statement.site, scope, store, store.path))
    for call, path in scope.calls:
        match call.func:
            case tree.Attribute(value=owner, attr=attr) if attr in _LIST_CHANGES or attr in _DICT_CHANGES:
                if start < call.site < end and matches(owner):
                    changes.append((call.site, scope, call, path))
    for _, _, change, path in sorted(changes, key=lambda item: item[0]):
        runs = ev.decide(path, frame)  # type: ignore[arg-type]
        if runs is False:
            continue
        values = union(*(_changed(ev, value, change, runs is True, frame) for value in values)) if values else NOTHING
    return values


def _changed(ev: Evaluator, value: Value, change: object, certain: bool, frame: Frame) -> Values:
    if isinstance(change, tree.Call):
        assert isinstance(change.func, tree.Attribute)
        arguments = ev.arguments(change.args, frame)
        return _after_call(ev, value, change.func.attr, arguments, certain)
    target = change.target  # type: ignore[attr-defined]
    stored = unpack(ev, ev.values(change.value, frame), change.unpack)  # type: ignore[attr-defined]
    index = ev.values(target.index, frame)
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
        added = elements(ev, first) if method == "extend" else (arguments.positional[-1] if arguments.positional else NOTHING)
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


"""What each form of expression evaluates to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation import containers
from torchrepro_lint.program.evaluation.arithmetic import combine, computed
from torchrepro_lint.program.evaluation.changes import after_stages
from torchrepro_lint.program.evaluation.conditions import truthiness
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.named_by_text import (
    GLOBALS,
    evaluated_text,
    imported_by_name,
    item_by_name,
    item_by_text,
    member_by_text,
    namespace,
)
from torchrepro_lint.program.evaluation.narrowing import where_it_is_set
from torchrepro_lint.program.evaluation.values import (
    MAX_PARTS,
    NOTHING,
    ClassValue,
    Constant,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    ModuleValue,
    SequenceValue,
    SuperValue,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

_EVAL = values_of(External("builtins.eval"))
_GETATTR = values_of(External("builtins.getattr"))
#: `lazy_loader.load` gives a module that is imported when something is first read from it.
_IMPORTS = frozenset({External("importlib.import_module"), External("lazy_loader.load")})
MAX_UNROLLED = 12  # a comprehension over at most so many known items is evaluated item by item


def evaluate(ev: Evaluator, node: tree.Expr, frame: Frame) -> Values:
    """What `node` can be. Called through `Evaluator.values`, which remembers."""
    match node:
        case tree.Const(value=value):
            return values_of(Constant(value))
        case tree.Name(site=site, id=name):
            return ev.name(name, site, frame)
        case tree.Attribute():
            return _attribute(ev, node, frame)
        case tree.Call():
            return _call(ev, node, frame)
        case tree.Subscript(value=value, index=index):
            named = item_by_name(ev, node, frame)
            if named is not None:
                return named
            owners = ev.values(value, frame)
            found = item_by_text(ev, node, owners, frame)
            if found is None:
                found = containers.subscript(ev, owners, ev.values(index, frame), isinstance(index, tree.Opaque))
            return after_stages(ev, node, found, frame)
        case tree.Display(kind=kind, items=items):
            return _display(ev, kind, items, frame)
        case tree.DictDisplay(items=pairs):
            return _dict(ev, pairs, frame)
        case tree.Unary(op=op):
            return _unary(ev, node, op, frame)
        case tree.Binary(op=op, left=left, right=right):
            return combine(ev, op, ev.values(left, frame), ev.values(right, frame))
        case tree.Boolean(op=op, left=left, right=right):
            return _boolean(ev, op, left, right, frame)
        case tree.Compare():
            holds = ev.truth(node, frame)
            return values_of(Constant(holds)) if holds is not None else unknown()
        case tree.Conditional(test=test, body=body, orelse=orelse):
            holds = ev.truth(test, frame)
            if holds is True:
                return ev.values(body, frame)
            if holds is False:
                return ev.values(orelse, frame)
            return union(ev.values(body, frame), ev.values(orelse, frame))
        case tree.Lambda():
            return values_of(FunctionValue(node, frame))
        case tree.Comprehension():
            return _comprehension(ev, node, frame)
        case tree.Await(value=value) | tree.Starred(value=value) | tree.Walrus(value=value):
            return ev.values(value, frame)
    return unknown()


def _attribute(ev: Evaluator, node: tree.Attribute, frame: Frame) -> Values:
    # A method that has just assigned self.x reads its own assignment.
    match node.value:
        case tree.Name(id=owner) if owner == frame.scope.self_name:
            held = ev.assigned_before(node.attr, node.site, frame)
            if not held:
                held = ev.instances_attribute(ev.values(node.value, frame), node.attr)
            return where_it_is_set(ev, node, held, frame)
    return ev.instances_attribute(ev.values(node.value, frame), node.attr)


def _call(ev: Evaluator, node: tree.Call, frame: Frame) -> Values:
    match node.func:
        case tree.Name(id="super"):
            return _super(frame)
    functions = ev.values(node.func, frame)
    if not functions:
        return NOTHING
    if functions == _EVAL:
        return evaluated_text(ev, node, frame)
    if functions == GLOBALS:
        return namespace(ev, ModuleValue(frame.facts.path, frame.facts), imported=True)
    if functions and functions <= _IMPORTS:
        return imported_by_name(ev, node, frame)
    if functions == _GETATTR and (found := member_by_text(ev, node, frame)) is not None:
        return found
    return ev.call_all(functions, ev.arguments(node.args, frame), ev.site(node, frame))


def _super(frame: Frame) -> Values:
    method: Frame | None = frame
    while method is not None and method.scope.self_name is None:
        method = method.parent
    class_frame = method.parent if method is not None else None
    if method is None or class_frame is None or class_frame.parent is None:
        return unknown()
    if not isinstance(class_frame.scope.node, tree.ClassDef):
        return unknown()
    cls = ClassValue(class_frame.scope.node, class_frame.parent)
    found = [
        SuperValue(cls, receiver) for receiver in method.receiver() if isinstance(receiver, (Instance, ClassValue))
    ]
    return values_of(*found) if found else unknown()


def _display(ev: Evaluator, kind: str, items: tuple[tree.Expr, ...], frame: Frame) -> Values:
    if any(isinstance(item, tree.Starred) for item in items):
        parts: list[Values] = []
        known: list[Values] | None = []
        for item in items:
            values = ev.values(item, frame)
            if not isinstance(item, tree.Starred):
                parts.append(values)
                if known is not None:
                    known.append(values)
                continue
            parts.append(ev.elements(values))
            only = next(iter(values)) if len(values) == 1 else None
            if known is not None and isinstance(only, SequenceValue) and only.items is not None:
                known.extend(only.items)
            else:
                known = None
        if known is not None:
            return values_of(SequenceValue(kind, tuple(known), NOTHING))
        return values_of(SequenceValue(kind, None, union(*parts)))
    if len(items) > MAX_PARTS:
        return values_of(SequenceValue(kind, None, unknown()))
    return values_of(SequenceValue(kind, tuple(ev.values(item, frame) for item in items), NOTHING))


def _dict(ev: Evaluator, pairs: tuple[tuple[tree.Expr | None, tree.Expr], ...], frame: Frame) -> Values:
    result = DictValue((), False)
    if len(pairs) > MAX_PARTS:
        return values_of(DictValue((), True, unknown()))
    for key, value in pairs:
        values = ev.values(value, frame)
        if key is None:
            for other in values:
                source = other if isinstance(other, DictValue) else DictValue((), True, unknown())
                result = containers.updated(result, source, len(values) == 1)
            continue
        constant = ev.one_constant(ev.values(key, frame))
        if constant is None:
            result = DictValue(result.entries, True, union(result.rest, values))
        else:
            result = containers.updated(result, DictValue(((constant.value, values, True),), False), True)
    return values_of(result)


def _unary(ev: Evaluator, node: tree.Unary, op: str, frame: Frame) -> Values:
    if op == "not":
        holds = ev.truth(node, frame)
        return values_of(Constant(holds)) if holds is not None else unknown()
    values = ev.values(node.operand, frame)
    constant = ev.one_constant(values)
    if constant is not None and op == "-" and isinstance(number := constant.value, (int, float)):
        return computed(lambda: -number, number)
    return values if any(isinstance(v, ExternalObject) and v.name == containers.TENSOR for v in values) else unknown()


def _boolean(ev: Evaluator, op: str, left: tree.Expr, right: tree.Expr, frame: Frame) -> Values:
    kept = []
    goes_on = False
    for value in ev.values(left, frame):
        answer = truthiness(ev, value)
        stops = None if answer is None else answer is (op == "or")
        if stops is not False:
            kept.append(value)
        if stops is not True:
            goes_on = True
    first = values_of(*kept)
    return union(first, ev.values(right, frame)) if goes_on else first


def _comprehension(ev: Evaluator, node: tree.Comprehension, frame: Frame) -> Values:
    frames = comprehension_frames(ev, node, frame)
    if node.kind == "dict":
        assert node.key is not None
        result = DictValue((), False)
        copied = _copied_dict(ev, node, frame)
        filtered = any(clause.conditions for clause in node.clauses)
        for inner in frames:
            key = ev.one_constant(ev.values(node.key, inner))
            values = ev.values(node.element, inner)
            if key is None:
                result = DictValue(result.entries, True, union(result.rest, values))
            else:
                entry = copied.get(key.value) if copied is not None else None
                certain = not filtered and (entry is None or entry[1])
                result = containers.updated(result, DictValue(((key.value, values, certain),), False), True)
        return values_of(result)
    parts = [ev.values(node.element, inner) for inner in frames]
    if len(frames) > 1 and not any(clause.conditions for clause in node.clauses):
        return values_of(SequenceValue(node.kind, tuple(parts), NOTHING))
    return values_of(SequenceValue(node.kind, None, union(*parts) if parts else NOTHING))


def _copied_dict(ev: Evaluator, node: tree.Comprehension, frame: Frame) -> DictValue | None:
    """The dict whose keys or items a comprehension runs over: some of them may be there in some runs only."""
    iterated = node.clauses[0].iter
    match iterated:
        case tree.Call(func=tree.Attribute(value=receiver, attr="items" | "keys"), args=()):
            iterated = receiver
    values = ev.values(iterated, frame)
    only = next(iter(values)) if len(values) == 1 else None
    return only if isinstance(only, DictValue) else None


def comprehension_frames(ev: Evaluator, node: tree.Comprehension, frame: Frame) -> list[Frame]:
    """The frames in which the element of a comprehension is evaluated: one for each item, where these are known."""
    scope = frame.facts.scope_of(node)
    plain = ev.shared(Frame(frame.facts, scope, frame))
    if len(node.clauses) != 1:
        return [plain]
    clause = node.clauses[0]
    iterated = ev.values(clause.iter, frame)
    only = next(iter(iterated)) if len(iterated) == 1 else None
    if isinstance(only, DictValue) and not only.open:
        only = SequenceValue("list", tuple(values_of(Constant(key)) for key, _, _ in only.entries), NOTHING)
    if not isinstance(only, SequenceValue) or only.items is None or not 1 <= len(only.items) <= MAX_UNROLLED:
        return [plain]
    frames = []
    for item in only.items:
        params = tuple(
            (name, containers.unpack(ev, item, bindings[0].unpack))
            for name, bindings in scope.bindings.items()
            if bindings and bindings[0].kind == "element"
        )
        frames.append(ev.shared(Frame(frame.facts, scope, frame, params)))
    return frames

"""From a name at a place to what it can be: bindings, what imports give, builtins."""

from __future__ import annotations

import builtins
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, MAX_BINDINGS, Binding
from torchrepro_lint.knowledge.callables import described_packages
from torchrepro_lint.knowledge.names import canonical, usual_module
from torchrepro_lint.program.evaluation import containers
from torchrepro_lint.program.evaluation.changes import after_changes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.imported import (
    from_stars,
    import_from,
    import_module,
    may_give,
    module_at,
    source_of,
)
from torchrepro_lint.program.evaluation.joining import opened
from torchrepro_lint.program.evaluation.narrowing import at_use, past_rebinding
from torchrepro_lint.program.evaluation.outside_stores import bound_outside
from torchrepro_lint.program.evaluation.rebinding import is_unseen, may_be_bound_since
from torchrepro_lint.program.evaluation.scoping import frames_of_name
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    UNKNOWN,
    Arguments,
    ClassValue,
    Constant,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    ModuleValue,
    Partial,
    SequenceValue,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

_BUILTINS = frozenset(dir(builtins))

#: How many assignments to a global name in functions are followed; with more of them it may be anything. Each may be
#: made of what all the others leave.
MAX_SETTERS: Final = 16


def look_up(ev: Evaluator, name: str, site: int, frame: Frame) -> Values:
    """What `name` can be at `site`, by Python's rules of scope."""
    for current, place in frames_of_name(name, site, frame):
        if place == END and current.scope.parent is None:
            found, certain = _bound_in_module(ev, name, current), True
        else:
            found, certain = _bound_here(ev, name, place, current)
        if found is not None and (certain or not isinstance(current.scope.node, tree.ClassDef)):
            return found
    return _beyond_bindings(ev, name, frame)


def _bound_in_module(ev: Evaluator, name: str, module: Frame) -> Values | None:
    """What a global name can be once its module has run; None if the module does not bind it. It is the same for all
    functions that read it.
    """
    if name not in module.scope.bindings:
        return None
    nothing, anything = cast("Values | None", NOTHING), cast("Values | None", unknown())
    return ev.remembered(("global", name, module), lambda: _bound_here(ev, name, END, module)[0], nothing, anything)


def _bound_here(ev: Evaluator, name: str, site: int, frame: Frame) -> tuple[Values | None, bool]:
    bindings, certain = frame.scope.reaching(name, site, lambda path: ev.decide(path, frame))
    if not bindings:
        return None, False
    if len(bindings) > MAX_BINDINGS or sum(one.scope is not None for one in bindings) > MAX_SETTERS:
        return unknown(), certain
    parts = []
    for index, binding in enumerate(bindings):
        values = binding_values(ev, binding, frame)
        if binding.kind == "rest" or (binding.kind in ("assign", "param") and not binding.unpack):
            values = after_changes(ev, name, values, binding, site, frame)
        if frame.scope.parent is None:
            values = _after_rebinding(ev, binding, values, site, frame)
        for later in bindings[:index]:
            if later.order > binding.order and later.path[:-1] == binding.path:
                values = past_rebinding(ev, name, values, later, frame)
        parts.append(values)
    return at_use(ev, name, union(*parts), site, frame), certain


def _after_rebinding(ev: Evaluator, binding: Binding, values: Values, site: int, frame: Frame) -> Values:
    """What a global name can be if code after one of its bindings may have bound it again without naming it."""
    if may_be_bound_since(ev, binding, site, frame):
        values = union(values, unknown())
    if site == END:
        outside = bound_outside(ev, frame.facts, binding.name)
        values = union(values, *(binding_values(ev, one, where) for one, where in outside))
    for star in frame.scope.stars:
        if binding.order < star.site < site and not binding.name.startswith("_"):
            path = source_of(ev, star, frame)
            if path is None and binding.kind == "assign" and (star.level or is_unseen(star.module)):
                values = union(values, unknown())
            elif path is not None and path != frame.facts.path and may_give(ev, path, binding.name):
                values = union(values, *(ev.attribute(module, binding.name) for module in module_at(ev, path)))
    return values


def binding_values(ev: Evaluator, binding: Binding, frame: Frame) -> Values:
    """What one binding gives its name."""
    node = binding.node
    if binding.scope is not None and binding.scope is not frame.scope:
        # A function's `global name`: what it assigns is written in its own names.
        inner = ev.contexts(frame.facts, binding.scope)
        return union(*(binding_values(ev, binding, one) for one in inner if one.scope is binding.scope)) or unknown()
    match binding.kind, node:
        case "param", tree.Param():
            return _param(ev, node, frame)
        case "assign", _:
            assert node is not None and not isinstance(node, tree.Param)
            return containers.unpack(ev, ev.values(node, frame), binding.unpack)  # type: ignore[arg-type]
        case "rest", _:
            assert node is not None and not isinstance(node, tree.Param)
            *around, before, behind = binding.unpack
            whole = containers.unpack(ev, ev.values(node, frame), tuple(around))  # type: ignore[arg-type]
            return containers.rest(ev, whole, before, behind)
        case "element", _:
            given = frame.param(binding.name)
            if given is not None:
                return given
            iterated_in = frame
            if isinstance(frame.scope.node, tree.Comprehension) and frame.parent is not None:
                if frame.scope.node.clauses[0].iter is node:
                    iterated_in = frame.parent
            return containers.unpack(ev, ev.elements(ev.values(node, iterated_in)), binding.unpack)  # type: ignore[arg-type]
        case "caught", _:
            return _caught(ev, ev.values(node, frame))  # type: ignore[arg-type]
        case "context", _:
            return containers.unpack(ev, _entered(ev, ev.values(node, frame)), binding.unpack)  # type: ignore[arg-type]
        case "augmented", tree.AugAssign():
            question = "augmented", node, frame
            return ev.remembered(question, lambda: _augmented(ev, node, binding, frame), NOTHING, unknown())
        case "import", tree.Import(module=module, alias=alias):
            return import_module(ev, frame.facts.path, module if alias else module.partition(".")[0])
        case "import-from", tree.ImportFrom():
            original = next(n for n, alias in node.names if (alias or n) == binding.name)
            return import_from(ev, frame.facts.path, node, original)
        case "function", tree.FunctionDef():
            return function_value(ev, node, frame)
        case "class", tree.ClassDef():
            return class_value(ev, node, frame)
        case "delete", _:
            return NOTHING
    return unknown()


def _augmented(ev: Evaluator, node: tree.AugAssign, binding: Binding, frame: Frame) -> Values:
    """What `name op= value` leaves: in a loop it may have run any number of times."""
    if isinstance(node.target, tree.Attribute):
        return _attribute_augmented(ev, node, frame)
    assert isinstance(node.target, tree.Name)
    before = look_up(ev, node.target.id, node.site, frame)
    result = ev.combine(node.op, before, ev.values(node.value, frame))
    if binding.scope is None and not any(branch in frame.scope.loops for branch, _ in binding.path):
        return result
    elements = [value for value in result if isinstance(value, SequenceValue)]
    if elements and len(elements) == len(result):
        return values_of(*(SequenceValue(value.kind, None, value.elements()) for value in elements))
    return union(result, unknown())


def _attribute_augmented(ev: Evaluator, node: tree.AugAssign, frame: Frame) -> Values:
    """What `self.name op= value` leaves of lists and dicts, any number of times; what is counted is unknown."""
    assert isinstance(node.target, tree.Attribute)
    before = ev.assigned_before(node.target.attr, node.site, frame)
    if not before:
        before = ev.instances_attribute(frame.receiver(), node.target.attr)
    added = ev.values(node.value, frame)
    # What is added to may be this very thing, of which nothing else is known yet, or which may be anything.
    result = union(ev.combine(node.op, before, added), added) if before else added
    return union(*(opened(value) or unknown() for value in result)) if result else NOTHING


def _param(ev: Evaluator, param: tree.Param, frame: Frame) -> Values:
    given = frame.param(param.name)
    if given is not None:
        return given
    if param.kind == "star":
        return values_of(SequenceValue("tuple", None, unknown()))
    if param.kind == "double-star":
        return values_of(DictValue((), True, unknown()))
    if param.default is not None and frame.parent is not None:
        return union(ev.values(param.default, frame.parent), unknown())
    return unknown()


#: What `with` binds the argument of.
_ENTERED_AS_GIVEN = frozenset({"contextlib.closing", "contextlib.nullcontext"})


def _entered(ev: Evaluator, values: Values) -> Values:
    """What `with value as name` binds."""
    parts = []
    for value in values:
        if isinstance(value, Instance):
            parts.append(ev.call_all(ev.attribute(value, "__enter__"), Arguments(), None))
        elif isinstance(value, SequenceValue) and value.kind == "generator":  # a @contextmanager function
            parts.append(value.elements())
        elif isinstance(value, ExternalObject) and value.name in _ENTERED_AS_GIVEN:
            given = value.arguments.positional if value.arguments is not None else ()
            parts.append(given[0] if given else unknown())
        else:
            parts.append(values_of(value))
    return union(*parts) if parts else NOTHING


def _caught(ev: Evaluator, classes: Values) -> Values:
    """What `except classes as name` binds: of classes of the project an object that its code makes."""
    parts: list[Values] = []
    for value in classes:
        if isinstance(value, ClassValue):
            parts.append(values_of(*ev.instances_of(value)))
        else:
            parts.append(_caught(ev, value.elements()) if isinstance(value, SequenceValue) else unknown())
    return union(*parts) or unknown()


# --- functions and classes ------------------------------------------------------------------------------------


def function_value(ev: Evaluator, node: tree.FunctionDef, frame: Frame) -> Values:
    """The function as its decorators leave it; the property itself where it is one's setter."""
    for decorator in node.decorators:
        match decorator:
            case tree.Attribute(value=tree.Name(id=name), attr="setter" | "deleter") if name == node.name:
                return look_up(ev, name, node.site, frame)
    plain = FunctionValue(node, frame)
    return _decorated(ev, node.decorators, values_of(plain), frame)


def class_value(ev: Evaluator, node: tree.ClassDef, frame: Frame) -> Values:
    return _decorated(ev, node.decorators, values_of(ClassValue(node, frame)), frame)


def _decorated(ev: Evaluator, decorators: tuple[tree.Expr, ...], plain: Values, frame: Frame) -> Values:
    result = plain
    for decorator in reversed(decorators):
        wrapped = []
        for applied in ev.values(decorator, frame):
            # An external decorator (torch.no_grad(), lru_cache, property, ...) is taken to keep what it is given.
            if isinstance(applied, (FunctionValue, MethodValue, ClassValue, Instance, Partial)):
                wrapped.append(ev.call(applied, Arguments((result,)), None))
        kept = [
            value
            for value in union(*wrapped)
            if isinstance(value, (FunctionValue, ClassValue, MethodValue, Partial, Instance))
        ] if wrapped else []  # fmt: skip
        if kept:
            result = values_of(*kept)
    return result


def module_attribute(ev: Evaluator, module: ModuleValue, name: str) -> Values:
    """What `module.name` is: a global of the module, or a module below it."""
    if module.facts is not None:
        frame = ev.module_frame(module.facts)
        found = _bound_in_module(ev, name, frame)
        if found:
            return found
    below = (
        ev.project.module_file(module.folder, name) if module.folder != module.path or module.facts is None else None
    )
    if below is not None:
        return _given_over(ev, name, below, module) or module_at(ev, below)
    if module.facts is not None:
        frame = ev.module_frame(module.facts)
        starred = from_stars(ev, name, frame)
        if starred:
            return starred
        if "__getattr__" in module.facts.scope.bindings or ev.project.holds(module.path, _REPLACED):
            return _given_late(ev, name, frame)
        return NOTHING
    # A folder without `__init__.py` gives way to an installed package of its name, which has what the folder lacks.
    of_a_library = module.path.parent == ev.project.root and module.path.name in described_packages()
    return values_of(External(canonical(f"{module.path.name}.{name}"))) if of_a_library else unknown()


#: A module that puts an object in its own place gives what that object loads.
_REPLACED = re.compile(rb"sys\.modules\[__name__\]\s*=")


def _given_late(ev: Evaluator, name: str, frame: Frame) -> Values:
    """What a module loads only when it is asked for: what its `__getattr__` gives for a name; where that cannot be
    followed, what the module tells type checkers that the name is.
    """
    functions, _ = _bound_here(ev, "__getattr__", END, frame)
    found = ev.call_all(functions, Arguments((values_of(Constant(name)),)), None) if functions else unknown()
    if UNKNOWN not in found and found - values_of(Constant(None)):  # what only raises gives None here
        return found
    told = [binding for binding in frame.scope.bindings.get(name, ()) if binding.kind == "import-from"]
    return union(*(binding_values(ev, binding, frame) for binding in told)) or unknown()


def _given_over(ev: Evaluator, name: str, below: Path, package: ModuleValue) -> Values:
    """What stars of a package give under the name of its submodule `below`. A submodule becomes an attribute when it is
    first loaded: a star that loads it, and those after it, give the name another meaning.
    """
    if package.facts is None:
        return NOTHING
    frame = ev.module_frame(package.facts)
    for index, statement in enumerate(frame.scope.stars):
        if source_of(ev, statement, frame) == below:
            return from_stars(ev, name, frame, index)
    return NOTHING


def _beyond_bindings(ev: Evaluator, name: str, frame: Frame) -> Values:
    module = ev.module_frame(frame.facts)
    starred = ev.remembered(("star", module, name), lambda: from_stars(ev, name, module), NOTHING, unknown())
    if starred:
        return starred
    if name == "__file__":
        return unknown()
    if name == "__name__":
        return values_of(Constant("__main__"), UNKNOWN)
    if name in _BUILTINS:
        return values_of(External(f"builtins.{name}"))
    usual = usual_module(name)
    if usual is not None and any(source_of(ev, star, module) is None for star in module.scope.stars):
        return values_of(External(usual))
    return unknown()

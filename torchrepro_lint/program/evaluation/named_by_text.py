"""What a configuration chooses by name: `getattr(datasets, name)`, `datasets.__dict__[name]`, `globals()[name]`,
`eval("datasets." + name)`, `import_module(f"datasets.{name}")`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import dotted_beginning
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.imported import module_at, star_sources
from torchrepro_lint.program.evaluation.open_attributes import set_by_text
from torchrepro_lint.program.evaluation.text_parts import text_around
from torchrepro_lint.program.evaluation.values import (
    MAX_MEMBERS,
    NOTHING,
    ClassValue,
    Constant,
    DictValue,
    External,
    Instance,
    ModuleValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "GLOBALS",
    "evaluated_text",
    "imported_by_name",
    "item_by_name",
    "item_by_text",
    "member_by_text",
    "namespace",
    "outside_namespace",
    "some_class",
]

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
#: What is called in `globals()`.
GLOBALS: Final = values_of(External("builtins.globals"))
_VARS: Final = values_of(External("builtins.vars"))
#: How what a module or a class makes, or takes from another, is bound to its name.
_MADE_KINDS: Final = frozenset({"class", "function", "import-from"})
#: Of more classes than are kept apart, so many stand for all: what is chosen may be something else in any case.
_STAND_FOR_MANY: Final = 8
#: So many letters of a name say which it may be.
_ENOUGH_LETTERS: Final = 3


def some_class(ev: Evaluator, owner: Value) -> Values:
    """What `getattr(owner, name)` can be for a name that is not known: any class of a module, or something else.

    The classes of a module are those that it defines, those of a package what its `__init__.py` imports as well; one
    class stands for all of a library's module.
    """
    if isinstance(owner, External):
        return union(values_of(*map(External, _standing_for().get(owner.name, ()))), unknown())
    if not isinstance(owner, ModuleValue) or owner.facts is None:
        return unknown()
    return union(ev.remembered(("classes", owner), lambda: values_of(*_classes(ev, owner)), NOTHING), unknown())


@cache
def _standing_for() -> dict[str, list[str]]:
    """For a library's module the classes that stand for any class of it."""
    found: dict[str, list[str]] = {}
    for name in sorted(known_calls("chosen_by_name")):
        found.setdefault(name.rpartition(".")[0], []).append(name)
    return found


def outside_namespace(ev: Evaluator, module: External) -> Values:
    """The dict of the names of a library's module, of which none is known."""
    return values_of(DictValue((), True, some_class(ev, module)))


def namespace(ev: Evaluator, module: ModuleValue, *, imported: bool = False) -> Values:
    """The dict of a module's names, with the classes in it that `some_class` gives; `imported`: also those that it
    imports, as the module itself looks among its own names.
    """
    if module.facts is None:
        return unknown()
    found = ev.remembered(
        ("namespace", module, imported), lambda: values_of(*_classes(ev, module, imported=imported)), NOTHING
    )
    named = sorted((value for value in found if isinstance(value, ClassValue)), key=lambda value: value.name)
    return values_of(DictValue(tuple((value.name, values_of(value), False) for value in named), True, unknown()))


def _classes(ev: Evaluator, module: ModuleValue, *, imported: bool = False) -> Iterator[Value]:
    assert module.facts is not None
    kinds = {"class", "import-from"} if imported or module.folder != module.path else {"class"}
    scope = module.facts.scope
    offered = [
        name
        for name, bindings in scope.bindings.items()
        if not name.startswith("_") and any(binding.kind in kinds for binding in bindings)
    ]
    if len(offered) > MAX_MEMBERS:
        offered = offered[:_STAND_FOR_MANY]
    for name in offered:
        yield from (value for value in ev.attribute(module, name) if isinstance(value, ClassValue))
    for statement in scope.stars if "import-from" in kinds else ():
        for source in star_sources(ev, statement, ev.module_frame(module.facts)):
            yield from (value for value in some_class(ev, source) if isinstance(value, ClassValue))


def member_by_text(ev: Evaluator, node: tree.Call, frame: Frame) -> Values | None:
    """What `getattr(owner, "random_" + name)` gives: a function or class of a module, or a method of an object, whose
    name begins and ends so, or something else. None where the name is known, or nothing of it.
    """
    if len(node.args) < 2 or (letters := _letters(ev, node.args[1].value, frame)) is None:
        return None
    owners = ev.values(node.args[0].value, frame)
    if not owners or not all(isinstance(owner, (ModuleValue, Instance)) for owner in owners):
        return None
    default = ev.values(node.args[2].value, frame) if len(node.args) > 2 else NOTHING
    return union(default, unknown(), *(_members(ev, owner, *letters) for owner in owners))


def item_by_name(ev: Evaluator, node: tree.Subscript, frame: Frame) -> Values | None:
    """What a dict of names has for a name that is known: `globals()["train"]`, `vars(config)["crop"]`,
    `config.__dict__["crop"]`. None where it is no such dict, or the name is not known.
    """
    match node.value:
        case tree.Call(func=func, args=()) if ev.values(func, frame) == GLOBALS:
            owners = values_of(ModuleValue(frame.facts.path, frame.facts))
        case tree.Call(func=func, args=(owner,)) if ev.values(func, frame) == _VARS:
            owners = ev.values(owner.value, frame)
        case tree.Attribute(value=holder, attr="__dict__"):
            owners = ev.values(holder, frame)
        case _:
            return None
    name = ev.one_constant(ev.values(node.index, frame))
    if name is None or not isinstance(name.value, str):
        return None
    if not owners or not all(isinstance(owner, (Instance, ModuleValue)) for owner in owners):
        return None
    if frame.parent is None and isinstance(node.value, tree.Call) and not node.value.args:
        return ev.name(name.value, node.site, frame) or None  # in the module's own code: what it is there
    return ev.instances_attribute(owners, name.value) or None


def item_by_text(ev: Evaluator, node: tree.Subscript, owners: Values, frame: Frame) -> Values | None:
    """What a dict of names gives for a name that is put together: `globals()["augment_" + name]`,
    `REGISTRY[f"train_{name}"]`. None where the name is known, or nothing of it.
    """
    if not any(isinstance(owner, DictValue) for owner in owners):
        return None
    if (letters := _letters(ev, node.index, frame)) is None:
        return None
    match node.value:
        case tree.Call(func=func) if ev.values(func, frame) == GLOBALS:
            return union(unknown(), _members(ev, ModuleValue(frame.facts.path, frame.facts), *letters))
    found = [_items(owner, *letters) for owner in owners]
    return union(*found) if all(found) else None


def _letters(ev: Evaluator, text: tree.Expr, frame: Frame) -> tuple[str, str] | None:
    """How a name that is not known begins and ends; None where it is known, or too little of it."""
    if not isinstance(behind := frame.scope.behind(text), (tree.Binary, tree.FormatString, tree.Call)):
        return None
    letters = text_around(behind)
    if len("".join(letters)) < _ENOUGH_LETTERS or all(isinstance(one, Constant) for one in ev.values(text, frame)):
        return None
    return letters


def _is_so(name: str, beginning: str, ending: str) -> bool:
    return len(name) > len(beginning + ending) and name.startswith(beginning) and name.endswith(ending)


def _members(ev: Evaluator, owner: Value, beginning: str, ending: str) -> Values:
    """The functions and classes of a module, or methods and attributes of an object, whose names begin and end so."""
    scopes: list[Scope] = []
    if isinstance(owner, ModuleValue) and owner.facts is not None:
        scopes = [owner.facts.scope]
    elif isinstance(owner, Instance):
        scopes = [ev.class_frame(base).scope for base in classes.mro(ev, owner.cls) if isinstance(base, ClassValue)]
    named = {
        name: None
        for scope in scopes
        for name, bindings in scope.bindings.items()
        if _is_so(name, beginning, ending) and any(one.kind in _MADE_KINDS for one in bindings)
    }
    if isinstance(owner, Instance):
        bound = (name.removeprefix("self.") for scope in scopes for one in scope.children for name in one.bindings)
        named.update((name, None) for name in bound if _is_so(name, beginning, ending))
    found = (ev.attribute(owner, name) for name in named)
    by_text = set_by_text(ev, owner, beginning, ending) if isinstance(owner, Instance) else NOTHING
    return union(by_text, *found) if len(named) <= MAX_MEMBERS else unknown()


def _items(owner: Value, beginning: str, ending: str) -> Values:
    """What a dict holds under names that begin and end so, and what else may be in it; nothing where none is known."""
    if not isinstance(owner, DictValue):
        return NOTHING
    named = [values for key, values, _ in owner.entries if isinstance(key, str) and _is_so(key, beginning, ending)]
    return union(*named, owner.rest, unknown() if owner.open else NOTHING) if named else NOTHING


def evaluated_text(ev: Evaluator, node: tree.Call, frame: Frame) -> Values:
    """What `eval(text)` gives where the text is a dotted name, or a dotted name and one that is not known; of a text of
    which nothing is known, any class that the module names.
    """
    if not node.args:
        return unknown()
    text = node.args[0].value
    parts = []
    for value in ev.values(text, frame):
        if isinstance(value, Constant) and isinstance(value.value, str):
            parts.append(_dotted(ev, value.value.strip(), node, frame))
        else:
            beginning, ending = _around_name(frame.scope.behind(text))
            if beginning or ending:
                owners = _dotted(ev, "" if ending else beginning, node, frame)
                parts.append(union(*(some_class(ev, owner) for owner in owners)))
            else:
                names_here = namespace(ev, ModuleValue(frame.facts.path, frame.facts), imported=True)
                parts.append(union(unknown(), *(one.all_values() for one in names_here if isinstance(one, DictValue))))
    return union(*parts) or unknown()


def imported_by_name(ev: Evaluator, node: tree.Call, frame: Frame) -> Values:
    """What `import_module(text)` gives: any module of a package, or something else, where a name in it is not known."""
    if not node.args:
        return unknown()
    text = frame.scope.behind(node.args[0].value)
    importer = frame.facts.path
    parts = []
    for value in ev.values(text, frame):
        if isinstance(value, Constant) and isinstance(value.value, str):
            parts.append(_imported(ev, value.value, node, importer))
        else:
            beginning, ending = _around_name(text)
            packages = ev.import_module(importer, beginning) if beginning else NOTHING
            parts.append(union(unknown(), *(_modules_in(ev, package, ending) for package in packages)))
    return union(*parts) or unknown()


def _imported(ev: Evaluator, text: str, node: tree.Call, importer: Path) -> Values:
    """What `import_module(text)` gives; with dots in front, `import_module(".crops", __name__)`, from the package that
    the file is or belongs to.
    """
    dotted = text.lstrip(".")
    level = len(text) - len(dotted)
    if not _DOTTED.fullmatch(dotted):
        return unknown()
    if not level:
        return ev.import_module(importer, dotted)
    own_package = {"__package__", "__name__"} if importer.name == "__init__.py" else {"__package__"}
    path = None
    match [arg.value for arg in node.args[1:] if arg.keyword in (None, "package")]:
        case [tree.Name(id=package)] if package in own_package:
            path = ev.project.resolve_relative(importer, level, dotted)
    return module_at(ev, path) if path is not None else unknown()


def _modules_in(ev: Evaluator, package: Value, ending: str) -> Values:
    """The modules of a package whose names end so: `"data." + name + "_dataset"`."""
    if not isinstance(package, ModuleValue) or (package.folder == package.path and package.facts is not None):
        return NOTHING
    files = [
        file
        for file in ev.project.files
        if file.parent == package.folder and file.name != "__init__.py" and file.stem.endswith(ending)
    ]
    return union(*(module_at(ev, file) for file in files)) if len(files) <= MAX_MEMBERS else unknown()


def _around_name(text: tree.Expr) -> tuple[str, str]:
    """The dotted name to which a text adds another, or none, and what it adds after that: `"datasets." + name`,
    `f"datasets.{name}"`, `"data.%s_dataset" % name`.
    """
    beginning, ending = text_around(text)
    return dotted_beginning(beginning).rstrip("."), ending


def _dotted(ev: Evaluator, text: str, node: tree.Call, frame: Frame) -> Values:
    if not _DOTTED.fullmatch(text):
        return unknown()
    first, *rest = text.split(".")
    found = ev.name(first, node.site, frame)
    for attr in rest:
        found = ev.instances_attribute(found, attr)
    return found

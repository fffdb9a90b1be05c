"""Calls by the name of what they call: where to look for the callers of a function before anything is evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.growing import grown
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import ClassValue

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "NamedCall",
    "aliases_of",
    "called_name",
    "calls_in",
    "calls_making",
    "calls_named",
    "calls_of",
    "leaves_calls_out",
    "leaves_classes_out",
    "named_subclasses",
]

#: Of more files that have a name, those are asked for its calls that can have it from where it is defined.
MAX_FILES = 48
#: How many of those are asked. Where there are more, calls may be left out.
MAX_NEAR = 256
#: How many calls of a method's name are looked at in files that do not know its class: of what a registry made.
MAX_DISTANT = 4
#: How many names of a class and its subclasses are looked for.
MAX_CLASSES = 8


class NamedCall(NamedTuple):
    """A call, with the file and the scope in which it is, and the arms there."""

    facts: ModuleFacts
    scope: Scope
    call: tree.Call
    path: ArmPath


def calls_named(ev: Evaluator, facts: ModuleFacts, name: str) -> Iterator[NamedCall]:
    """The calls of what has this name, in the files that can have it from where it is defined. What tests call is seen
    from tests alone: a program does not run it so.
    """
    tests = ev.project.tests
    for path in _files_mentioning(ev, facts.path, name)[:MAX_NEAR]:
        if not ev.project.may_call(path, name) or (path in tests and facts.path not in tests):
            continue
        caller = ev.project.facts(path)
        if caller is not None:
            yield from calls_in(ev, caller, name)


def calls_in(ev: Evaluator, facts: ModuleFacts, name: str) -> Iterator[NamedCall]:
    """The calls in a file of what has this name."""
    for scope, call, arms in _calls_by_name(ev, facts).get(name, ()):
        yield NamedCall(facts, scope, call, arms)


def calls_of(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[NamedCall]:
    """The calls that are of this function by their names alone."""
    assert isinstance(scope.node, tree.FunctionDef)
    is_method = isinstance(scope.parent and scope.parent.node, tree.ClassDef)
    distant: list[NamedCall] = []
    for one in calls_named(ev, facts, scope.node.name):
        if not is_method or _mentions_owner(ev, one.facts, one.call, scope):
            yield one
        else:
            distant.append(one)
    if len(distant) <= MAX_DISTANT:
        yield from distant


def leaves_calls_out(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether `calls_of` leaves out calls of the name of this function: too many files have it, or too many that do not
    know its class.
    """
    return ev.remembered(("leaves-calls-out", id(scope)), lambda: _leaves_calls_out(ev, facts, scope), False)


def _leaves_calls_out(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    assert isinstance(scope.node, tree.FunctionDef)
    name = scope.node.name
    if len(_files_mentioning(ev, facts.path, name)) > MAX_NEAR:
        return True
    if not isinstance(scope.parent and scope.parent.node, tree.ClassDef):
        return False
    calls = calls_named(ev, facts, name)
    distant = (one for one in calls if not _mentions_owner(ev, one.facts, one.call, scope))
    return sum(1 for _ in islice(distant, MAX_DISTANT + 1)) > MAX_DISTANT


def calls_making(ev: Evaluator, cls: ClassValue) -> Iterator[NamedCall]:
    """The calls that make an object of the class or of a subclass by their names alone."""
    for name in [cls.name, *(node.name for _, node in named_subclasses(ev, cls))][:MAX_CLASSES]:
        yield from calls_named(ev, cls.frame.facts, name)


def leaves_classes_out(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether a class may have subclasses that are not looked for."""
    return len(named_subclasses(ev, cls)) >= MAX_CLASSES


def _files_mentioning(ev: Evaluator, home: Path, name: str) -> list[Path]:
    files = list(ev.project.containing(name))
    if len(files) > MAX_FILES:
        # A name that many files use: only those that can have it from its home.
        near = ev.project.naming(home, package=home.parent / "__init__.py" in files) | {home}
        files = list(islice((path for path in files if path in near), MAX_NEAR + 1))
    if home in files:
        files.remove(home)
        files.insert(0, home)
    return files


_Calls: TypeAlias = dict[str, Sequence[tuple[Scope, tree.Call, ArmPath]]]


def _calls_by_name(ev: Evaluator, facts: ModuleFacts) -> _Calls:
    return ev.of_text(("calls-by-name", id(facts)), lambda: _index_calls(facts))


def _index_calls(facts: ModuleFacts) -> _Calls:
    """The calls of a file by the last name of what they call; under an import alias by the original name too."""
    index: _Calls = {}
    aliases: dict[str, str] = {}
    for scope in facts.walk_scopes():
        for bindings in scope.bindings.values():
            for binding in bindings:
                match binding.kind, binding.node:
                    case "import-from", tree.ImportFrom(names=names):
                        aliases.update({alias: name for name, alias in names if alias is not None})
                    case "assign", tree.Name(id=original) | tree.Attribute(attr=original):
                        aliases.setdefault(binding.name.removeprefix("self."), original)
                    case "assign", tree.Call(args=args):  # loader = partial(build_loader, ...)
                        for arg in args[:1]:
                            match arg.value:
                                case tree.Name(id=original) | tree.Attribute(attr=original):
                                    aliases.setdefault(binding.name.removeprefix("self."), original)
        for call, path in scope.calls:
            name = called_name(call.func)
            if name is None:
                continue
            index[name] = grown(index.get(name, ()), (scope, call, path))
            if name in aliases and aliases[name] != name:
                index[aliases[name]] = grown(index.get(aliases[name], ()), (scope, call, path))
    # An alias may be bound after the scopes that use it were read.
    for alias, original in aliases.items():
        for entry in index.get(alias, ()):
            if entry not in index.get(original, ()):
                index[original] = grown(index.get(original, ()), entry)
    return index


def aliases_of(facts: ModuleFacts, names: Set[str]) -> frozenset[str]:
    """Other names under which a file imports or binds what has one of these names."""
    found: set[str] = set()
    for scope in facts.walk_scopes():
        for bindings in scope.bindings.values():
            for binding in bindings:
                match binding.kind, binding.node:
                    case "import-from", tree.ImportFrom(names=imported):
                        found.update(alias for name, alias in imported if alias is not None and name in names)
                    case "assign", tree.Name(id=name) | tree.Attribute(attr=name) if name in names:
                        found.add(binding.name.removeprefix("self."))
                    case "assign", tree.Conditional(body=one, orelse=other):
                        if called_name(one) in names or called_name(other) in names:
                            found.add(binding.name.removeprefix("self."))
                    case "assign", tree.Call(func=func, args=(first, *_)) if called_name(func) == "partial":
                        if called_name(first.value) in names:
                            found.add(binding.name.removeprefix("self."))
    return frozenset(found)


def called_name(func: tree.Expr) -> str | None:
    """The last name of what is called: `a.b.c(...)` -> "c"."""
    match func:
        case tree.Name(id=name):
            return name
        case tree.Attribute(attr=attr):
            return attr
    return None


def _mentions_owner(ev: Evaluator, caller: ModuleFacts, call: tree.Call, method: Scope) -> bool:
    """Whether a call can be one of this method: on `self`, on an imported object, or in a file that names the class."""
    assert method.parent is not None
    match call.func:
        case tree.Attribute(value=tree.Name(id="self" | "cls") | tree.Call(func=tree.Name(id="super"))):
            return True
        case tree.Attribute(value=owner):
            return caller.path in ev.project.mentioning(method.parent.name) or is_imported(caller, owner)
    return False


def is_imported(facts: ModuleFacts, owner: tree.Expr) -> bool:
    """Whether an expression is a name that the module imports, or something below it: `registry.DATASETS`."""
    while isinstance(owner, tree.Attribute):
        owner = owner.value
    return isinstance(owner, tree.Name) and any(
        binding.kind in ("import", "import-from") for binding in facts.scope.bindings.get(owner.id, ())
    )


def named_subclasses(ev: Evaluator, cls: ClassValue) -> list[tuple[ModuleFacts, tree.ClassDef]]:
    """The classes that derive from this one by the names alone, with their files; of each name the first."""
    found: dict[str, tuple[ModuleFacts, tree.ClassDef]] = {}
    pending = [cls.name]
    while pending and len(found) < MAX_CLASSES:
        wanted = pending.pop(0)
        for path in _files_mentioning(ev, cls.frame.facts.path, wanted)[:MAX_NEAR]:
            facts = ev.project.facts(path) if ev.project.may_subclass(path, wanted) else None
            if facts is None:
                continue
            for node in facts.classes:
                if any(called_name(base.value) == wanted for base in node.bases) and node.name not in found:
                    found[node.name] = facts, node
                    pending.append(node.name)
    return list(found.values())

"""The loaders of a project: every call that makes a DataLoader, in each frame in which it runs."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.loaders import LoaderClass, loader_class, loader_names
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.arguments import each_arguments
from torchrepro_lint.program.evaluation.calls import external_argument, merged
from torchrepro_lint.program.evaluation.construction import BaseInit, base_inits
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.narrowing import as_tested
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.signatures import may_be_made
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    UNKNOWN,
    Arguments,
    ClassValue,
    Constant,
    DictValue,
    External,
    Instance,
    Partial,
    Site,
    Value,
    Values,
    values_of,
)
from torchrepro_lint.program.loaders.configured_workers import with_configured_workers
from torchrepro_lint.program.loaders.given_later import with_what_is_given_later
from torchrepro_lint.program.loaders.maker_names import MakerNames, maker_names
from torchrepro_lint.program.loaders.set_before import with_what_is_set_before
from torchrepro_lint.program.running.callers import contexts, frame_without_callers, instances_of, may_be
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Loader", "find_loaders"]


@dataclass(frozen=True, slots=True, eq=False)
class Loader:
    """One loader: the call that creates it, in one frame.

    `call` and `frame` are where the arguments are written: the call of the base class's `__init__` in a project
    subclass that passes the arguments to torch's DataLoader itself, and the construction otherwise. `made_by` is the
    construction, if that is a different call. `arguments` are those that reach `known`. `made_with` is the partial that
    the call gives further arguments to. `is_mapped`: the call is one of `map`, which makes a loader of each item.
    """

    call: tree.Call
    frame: Frame
    known: LoaderClass
    arguments: Arguments
    cls: ClassValue | None = None
    made_by: Site | None = None
    made_with: Partial | None = None
    is_mapped: bool = False

    @property
    def facts(self) -> ModuleFacts:
        """What the file says that `call` is in."""
        return self.frame.facts

    @property
    def scope(self) -> Scope:
        """The function, class or module that `call` is in."""
        return self.frame.scope

    @property
    def site(self) -> Site:
        """The place of `call`."""
        return Site(self.facts.path, self.call.site)

    @property
    def is_handed_on_to(self) -> bool:
        """Whether `call` makes an object of a project class, whose `__init__` hands its arguments on."""
        is_base_call = isinstance(self.call.func, tree.Attribute) and self.call.func.attr == "__init__"
        return self.cls is not None and not is_base_call

    def given(self, role: str) -> tuple[Values, bool]:
        """What is passed for a role such as `worker_init_fn`, and whether it may be missing."""
        name = self.known.keywords.get(role)  # type: ignore[call-overload]
        if name is None:
            return NOTHING, True
        return external_argument(self.arguments, self.known.parameters, name)

    def value(self, role: str) -> Values:
        """The value for a role: what is passed, or the default if it may be missing."""
        given, may_be_missing = self.given(role)
        if not may_be_missing:
            return given
        name = self.known.keywords.get(role)  # type: ignore[call-overload]
        default = self.known.defaults.get(name) if name is not None else None
        if isinstance(default, (bool, int, float, str)) or default is None:
            return given | values_of(Constant(default))
        return given | frozenset((UNKNOWN,))

    def lacks(self, role: str) -> bool:
        """Whether it is proven that nothing, or None, is passed for a role."""
        given, _ = self.given(role)
        return all(isinstance(value, Constant) and value.value is None for value in given)

    def may_lack(self, role: str) -> bool:
        """Whether nothing, or None, may be passed; an argument that cannot be followed does not count."""
        given, may_be_missing = self.given(role)
        if any(value is UNKNOWN for value in given):
            return any(isinstance(value, Constant) and value.value is None for value in given)
        return may_be_missing or any(isinstance(value, Constant) and value.value is None for value in given)

    def switches_on(self, role: str) -> bool:
        """Whether it is proven that True is passed for a role, such as `persistent_workers`, or is its default."""
        values = self.value(role)
        return bool(values) and all(isinstance(value, Constant) and value.value is True for value in values)

    @property
    def keeps_workers(self) -> bool:
        """Whether it is proven that its workers, where it has some, go on from one epoch to the next: also by
        `persistent_workers=num_workers > 0`, which torch requires where there may be none.
        """
        if self.switches_on("persistent_workers"):
            return True
        given = {arg.keyword: arg.value for arg in self.call.args if arg.keyword is not None}
        asked = given.get(self.known.keywords.get("persistent_workers", ""))
        number = given.get(self.known.keywords.get("num_workers", ""))
        return asked is not None and number is not None and _holds_with_workers(asked, dotted_name(number))

    @property
    def may_keep_workers(self) -> bool:
        """Whether its workers go on from one epoch to the next for one of the values that are known to be passed, as
        with `persistent_workers=True if workers > 0 else False`, wherever that was written.
        """
        return self.keeps_workers or Constant(True) in self.given("persistent_workers")[0]

    @property
    def has_workers(self) -> bool:
        """A loader has workers unless `num_workers` is missing or proven 0."""
        if "num_workers" in self.known.fixed:
            return True
        return not all(isinstance(value, Constant) and not value.value for value in self.value("num_workers"))


def _holds_with_workers(node: tree.Expr, number: str | None) -> bool:
    """Whether an expression is true for each number of workers that is not 0; `number` is how that is written."""
    match node:
        case tree.Conditional(test=test, body=tree.Const(value=True)):
            return _holds_with_workers(test, number)
        case tree.Compare(left=left, ops=(">" | "!=",), comparators=(tree.Const(value=0),)):
            return _holds_with_workers(left, number)
        case tree.Call(func=tree.Name(id="bool"), args=(tree.Arg(value=value),)):
            return _holds_with_workers(value, number)
    return number is not None and dotted_name(node) == number


def find_loaders(ev: Evaluator, asked: Set[Path] | None = None) -> list[Loader]:
    """All loaders of the project in the order of files and text; those of each frame follow one another. With `asked`,
    only those created in these files.
    """
    classes, mentioning = _speaking_of_loaders(ev)
    names = maker_names(ev, classes, mentioning)
    files = set(names.files)
    # What a file makes is in it, but for the objects of its classes, which stand where the class initialises them.
    if asked is not None and not any(_defines_loaders(ev, path, classes) for path in asked & files):
        files &= asked
    loaders: dict[tuple[Path, int], list[Loader]] = {}
    for path in sorted(files):
        facts = ev.project.facts(path)
        assert facts is not None
        for loader in _loaders_of(ev, facts, classes, names):
            loaders.setdefault((loader.facts.path, loader.call.site), []).append(loader)
    return [loader for key in sorted(loaders) if asked is None or key[0] in asked for loader in loaders[key]]


def _speaking_of_loaders(ev: Evaluator) -> tuple[set[str], set[Path]]:
    """The names of all classes of loaders, the project's own among them, and the readable files that mention one."""
    names = set(loader_names())
    done: set[Path] = set()
    pending = sorted(names)
    while pending:
        fresh: list[str] = []
        for path in ev.project.matching(any_word(pending)):
            facts = ev.project.facts(path)
            if facts is None:
                continue
            for name in _subclasses(ev, facts):
                if name not in names:
                    names.add(name)
                    fresh.append(name)
            done.add(path)
        pending = fresh
    return names, done


def _defines_loaders(ev: Evaluator, path: Path, names: set[str]) -> bool:
    """Whether a file defines a class by the name of one that derives from a loader."""
    facts = ev.project.facts(path)
    return facts is not None and any(node.name in names for node in facts.classes)


def _subclasses(ev: Evaluator, facts: ModuleFacts) -> Iterator[str]:
    """The classes of the file that derive from a loader."""
    for scope in facts.walk_scopes():
        if not isinstance(scope.node, tree.ClassDef) or not scope.node.bases:
            continue
        ev.begin_question()
        if _derives_from_loader(ev, facts, scope):
            yield scope.node.name


def _derives_from_loader(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether the class with this body derives from a loader, whoever calls the function around it."""
    assert isinstance(scope.node, tree.ClassDef) and scope.parent is not None
    if not scope.node.bases:
        return False
    cls = ClassValue(scope.node, frame_without_callers(ev, facts, scope.parent))
    return any(loader_class(name) is not None for name in attributes.external_bases(ev, cls))


def _loaders_of(ev: Evaluator, facts: ModuleFacts, classes: Set[str], names: MakerNames) -> Iterator[Loader]:
    for scope in facts.walk_scopes():
        if isinstance(scope.node, tree.ClassDef) and scope.node.name in classes:
            yield from _of_unseen_objects(ev, facts, scope)
        for call, path in scope.calls:
            func = _mapped(call) or call.func
            if not names.may_be_called(facts.path, func):
                continue
            ev.begin_question()
            if not may_be(ev, func, frame_without_callers(ev, facts, scope), _may_make_one):
                continue
            seen: set[Frame] = set()
            for outer in contexts(ev, facts, scope):
                ev.begin_question()
                frame = as_tested(ev, outer, call.site)
                if frame in seen or not ev.may_run(call.site, path, frame):
                    continue
                seen.add(frame)
                for loader in _made_by(ev, call, frame):
                    if _is_given_what_is_made(ev, loader):
                        known = with_what_is_set_before(ev, with_what_is_given_later(ev, loader))
                        yield with_configured_workers(ev, known)


def _is_given_what_is_made(ev: Evaluator, loader: Loader) -> bool:
    """Whether the data set of a loader may exist, as it does not where making it surely raises a TypeError."""
    given, _ = loader.given("dataset")
    return not given or any(not isinstance(value, Instance) or may_be_made(ev, value) for value in given)


def _of_unseen_objects(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[Loader]:
    """The objects of a loader class that no visible code constructs, because a registry does, or a template that gets
    its name from a configuration.
    """
    assert isinstance(scope.node, tree.ClassDef) and scope.parent is not None
    if not _derives_from_loader(ev, facts, scope):
        return  # asked first: who makes the objects of a class is much to ask
    for frame in contexts(ev, facts, scope.parent):
        ev.begin_question()
        cls = ClassValue(scope.node, frame)
        if any(instance.arguments is not None for instance in instances_of(ev, cls)):
            continue
        for known, init in _initialised(ev, Instance(cls, None, None)):
            if init.call is not None and init.frame is not None:
                yield Loader(init.call, init.frame, known, init.arguments, cls)


def _may_make_one(value: Value) -> bool:
    """Whether calling a value may give a loader."""
    if isinstance(value, External):
        return loader_class(value.name) is not None
    return isinstance(value, (Partial, ClassValue))


def _mapped(call: tree.Call) -> tree.Expr | None:
    """What a call of `map` calls with each item; None for any other call."""
    match call:
        case tree.Call(func=tree.Name(id="map"), args=(tree.Arg(keyword=None, star="", value=value), _, *_)):
            return value
    return None


def _made_by_map(ev: Evaluator, call: tree.Call, func: tree.Expr, frame: Frame) -> Iterator[Loader]:
    if External("builtins.map") not in ev.values(call.func, frame):
        return
    given = ev.arguments(call.args, frame)
    arguments = Arguments(tuple(ev.elements(values) for values in given.positional[1:]), (), given.open_positional)
    for function in ordered(ev.values(func, frame)):
        # The project's own classes are told by the calls in which their `__init__` runs.
        if not isinstance(function, ClassValue):
            for loader in _from_callee(ev, function, call, frame, arguments):
                yield replace(loader, is_mapped=True)


def _made_by(ev: Evaluator, call: tree.Call, frame: Frame) -> Iterator[Loader]:
    func = _mapped(call)
    if func is not None:
        yield from _made_by_map(ev, call, func, frame)
    for function in ordered(ev.values(call.func, frame)):
        for arguments in each_arguments(ev, call.args, frame):
            yield from _from_callee(ev, function, call, frame, arguments)


def _from_callee(
    ev: Evaluator, function: Value, call: tree.Call, frame: Frame, arguments: Arguments
) -> Iterator[Loader]:
    match function:
        case External(name=name):
            known = loader_class(name)
            if known is not None:
                yield Loader(call, frame, known, arguments)
        case Partial():
            for inner in ordered(function.function):
                whole = merged(function.arguments, arguments)
                for loader in _from_callee(ev, inner, call, frame, whole):
                    yield replace(loader, made_with=function)
        case ClassValue():
            yield from _from_subclass(ev, function, call, frame, arguments)


def _from_subclass(
    ev: Evaluator, cls: ClassValue, call: tree.Call, frame: Frame, arguments: Arguments
) -> Iterator[Loader]:
    """A construction of a project class that derives from a loader: what reaches the loader's own `__init__`."""
    if not any(loader_class(name) is not None for name in attributes.external_bases(ev, cls)):
        return
    instance = Instance(cls, arguments, ev.site(call, frame))
    for known, init in _initialised(ev, instance):
        inner = init.frame
        if init.call is not None and inner is not None and not _hands_on(ev, init.call, inner):
            made_by = ev.site(call, frame)
            yield Loader(init.call, inner, known, init.arguments, cls, made_by)
        else:
            yield Loader(call, frame, known, init.arguments, cls)


def _initialised(ev: Evaluator, instance: Instance) -> Iterator[tuple[LoaderClass, BaseInit]]:
    """The loader's own classes that are initialised as an object is made, once for every call that may do it."""
    for init in base_inits(ev, instance):
        known = loader_class(init.name)
        if known is not None and _may_run(ev, init):
            yield known, init


def _may_run(ev: Evaluator, init: BaseInit) -> bool:
    if init.call is None or init.frame is None:
        return True
    path = next(path for call, path in init.frame.scope.calls if call is init.call)
    return ev.may_run(init.call.site, path, init.frame)


def _hands_on(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    """Whether a call passes its caller's arguments on, so that an argument missing here is missing at the construction.

    An `__init__` that has a parameter for a worker function but does not pass it on drops it, whatever else it passes
    on; so does one that has no `**kwargs` and puts the arguments into a dict of its own.
    """
    if any(isinstance(arg.value, tree.Name) and arg.keyword == arg.value.id == "worker_init_fn" for arg in call.args):
        return True
    spread = [arg for arg in call.args if arg.star]
    if not spread or "worker_init_fn" in frame.scope.bindings:
        return False
    function = frame.scope.node
    takes_any = isinstance(function, tree.FunctionDef) and any(param.kind == "double-star" for param in function.params)
    return takes_any or not all(_is_closed_dict(value) for arg in spread for value in ev.values(arg.value, frame))


def _is_closed_dict(value: Value) -> bool:
    return isinstance(value, DictValue) and not value.open

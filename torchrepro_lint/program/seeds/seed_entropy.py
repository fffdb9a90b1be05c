"""Seeds of the main process that come from the clock, the system or Python's hash of a string, and differ in every run.

The reader goes backwards from the expression that seeds, over the bindings that reach it, into the project's functions
for what they return, and out to their callers for what they are given. It finds the call from which the number comes,
and whether that call is only a fallback behind a seed that the user can give.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, sub_expressions
from torchrepro_lint.facts.scopes import END, Binding
from torchrepro_lint.program.evaluation import calls
from torchrepro_lint.program.evaluation.attributes import find_method, mro
from torchrepro_lint.program.evaluation.command_line import defaults_of, is_assigned, is_parsed
from torchrepro_lint.program.evaluation.dataclass_fields import dataclass_field
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.inner_tests import options_of
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    Site,
)
from torchrepro_lint.program.running.callers import frame_without_callers, visible_calls
from torchrepro_lint.program.running.calling_places import making_places
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument
from torchrepro_lint.program.seeds.entropy_calls import (
    drawn_globally,
    draws,
    is_entropy,
    is_literal,
    is_of_unseeded,
    outside,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Entropy", "drawn_of", "entropy_of"]

_DEFAULTING = frozenset({"get", "pop", "getenv", "getattr", "setdefault"})


@dataclass(frozen=True, slots=True)
class Entropy:
    """Where a seed that differs in every run comes from.

    `node` is the largest expression that is only such a number (`int(time.time()) % 2**32`), to be replaced by a
    constant; `name` the call inside it; `fallback`: it is used only where the user gives no seed. `path` are the places
    that the number passes between there and the call that seeds.
    """

    node: tree.Expr
    name: str
    frame: Frame
    fallback: bool = False
    path: tuple[Site, ...] = ()

    @property
    def site(self) -> Site:
        return Site(self.frame.facts.path, self.node.site)


def entropy_of(ev: Evaluator, node: tree.Expr, frame: Frame) -> Entropy | None:
    """The entropy that an expression is made of; None where none is proven."""
    return _Reader(ev).of(node, frame)


def drawn_of(ev: Evaluator, node: tree.Expr, frame: Frame) -> Entropy | None:
    """The same with draws from the global generators as its source."""
    return _Reader(ev, draws=True).of(node, frame)


@dataclass(frozen=True, slots=True)
class _Reader:
    ev: Evaluator
    draws: bool = False  # what is looked for: numbers that are drawn, and not those of the clock and the system

    def of(self, node: tree.Expr, frame: Frame) -> Entropy | None:
        return self.ev.remembered(("entropy", node, frame, self.draws), lambda: self._of(node, frame), None)

    def _of(self, node: tree.Expr, frame: Frame) -> Entropy | None:
        match node:
            case tree.Name():
                return self._name(node, frame)
            case tree.Attribute(value=value, attr=attr):
                if not self.draws and any(is_of_unseeded(one, self.ev, frame) for one in self.ev.values(node, frame)):
                    return Entropy(node, attr, frame)
                known = self._stored(node, frame) or self._held(node, frame)
                return known if known is not None else self._within(node, (value,), frame)
            case tree.Call():
                return self._call(node, frame)
            case tree.Boolean() | tree.Conditional():
                return _either([self.of(option, frame) for option in options_of(self.ev, node, frame)])
            case tree.Lambda() | tree.Const():
                return None
            case tree.Subscript(value=value):
                return self._within(node, (value,), frame)
        return self._within(node, sub_expressions(node), frame)

    def _within(self, whole: tree.Expr, parts: Iterable[tree.Expr], frame: Frame) -> Entropy | None:
        """What an expression over `parts` is: entropy if one of them is; all of it if the others are literals."""
        found = [(part, self.of(part, frame)) for part in parts]
        sources = [one for _, one in found if one is not None]
        if not sources:
            return None
        only = all((one is not None and one.node is part) or is_literal(part) for part, one in found)
        first = sources[0]
        return replace(first, node=whole) if only and not first.fallback else first

    # --- names ----------------------------------------------------------------------------------------------------

    def _name(self, node: tree.Name, frame: Frame) -> Entropy | None:
        current: Frame | None = frame
        place = node.site
        while current is not None:
            scope = current.scope
            foreign_class = current is not frame and isinstance(scope.node, tree.ClassDef)
            if not foreign_class and node.id in scope.bindings:
                where = current
                bindings, _ = scope.reaching(node.id, place, lambda path, at=where: self.ev.decide(path, at))  # type: ignore[misc]
                if bindings:
                    return _either([self._binding(binding, current) for binding in bindings])
            if not isinstance(scope.node, (tree.Comprehension, tree.ClassDef)):
                place = END
            current = current.parent
        return None

    def _binding(self, binding: Binding, frame: Frame) -> Entropy | None:
        node = binding.node
        match binding.kind, node:
            case "param", tree.Param():
                return self._given(node, frame)
            case "augmented", tree.AugAssign(value=value):
                return self.of(value, frame)
            case "assign", tree.Display(items=items) if len(binding.unpack) == 1 and binding.unpack[0] < len(items):
                return self.of(items[binding.unpack[0]], frame)
            case "assign", _ if not binding.unpack:
                found = self.of(node, frame)  # type: ignore[arg-type]
                return found
            case "import-from", tree.ImportFrom():
                return self._imported(binding, node, frame)
        return None

    def _imported(self, binding: Binding, node: tree.ImportFrom, frame: Frame) -> Entropy | None:
        """A number that another module of the project made."""
        name = next((original for original, alias in node.names if (alias or original) == binding.name), None)
        project = self.ev.project
        path = project.resolve_from(frame.facts.path, node.level, node.module)
        facts = project.facts(path) if path is not None and path.suffix == ".py" else None
        if name is None or facts is None:
            return None
        return self.ev.remembered(
            ("entropy-of-global", facts.path, name, self.draws), lambda: self._global(facts, name), None
        )

    def _global(self, facts: ModuleFacts, name: str) -> Entropy | None:
        module = self.ev.module_frame(facts)
        bindings, _ = facts.scope.reaching(name, END, lambda arms: self.ev.decide(arms, module))
        return _either([self._binding(found, module) for found in bindings]) if bindings else None

    def _given(self, param: tree.Param, frame: Frame) -> Entropy | None:
        """What the visible callers give for a parameter; a default that is entropy is a fallback."""
        node = frame.scope.node
        if not isinstance(node, tree.FunctionDef) or param.kind in ("star", "double-star"):
            return None
        parameter = parameter_of(frame.scope, param.name)
        found: list[Entropy | None] = []
        for call, caller in (*visible_calls(self.ev, frame.facts, frame.scope), *self._makings(frame)):
            written = written_argument(call, parameter)
            if written is not None:
                one = self.of(written, caller)
                site = Site(caller.facts.path, call.site)
                found.append(replace(one, path=(*one.path, site)) if one is not None else None)
            elif param.default is not None and not any(arg.star for arg in call.args):
                found.append(self.of(param.default, frame.parent or frame))
            else:
                found.append(None)
        # Each call is a seeding of its own: one that hands over the clock is at fault whatever the others do.
        return next((one for one in found if one is not None), None)

    def _makings(self, frame: Frame) -> Iterator[tuple[tree.Call, Frame]]:
        """The calls that make an object, where a function is the `__init__` that runs then."""
        ev, home = self.ev, frame.parent
        if frame.scope.name != "__init__" or home is None or home.parent is None:
            return
        if isinstance(home.scope.node, tree.ClassDef):
            for one in making_places(ev, ClassValue(home.scope.node, home.parent)):
                caller = frame_without_callers(ev, one.facts, one.scope)
                made = [value for value in ev.values(one.call.func, caller) if isinstance(value, ClassValue)]
                inits = [found for cls in made if (found := find_method(ev, cls, "__init__")) is not None]
                if any(getattr(init, "node", None) is frame.scope.node for _, each in inits for init in each):
                    yield one.call, caller

    def _stored(self, node: tree.Attribute, frame: Frame) -> Entropy | None:
        """What the same function has assigned to `args.seed` or `self.seed` before."""
        wanted = dotted_name(node)
        if wanted is None:
            return None
        scope = frame.scope
        use = dict(scope.path_at(node.site))
        found: list[Entropy | None] = []
        for store in scope.stores:
            if (
                store.statement.site >= node.site
                or store.augmented
                or store.unpack
                or dotted_name(store.target) != wanted
            ):
                continue
            if self.ev.decide(store.path, frame) is False:
                continue
            one = self.of(store.value, frame)
            sure = all(use.get(branch) == arm for branch, arm in store.path)
            found = [one] if sure else [*found, one, None]
        return _either(found) if found else None

    def _held(self, node: tree.Attribute, frame: Frame) -> Entropy | None:
        """What a class or its object has under a name that one place alone gives it; the default of an option."""
        ev = self.ev
        values = ev.values(node.value, frame)
        value = next(iter(values)) if len(values) == 1 else None
        found: Entropy | None = None
        files = [frame.facts]
        if isinstance(value, ExternalObject) and is_parsed(value):
            declared = list(defaults_of(ev, value, node.attr))
            defaults = [self.of(default, where) for default, where in declared]
            found = next((replace(one, fallback=True) for one in defaults if one is not None), None)
            files.extend(where.facts for _, where in declared)
        elif isinstance(value, (ClassValue, Instance)):
            cls = value.cls if isinstance(value, Instance) else value
            kept = list(self._kept(cls, node.attr))
            found = self._binding(*kept[0]) if len(kept) == 1 else None
            if found is not None and isinstance(value, Instance) and dataclass_field(ev, value, node.attr) is not None:
                found = None if value.arguments != Arguments() else found
            files.extend(self._files_of(cls) if found is not None else ())
        return None if any(is_assigned(facts, node.attr) for facts in files) else found

    def _kept(self, cls: ClassValue, attr: str) -> Iterator[tuple[Binding, Frame]]:
        for base in mro(self.ev, cls):
            if isinstance(base, ClassValue):
                body = self.ev.class_frame(base)
                yield from ((binding, body) for binding in body.scope.bindings.get(attr, ()))
                for method in body.scope.children:
                    where = frame_without_callers(self.ev, body.facts, method)
                    yield from ((binding, where) for binding in method.bindings.get(f"self.{attr}", ()))

    def _files_of(self, cls: ClassValue) -> Iterator[ModuleFacts]:
        """The files in which a class goes by its name."""
        for path in self.ev.project.containing(cls.name):
            facts = self.ev.project.facts(path)
            if facts is not None and cls in self.ev.name(cls.name, END, self.ev.module_frame(facts)):
                yield facts

    # --- calls ----------------------------------------------------------------------------------------------------

    def _call(self, node: tree.Call, frame: Frame) -> Entropy | None:
        func = node.func
        functions = self.ev.values(func, frame)
        names = [outside(value) for value in functions]
        if len(names) == 1 and names[0] is not None and self._is_source(names[0], node, frame):
            return Entropy(node, names[0], frame)
        factory = next((arg.value for arg in node.args if arg.keyword == "default_factory"), None)
        if factory is not None:
            functions = self.ev.values(factory, frame)
        if len(functions) == 1:
            (value,) = functions
            if not self.draws and is_of_unseeded(value, self.ev, frame):
                return Entropy(node, outside(value) or "", frame)
            if isinstance(value, (FunctionValue, MethodValue)):
                return self._returned(value, node, frame)
        parts = [arg.value for arg in node.args]
        if isinstance(func, tree.Attribute):
            if func.attr in _DEFAULTING:
                found = self.of(parts[-1], frame) if len(parts) > 1 else None
                return replace(found, fallback=True) if found is not None else None
            if any(name is None for name in names) or not functions or not isinstance(func.value, tree.Name):
                parts.append(func.value)
        elif isinstance(func, tree.Name) and func.id in _DEFAULTING:
            found = self.of(parts[-1], frame) if len(parts) > 2 else None
            return replace(found, fallback=True) if found is not None else None
        if any(name is not None and (name.startswith("time.") or draws(name)) for name in names):
            return None
        return self._within(node, parts, frame)

    def _is_source(self, name: str, node: tree.Call, frame: Frame) -> bool:
        return bool(drawn_globally(name)) if self.draws else is_entropy(name, node, self.ev, frame)

    def _returned(self, value: FunctionValue | MethodValue, node: tree.Call, frame: Frame) -> Entropy | None:
        function = value if isinstance(value, FunctionValue) else value.function
        inner = calls.bound_frame(self.ev, function, self.ev.arguments(node.args, frame))
        if isinstance(function.node, tree.Lambda):
            return self.of(function.node.body, inner)
        found = [
            self.of(statement.value, inner)
            for statement, path in inner.scope.returns
            if statement.value is not None and self.ev.may_run(statement.site, path, inner)
        ]
        one = _either(found) if found else None
        return replace(one, path=(*one.path, Site(frame.facts.path, node.site))) if one is not None else None


# --- helpers --------------------------------------------------------------------------------------------------


def _either(options: Iterable[Entropy | None]) -> Entropy | None:
    """One of several, nobody knows which: entropy among others is a fallback, and so is all if one of them is."""
    found = list(options)
    sources = [one for one in found if one is not None]
    if not sources:
        return None
    if len(sources) < len(found):
        return replace(sources[0], fallback=True)
    return next((one for one in sources if one.fallback), sources[0])

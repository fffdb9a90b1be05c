"""The walk along a whole program: the top level of its file, what that imports, and all that is called from there.

Events come in the order in which the program does things. Importing a module runs its top level, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Arguments, ClassValue, Site, Value
from torchrepro_lint.program.modules import folder_of
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.entry_points import EntryPoint
from torchrepro_lint.program.running.events import Found
from torchrepro_lint.program.running.guards import is_main_guard
from torchrepro_lint.program.running.offered_commands import commands_of
from torchrepro_lint.program.running.reach import Event, Link, Walker, ordered
from torchrepro_lint.program.running.set_apart import sets_apart
from torchrepro_lint.program.running.started_arguments import starts_afresh

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["IN_TRAINING", "SEEDS_NOTHING", "TRAINS", "EntryWalker", "training_steps"]

#: Of so many imported modules all that happens counts; of further ones that say nothing of seeds, only their imports.
_MAX_MODULES = 60
_SEEDS = re.compile(rb"seed", re.IGNORECASE)
#: The note of the event that says that a training takes a step.
TRAINS = "takes a step of a training"
#: The note of the event that says that processes begin afresh, and seed nothing.
SEEDS_NOTHING = "starts processes that seed nothing"
#: The note of what is under `if self.training:`, and of what its condition draws (`self.training and draw()`).
IN_TRAINING = "while a model is in training mode"


@cache
def training_steps() -> frozenset[str]:
    """The names of the methods that take a step of a training."""
    return method_words("training_steps") | method_words("training_steps", "runs")


class EntryWalker(Walker):
    """Walks one entry point. What happens inside `fork_rng` is left out: it does not touch the program's streams.

    With `until`, the walk may end once something has happened at each of these places: what comes later is no longer
    of interest.
    """

    def __init__(self, ev: Evaluator, until: frozenset[Site]) -> None:
        super().__init__(ev)
        self._imported: set[Path] = set()
        self._top = True
        self._home: Path | None = None
        self._until = until
        self._steps = training_steps()

    def events(self, entry: EntryPoint) -> Found:
        """What the program does, in order."""
        self._imported = {entry.path}
        self._top = True
        self._home = entry.path
        found = Found()
        module = self.ev.module_frame(entry.facts)
        if entry.called is None:
            self._block(entry.facts.body, module, found)
            return found
        self._module(entry.facts.body, module, found)
        link = Link(entry.site, entry.called)
        for value in ordered(self.ev.name(entry.called, END, module)):
            found.extend(event.after(link) for event in self.call(value, Arguments((), (), True, True), entry.site))
        return found

    def frame(self, frame: Frame) -> tuple[Event, ...]:
        """The same as for any function, remembered apart: here imports and forks count."""
        outer = self._until
        if frame.facts.path != self._home:
            self._until = frozenset()  # other programs ask for what other files do as well: they share the whole of it
        try:
            return self.ev.remembered(("entry-events", frame, self._until), lambda: self.within_limits(frame), ())
        finally:
            self._until = outer

    def call(self, value: Value, arguments: Arguments, site: Site | None) -> Iterator[Event]:
        """The same as for any walk; a group of commands goes on to one of these, which one the command line says."""
        yield from super().call(value, arguments, site)
        for command in ordered(commands_of(self.ev, value)):
            yield from self.call(command, Arguments((), (), True, True), None)

    def _call_node(self, node: tree.Call, frame: Frame, out: Found) -> None:
        if called_name(node.func) in self._steps:
            out.append(Event("", self.ev.site(node, frame), Arguments(), (), call=node, frame=frame, note=TRAINS))
        before = len(out)
        super()._call_node(node, frame, out)
        if starts_afresh(self.ev, node, frame):
            # Asked here: further out one event stands for all of a helper that the program calls as well.
            if not any(seeding_call(event.name) for event in out[before:] if event.name):
                site = self.ev.site(node, frame)
                out.append(Event("", site, Arguments(), (), call=node, frame=frame, note=SEEDS_NOTHING))

    def _module(self, body: tree.Block, module: Frame, out: Found) -> None:
        """The top level of a module that is imported."""
        top, self._top = self._top, False
        self._block(body, module, out)
        self._top = top

    def _statement(self, statement: tree.Stmt, frame: Frame, out: Found) -> bool:
        if self._until and out.has_each(self._until):
            return True
        match statement:
            case tree.Import() | tree.ImportFrom() if frame.scope.parent is None:
                for path in self._targets(statement, frame):
                    out.extend(self._import(path, Site(frame.facts.path, statement.site)))
                return False
            case tree.If(body=body, orelse=orelse) if is_main_guard(statement) and frame.scope.parent is None:
                return self._block(body if self._top else orelse, frame, out)
            case tree.If(test=test) if _is_for_types(test):
                return False
            case tree.If(test=test, body=body, orelse=orelse) if _asks_for_training(test):
                inside = Found()
                self._expression(test, frame, inside)
                self._block(body, frame, inside)
                out.extend(replace(event, note=event.note or IN_TRAINING) for event in inside)
                self._block(orelse, frame, out)
                return False
            case tree.With(items=items) if any(sets_apart(context) for context, _ in items):
                return False
            case tree.FunctionDef(name=name) | tree.ClassDef(name=name):
                defined = Found()
                self._definition(statement, frame, defined)
                link = Link(Site(frame.facts.path, statement.site), f"defines {name}")
                out.extend(event.after(link) for event in defined)
                return False
        return super()._statement(statement, frame, out)

    def _definition(self, statement: tree.FunctionDef | tree.ClassDef, frame: Frame, out: Found) -> None:
        """What runs where a function or class is defined: the defaults of its parameters, the body of a class."""
        if isinstance(statement, tree.ClassDef):
            if frame.facts.scope_of(statement).calls:  # of most classes the body calls nothing
                self._block(statement.body, self.ev.class_frame(ClassValue(statement, frame)), out)
            return
        for param in statement.params:
            if param.default is not None:
                self._expression(param.default, frame, out)

    def _targets(self, statement: tree.Import | tree.ImportFrom, frame: Frame) -> Iterator[Path]:
        project, home = self.ev.project, frame.facts.path
        if isinstance(statement, tree.Import):
            found = project.resolve(home, statement.module)
            if found is not None:
                yield found
            return
        base = project.resolve_from(home, statement.level, statement.module)
        if base is None:
            return
        yield base
        folder = folder_of(base)
        if folder.suffix != ".py":
            for name, _ in statement.names:
                below = project.module_file(folder, name) if name != "*" else None
                if below is not None:
                    yield below

    def _import(self, path: Path, site: Site) -> Sequence[Event]:
        if path in self._imported or path.suffix != ".py":
            return []
        self._imported.add(path)
        facts = self.ev.project.facts(path)
        if facts is None:
            return []
        found = Found()
        body = facts.body
        if len(self._imported) > _MAX_MODULES and not self.ev.project.holds(path, _SEEDS):
            body = tuple(one for one in body if isinstance(one, (tree.Import, tree.ImportFrom, tree.If, tree.Try)))
        self._module(body, self.ev.module_frame(facts), found)
        return [event.after(Link(site, f"imports {path.stem}")) for event in found]


def _is_for_types(test: tree.Expr) -> bool:
    match test:
        case tree.Name(id="TYPE_CHECKING") | tree.Attribute(attr="TYPE_CHECKING"):
            return True
    return False


def _asks_for_training(test: tree.Expr) -> bool:
    match test:
        case tree.Attribute(attr="training"):
            return True
        case tree.Boolean(op="and", left=left, right=right):
            return _asks_for_training(left) or _asks_for_training(right)
    return False

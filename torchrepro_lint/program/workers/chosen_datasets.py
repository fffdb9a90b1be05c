"""Data sets of the project that a configuration, a registry or a caller out of sight may choose for a loader:

loader = DataLoader(build(config), worker_init_fn=seed_worker)

Which one it is cannot be told from the code. Those that the project defines, and that the program of the loader can
reach, stand for it: what it imports, and, where it finds modules or classes by a text, what no program imports. Where
such a data set calls what it is given, `for step in self.steps`, the classes stand for it that a configuration names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.program.evaluation.arguments import evaluate_arguments, external_argument
from torchrepro_lint.program.evaluation.classes import external_bases, has_unknown_base
from torchrepro_lint.program.evaluation.kinds import is_instance
from torchrepro_lint.program.evaluation.registries import is_registered
from torchrepro_lint.program.evaluation.signatures import can_take
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    ClassValue,
    External,
    ExternalObject,
    Instance,
    SequenceValue,
    Site,
    Value,
    Values,
    values_of,
)
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import Effect, WorkerRun, is_for_what_fails, worker_run
from torchrepro_lint.program.programs.for_others import is_copied
from torchrepro_lint.program.running.callers import instances_of
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.events import Event, Link
from torchrepro_lint.program.running.mentions import mentions_of
from torchrepro_lint.program.running.reach import Walker
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.word_index import any_word
from torchrepro_lint.program.workers.global_draws import is_of_an_evaluation
from torchrepro_lint.program.workers.index_seeds import draws_left
from torchrepro_lint.program.workers.training_draws import without_those_of_training
from torchrepro_lint.program.workers.worker_reseeding import seeds_itself
from torchrepro_lint.source.configurations import ALL_CONFIGURATIONS, configurations_digest, words_below

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.program import Program

__all__ = ["ChosenDraw", "draw_of_a_chosen_dataset"]

_FETCHES: Final = ("__getitem__", "__getitems__", "__iter__", "__next__")
_NAMES_FETCHING: Final = any_word(["__getitem__", "__getitems__", "__iter__"])
_DATASET: Final = External("torch.utils.data.Dataset")
_MODULE: Final = External("torch.nn.Module")


@dataclass(frozen=True, slots=True)
class ChosenDraw:
    """A draw in the items of a data set of the class `cls`."""

    cls: ClassValue
    draw: Effect

    def links(self, depth: int) -> list[Link]:
        """From the class to the draw, as a trace shows it; it begins `depth` steps in."""
        event = self.draw.event
        home = Site(self.cls.frame.facts.path, self.cls.node.site)
        drawn = ", ".join(one.called for rng, one in generators().items() if rng in self.draw.rngs)
        return [
            Link(home, f"a data set that may be chosen for it: {self.cls.name}", depth),
            *event.chain,
            Link(event.site, f"draws from {drawn}: {event.name}"),
        ]


def draw_of_a_chosen_dataset(program: Program, loader: Loader, rngs: Set[str]) -> ChosenDraw | None:
    """The first draw from one of the global generators `rngs` in the items of a data set that the loader may be given,
    though nothing in sight gives it; None where what it is given is known, or none of the project's draws from them.
    """
    if not any(_is_open(program.ev, value) for value in loader.value("dataset")) or _is_part_of_a_library(
        program, loader
    ):
        return None
    for cls in _reachable(program, loader, _datasets(program)):
        draws = program.once(("draws of a chosen data set", cls, loader), partial(_draws, program, loader, cls))
        if (found := next((one for one in draws if one.draw.rngs & rngs), None)) is not None:
            return found
    return None


def _is_open(ev: Evaluator, value: Value) -> bool:
    """Whether a value, or what it wraps, may be any data set: it is unknown, or has no way to fetch an item, as the
    entry for a setting has in whose place the setting's value is put.
    """
    match value:
        case Instance(cls=cls):
            fetches = any(ev.attribute(value, name) for name in _FETCHES)
            return not fetches and not external_bases(ev, cls) and not has_unknown_base(ev, cls)
        case ExternalObject(name=name, arguments=arguments):
            if name in known_calls("makes_what_is_named"):
                return True
            known = external_callable(name)
            if known is None or arguments is None:
                return False
            for run in known.runs:
                if run.protocol in ("dataset", "datasets"):
                    given, _ = external_argument(arguments, known.parameters, run.parameter)
                    if any(_is_open(ev, one) for one in _parts(given)):
                        return True
            return False
    return value is UNKNOWN


def _is_part_of_a_library(program: Program, loader: Loader) -> bool:
    """Whether the loader is given a part of what a library gives: `torch.load("train.pt")["images"]`."""
    written = written_argument(loader.call, Parameter("dataset", 0))
    bindings = loader.scope.bindings.get(written.id, ()) if isinstance(written, tree.Name) else ()
    sources = [one.node for one in bindings] or [written]
    return all(_is_of_a_library(program.ev, source, loader.frame) for source in sources)


def _is_of_a_library(ev: Evaluator, source: object, frame: Frame) -> bool:
    while isinstance(source, (tree.Subscript, tree.Attribute)):
        source = source.value
    values = ev.values(source, frame) if isinstance(source, (tree.Name, tree.Call)) else frozenset()
    return bool(values) and all(isinstance(one, ExternalObject) and not _is_open(ev, one) for one in values)


def _parts(values: Values) -> Iterator[Value]:
    for value in values:
        yield from value.elements() if isinstance(value, SequenceValue) else (value,)


def _reachable(program: Program, loader: Loader, found: Sequence[ClassValue]) -> Iterator[ClassValue]:
    """Those of the classes that the program of a loader can reach; what it imports comes first."""
    programs = program.programs_of(loader.frame)
    own = program.imports.with_imports(programs)
    yield from (cls for cls in found if cls.frame.facts.path in own)
    if any(cls.frame.facts.path not in own for cls in found) and _finds_by_text(program, own):
        started = {entry.path for entry in entry_points(program)}
        for cls in found:
            path = cls.frame.facts.path
            if path not in own and not (program.imports.above(path) | {path}) & started:
                yield cls


def _finds_by_text(program: Program, files: Set[Path]) -> bool:
    """Whether one of the files imports modules, or looks for classes, by names that are not in the code."""
    facts = (program.facts(path) for path in sorted(files))
    return any(mentions_of(program, one).anything for one in facts if one is not None)


def _datasets(program: Program) -> tuple[ClassValue, ...]:
    """The project's own classes of data sets that say how an item is fetched; tests and copied code have none."""

    def find() -> Iterator[ClassValue]:
        for cls in _own_classes(program, program.project.matching(_NAMES_FETCHING)):
            if is_instance(program.ev, Instance(cls, None, None), _DATASET):
                yield cls

    return program.once("own data sets", lambda: tuple(find()))


def _draws(program: Program, loader: Loader, cls: ClassValue) -> list[ChosenDraw]:
    """The draws from global generators in the items of data sets of the class, and of those that derive from it, the
    nearest first.
    """
    program.ev.begin_question()
    made: dict[ClassValue, list[Instance]] = {}
    for instance in instances_of(program.ev, cls):
        made.setdefault(instance.cls, []).append(instance)
    found = [
        ChosenDraw(kind, draw)
        for kind, instances in made.items()
        for draw in _draws_of(program, loader, kind, values_of(*instances))
    ]
    return sorted(found, key=lambda one: len(one.draw.event.chain))


def _draws_of(program: Program, loader: Loader, cls: ClassValue, instances: Values) -> list[Effect]:
    if _is_for_training(cls.name) and is_of_an_evaluation(program, loader):
        return []
    run = worker_run(program.ev, loader, program.is_test, instances)
    draws = _draws_left(program, run)
    calls = [event for event in run.unresolved if _calls_what_it_is_given(event)]
    if draws or not calls:
        return draws
    for part in _reachable(program, loader, _parts_of_data_sets(program)):
        program.ev.begin_question()
        objects = values_of(*instances_of(program.ev, part))
        home = Link(Site(part.frame.facts.path, part.node.site), f"what may be called there: {part.name}")
        for called in calls:
            events = Walker(program.ev).calling(_callable_by(program.ev, objects, called))
            chain = (*called.chain, Link(called.site, called.note), home)
            after = tuple(
                replace(event, chain=(*chain, *event.chain))
                for event in events
                if not is_for_what_fails(program.ev, event)
            )
            if draws := _draws_left(program, WorkerRun(loader, after, False)):
                return draws
    return []


def _callable_by(ev: Evaluator, objects: Values, called: Event) -> Values:
    """Those of some objects whose `__call__` takes what a call gives: what mixes a batch, `mix(images, labels)`, is no
    step of a transform, `step(image)`.
    """
    if called.call is None or called.frame is None:
        return objects
    arguments = evaluate_arguments(ev, called.call.args, called.frame)
    return frozenset(one for one in objects if any(can_take(ev, v, arguments) for v in ev.attribute(one, "__call__")))


def _draws_left(program: Program, run: WorkerRun) -> list[Effect]:
    draws = [
        draw
        for rng in ("numpy", "python")
        if not seeds_itself(program.ev, run, rng)
        for draw in draws_left(program.ev, run, rng)
    ]
    return without_those_of_training(program, run.loader, draws)


def _calls_what_it_is_given(event: Event) -> bool:
    """Whether a call that could not be followed is of an object that the data set holds: `for step in self.steps`."""
    match event.call:
        case tree.Call(func=tree.Name() | tree.Attribute(value=tree.Name(id="self"))):
            return True
    return False


def _parts_of_data_sets(program: Program) -> tuple[ClassValue, ...]:
    """The project's own classes whose objects are called and are no modules, and that a configuration can name: a
    decorator registers them, or a configuration file of the project names them.
    """

    def find() -> Iterator[ClassValue]:
        program.project.outside[ALL_CONFIGURATIONS] = configurations_digest(program.root)
        named = words_below(program.root)
        for cls in _own_classes(program, program.project.files):
            if cls.node.name in named or is_registered(program.ev, cls.node, cls.frame):
                instance = Instance(cls, None, None)
                is_module = is_instance(program.ev, instance, _MODULE) is not False
                if not is_module and program.ev.attribute(instance, "__call__"):
                    yield cls

    return program.once("own parts of data sets", lambda: tuple(find()))


def _own_classes(program: Program, paths: Iterable[Path]) -> Iterator[ClassValue]:
    """The classes at the top level of files that are neither tests nor copied code."""
    for path in paths:
        if program.is_test(path) or is_copied(program, path) or (facts := program.facts(path)) is None:
            continue
        frame = program.ev.module_frame(facts)
        yield from (ClassValue(one, frame) for one in facts.body if isinstance(one, tree.ClassDef))


def _is_for_training(name: str) -> bool:
    return bool(function_words("means_training").search(name)) and not function_words("says_evaluation").search(name)

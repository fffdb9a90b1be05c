"""How the tool sees one loader: what it knows, by which way, and what it could not follow.

For users who doubt a finding or a silence. Everything is said in the words of the rules: what is proven, what is
unknown, and what an unknown thing counts as.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.program.evaluation import value_text
from torchrepro_lint.program.evaluation.values import Constant, ExternalObject, Site, Values
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import is_run_seed
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.reach import Event, Link
from torchrepro_lint.program.running.unresolved import reason
from torchrepro_lint.program.running.ways import ways
from torchrepro_lint.program.seeds.seeding import seeding_of
from torchrepro_lint.program.worker_seeds.dependence import Dependence, Term
from torchrepro_lint.program.worker_seeds.worker_init import InitRun, init_runs
from torchrepro_lint.program.workers.dataset_reseeding import reaches_dataset
from torchrepro_lint.program.workers.held_generators import drawn_objects
from torchrepro_lint.program.workers.library_rngs import library_draws
from torchrepro_lint.program.workers.managers import managing, seeds_its_workers
from torchrepro_lint.program.workers.ranks import distributed_start

__all__ = ["LoaderSummary", "Namer", "explain_loader", "summarised"]

Namer = Callable[[Path], str]
_GLOBALS = {"numpy": "NumPy's global RNG", "python": "Python's random module", "torch": "torch's default RNG"}
_TERMS = {
    Term.WORKER: "the worker id",
    Term.TORCH_SEED: "torch's seed of the worker",
    Term.SHARED_SEED: "the part of torch's seed that all workers share",
    Term.DRAW: "a draw from a generator that torch seeds",
    Term.NUMPY_WORD: "the first word of NumPy's state",
    Term.NUMPY_STATE: "NumPy's state",
    Term.ENTROPY: "entropy",
    Term.EPOCH: "the epoch or step",
    Term.UNKNOWN: "something that could not be followed",
}
_WIDTH = 16
_SHOWN = 5


def explain_loader(program: Program, loaders: Sequence[Loader], name: Namer) -> list[str]:
    """The view of the loaders that one call makes, each frame that differs on its own."""
    first = loaders[0]
    lines = [f"The loader at {program.places.shown(first.site, name)}: {_title(first)}"]
    views = list(dict.fromkeys(tuple(_View(program, loader, name).lines()) for loader in loaders))
    for number, view in enumerate(views, 1):
        if len(views) > 1:
            lines += ["", f"  in {len(views)} variants, depending on what its callers pass; variant {number}:"]
        lines += view
    return lines


@dataclass(frozen=True, slots=True)
class LoaderSummary:
    """A loader in one row of a table: where it is made, and in a few words what decides its randomness."""

    place: str
    title: str
    order: str
    workers: str
    generator: str
    init: str
    draws: str


def summarised(program: Program, loader: Loader, name: Namer) -> LoaderSummary:
    """A loader in one frame in a few words."""
    return _View(program, loader, name).summary()


def _title(loader: Loader) -> str:
    return f"{loader.cls.name}, a {loader.known.qualname}" if loader.cls is not None else loader.known.qualname


class _View:
    """The lines on one loader in one frame."""

    def __init__(self, program: Program, loader: Loader, name: Namer) -> None:
        self.program = program
        self.loader = loader
        self.name = name
        self.run = program.worker_run(loader)

    def lines(self) -> Iterator[str]:
        loader = self.loader
        for index, text in enumerate(self._dataset()):
            yield self._row("dataset" if index == 0 else "", text)
        yield self._row("order", self._order())
        yield self._row("workers", self._workers())
        yield self._row("start method", self._start_method())
        yield from self._init()
        yield self._row("generator", self._role("generator", "none: order and base seed come from torch's default RNG"))
        yield self._row("torch is seeded", self._seeding())
        start = distributed_start(self.program, loader)
        if start is not None:
            yield self._row("distributed", self._at(start))
        for manager, site in managing(self.program, loader):
            yield self._row("managed by", f"{manager.qualname} at {self._at(site)}")
        if seeds_its_workers(loader):
            yield self._row("managed by", f"{loader.known.qualname}, which seeds its workers")
        yield ""
        yield from self._randomness()
        yield from self._unresolved()

    def summary(self) -> LoaderSummary:
        loader = self.loader
        return LoaderSummary(
            place=self._at(loader.site),
            title=_title(loader),
            order=self._order(),
            workers=self._workers(),
            generator=self._role("generator", "none"),
            init=self._role("worker_init_fn", "none"),
            draws=", ".join(title for title, _ in self._draws()) or "nothing that was found",
        )

    def _row(self, label: str, text: str) -> str:
        return f"  {label:{_WIDTH}} {text}".rstrip()

    def _at(self, site: Site) -> str:
        return self.program.places.shown(site, self.name)

    def _dataset(self) -> Iterator[str]:
        values = self.loader.value("dataset")
        if not values:
            yield "none is passed"
        yield from value_text.described(values, self._at)

    def _role(self, role: str, missing: str) -> str:
        loader = self.loader
        if role not in loader.known.keywords:
            return "this loader takes none"
        if loader.lacks(role):
            return missing
        texts = [text for text in value_text.described(loader.value(role), self._at) if text != "None"]
        return " or ".join(texts) + (", or none" if loader.may_lack(role) else "")

    def _order(self) -> str:
        loader = self.loader
        for role in ("batch_sampler", "sampler"):
            if not loader.lacks(role):
                return f"{role}: {self._role(role, '')}"
        shuffle = loader.value("shuffle")
        return f"shuffle = {value_text.short(shuffle)}" + ("" if _is_known(shuffle) else ", which may be true")

    def _workers(self) -> str:
        loader, values = self.loader, self.loader.value("num_workers")
        text = value_text.short(values)
        if not loader.has_workers:
            return f"{text}: no worker processes; everything runs in the main process"
        persistent = " (persistent)" if value_text.short(loader.value("persistent_workers")) == "True" else ""
        return (text if _is_known(values) else f"{text}, which is assumed to be more than 0") + persistent

    def _start_method(self) -> str:
        return self._role(
            "multiprocessing_context", "the platform's default (Linux: fork, from Python 3.14 on forkserver)"
        )

    def _init(self) -> Iterator[str]:
        loader = self.loader
        yield self._row("worker_init_fn", self._role("worker_init_fn", "none: only torch seeds the workers"))
        for run in init_runs(self.program.ev, loader):
            for text in self._init_run(run):
                yield self._row("", f"  {text}")
        if not loader.lacks("worker_init_fn") and reaches_dataset(self.program, loader):
            yield self._row(
                "", "  it has access to the dataset, or may have: generators in the dataset count as reseeded"
            )

    def _init_run(self, run: InitRun) -> Iterator[str]:
        for seeding in run.seedings:
            rngs = ", ".join(sorted(_GLOBALS.get(rng, generators()[rng].called) for rng in seeding.rngs))
            yield f"seeds {rngs} at {self._at(seeding.site)} with {_depends(seeding.seed)}"
        if not run.seedings and run.library is None:
            yield f"{run.name} seeds nothing" + ("" if run.is_complete else " that could be followed")

    def _seeding(self) -> str:
        seeds = ((one, is_run_seed(self.program, one)) for one in seeding_of(self.program, self.loader))
        found = [self._at(one.site) + ("" if own else " (not for the run)") for one, own in seeds]
        if found:
            return ", ".join(dict.fromkeys(found[:_SHOWN]))
        if self._is_made_in_sight():
            return "nowhere in the programs that make this loader"
        return "unknown: no program in sight makes this loader"

    def _is_made_in_sight(self) -> bool:
        """Whether a call of the loader is reached from the body of a module that a program runs."""
        program, frame = self.program, self.loader.frame
        ends = (way[-1] for way in ways(program.ev, frame.facts, frame.scope, self.loader.site.number))
        running = frozenset().union(
            *(program.imports.above(end.facts.path) for end in ends if end.scope.parent is None)
        )
        return any(one.path in running for one in entry_points(program))

    # --- what the workers draw --------------------------------------------------------------------------------

    def _randomness(self) -> Iterator[str]:
        where = "the workers" if self.loader.has_workers else "the code that fetches items"
        groups = list(self._draws())
        if not groups:
            yield f"  No random draws were found in {where}."
            return
        yield f"  Random numbers in {where}:"
        for title, events in groups:
            yield f"    from {title}"
            for event in events[:_SHOWN]:
                yield f"      {event.name} at {self._at(event.site)}"
                yield from self._chain(event.chain)
            if len(events) > _SHOWN:
                yield f"      and {len(events) - _SHOWN} more"

    def _draws(self) -> Iterator[tuple[str, list[Event]]]:
        for rng, title in _GLOBALS.items():
            events = _by_site(draw.event for draw in self.run.draws_from(rng))
            if events:
                yield title, events
        held: dict[ExternalObject, list[Event]] = {}
        for event in self.run.events:
            for made in drawn_objects(event) if event.name else ():
                held.setdefault(made, []).append(event)
        for made, events in held.items():
            where = f" made at {self._at(made.site)}" if made.site is not None else ""
            yield f"a {made.name}{where}", _by_site(events)
        libraries: dict[str, list[Event]] = {}
        for draw in library_draws(self.program, self.loader):
            libraries.setdefault(draw.effect.package, []).append(draw.event)
        for package, events in libraries.items():
            yield f"a generator of {package}", _by_site(events)

    def _chain(self, chain: Sequence[Link]) -> Iterator[str]:
        before = ""
        for link in chain:
            text = f"        {self._at(link.site)}  {link.note}"
            if text != before:
                yield text
            before = text

    def _unresolved(self) -> Iterator[str]:
        events = _by_site(self.run.unresolved)
        if not events:
            return
        yield ""
        yield f"  Not followed ({len(events)}); what these calls run is unknown, and assumed to draw nothing:"
        for event in events[: 4 * _SHOWN]:
            yield f"    {self._at(event.site)}  {event.note}: {reason(self.program.ev, event)}"
        if len(events) > 4 * _SHOWN:
            yield f"    and {len(events) - 4 * _SHOWN} more"


# --- helpers --------------------------------------------------------------------------------------------------


def _depends(seed: Dependence) -> str:
    if seed.none:
        return "None, that is, from entropy"
    if not seed.terms:
        return "a value that is the same in every worker and every epoch"
    return ", ".join(_TERMS[term] for term in Term if term in seed.terms)


def _is_known(values: Values) -> bool:
    return bool(values) and all(isinstance(value, Constant) for value in values)


def _by_site(events: Iterable[Event]) -> list[Event]:
    """One event for each place, that with the shortest way, in the order of files and text."""
    best: dict[Site, Event] = {}
    for event in events:
        if event.site not in best or len(event.chain) < len(best[event.site].chain):
            best[event.site] = event
    return sorted(best.values(), key=lambda event: (str(event.site.path), event.site.number))

"""What draws an order or a split from torch's global generator, in all files of a project that somebody keeps.

    # train.py                                                      # finetune.py
    loader = DataLoader(images, shuffle=True, generator=g)  # fixed loader = DataLoader(crops, shuffle=True)  # left

Whoever reads that the first loader has a generator takes the project for done.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from torchrepro_lint.diagnostics import Location, Position
from torchrepro_lint.dotted import last_part
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.knowledge.searches import searches
from torchrepro_lint.program.evaluation.values import UNKNOWN, Site
from torchrepro_lint.program.ordering.samplers import gives_minibatches, unseeded_splits
from torchrepro_lint.program.orders.kept_listings import KEPT_LISTING_WORDS, kept_listings
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.for_others import is_copied, is_one_of_many, is_put_aside, shows_or_measures
from torchrepro_lint.program.repetition import is_run_elsewhere_alone, only_evaluates
from torchrepro_lint.program.running.fallbacks import stands_in_for
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.seeds.only_draws import is_the_only_draw
from torchrepro_lint.program.seeds.programs_in_part import SeededInPart, seeded_in_part
from torchrepro_lint.program.seeds.seeded_passes import is_seeded_before_each_pass
from torchrepro_lint.program.seeds.seeding import has_generator
from torchrepro_lint.program.word_index import any_word
from torchrepro_lint.program.workers.global_draws import (
    is_of_an_evaluation,
    serves_an_evaluation,
    shuffles_itself,
    surely_shuffles,
)
from torchrepro_lint.program.workers.managers import managing, seeds_its_workers, sets_order_of
from torchrepro_lint.rules.loader_rule import is_for_nothing, only_looks
from torchrepro_lint.source.text import split_lines

if TYPE_CHECKING:
    from torchrepro_lint.program.loaders.loaders import Loader

__all__ = ["Drawn", "Whole", "whole_of"]

What: TypeAlias = Literal["shuffling loader", "random sampler", "random split"]
#: A loader that shuffles, in the text of a file that has no syntax tree.
_SHUFFLES: Final = re.compile(rb"DataLoader\s*\((?:[^()]|\([^()]*\))*?\bshuffle\s*=(?!\s*False)")
_LISTING, _WORKERS, _LEFT_OUT = "TRL207", "TRL101", "TRL502"
#: What a file has in it in which one of these rules may find something: listings, cuDNN's switches, generators, seeds
#: and draws, and searches.
_PLACES: Final = {
    _LISTING: KEPT_LISTING_WORDS,
    "TRL203": any_word({"Generator"}),
    "TRL301": any_word({"benchmark"}),
    "TRL302": any_word({"deterministic"}),
    _LEFT_OUT: any_word({"seed", "manual_seed", "random"}),
    "TRL510": any_word({last_part(name) for name in searches()}),
}
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A place at which an order of samples, or a split of them, is drawn from torch's global generator.

    `is_aside`: it is in a file that was put aside. Such a place counts beside one that is written in the same `words`.
    """

    location: Location
    what: What
    is_aside: bool
    words: Counter[str]


@dataclass(frozen=True, slots=True)
class Whole:
    """What all files of a project draw from the global generator; where they list folders and keep the order; their
    loaders with workers of which it is not known what they run, and that have no worker init function; its programs
    that seed some generators and draw from others, each with its place; and the files that make loaders, splits and
    samplers, list folders, seed or name the benchmark mode, and are kept like the rest. `are_together` says of two
    files whether a program has both.
    """

    drawn: Sequence[Drawn]
    listed: Sequence[Location]
    workers: Sequence[Location]
    in_part: Sequence[tuple[Location, SeededInPart]]
    files: frozenset[Path]
    are_together: Callable[[Path, Path], bool]


def whole_of(program: object, compared: frozenset[str]) -> Whole:
    """What a project draws, whichever of its files are asked about, and the files of which findings of the rules
    `compared` count. What cannot be told counts: a loader with `shuffle=shuffle`, a function that nothing calls yet.
    Loaders are looked for only where a rule about them is one of these.

    A loader of an evaluation is one if it surely shuffles. None are programs that only evaluate or look at data, tests,
    the code of others, and whatever has an order that somebody else manages, in each release of the framework.
    """
    assert isinstance(program, Program)
    drawn: list[Drawn] = []
    files = {path for code in compared & _PLACES.keys() for path in program.project.matching(_PLACES[code])}
    if compared - _PLACES.keys():
        drawn += (*_loaders(program), *_splits(program), *_unreadable(program))
        files.update(loaders[0].facts.path for loaders in program.loader_sites)
        files.update(one.location.path for one in drawn)
    listed = list(_listings(program)) if _LISTING in compared else []
    workers = list(_unknown_workers(program)) if _WORKERS in compared else []
    in_part = list(_seeded_in_part(program)) if _LEFT_OUT in compared else []
    kept = frozenset(path for path in files if _is_kept(program, path))
    above = program.imports.above
    return Whole(
        drawn,
        listed,
        workers,
        in_part,
        kept,
        lambda one, other: one == other or not above(one).isdisjoint(above(other)),
    )


def _is_kept(program: Program, path: Path) -> bool:
    """Whether a file is one of those that are kept like the rest of the project: no test, no code of others, no
    documentation, no measurement of times, and no record of an experiment.
    """
    if program.is_test(path) or is_copied(program, path):
        return False
    return not (shows_or_measures(program, path) or is_one_of_many(program, path))


def _loaders(program: Program) -> Iterator[Drawn]:
    for loaders in program.loader_sites:
        first = loaders[0]
        program.ev.begin_question()
        if _is_kept(program, first.facts.path) and _draw_an_order(program, loaders):
            yield _at(program, first.site, "shuffling loader")


def _draw_an_order(program: Program, loaders: Sequence[Loader]) -> bool:
    first = loaders[0]
    drawing = [loader for loader in loaders if _draws_its_order(program, loader)]
    if all(is_of_an_evaluation(program, loader) and not surely_shuffles(program, loader) for loader in drawing):
        return False
    if is_for_nothing(program, first) or stands_in_for(parents_of(program.ev, first.facts), first.call, "generator"):
        return False
    if only_evaluates(program, first.site):
        return False
    if is_seeded_before_each_pass(program, first.facts, first.scope, first.call):
        return False
    if is_the_only_draw(program, first.facts, first.scope, first.call):
        return False
    return not (only_looks(program, first.site) or is_run_elsewhere_alone(program, first.site))


def _unknown_workers(program: Program) -> Iterator[Location]:
    """The loaders of a training whose data set nothing tells: their workers may draw from NumPy as others do."""
    for loaders in program.loader_sites:
        first = loaders[0]
        program.ev.begin_question()
        if not _is_kept(program, first.facts.path) or is_put_aside(program, first.facts.path):
            continue
        if not all(_is_unknown(program, loader) for loader in loaders):
            continue
        if is_for_nothing(program, first) or only_evaluates(program, first.site):
            continue
        if not (only_looks(program, first.site) or is_run_elsewhere_alone(program, first.site)):
            yield program.location(first.site)


def _is_unknown(program: Program, loader: Loader) -> bool:
    if not loader.has_workers or not loader.may_lack("worker_init_fn") or seeds_its_workers(loader):
        return False
    if is_of_an_evaluation(program, loader):
        return False
    datasets = loader.value("dataset")
    return (not datasets or UNKNOWN in datasets) and not any(
        "numpy" in one.workers for one, _ in managing(program, loader)
    )


def _draws_its_order(program: Program, loader: Loader) -> bool:
    if has_generator(loader) or not loader.may_lack("generator") or not shuffles_itself(program, loader):
        return False
    return not any(one.order and not one.order_varies for one, _ in managing(program, loader))


def _splits(program: Program) -> Iterator[Drawn]:
    for one in unseeded_splits(program, others=True):
        call = one.call
        program.ev.begin_question()
        if not _is_kept(program, call.site.path) or is_run_elsewhere_alone(program, call.site):
            continue
        if only_looks(program, call.site):
            continue
        if one.kind != "sampler":
            yield _at(program, call.site, "random split")
        elif not (
            sets_order_of(program, call.facts, call.scope, in_each_release=True)
            or serves_an_evaluation(program, call.facts, call.scope, call.call)
            or only_evaluates(program, call.site)
            or gives_minibatches(program, call)
        ):
            yield _at(program, call.site, "random sampler")


def _listings(program: Program) -> Iterator[Location]:
    for facts, call in kept_listings(program):
        site = Site(facts.path, call.site)
        if not _is_kept(program, site.path) or is_put_aside(program, site.path):
            continue
        if only_looks(program, site) or is_run_elsewhere_alone(program, site):
            continue
        if not only_evaluates(program, site) or _may_be_trained_with(program, site.path):
            yield program.location(site)


def _seeded_in_part(program: Program) -> Iterator[tuple[Location, SeededInPart]]:
    for one in seeded_in_part(program):
        if _is_kept(program, one.site.path) and not is_put_aside(program, one.site.path):
            yield program.location(one.site), one


def _may_be_trained_with(program: Program, path: Path) -> bool:
    """Whether a program that imports a file trains: it may use what is in it in a way that cannot be followed."""
    trains = program_words("trains")
    return any(program.project.holds(one, trains) for one in program.imports.above(path) if one != path)


def _unreadable(program: Program) -> Iterator[Drawn]:
    """The loaders that shuffle, by the text of files that are none of Python 3. One that is written in an editor just
    now may be none for a moment.
    """
    for path in program.project.matching(_SHUFFLES):
        if (
            path in program.project.overlay
            or program.facts(path) is not None
            or not _is_kept(program, path)
            or is_put_aside(program, path)
        ):
            continue
        source = program.project.source(path)
        found = _SHUFFLES.search(source.searched) if source is not None else None
        at = Position(source.searched.count(b"\n", 0, found.start()) + 1 if source is not None and found else 1, 1)
        yield Drawn(Location(path, at, at), "shuffling loader", is_aside=False, words=Counter())


def _at(program: Program, site: Site, what: What) -> Drawn:
    location = program.location(site)
    source = program.project.source(site.path)
    rows = split_lines(source.python)[location.start.row - 1 : location.end.row] if source is not None else []
    return Drawn(location, what, is_put_aside(program, site.path), Counter(_WORD.findall(" ".join(rows))))

"""The canonical seeding code for a loader of the program: what `seeding.py` inserts, planned from the facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.default_device import may_be_on_gpu_by_default
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of, function_of
from torchrepro_lint.fixes.early_samples import are_drawn_unseeded, restores_the_state
from torchrepro_lint.fixes.importable import existing_init, other_homes
from torchrepro_lint.fixes.kept_generators import why_none_is_kept
from torchrepro_lint.fixes.passed_seed import passed_seeds
from torchrepro_lint.fixes.program_seed import seed_surroundings, several_at
from torchrepro_lint.fixes.seeding import Declined, plan_worker_seeding
from torchrepro_lint.fixes.seeding_request import Constructor, LoaderNeeds, Ranks, Surroundings
from torchrepro_lint.fixes.unsafe_reasons import SAME_ORDER, STATE_RESTORED, UNSEEDED_WORKERS, Because
from torchrepro_lint.fixes.unseeded_calls import KnownLoaders
from torchrepro_lint.fixes.worker_lines import WorkerTarget
from torchrepro_lint.fixes.written_at import written_at
from torchrepro_lint.knowledge.loaders import GENERATOR_SINCE
from torchrepro_lint.knowledge.reseeding import loader_reseeding
from torchrepro_lint.program.evaluation.values import ClassValue, Site
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.ordering.samplers import UnseededSplit, unseeded_splits
from torchrepro_lint.program.programs.epoch_loops import iterated_beside
from torchrepro_lint.program.programs.frequency import Often, frequency, turns_of_its_own
from torchrepro_lint.program.programs.several import is_of_each_item, serves_several
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.seeds.only_draws import is_the_only_draw
from torchrepro_lint.program.seeds.seeded_passes import is_seeded_before_each_pass
from torchrepro_lint.program.seeds.seeding import has_generator, may_be_seeded
from torchrepro_lint.program.seeds.torch_seeds import torch_seed_at
from torchrepro_lint.program.workers.global_draws import (
    brings_a_sampler,
    is_of_an_evaluation,
    serves_an_evaluation,
    shuffles_itself,
)
from torchrepro_lint.program.workers.index_seeds import draws_left
from torchrepro_lint.program.workers.managers import managing, may_seed_its_dataset
from torchrepro_lint.program.workers.ranks import distributed_start, trains_on_one_device

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.program import Program

__all__ = [
    "asks_for_generator",
    "is_distributed",
    "loader_fix",
    "may_share_worker_seeds",
    "surroundings",
    "why_no_generator",
    "why_rewritten",
]

_DISTRIBUTED = re.compile(rb"init_process_group|DistributedSampler|DistributedDataParallel")
#: Lightning starts a process for each device, by an argument of its Trainer that may be anywhere.
_LIGHTNING = re.compile(rb"\bLightning(?:Data)?Module\b")
_SEEDED_ANEW = "torch is seeded before each pass over this loader, so that all see one order; a generator would go on"
_NO_EFFECT = "torch is seeded above in this function, and nothing else draws from it: a generator would change nothing"


def loader_fix(
    program: Program,
    loader: Loader,
    *,
    init: bool,
    generator: bool,
    also_seeds: Sequence[WorkerTarget] = (),
    by_rank: bool = False,
    is_counted: bool = False,
    anywhere: bool = False,
) -> tuple[Fix | None, str | None]:
    """The fix that passes a worker init function and a seeded generator to the loader, or why there is none.

    `also_seeds`: what the function has to seed beside the global generators. `by_rank`: the generator has another seed
    on each rank. `is_counted`: for the seed of another loader, which is not to be the same. Neither for a loader in a
    file that nobody asks about, unless `anywhere`.
    """
    if not anywhere and not program.is_asked(loader.facts.path):
        return None, None
    wanted = [name for name, asked in (("worker_init_fn", init), ("generator", generator)) if asked]
    known = loader.known
    if generator and (reason := why_no_generator(program, loader.facts.path, GENERATOR_SINCE)) is not None:
        if not init:
            return None, reason
        generator = False
        wanted.remove("generator")
    if (init and not known.takes_worker_init_fn) or (generator and not known.takes_generator):
        return None, f"{known.qualname} takes no {' or '.join(wanted)}"
    if any(known.keywords.get(name) != name for name in wanted):  # type: ignore[call-overload]
        return None, f"{known.qualname} names its arguments differently"
    if loader.is_handed_on_to and not _subclass_takes(program, loader, wanted):
        assert loader.cls is not None
        return None, f"{loader.cls.name} does not hand {' and '.join(wanted)} on to DataLoader"
    at = written_at(program, loader, wanted)
    if isinstance(at, Declined):
        return None, at.reason
    if at.shared and generator:
        if not init:
            return None, at.shared
        generator = False
        wanted.remove("generator")
    path = at.facts.path
    document = document_of(program, path)
    call = document.node_at(*program.parsed(path).span(at.call.site), cst.Call)
    if call is None:
        return None, "the call could not be located"
    if init and generator and not also_seeds and not torch_seed_at(program, loader.site).seeded:
        # The init function is what the workers need; a seed, which nobody chose, is not.
        generator = False
        wanted.remove("generator")
    if generator and is_seeded_before_each_pass(program, loader.facts, loader.scope, loader.call):
        if not init:
            return None, _SEEDED_ANEW
        generator = False
        wanted.remove("generator")
    if generator and not (init or by_rank) and is_the_only_draw(program, loader.facts, loader.scope, loader.call):
        return None, _NO_EFFECT
    if init:
        also_seeds = (*_seeding_of_its_own(loader), *also_seeds)
    starts_ranks = _starts_ranks(program, loader)
    needs = LoaderNeeds(
        init=init,
        generator=generator,
        existing_init=existing_init(program, path) if init and not also_seeds else None,
        also_seeds=also_seeds,
        workers_draw=loader.has_workers
        and (not loader.lacks("worker_init_fn") or program.worker_run(loader).draws_anything()),
        may_hold=at.may_hold,
    )
    has_ranks = starts_ranks or is_distributed(program, path)
    ranks = Ranks(mentioned=has_ranks and not _are_kept_apart(program, loader), started=starts_ranks, in_seed=by_rank)
    around = surroundings(program, document, at.facts, at.scope, at.call.site)
    plan = plan_worker_seeding(document, call, needs, around, ranks, is_counted=is_counted)
    if init and generator and not is_counted and (isinstance(plan, Declined) or plan.is_to_be_read):
        # Without a generator the loader draws from torch's, as before: the workers get what they need all the same.
        alone = plan_worker_seeding(document, call, replace(needs, generator=False), around, ranks)
        if not isinstance(alone, Declined):
            plan, wanted = alone, ["worker_init_fn"]
    if isinstance(plan, Declined):
        return None, plan.reason
    words = {"worker_init_fn": "a worker init function", "generator": "a seeded generator"}
    message = f"Pass {' and '.join(words[name] for name in wanted)}"
    after = other_homes(program, path) if init and not also_seeds else frozenset()
    because = plan.because or (_why_half(program, loader, path, wanted) if "generator" in wanted else None)
    return Fix.checked(message, plan.edits, because, after), None


def _why_half(program: Program, loader: Loader, path: Path, wanted: Sequence[str]) -> Because | None:
    """Why a generator alone is half of what the program needs; None where it is all."""
    if wanted == ["generator"] and are_drawn_unseeded(program, loader):
        return UNSEEDED_WORKERS
    if restores_the_state(program, path):
        return STATE_RESTORED
    return SAME_ORDER if _is_beside_one_of_another_file(program, loader) else None


def _is_beside_one_of_another_file(program: Program, loader: Loader) -> bool:
    """Whether a loop goes through a loader together with one that another file makes and gives no generator."""
    others = {site for site in iterated_beside(program, loader) if site.path != loader.site.path}
    return bool(others) and any(
        loaders[0].site in others and any(one.may_lack("generator") for one in loaders)
        for loaders in program.loader_sites
    )


def why_rewritten(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call, since: str) -> str:
    """Why a call that takes a generator `since` a release of torch, and is given none by a fix, would not be given one
    by hand either; "" where it may be. Where it is only unknown what calls it, somebody may know.
    """
    if program.target.supports_below(since):
        return "a generator would need a newer torch"
    if may_be_on_gpu_by_default(program, facts.path):
        return "the program may create tensors on the GPU by default, and so generators too"
    often = frequency(program, facts, scope, call.site).often
    if often is not Often.UNKNOWN:
        again = "its place runs again in one training"
        return again if often is Often.AGAIN else "the call would have to be rewritten to take a generator"
    if not torch_seed_at(program, Site(facts.path, call.site)).always:
        return "torch may not be seeded before it"
    return ""


def why_no_generator(program: Program, path: Path, since: str) -> str | None:
    """Why what takes a generator since a release of torch is given none in a file; None where it may be given one."""
    if may_be_on_gpu_by_default(program, path):
        return "the program may create tensors on the GPU by default, where torch refuses a generator of the CPU"
    if not program.target.supports_below(since):
        return None
    target = program.target
    origin = "the setting `target-torch`" if target.origin == "target-torch" else target.origin
    return f"{origin} admits torch < {since} (`{target.specifier}`), which takes no generator here"


def _seeding_of_its_own(loader: Loader) -> Iterator[WorkerTarget]:
    """What the loader's class does in its workers only as long as it is given no worker init function."""
    reseeding = loader_reseeding(loader.known.package) if may_seed_its_dataset(loader) else None
    if reseeding is not None:
        yield WorkerTarget(reseeding)


def surroundings(program: Program, document: Document, facts: ModuleFacts, scope: Scope, site: int) -> Surroundings:
    """What is known about the program around the call at `site` in `scope`, which gets a generator; `document` is the
    one that is planned with, whose nodes no other has.
    """
    again, constructor = _repetition(program, facts, scope, site)
    spans = program.parsed(facts.path)
    return replace(
        seed_surroundings(program, facts.path, passed_seeds(program, facts, scope)),
        again=again,
        shared=bool(again) and serves_several(program, facts, scope, site),
        several=several_at(program, facts.path, _idle_frames(program, facts.path, site)),
        of_each_item=is_of_each_item(program, facts, scope, site),
        own_turns=frozenset(spans.span(loop) for loop in turns_of_its_own(program, facts, scope, site)),
        constructor=constructor,
        known=_known_loaders(program, document),
    )


def _idle_frames(program: Program, path: Path, site: int) -> frozenset[Frame]:
    """Those frames of a call in which its loaders draw nothing: `make_loader(val_set, shuffle=False)`."""
    by_site = program.once("loaders by site", lambda: {loaders[0].site: loaders for loaders in program.loader_sites})
    here = by_site.get(Site(path, site), ())
    drawing = {one.frame for one in here if _may_draw(program, one)}
    return frozenset(one.frame for one in here) - drawing


def _repetition(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> tuple[str, Constructor | str]:
    """Why the function around a call may run again in one training ("" where it runs once, or begins each time with the
    seed of torch that it sets), and the constructor of the object whose method it is, or why that keeps no generator.
    """
    function = function_of(scope)
    if function is None or frequency(program, facts, scope, site).often is Often.ONCE:
        return "", ""
    assert isinstance(function.node, tree.FunctionDef)
    found = frequency(program, facts, function, function.node.body[0].site)
    if found.often is Often.ONCE or torch_seed_at(program, Site(facts.path, site)).each_call:
        return "", ""
    cls = function.parent
    if cls is None or not isinstance(cls.node, tree.ClassDef) or cls.parent is None:
        return found.reason, "it is in no method of an object"
    init = next((one for one in cls.children if one.name == "__init__"), None)
    if init is None or not isinstance(init.node, tree.FunctionDef):
        return found.reason, "its class has no `__init__`"
    # One of `pass` alone has no statement.
    made = frequency(program, facts, init, init.node.body[0].site if init.node.body else init.node.site)
    if made.often is not Often.ONCE:
        return found.reason, "" if function is init else f"{made.reason}, where the generator would be made"
    value = ClassValue(cls.node, frame_without_callers(program.ev, facts, cls.parent))
    declined = why_none_is_kept(program, value)
    if declined is not None:
        return found.reason, declined
    return found.reason, Constructor(
        program.parsed(facts.path).span(init.node.site),
        passed_seeds(program, facts, init),
    )


def _known_loaders(program: Program, document: Document) -> KnownLoaders:
    """The calls in a document that make loaders."""
    path = document.path

    def find() -> tuple[Set[tuple[int, int]], Set[tuple[int, int]]]:
        spans = program.parsed(path)
        made = {one.made_by for loaders in program.loader_sites for one in loaders if one.made_by is not None}
        known = {spans.span(site.number) for site in made if site.path == path}
        here = [one for one in program.loader_sites if one[0].facts.path == path]
        known |= {spans.span(one[0].call.site) for one in here}
        idle = {spans.span(one[0].call.site) for one in here if not any(_may_draw(program, loader) for loader in one)}
        return known, idle

    known, idle = program.once(("known loaders", path), find)

    def drawn() -> Set[tuple[int, int]]:
        spans = program.parsed(path)
        here = (one for one in _unseeded_splits(program) if one.call.facts.path == path)
        return {spans.span(one.call.call.site) for one in here if _is_reported(program, one)}

    def safety(span: tuple[int, int]) -> Applicability | None:
        spans = program.parsed(path)
        here = (one for one in program.loader_sites if one[0].facts.path == path)
        loader = next((one[0] for one in here if spans.span(one[0].call.site) == span), None)
        if loader is None:  # what makes an object of a class that gets one where it initialises its base
            return None
        fix = (
            None
            if _takes_none(program, loader)
            else loader_fix(program, loader, init=_lacks_init(program, loader), generator=True, is_counted=True)[0]
        )
        return fix.applicability if fix is not None else None

    kept = program.places.made(path)
    loaders = kept.get(KnownLoaders)
    if not isinstance(loaders, KnownLoaders) or loaders.document is not document:
        loaders = kept[KnownLoaders] = KnownLoaders(
            document, known, idle, safety, program.once(("drawn splits", path), drawn)
        )
    return loaders


def _takes_none(program: Program, loader: Loader) -> bool:
    """Whether no rule asks for a generator: a sampler has the order, and torch's seed is that of the workers."""
    return brings_a_sampler(loader) and may_be_seeded(program, loader) and not _lacks_init(program, loader)


def _unseeded_splits(program: Program) -> Sequence[UnseededSplit]:
    return program.once("unseeded splits", lambda: tuple(unseeded_splits(program, others=True)))


def _is_reported(program: Program, split: UnseededSplit) -> bool:
    call = split.call
    if split.kind != "sampler" or program.strict or program.is_chosen("TRL202", "split-or-sampler-without-generator"):
        return True
    return not serves_an_evaluation(program, call.facts, call.scope, call.call)


def _lacks_init(program: Program, loader: Loader) -> bool:
    """Whether workers draw what torch does not seed for them: the fix for that brings a generator as well."""
    if not loader.has_workers or not loader.may_lack("worker_init_fn") or not program.target.admits_below("1.9"):
        return False
    return bool(draws_left(program.ev, program.worker_run(loader), "numpy"))


def _may_draw(program: Program, loader: Loader) -> bool:
    """Whether a loader has, or could use, a generator: for its order, or for the seeds of workers that draw, unless
    nobody asks about those of an evaluation.
    """
    if not loader.lacks("generator"):
        return True
    if not asks_for_generator(program, loader):
        return False
    if shuffles_itself(program, loader):
        return True
    return loader.has_workers and program.worker_run(loader).draws_anything() and not _takes_none(program, loader)


def asks_for_generator(program: Program, loader: Loader) -> bool:
    """Whether a loader without a generator is one of those of which TRL201 speaks: none of an evaluation, unless that
    is asked for.
    """
    if has_generator(loader) or any(manager.order for manager, _ in managing(program, loader)):
        return False
    is_reported = program.strict or program.is_chosen("TRL201", "dataloader-without-generator")
    return is_reported or not is_of_an_evaluation(program, loader)


def _subclass_takes(program: Program, loader: Loader, wanted: list[str]) -> bool:
    """Whether the `__init__` of a project subclass passes such keywords on."""
    assert loader.cls is not None
    from torchrepro_lint.program.evaluation.attributes import find_method
    from torchrepro_lint.program.evaluation.values import FunctionValue

    found = find_method(program.ev, loader.cls, "__init__")
    if found is None:
        return True
    for value in found[1]:
        if isinstance(value, FunctionValue):
            names = {param.name for param in value.node.params}
            spreads = any(param.kind == "double-star" for param in value.node.params)
            return spreads or all(name in names for name in wanted)
    return False


def may_share_worker_seeds(program: Program, loader: Loader) -> bool:
    """Whether several ranks may create a loader whose workers get their seeds from torch, seeded alike on each rank."""
    if not _starts_ranks(program, loader) and not is_distributed(program, loader.facts.path):
        return False
    seed = torch_seed_at(program, loader.site)
    return not _are_kept_apart(program, loader) and (has_generator(loader) or (seed.seeded and not seed.by_rank))


def _are_kept_apart(program: Program, loader: Loader) -> bool:
    """Whether a framework seeds the workers, and adds the rank to their seeds."""
    return any(manager.workers for manager, _ in managing(program, loader))


def _starts_ranks(program: Program, loader: Loader) -> bool:
    """Whether it is known that the loader's program may start several ranks."""
    if distributed_start(program, loader) is not None:
        return True
    path = loader.facts.path
    return program.imports.any_together(path, _LIGHTNING) and not trains_on_one_device(
        program, program.imports.together(path)
    )


def is_distributed(program: Program, path: Path) -> bool:
    """Whether the programs that run a file start several ranks."""
    return program.imports.any_together(path, _DISTRIBUTED)

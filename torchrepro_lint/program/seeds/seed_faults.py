"""Seeds of the main process that differ in every run: which, where from, and whether the run can tell its seed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import SeedingCall, seeding_call
from torchrepro_lint.program.evaluation.attributes import external_bases
from torchrepro_lint.program.evaluation.conditions import is_none
from torchrepro_lint.program.evaluation.values import ClassValue, Site
from torchrepro_lint.program.intent.intent import Evidence, settings_in
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.intent.kept_states import is_undone
from torchrepro_lint.program.intent.seed_entropy import Entropy, entropy_of
from torchrepro_lint.program.intent.told_seeds import root_of, tells_seed
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.programs.worker_seedings import is_for_workers_alone, runs_in_workers_alone
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.running.parents import Node, parents_of
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.ways import chosen_by
from torchrepro_lint.program.seeds.drawn_seeds import drawn_seed
from torchrepro_lint.program.seeds.fallback_seeds import is_fallback
from torchrepro_lint.program.seeds.given_back import is_given_back
from torchrepro_lint.program.seeds.overridden_seeds import is_overridden
from torchrepro_lint.program.seeds.own_seeds import own_seeds

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.program import Program

__all__ = [
    "ChangingSeed",
    "changing_seeds",
    "ends_a_region",
    "is_drawn",
    "is_fresh_by_choice",
    "is_innocent",
    "is_recorded",
    "is_stand_in",
    "wants_fresh_numbers",
]

#: They turn what they are given into an `int`.
_RAISE_FOR_NONE: Final = frozenset({"torch.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all"})
#: The generators that are there without being made.
_DRAWN_FROM: Final = frozenset({"python", "numpy", "torch"})
#: A text in which a seed is put that settings hold: `str(params["base"]["seed"])`, `f"run_{config['seed']}"`.
_IN_A_TEXT: Final = re.compile(rb"""(?:\bstr\(|\{)[^(){}\n]*\[\s*["']\w*seed["']\s*\]""")


@dataclass(frozen=True, slots=True)
class ChangingSeed:
    """A seeding call whose seed differs in every run. `source` is None where no seed is given at all.

    Where the call makes a generator of the program's own, `seeded` is the call that seeds the program, and `drawn` the
    chain to what is drawn from that generator.
    """

    seeding: Evidence
    source: Entropy | None
    fallback: bool
    seeded: Evidence | None = None
    drawn: tuple[Link, ...] = ()

    @property
    def site(self) -> Site:
        return self.source.site if self.source is not None else self.seeding.site


def changing_seeds(program: Program) -> Iterator[ChangingSeed]:
    """All of them, one for each place from which a seed comes, in the order of files and text."""
    found: dict[Site, ChangingSeed] = {}
    for one in chain(program.evidence, own_seeds(program)):
        if one.effect != "seed" or not isinstance(one.node, tree.Call):
            continue
        program.ev.begin_question()
        fault = _fault(program, one)
        if fault is None or is_innocent(program, one):
            continue
        if (fault.fallback and _is_told(program, fault)) or _is_made_in_workers(program, fault):
            continue
        if fault.seeded is None and is_overridden(program, one):
            continue
        if program.ev.exhausted:
            continue  # who calls it, and under which conditions, is not known
        known = found.get(fault.site)
        if known is None or (known.fallback and not fault.fallback):
            found[fault.site] = fault
    given = {
        Site(one.seeding.site.path, node.site)
        for one in found.values()
        if one.source is not None and one.seeding.value is not None
        for node in walk([one.seeding.value])
    }
    # `manual_seed(torch.seed())`: the inner call is what the outer one is reported for.
    reported = {at: one for at, one in found.items() if one.source is not None or at not in given}
    yield from (reported[at] for at in program.asked_in_order(reported, lambda at: (found[at].seeding.site,)))


def _fault(program: Program, one: Evidence) -> ChangingSeed | None:
    known = seeding_call(one.name)
    assert isinstance(one.node, tree.Call)
    if known is None:
        source = entropy_of(program.ev, one.value, one.frame) if one.value is not None else None
        return ChangingSeed(one, source, source.fallback or is_fallback(program, one)) if source is not None else None
    if known.seed_parameter is None or (one.name.endswith(".seed") and one.name.startswith("torch.")):
        # With an argument it raises: that is not a seed from the system.
        return ChangingSeed(one, None, is_fallback(program, one)) if not one.node.args else None
    written = one.value
    if written is None:
        given, _ = argument(
            program.ev.arguments(settings_in(one.node, known.within), one.frame),
            *_named(known.seed_parameter),
        )
        if given or known.default is not None or _is_elaborate(known):
            return None
        return ChangingSeed(one, None, is_fallback(program, one))
    source = entropy_of(program.ev, written, one.frame)
    if source is not None:
        return ChangingSeed(one, source, source.fallback or is_fallback(program, one))
    drawn = drawn_seed(program, one)
    if drawn is not None:
        fault = ChangingSeed(one, drawn, drawn.fallback or is_fallback(program, one))
        return None if _is_told(program, fault) else fault
    if known.default is None and not _is_elaborate(known) and _is_always_none(program, one, written):
        return ChangingSeed(one, None, is_fallback(program, one))
    return None


def _named(parameter: object) -> tuple[str, int | None]:
    return parameter.name, parameter.position  # type: ignore[attr-defined]


def _is_elaborate(known: SeedingCall) -> bool:
    """Frameworks' helpers without a seed: what most then take differs between their versions."""
    return not known.fresh and known.qualname not in (
        "random.seed",
        "numpy.random.seed",
        "torch.default_generator.manual_seed",
    )


def _is_always_none(program: Program, one: Evidence, written: tree.Expr) -> bool:
    ev = program.ev
    frames = contexts(ev, one.frame.facts, one.frame.scope)
    values = [
        ev.values(written, frame)
        for frame in frames
        if ev.may_run(one.site.number, one.path, frame) and not _is_passed_over(program, one, frame)
    ]
    if not values or not all(found and all(is_none(value) is True for value in found) for found in values):
        return False
    return not _raises_for_none(program, one, written)


def _raises_for_none(program: Program, one: Evidence, written: tree.Expr) -> bool:
    """Whether torch is seeded with the same where this runs, which raises TypeError for None: no run goes on without a
    seed.
    """
    name = dotted_name(written)
    return name is not None and any(
        other.name in _RAISE_FOR_NONE
        and other.frame.scope is one.frame.scope
        and set(other.path) <= set(one.path)
        and other.value is not None
        and dotted_name(other.value) == name
        and not any(binding.kind == "assign" for binding in one.frame.scope.bindings.get(name, ()))
        for other in program.evidence_in(one.site.path)
    )


def _is_passed_over(program: Program, one: Evidence, frame: Frame) -> bool:
    """Whether the call is in the arm of a conditional that does not run in this frame."""
    node: Node = one.node
    for above in parents_of(program.ev, frame.facts).around(one.node):
        if isinstance(above, tree.Conditional) and above.test is not node:
            if program.ev.truth(above.test, frame) is (above.body is not node):
                return True
        node = above
    return False


def ends_a_region(program: Program, fault: ChangingSeed) -> bool:
    """Whether `torch.seed()` stands below a call in its function that seeds torch with a number, and in no loop of it:
    what is between is to be the same each time, and the rest is not.
    """
    one = fault.seeding
    if one.name != "torch.seed" or any(branch in one.frame.scope.loops for branch, _ in one.path):
        return False
    return any(
        other.effect == "seed"
        and other.frame.scope is one.frame.scope
        and other.site.number < one.site.number
        and other.value is not None
        and bool(one.seeds & other.seeds)
        for other in program.evidence_in(one.site.path)
    )


def is_drawn(fault: ChangingSeed) -> bool:
    """Whether a seed is drawn from a generator of Python's, NumPy's or torch's that is there without being made."""
    name = fault.source.name if fault.source is not None else ""
    return any(effect.kind == "draw" and effect.rng in _DRAWN_FROM for effect in rng_effects(name))


def wants_fresh_numbers(program: Program, fault: ChangingSeed) -> bool:
    """Whether a seed is given anew, by the names of the functions that run it or of the options that they ask for, for
    a search or a self-test in a program that seeds its run besides.
    """
    fresh = function_words("wants_fresh_numbers")
    ways = ways_of(program, fault.seeding)
    is_in_function = bool(ways) and all(any(fresh.search(waypoint.scope.name) for waypoint in way) for way in ways)
    if not is_in_function and not chosen_by(ways, fresh, wanted=True):
        return False
    others = program.evidence_in_programs_of(fault.seeding.frame)
    return any(one.effect == "seed" and one.site != fault.seeding.site and _has_a_seed(one) for one in others)


def _has_a_seed(one: Evidence) -> bool:
    known = seeding_call(one.name)
    return one.value is not None or (known is not None and known.default is not None)


# --- what is not a fault ---------------------------------------------------------------------------------------------


def is_innocent(program: Program, one: Evidence) -> bool:
    """Whether a seeding call may use another seed each time: that of a test, a worker or an environment, or a mock."""
    if program.is_test(one.site.path) or isinstance(one.frame.scope.node, tree.Lambda) or is_stand_in(program, one):
        return True
    if is_undone(program.ev, one.frame.scope, one.site.number) or is_given_back(program, one):
        return True
    return is_for_workers_alone(program, one) or any(
        _is_environment(program, waypoint.facts, waypoint.scope) for way in ways_of(program, one) for waypoint in way
    )


def is_stand_in(program: Program, one: Evidence) -> bool:
    """Whether the file assigns over the function: what is called may be a stand-in."""
    assert isinstance(one.node, tree.Call)
    func, facts = one.node.func, one.frame.facts
    if not isinstance(func, tree.Attribute):
        return False
    stored = program.ev.of_text(("stored-attributes", id(facts)), lambda: _stored_attributes(facts))
    return root_of(func) is not None and (root_of(func), func.attr) in stored


def _stored_attributes(facts: ModuleFacts) -> frozenset[tuple[str | None, str]]:
    """The attributes that a file assigns to, each with the name that its expression begins with."""
    stores = (store.target for scope in facts.walk_scopes() for store in scope.stores)
    return frozenset((root_of(target), target.attr) for target in stores if isinstance(target, tree.Attribute))


def _is_made_in_workers(program: Program, fault: ChangingSeed) -> bool:
    """Whether a worker init function makes the seed, and passes it to a helper that seeds elsewhere as well."""
    made = fault.source.frame if fault.source is not None else None
    return made is not None and runs_in_workers_alone(program, made.facts, made.scope)


def _is_environment(program: Program, facts: object, scope: Scope) -> bool:
    """Whether a scope is of an environment of reinforcement learning, which may want another seed for each game."""
    current: Scope | None = scope
    while current is not None:
        node = current.node
        if isinstance(node, tree.ClassDef):
            frame = program.ev.module_frame(facts)  # type: ignore[arg-type]
            bases = external_bases(program.ev, ClassValue(node, frame))
            if function_words("is_an_environment").search(node.name) or any(
                name.startswith(("gym.", "gymnasium.")) for name in bases
            ):
                return True
        current = current.parent
    return False


def is_fresh_by_choice(program: Program, one: Evidence) -> bool:
    """Whether a seeding call always takes a number of its own, which the program tells: it is to be another run each
    time, and the number is kept for a look back.
    """
    if one.value is None or not isinstance(one.node, tree.Call) or is_fallback(program, one):
        return False
    source = entropy_of(program.ev, one.value, one.frame) or drawn_seed(program, one)
    if source is None or source.fallback:
        return False
    return _is_told(program, ChangingSeed(one, source, fallback=False), returned=False)


# --- a seed that is told ------------------------------------------------------------------------------------------


def is_recorded(program: Program, fault: ChangingSeed) -> bool:
    """Whether a seed of the clock or the system is printed or saved where it is chosen or set: its run can be repeated
    by whoever writes that number there.
    """
    return fault.source is not None and _is_told(program, fault, returned=False)


def _is_told(program: Program, fault: ChangingSeed, *, returned: bool = True) -> bool:
    """Whether the function that chooses the seed, or seeds with it, or calls the one that does, prints or keeps it."""
    scopes: dict[int, Scope] = {}
    homes = [(fault.seeding.frame.facts, fault.seeding.frame.scope)]
    if fault.source is not None:
        homes.append((fault.source.frame.facts, fault.source.frame.scope))
    for facts, scope in homes:
        scopes[id(scope)] = scope
        if isinstance(scope.node, tree.FunctionDef):
            for one in calling_places(program.ev, facts, scope):
                scopes[id(one.scope)] = one.scope
    told = any(tells_seed(scope, returned=returned) for scope in scopes.values())
    return told or any(_names_results_after(program, fault, scope) for scope in scopes.values())


def _names_results_after(program: Program, fault: ChangingSeed, scope: Scope) -> bool:
    """Whether a function puts the seed into settings, and its program makes a text of it there: the name of a folder of
    results, mostly.
    """
    called_a_seed = function_words("is_a_seed").search
    kept = (store.target for store in scope.stores if isinstance(store.target, tree.Subscript))
    keys = (target.index for target in kept)
    if not any(isinstance(key, tree.Const) and isinstance(key.value, str) and called_a_seed(key.value) for key in keys):
        return False
    return program.imports.any_together(fault.seeding.frame.facts.path, _IN_A_TEXT)

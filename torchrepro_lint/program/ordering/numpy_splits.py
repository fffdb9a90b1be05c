"""Splits that draw from NumPy's global generator where they have no seed of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.values import Constant, Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.loaders.worker_runs import argument, condition_holds
from torchrepro_lint.program.ordering.table_names import parts_by_names
from torchrepro_lint.program.ordering.table_parts import goes_to_a_part, same_rows
from torchrepro_lint.program.orders.order_places import name_uses
from torchrepro_lint.program.orders.permutations import part_names
from torchrepro_lint.program.programs.import_seeds import import_seeds
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.foreign_seeding import calls_foreign_seeding
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.ways import Way, is_followed_by, ways

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["NumpySplit", "may_seed_numpy_unseen", "numpy_splits", "seeding_before"]


@dataclass(frozen=True, slots=True, eq=False)
class NumpySplit:
    """A split without a seed of its own; `parameter` is the one that takes it, None where nothing does."""

    call: KnownCall
    parameter: Parameter | None


def numpy_splits(program: Program, *, others: bool = False) -> Iterator[NumpySplit]:
    """The splits that are left to NumPy's global generator, in the order of files and text: those in files whose
    findings somebody waits for, with `others` in all files.
    """
    found: dict[Site, NumpySplit] = {}
    samples = ordering_names("table_samples")
    for group in asked_calls(program, ordering_names("numpy_splits") | samples, others=others):
        for call in group:
            if call.name in samples and not (_parts_a_table(program, call) or _parts_by_names(program, call)):
                break
            if isinstance(parents_of(program.ev, call.facts).of(call.call), tree.ExprStmt):
                break  # nothing is split by what is made and dropped
            split = _unseeded(call)
            if split is not None:
                found[call.site] = split
                break
    yield from sorted(found.values(), key=lambda one: (str(one.call.facts.path), one.call.call.site))


def _unseeded(call: KnownCall) -> NumpySplit | None:
    """The call as a split, where it is proven to draw without a seed."""
    for effect in rng_effects(call.name):
        if effect.kind != "draw" or effect.rng != "numpy":
            continue
        parameter = effect.generator_parameter
        others = effect.when
        if parameter is not None:
            given, values = argument(call.arguments, parameter.name, parameter.position)
            if given and not (values and all(isinstance(v, Constant) and v.value is None for v in values)):
                continue
            others = tuple(condition for condition in others if condition.parameter != parameter.name)
        if all(condition_holds(condition, call.arguments) for condition in others):
            return NumpySplit(call, parameter)
    return None


def _parts_a_table(program: Program, call: KnownCall) -> bool:
    """Whether `df.sample(...)` is one part of a table: named so, or the rest is taken by `df.drop(part.index)`; or
    whether it is what is cut into the parts.
    """
    parents = parents_of(program.ev, call.facts)
    statement = parents.statement(call.call)
    if not isinstance(statement, tree.Assign):
        return False
    if statement.value is not same_rows(parents, call.call):
        return goes_to_a_part(parents, call.call) and not _takes_its_place(call, statement)
    if any(isinstance(target, tree.Name) and _is_cut(program, call, target) for target in statement.targets):
        return True
    names = [target.id for target in statement.targets if isinstance(target, tree.Name)]
    if any(part_names(target) for target in statement.targets) and not _takes_its_place(call, statement):
        return not _is_whole(call)
    for name in names:
        for use in parents.names.get(name, ()):
            above = parents.of(use)
            if isinstance(above, tree.Attribute) and above.attr == "index" and _is_dropped(parents.of(above), parents):
                return True
    return False


def _parts_by_names(program: Program, call: KnownCall) -> bool:
    return not _is_whole(call) and parts_by_names(program, call)


def _is_cut(program: Program, call: KnownCall, target: tree.Name) -> bool:
    """Whether parts are cut out of a table by position."""
    parents = parents_of(program.ev, call.facts)
    return any(goes_to_a_part(parents, use) for use in name_uses(program, call.facts, target))


def _takes_its_place(call: KnownCall, statement: tree.Assign) -> bool:
    """`test = test.sample(...)`: fewer rows of the same table, for a trial; no other part is left over."""
    match call.call.func, statement.targets:
        case tree.Attribute(value=tree.Name(id=table)), (tree.Name(id=name),):
            return table == name
    return False


def _is_dropped(arg: object, parents: object) -> bool:
    call = parents.of(arg) if isinstance(arg, tree.Arg) else None  # type: ignore[attr-defined]
    return isinstance(call, tree.Call) and isinstance(call.func, tree.Attribute) and call.func.attr == "drop"


def _is_whole(call: KnownCall) -> bool:
    """`frac=1` only shuffles."""
    given, values = argument(call.arguments, "frac", 1)
    return given and bool(values) and all(isinstance(v, Constant) and v.value in (1, 1.0) for v in values)


def seeding_before(program: Program, call: KnownCall) -> Evidence | None:
    """A call that seeds NumPy's global generator in the same program, unless it surely runs after the split."""
    own = ways(program.ev, call.facts, call.scope, call.call.site)
    evidence = program.evidence_in_programs_of(call.frame)
    if _runs_unseen(program, call, own):
        # A module that is imported by its name at run time, perhaps: any program of the project may run it.
        evidence = [one for one in program.evidence if one.roots]
    for one in evidence:
        if one.effect != "seed" or "numpy" not in one.seeds:
            continue
        theirs = ways(program.ev, one.frame.facts, one.frame.scope, one.site.number)
        if not is_followed_by(own, theirs):
            return one
    return next(import_seeds(program, call.facts.path, "numpy"), None)


def may_seed_numpy_unseen(program: Program, call: KnownCall) -> bool:
    """Whether the program calls a helper of another library that seeds by its name, and perhaps NumPy's generator."""
    return calls_foreign_seeding(program, program.imports.together(call.facts.path))


def _runs_unseen(program: Program, call: KnownCall, own: tuple[Way, ...]) -> bool:
    """Whether the call is in a function that nothing visible calls, in a module that no visible program imports."""
    ends_in_function = all(way[-1].scope.parent is not None for way in own)
    return ends_in_function and program.imports.above(call.facts.path).isdisjoint(
        one.path for one in entry_points(program)
    )

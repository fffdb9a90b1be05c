"""Where a `torch.Generator` is made, where it is seeded, and which loaders and samplers draw from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import NOTHING, UNKNOWN, Constant, External, ExternalObject, Site, Value
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.ordering.given_generators import generators_given_to, is_given
from torchrepro_lint.program.running.callers import contexts, frame_without_callers, may_be, visible_calls
from torchrepro_lint.program.running.known_calls import KnownCall, all_calls, asked_calls
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = [
    "GENERATOR",
    "Seeding",
    "consumers",
    "is_used",
    "loaders_with",
    "made_generators",
    "may_be_seeded_by",
    "may_be_seeded_unseen",
    "seedings",
    "serves_loaders_alone",
]

GENERATOR: Final = "torch.Generator"
_METHODS: Final = frozenset({"manual_seed", "seed", "set_state"})
_WORD: Final = any_word(_METHODS)


@dataclass(frozen=True, slots=True, eq=False)
class Seeding:
    """One call of `manual_seed`, `seed` or `set_state` on a generator; `made` are the places that make it.

    `holder` is the last name of what it is called on: `g`, or `rng` of `self.rng`. `open` says that it may be called
    on something else as well, and `is_passed` that a call which is seen passes something of which nothing is known.
    """

    method: str
    call: tree.Call
    facts: ModuleFacts
    scope: Scope
    made: frozenset[Site]
    holder: str | None
    open: bool
    is_passed: bool

    @property
    def site(self) -> Site:
        return Site(self.facts.path, self.call.site)

    @property
    def seed(self) -> tree.Expr | None:
        return self.call.args[0].value if self.call.args else None


def made_generators(program: Program) -> Iterator[list[KnownCall]]:
    """The calls of `torch.Generator` whose findings somebody waits for, grouped by place; not those that are surely
    seeded with a number or a state.
    """
    return asked_calls(program, frozenset({GENERATOR}), unless=lambda site: site in _seeded(program))


def _seeded(program: Program) -> frozenset[Site]:
    """The places that make what is seeded with a number or a state."""
    return program.ev.of_project("seeded-generators", lambda: frozenset(_find_seeded(program)), frozenset())


def _find_seeded(program: Program) -> Iterator[Site]:
    for one in seedings(program):
        if one.method != "seed":
            yield from one.made


def seedings(program: Program) -> tuple[Seeding, ...]:
    """Every call in the project that seeds, or may seed, a `torch.Generator`."""
    return program.ev.of_project("generator-seedings", lambda: tuple(_find_seedings(program)), ())


def _find_seedings(program: Program) -> Iterator[Seeding]:
    ev = program.ev
    for path in program.project.matching(_WORD):
        facts = program.facts(path)
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            for call, arms in scope.calls:
                if not isinstance(call.func, tree.Attribute) or call.func.attr not in _METHODS:
                    continue
                ev.begin_question()
                alone = frame_without_callers(ev, facts, scope)
                if not may_be(ev, call.func.value, alone, _may_be_generator):
                    continue
                made: set[Site] = set()
                is_open = is_passed = False
                frames = (alone,) if _is_made_here(ev, call.func.value, alone) else contexts(ev, facts, scope)
                for frame in frames:
                    if not ev.may_run(call.site, arms, frame):
                        continue
                    for value in ev.values(call.func.value, frame):
                        if isinstance(value, ExternalObject) and _is_generator(value) and value.site is not None:
                            made.add(value.site)
                        made |= generators_given_to(program, value)
                        is_open = is_open or value is UNKNOWN
                    if not is_passed and _is_passed_anything(call.func.value, frame):
                        is_passed = any(True for _ in visible_calls(ev, facts, scope))
                if made or is_open:
                    holder = _last_name(call.func.value)
                    yield Seeding(call.func.attr, call, facts, scope, frozenset(made), holder, is_open, is_passed)


def _is_passed_anything(node: tree.Expr, frame: Frame) -> bool:
    """Whether a name is a parameter that may be anything."""
    return isinstance(node, tree.Name) and UNKNOWN in (frame.param(node.id) or NOTHING)


def _is_generator(value: Value) -> bool:
    return isinstance(value, ExternalObject) and value.name == GENERATOR


def _is_made_here(ev: Evaluator, node: tree.Expr, alone: Frame) -> bool:
    """Whether an expression makes a generator, as `torch.Generator()` does, whoever calls the scope."""
    values = ev.values(node, alone)
    return isinstance(node, tree.Call) and bool(values) and all(map(_is_generator, values))


def _may_be_generator(value: Value) -> bool:
    return _is_generator(value) or is_given(value)


def _last_name(node: tree.Expr) -> str | None:
    match node:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            return name
    return None


def may_be_seeded_by(program: Program, one: Seeding, made: KnownCall) -> bool:
    """Whether a seeding is, or may be, of a generator: of what is known, or by the name under which it is kept.

    What a call of the project is handed, and what another object is given, may be seeded by whatever there seeds an
    argument, or what it keeps, of that name.
    """
    if made.site in one.made:
        return True
    if one.holder is None:
        return False
    parents = parents_of(program.ev, made.facts)
    match parents.of(made.call):
        case tree.Assign(targets=(target,)):
            if one.holder != _last_name(target):
                return False
            if _is_replaced(made, target, one):
                return True
            return one.open or (_is_of_another(made, target) and _is_handed(one) and _is_above(program, made, one))
        case tree.Arg(keyword=keyword) as arg if one.holder == keyword:
            call = parents.of(arg)
            if not isinstance(call, tree.Call) or not _is_own(program, call, made):
                return False
            return one.open or (_is_handed(one) and _is_above(program, made, one))
    return False


def may_be_seeded_unseen(program: Program, made: KnownCall) -> bool:
    """Whether a generator is put, handed or returned to where nobody is seen to draw from it, while something is seeded
    of which nothing is known: it may be this one.
    """
    if isinstance(parents_of(program.ev, made.facts).of(made.call), tree.Assign):
        return False  # its name tells
    near = program.imports.together(made.facts.path)
    seeded = (one for one in seedings(program) if one.is_passed and one.method != "seed" and one.facts.path in near)
    return any(seeded) and next(consumers(program, frozenset({made.site})), None) is None


def _is_replaced(made: KnownCall, target: tree.Expr, one: Seeding) -> bool:
    """Whether another method of the object makes and seeds a generator of that name: this one keeps its place."""
    if not isinstance(target, tree.Attribute) or _is_of_another(made, target) or one.method == "seed":
        return False
    return one.scope is not made.scope and one.scope.parent is made.scope.parent and bool(one.made)


def _is_of_another(made: KnownCall, target: tree.Expr) -> bool:
    """Whether what is assigned to is an attribute of another object than that of the method: `self.model.rng`."""
    match target:
        case tree.Attribute(value=tree.Name(id=owner)):
            return owner != made.frame.scope.self_name
    return isinstance(target, tree.Attribute)


def _is_above(program: Program, made: KnownCall, one: Seeding) -> bool:
    """Whether the file that makes a generator uses the one that seeds."""
    return made.facts.path in program.imports.above(one.facts.path)


def _is_handed(one: Seeding) -> bool:
    """Whether what is seeded is an argument, or kept by an object: `self.generator`."""
    match one.call.func:
        case tree.Attribute(value=tree.Name(id=name)):
            owner = one.scope.binder(name)
            return owner is not None and any(binding.kind == "param" for binding in owner.bindings[name])
        case tree.Attribute(value=tree.Attribute()):
            return True
    return False


def _is_own(program: Program, call: tree.Call, made: KnownCall) -> bool:
    return not any(isinstance(value, External) for value in program.ev.values(call.func, made.frame))


def is_used(program: Program, made: KnownCall) -> bool:
    """Whether anything may draw from a generator: it is handed on at once, or its name is read for more than a seed."""
    parents = parents_of(program.ev, made.facts)
    match parents.of(made.call):
        case tree.Assign(targets=(tree.Name(id=name),)):
            if _is_seen_by_others(program, made):
                return True
            return program.ev.of_text(
                ("draws-by-name", id(made.facts), name), lambda: _is_read_for_more_than_a_seed(name, parents)
            )
        case tree.ExprStmt() | tree.Attribute():
            return False
    return True


def _is_seen_by_others(program: Program, made: KnownCall) -> bool:
    """Whether a generator is made at the top of a file that others import, which may draw from it."""
    return made.frame.scope.parent is None and len(program.imports.above(made.facts.path)) > 1


def _is_read_for_more_than_a_seed(name: str, parents: Parents) -> bool:
    uses = (use for use in parents.names.get(name, ()) if not parents.is_bound(use))
    return any(not _only_sets_or_tells_a_seed(parents.of(use)) for use in uses)


def _only_sets_or_tells_a_seed(above: object) -> bool:
    return isinstance(above, tree.Attribute) and above.attr in (*_METHODS, "initial_seed")


def consumers(program: Program, made: frozenset[Site]) -> Iterator[Site]:
    """The loaders that shuffle and the samplers whose generator is made at one of these places."""
    for loaders in loaders_with(program, made):
        if not all(_never(loader.value("shuffle")) for loader in loaders):
            yield loaders[0].site
    for group in all_calls(program, ordering_names("torch_samplers")):
        for call in group:
            _, given = argument(call.arguments, "generator", 1 if call.name.endswith("SubsetRandomSampler") else 3)
            if _is_one_of(given, made):
                yield call.site
                break


def loaders_with(program: Program, made: frozenset[Site]) -> Iterator[list[Loader]]:
    """The loaders, grouped by place, whose generator is made at one of these places."""
    by_generator = program.once("loaders by generator", lambda: _by_generator(program))
    found = {number: loader for site in made for number, loader in by_generator.get(site, ())}
    for _, numbers in groupby(sorted(found), key=lambda number: number[0]):
        yield [found[number] for number in numbers]


def _by_generator(program: Program) -> dict[Site, list[tuple[tuple[int, int], Loader]]]:
    """The loaders by the places where what they are given as `generator` is made, with the number of their place and
    their own there.
    """
    table: dict[Site, list[tuple[tuple[int, int], Loader]]] = {}
    for place, loaders in enumerate(program.loader_sites):
        for number, loader in enumerate(loaders):
            for value in loader.given("generator")[0]:
                if isinstance(value, ExternalObject) and value.site is not None:
                    table.setdefault(value.site, []).append(((place, number), loader))
    return table


def serves_loaders_alone(program: Program, made: KnownCall) -> bool:
    """Whether a generator is given to loaders and to nothing else: ranks need not agree on what it draws."""
    parents = parents_of(program.ev, made.facts)
    loaders = {one.site.number for group in loaders_with(program, frozenset({made.site})) for one in group}
    match parents.of(made.call):
        case tree.Arg():
            uses: list[tree.Expr] = [made.call]
        case tree.Assign(targets=(tree.Name(id=name),)) if not _is_seen_by_others(program, made):
            uses = [use for use in parents.names.get(name, ()) if not parents.is_bound(use)]
        case _:
            return False
    above = [parents.of(use) for use in uses]
    calls = [parents.of(arg) if isinstance(arg, tree.Arg) else None for arg in above]
    return bool(calls) and all(isinstance(call, tree.Call) and call.site in loaders for call in calls)


def _is_one_of(values: frozenset[object], made: frozenset[Site]) -> bool:
    return any(isinstance(value, ExternalObject) and value.site in made for value in values)


def _never(values: frozenset[object]) -> bool:
    return bool(values) and all(isinstance(value, Constant) and not value.value for value in values)

"""The walk through a worker init function: which calls seed, in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import last_site
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.calls import known_packages
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.generators import process_generators
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.expressions import comprehension_frames
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    ClassValue,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    Partial,
    Site,
    Value,
    Values,
)
from torchrepro_lint.program.running.compiled_functions import is_compiled
from torchrepro_lint.program.running.events import outside_name
from torchrepro_lint.program.running.reach import Link, shown
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.worker_seeds.dependence import CONSTANT, ENTROPY, UNKNOWN_SEED, Dependence
from torchrepro_lint.program.worker_seeds.worker_seed import SeedReader

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["InitWalk", "Seeding"]

_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True, eq=False)
class Seeding:
    """One call that seeds, reached from the init function.

    `rngs` are the global generators that it seeds, or {"receiver"} where that is an object which the worker keeps.
    `call` is in the frame `frame`; `top` is the call in the init function itself on the way to it, the same one
    where it stands there; `chain` leads from the one to the other.
    """

    name: str
    rngs: frozenset[str]
    seed: Dependence
    call: tree.Call
    frame: Frame
    top: Site
    chain: tuple[Link, ...]

    @property
    def site(self) -> Site:
        return Site(self.frame.facts.path, self.call.site)

    @property
    def is_direct(self) -> bool:
        """Whether it is in the init function itself, and not in a function that this one calls."""
        return self.site == self.top


class InitWalk:
    """Follows the calls of an init function in the order of the text."""

    def __init__(self, ev: Evaluator, dataset: Values) -> None:
        self.ev = ev
        self.reader = SeedReader(ev, dataset)
        self.seedings: list[Seeding] = []
        self.is_complete = True
        self.passed_by: frozenset[str] = frozenset()
        self._entered: set[Frame] = set()

    def body(self, frame: Frame, top: Site | None, chain: tuple[Link, ...], depth: int) -> None:
        """Notes what the calls in a frame seed."""
        if frame in self._entered:
            return
        if depth > _MAX_DEPTH:
            self.is_complete = False
            return
        self._entered.add(frame)
        if frame.parent is not None and is_compiled(self.ev, frame.scope.node, frame.parent):
            return  # what it seeds is the generator of the compiled code
        end = self._end(frame)
        for call, path in sorted(frame.scope.calls, key=lambda one: one[0].site):
            if (end is not None and call.site > end) or self.ev.decide(path, frame) is False:
                self.passed_by |= self._seeded_by(call, frame)
                continue
            self.call(call, frame, top, chain, depth)
        for child in frame.scope.children:
            if isinstance(child.node, tree.Comprehension):
                for inner in comprehension_frames(self.ev, child.node, frame):
                    self.body(self.reader.enter(inner, (frame, child.node.site)), top, chain, depth + 1)

    def _seeded_by(self, call: tree.Call, frame: Frame) -> frozenset[str]:
        """The global generators that a call which does not run here would seed."""
        names = [_name_of(value) for value in self.ev.values(call.func, frame)]
        known = [seeding_call(name) for name in names if name is not None]
        return frozenset().union(*(one.seeds & process_generators() for one in known if one is not None))

    def _end(self, frame: Frame) -> int | None:
        """The first place at which the function is proven to have returned."""
        for statement, path in frame.scope.returns:
            if self.ev.decide(path, frame) is True and not any(branch in frame.scope.loops for branch, _ in path):
                return last_site(statement.value) if statement.value is not None else statement.site
        return None

    def call(self, call: tree.Call, frame: Frame, top: Site | None, chain: tuple[Link, ...], depth: int) -> None:
        site = self.ev.site(call, frame)
        link = Link(site, f"calls {shown(call.func)}")
        for value in ordered(self.reader.callees(call.func, frame)):
            name = _name_of(value)
            if name is not None:
                self.outside(name, call, frame, top or site, chain)
            elif isinstance(value, (FunctionValue, MethodValue, Partial, Instance, ClassValue)):
                arguments = self.reader.arguments(call.args, frame)
                for inner in list(self.reader.frames_of(value, arguments)):
                    self.body(self.reader.enter(inner, (frame, call.site)), top or site, (*chain, link), depth + 1)
                for seeding in self.seedings:
                    if seeding.top == site:
                        for rng in sorted(seeding.rngs):
                            self.reader.note_seeding(frame, call.site, rng, seeding.seed)
            elif value is UNKNOWN and not _is_harmless(call.func):
                self.is_complete = False

    def outside(self, name: str, call: tree.Call, frame: Frame, top: Site, chain: tuple[Link, ...]) -> None:
        known = seeding_call(name)
        if known is not None:
            seed = self._seed(call, known.seed_parameter, known.default, frame)
            self.note(name, known.seeds & process_generators(), seed, call, frame, top, chain)
            return
        effects = rng_effects(name)
        for effect in effects:
            if effect.kind == "restore-state":
                node = call.args[0].value if call.args else None
                seed = self.reader.of(node, frame) if node is not None else UNKNOWN_SEED
                seed = seed if seed.terms else UNKNOWN_SEED
                self.note(name, frozenset({effect.rng}) & process_generators(), seed, call, frame, top, chain)
                return
            kept = effect.kind == "seed" or (effect.kind == "make" and _is_kept(call, frame.scope))
            is_global = effect.rng in process_generators()
            if kept and (is_global or _receiver_is_kept(call, frame.scope) or effect.kind == "make"):
                seed = self._seed(call, effect.seed_parameter, None, frame)
                if effect.makes == "torch.Generator":
                    continue
                rngs = frozenset({effect.rng if is_global else "receiver"})
                self.note(name, rngs, seed, call, frame, top, chain)
                return
        is_known = bool(effects) or name.partition(".")[0] in known_packages("seeds_nothing")
        if not is_known and not _is_harmless(call.func):
            self.is_complete = False

    def note(
        self, name: str, rngs: frozenset[str], seed: Dependence, call: tree.Call, frame: Frame, top: Site,
        chain: tuple[Link, ...],
    ) -> None:  # fmt: skip
        if not rngs:
            return
        self.seedings.append(Seeding(name, rngs, seed, call, frame, top, chain))
        for rng in sorted(rngs):
            self.reader.note_seeding(frame, call.site, rng, seed)

    def _seed(self, call: tree.Call, parameter: Parameter | None, default: int | None, frame: Frame) -> Dependence:
        """What a seeding call seeds with."""
        if parameter is None:
            return ENTROPY
        without = CONSTANT if default is not None else ENTROPY
        node = written_argument(call, parameter)
        if node is None:
            return UNKNOWN_SEED if any(arg.star for arg in call.args) else without
        seed = self.reader.seed_of(node, frame)
        return without if seed.none else seed


def _name_of(value: Value) -> str | None:
    """The name of a callee outside the project; for a method of an unknown object, that of the method alone."""
    if isinstance(value, MemberOf):
        return outside_name(value) or f"builtins.object.{value.attr}"
    return outside_name(value)


def _is_harmless(func: tree.Expr) -> bool:
    match func:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            return name in method_words("seeds_nothing") or name.startswith("get_")
    return False


def _is_kept(call: tree.Call, scope: Scope) -> bool:
    """Whether what a call makes outlives the function: it is stored in an object or a global name."""
    if any(_holds(store.value, call) for store in scope.stores):
        return True
    for bindings in scope.bindings.values():
        for binding in bindings:
            if binding.kind == "assign" and binding.node is call and _escapes(binding.name, scope):
                return True
    # A name declared `global` or `nonlocal` is bound in the scope that owns it.
    outer = scope.parent
    while outer is not None:
        for name in scope.declared:
            if any(binding.node is call for binding in outer.bindings.get(name, ())):
                return True
        outer = outer.parent
    return False


def _holds(value: tree.Expr, call: tree.Call) -> bool:
    """Whether an assigned value is the call, or the object after a method such as `manual_seed` on it."""
    match value:
        case tree.Call(func=tree.Attribute(value=inner)) if value is not call:
            return _holds(inner, call)
    return value is call


def _escapes(name: str, scope: Scope) -> bool:
    return any(isinstance(store.value, tree.Name) and store.value.id == name for store in scope.stores)


def _receiver_is_kept(call: tree.Call, scope: Scope) -> bool:
    """Whether the generator whose `seed` is called is one that the worker keeps, and no helper of this function."""
    match call.func:
        case tree.Attribute(value=tree.Name(id=name)):
            return name not in scope.bindings or _escapes(name, scope)
        case tree.Attribute(value=tree.Call() as made):
            return _is_kept(made, scope)
    return True

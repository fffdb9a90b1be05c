"""Draws of the workers that a seed decides which each item sets from its index, `np.random.seed(index)`, or from the
clock.

No worker init function and no generator of the loader has a say in these. The seed may be set by the method that
fetches the item itself, by a function that it calls, or by the context manager of the block that draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.intent.seed_entropy import entropy_of
from torchrepro_lint.program.running.guards import Place, place_of
from torchrepro_lint.program.running.handed_over import handed_over
from torchrepro_lint.program.running.never_read import is_only_rearranged
from torchrepro_lint.program.running.parents import Node, children, parents_of
from torchrepro_lint.program.workers.batch_orders import only_orders_a_batch
from torchrepro_lint.program.workers.worker_reseeding import seeding_events

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.loaders.worker_runs import Effect, WorkerRun
    from torchrepro_lint.program.running.events import Event

__all__ = ["draws_left"]


@dataclass(frozen=True, slots=True, eq=False)
class _Seed:
    """A seed made of the index or the clock, and the call in the method that fetches the item which sets it: the
    seed itself or the call of a function that does; `level` links of the event's chain lead to that method.
    """

    event: Event
    level: int
    call: tree.Call
    place: Place
    block: tree.With | None

    @property
    def is_direct(self) -> bool:
        return self.level == len(self.event.chain)


def draws_left(ev: Evaluator, run: WorkerRun, rng: str) -> list[Effect]:
    """The draws of the workers from a generator, as `run.draws_from` gives them, that are of some use and that no
    item's own seed decides.
    """
    draws = [draw for draw in run.draws_from(rng) if not _is_of_no_use(ev, draw.event)]
    seeds = [seed for event in seeding_events(run, rng) for seed in _of_index(ev, event)] if draws else []
    if seeds and any(_puts_back(event, rng) and not _ends_a_block(event, seeds) for event in run.events):
        return draws
    return [draw for draw in draws if not any(_decides(ev, seed, draw.event) for seed in seeds)]


def _is_of_no_use(ev: Evaluator, event: Event) -> bool:
    """Whether what is drawn gets a name that nothing reads, but for putting it in order, or is an order in a batch."""
    if event.call is None or event.frame is None:
        return False
    return is_only_rearranged(ev, event.frame.facts, event.call) or only_orders_a_batch(ev, event)


def _puts_back(event: Event, rng: str) -> bool:
    """Whether the call gives the generator another state than its seed does."""
    return any(effect.kind == "restore-state" and effect.rng == rng for effect in rng_effects(event.name))


def _ends_a_block(event: Event, seeds: list[_Seed]) -> bool:
    """Whether the call is of the context manager of a block that begins with one of the seeds: it comes after it."""
    return any(
        seed.block is not None and event.chain[: seed.level + 1] == seed.event.chain[: seed.level + 1] for seed in seeds
    )


def _of_index(ev: Evaluator, event: Event) -> Iterator[_Seed]:
    """The event as a seed that takes the index or the clock, where it is one."""
    for level, site in enumerate(event.sites):
        place = place_of(ev, site)
        match place and place.scope.node:
            case tree.FunctionDef(name="__getitem__", params=(_, index, *_)):
                assert place is not None
                call = next((call for call, _ in place.scope.calls if call.site == site.number), None)
                if call is not None and (
                    _takes(event, level, call, index.name, place.scope) or _is_from_entropy(ev, event)
                ):
                    above = parents_of(ev, place.facts).of(call)
                    yield _Seed(event, level, call, place, above if isinstance(above, tree.With) else None)


def _is_from_entropy(ev: Evaluator, event: Event) -> bool:
    """Whether the seed comes from the clock or the system, which TRL503 reports."""
    if event.call is None or event.frame is None or not event.call.args:
        return False
    return entropy_of(ev, event.call.args[0].value, event.frame) is not None


def _takes(event: Event, level: int, call: tree.Call, index: str, scope: Scope) -> bool:
    """Whether the seed is made of the index, in the call that sets it or by what that call hands to its function."""
    if event.call is None or event.frame is None or not event.call.args:
        return False
    seed = event.call.args[0].value
    if level == len(event.chain):
        return _mentions(seed, index, scope, set())
    inner = event.frame.scope
    if level != len(event.chain) - 2 or not isinstance(inner.node, tree.FunctionDef):
        return False  # only a function that seeds itself is looked into
    for param in inner.node.params:
        if _mentions(seed, param.name, inner, set()):
            given = (
                [arg.value for arg in call.args] if param.kind == "star" else [handed_over(call, inner, param.name)[1]]
            )
            if any(one is not None and _mentions(one, index, scope, set()) for one in given):
                return True
    return False


def _mentions(root: tree.Expr, name: str, scope: Scope, seen: set[str]) -> bool:
    """Whether an expression has the name in it, or a name that is bound to such an expression."""
    for node in walk([root]):
        match node:
            case tree.Name(id=used) if used == name:
                return True
            case tree.Name(id=used) if used not in seen:
                seen.add(used)
                bound = [binding.node for binding in scope.bindings.get(used, ()) if binding.kind == "assign"]
                if any(_mentions(one, name, scope, seen) for one in bound if one is not None):  # type: ignore[arg-type]
                    return True
    return False


def _decides(ev: Evaluator, seed: _Seed, draw: Event) -> bool:
    """Whether the seed is surely set before the draw, in a method through which the draw is reached."""
    if draw.chain[: seed.level] != seed.event.chain[: seed.level]:
        return False
    reached = draw.sites[seed.level]
    begin = seed.call.site
    if reached.path != seed.place.site.path or reached.number < begin:
        return False
    if seed.block is not None:
        return reached.number <= _last_site(seed.block)
    scope = seed.place.scope
    arms = scope.path_at(begin)
    around = scope.path_at(reached.number)
    open_arms = tuple(arm for index, arm in enumerate(arms) if around[: index + 1] != arms[: index + 1])
    if not open_arms:
        return True
    if all(_is_taken_once(scope, arm) for arm in open_arms):
        return True
    return seed.is_direct and seed.event.frame is not None and ev.decide(open_arms, seed.event.frame) is True


def _is_taken_once(scope: Scope, arm: tuple[int, str]) -> bool:
    """Whether an arm runs for the first item of a worker alone: it sets the attribute of which its test asks. The
    worker's stream then begins with the index of that item.
    """
    statement = scope.branches.get(arm[0])
    if not isinstance(statement, tree.If) or scope.self_name is None:
        return False
    asked = [node.attr for node in walk([statement.test]) if isinstance(node, tree.Attribute) and _is_own(node, scope)]
    return any(arm in binding.path for attr in asked for binding in scope.bindings.get(f"self.{attr}", ()))


def _is_own(node: tree.Attribute, scope: Scope) -> bool:
    return isinstance(node.value, tree.Name) and node.value.id == scope.self_name


def _last_site(root: Node) -> int:
    """The last site of a statement."""
    last = 0
    pending: list[Node] = [root]
    while pending:
        node = pending.pop()
        last = max(last, getattr(node, "site", 0))
        pending.extend(children(node))
    return last

"""Splits and samplers that take their random numbers from torch's global generator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Final, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.values import (
    Constant,
    External,
    ExternalObject,
    Site,
    Value,
    values_of,
)
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.ordering.fresh_seeds import is_seeded_for, is_seeded_for_its_callers
from torchrepro_lint.program.ordering.given_generators import given_generators
from torchrepro_lint.program.orders.permutations import parts_a_set
from torchrepro_lint.program.programs.epoch_loops import iterations_over, passes_over
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.epochs import is_step
from torchrepro_lint.program.running.fallbacks import stands_in_for
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.never_read import is_never_read
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.set_apart import stands_apart
from torchrepro_lint.program.running.ways import Way, comes_later, ways
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.workers.rank_names import rank_in

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "UnseededSplit",
    "gives_minibatches",
    "is_drawn_again",
    "is_surely_unseeded",
    "loaders_given",
    "seeds_by_rank",
    "unseeded_splits",
]

_NUMBERS: Final = frozenset({"range", "arange"})
#: What has as many elements as its only argument says.
_FILLED: Final = frozenset({"builtins.range", "numpy.ones", "torch.arange", "torch.ones", "torch.zeros"})
_TENSORS: Final = frozenset({"torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.DoubleTensor"})


#: What goes through its argument at once.
_GO_THROUGH: Final = frozenset({"list", "iter", "enumerate", "next", "tuple"})
#: The arguments by which a loader gets a sampler.
_ROLES: Final = ("sampler", "batch_sampler")


@dataclass(frozen=True, slots=True, eq=False)
class UnseededSplit:
    """A split or sampler that is given no generator, on some way; `parameter` is the one that takes it."""

    kind: Literal["split", "sampler", "permutation"]
    call: KnownCall
    parameter: Parameter


def unseeded_splits(program: Program, *, others: bool = False) -> Iterator[UnseededSplit]:
    """The splits and samplers that are left to torch's global generator, in the order of files and text: those in files
    whose findings somebody waits for, with `others` in all files.
    """
    tables: tuple[tuple[Literal["split", "sampler", "permutation"], frozenset[str]], ...] = (
        ("split", ordering_names("torch_splits")),
        ("sampler", ordering_names("torch_samplers")),
        ("permutation", ordering_names("torch_permutations")),
    )
    found: list[UnseededSplit] = []
    for kind, names in tables:
        for group in asked_calls(program, names, others=others):
            for call in group:
                parameter = _generator_parameter(call.name)
                if parameter is None or not _may_lack(call, parameter):
                    continue
                parents = parents_of(program.ev, call.facts)
                if stands_apart(parents, call.call) or stands_in_for(parents, call.call, parameter.name):
                    break
                if kind == "permutation" and not parts_a_set(program, call):
                    break
                if kind == "sampler":
                    if (
                        _is_a_truth_only(program, call)
                        or _is_over_one(program, call)
                        or is_never_read(program.ev, call.facts, call.call)
                        or call.site in given_generators(program)
                    ):
                        break
                elif seeds_by_rank(program, call) is None and (
                    is_seeded_for(program, call) or is_seeded_for_its_callers(program, call)
                ):
                    break
                found.append(UnseededSplit(kind, call, parameter))
                break
    yield from sorted(found, key=lambda one: (str(one.call.facts.path), one.call.call.site))


def _generator_parameter(name: str) -> Parameter | None:
    return next((effect.generator_parameter for effect in rng_effects(name) if effect.generator_parameter), None)


def _may_lack(call: KnownCall, parameter: Parameter) -> bool:
    """Whether nothing, or only None, is given on this way; what cannot be followed does not count."""
    given, values = argument(call.arguments, parameter.name, parameter.position)
    if not given:
        return True
    return bool(values) and all(isinstance(value, Constant) and value.value is None for value in values)


def _is_a_truth_only(program: Program, call: KnownCall) -> bool:
    """Whether the sampler is given as `shuffle=`: nothing iterates it."""
    above = parents_of(program.ev, call.facts).of(call.call)
    return isinstance(above, tree.Arg) and above.keyword == "shuffle"


def _is_over_one(program: Program, call: KnownCall) -> bool:
    """Whether a sampler has a single item to draw, again and again: `WeightedRandomSampler(torch.ones(1), 20)`."""
    written = (written_argument(call.call, Parameter(name, 0)) for name in ("weights", "data_source", "indices"))
    given = next((one for one in written if one is not None), None)
    return given is not None and _has_one(program, call, given)


def _has_one(program: Program, call: KnownCall, node: tree.Expr) -> bool:
    """Whether an expression gives something with one element, and nothing is put into it."""
    if isinstance(node, tree.Name) and call.scope.touches(node.id):
        return False
    match call.scope.behind(node):
        case tree.Call(func=func, args=(tree.Arg(keyword=None, star="", value=first), *others)):
            names = {one.name for one in program.ev.values(func, call.frame) if isinstance(one, External)}
            if names == {"torch.utils.data.Subset"}:
                return len(others) == 1 and _has_one(program, call, others[0].value)
            if names and names <= _FILLED and not any(arg.keyword is None for arg in others):
                return program.ev.values(first, call.frame) == values_of(Constant(1))
            return bool(names) and names <= _TENSORS and _has_one(program, call, first)
        case tree.Display(items=(item,)):
            return not isinstance(item, (tree.Starred, tree.Display))
    return False


def gives_minibatches(program: Program, call: KnownCall) -> bool:
    """Whether a sampler only puts the numbers of a range into minibatches, for a loop and no loader, as the storage of
    a policy's steps does in each update: `BatchSampler(SubsetRandomSampler(range(size)), ...)`.
    """
    match call.call.args:
        case (tree.Arg(value=tree.Call(func=func)), *_) if called_name(func) in _NUMBERS:
            above = parents_of(program.ev, call.facts).of(call.call)
            return isinstance(above, tree.Arg) and above.keyword is None and _is_batched(program, call, above)
    return False


def _is_batched(program: Program, call: KnownCall, argument: tree.Arg) -> bool:
    """Whether the batches over a sampler are only iterated over, in the function that makes them."""
    parents = parents_of(program.ev, call.facts)
    batches = parents.of(argument)
    if not isinstance(batches, tree.Call) or called_name(batches.func) != "BatchSampler":
        return False
    target = parents.target_of(batches)
    function = call.scope.node
    if not isinstance(target, tree.Name) or not isinstance(function, tree.FunctionDef):
        return isinstance(parents.of(batches), tree.For)
    uses = [use for use in parents.names_in(target.id, function) if use is not target]
    return bool(uses) and all(isinstance(parents.of(use), tree.For) for use in uses)


def is_surely_unseeded(program: Program, one: UnseededSplit) -> bool:
    """Whether nothing seeds torch in the programs that run a call before it draws, as far as is in sight."""
    call = one.call
    seedings = [
        ways_of(program, seed)
        for seed in program.evidence_in_programs_of(call.frame)
        if seed.effect == "seed" and "torch" in seed.seeds
    ]
    if not seedings:
        return True
    places = _passes_over(program, call) if one.kind == "sampler" else [_ways_to(program, call)]
    return bool(places) and all(comes_later(at, seed) for at in places for seed in seedings)


def _ways_to(program: Program, call: KnownCall) -> tuple[Way, ...]:
    return ways(program.ev, call.facts, call.scope, call.call.site)


def _passes_over(program: Program, call: KnownCall) -> list[tuple[Way, ...]]:
    """The ways to where a sampler draws, as far as they are in sight: to the passes over it and over the loaders that
    get it, each of which draws an order (torch/utils/data/sampler.py 2.13.0, `RandomSampler.__iter__`).
    """
    loaders = loaders_given(program, call)
    passes = [
        *iterations_over(program, call.facts, call.call),
        *(at for loader in loaders for at in passes_over(program, loader)),
    ]
    if not passes and not loaders and isinstance(_use_of(program, call), tree.Call | tree.For):
        return [_ways_to(program, call)]  # it is gone through at once: `list(RandomSampler(data))`
    return [ways(program.ev, at.facts, at.scope, at.node.site) for at in passes]


def _use_of(program: Program, call: KnownCall) -> object:
    """What is done with a sampler where it is made: the loop over it, or the call that goes through it."""
    parents = parents_of(program.ev, call.facts)
    above = parents.of(call.call)
    if isinstance(above, tree.Arg):
        above = parents.of(above)
        return above if isinstance(above, tree.Call) and called_name(above.func) in _GO_THROUGH else None
    return above if isinstance(above, tree.For) else None


def loaders_given(program: Program, call: KnownCall) -> list[Loader]:
    """The loaders that get the sampler which a call makes, as it is or in batches."""
    loaders = (loader for group in program.loader_sites for loader in group)
    return [
        loader
        for loader in loaders
        if any(_holds(value, call.site) for role in _ROLES for value in loader.given(role)[0])
    ]


def _holds(value: Value, site: Site) -> bool:
    """Whether a value is what is made at a place, or is made of it: `BatchSampler(RandomSampler(data), 4, True)`."""
    if not isinstance(value, ExternalObject):
        return False
    if value.site == site or value.arguments is None:
        return value.site == site
    inner = (*value.arguments.positional, *(values for _, values, _ in value.arguments.keywords))
    return any(isinstance(one, ExternalObject) and one.site == site for values in inner for one in values)


def is_drawn_again(program: Program, call: KnownCall) -> bool:
    """Whether a permutation is drawn again in each turn of a loop, or in a function that trains: it is the order of a
    pass, and parts no set.
    """
    around = parents_of(program.ev, call.facts).around(call.call)
    in_a_loop = any(isinstance(one, tree.For | tree.While) for one in takewhile(_is_no_definition, around))
    return in_a_loop or any(is_step(one) for one, _ in call.scope.calls)


def _is_no_definition(node: object) -> bool:
    return not isinstance(node, tree.FunctionDef | tree.ClassDef | tree.Lambda)


# --- ranks ----------------------------------------------------------------------------------------------------


def seeds_by_rank(program: Program, call: KnownCall) -> tuple[Site, Site] | None:
    """Where the call's program seeds torch with a number in which the rank of the process takes part, and where that
    comes in, which may be the call of a function that seeds.
    """
    programs = program.programs_of(call.frame)
    for one in program.evidence_in_programs_of(call.frame):
        if one.effect != "seed" or "torch" not in one.seeds or one.value is None:
            continue
        rank = rank_in(program.ev, one.value, one.frame.facts, one.frame.scope, programs=programs)
        if rank is not None:
            return one.site, rank
    return None

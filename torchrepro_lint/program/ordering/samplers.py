"""Splits and samplers that take their random numbers from torch's global generator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import sub_expressions
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.values import Constant
from torchrepro_lint.program.ordering.fresh_seeds import is_seeded_for
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.workers.workers import argument

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.switches.intent import Evidence

__all__ = ["UnseededSplit", "in_forked_rng", "part_names", "seeds_by_rank", "unseeded_splits"]

#: Names of the parts of a data set.
_PART: Final = re.compile(
    r"(?<![a-z])(?:train|training|trn|val|valid|validation|dev|test|eval|holdout)(?![a-z])", re.IGNORECASE
)
_RANK: Final = re.compile(r"rank(?!ing)", re.IGNORECASE)
_SUBSETS: Final = re.compile(r"Subset|SubsetRandomSampler|SubsetSampler")
#: Methods after which a permutation is still the same one.
_SAME_ORDER: Final = frozenset({"tolist", "numpy", "long", "int", "cpu", "cuda", "to", "detach", "view", "flatten"})


@dataclass(frozen=True, slots=True, eq=False)
class UnseededSplit:
    """A split or sampler that is given no generator, on some way; `parameter` is the one that takes it."""

    kind: Literal["split", "sampler", "permutation"]
    call: KnownCall
    parameter: Parameter


def unseeded_splits(program: Program) -> Iterator[UnseededSplit]:
    """The splits and samplers that are left to torch's global generator, in the order of files and text."""
    tables: tuple[tuple[Literal["split", "sampler", "permutation"], frozenset[str]], ...] = (
        ("split", ordering_names("torch_splits")),
        ("sampler", ordering_names("torch_samplers")),
        ("permutation", ordering_names("torch_permutations")),
    )
    found: list[UnseededSplit] = []
    for kind, names in tables:
        for group in asked_calls(program, names):
            for call in group:
                parameter = _generator_parameter(call.name)
                if parameter is None or not _may_lack(call, parameter):
                    continue
                if in_forked_rng(program, call) or (kind == "permutation" and not _parts_a_set(program, call)):
                    break
                if kind == "sampler":
                    if _is_a_truth_only(program, call) or _is_never_read(program, call):
                        break
                elif is_seeded_for(program, call) and seeds_by_rank(program, call) is None:
                    break
                found.append(UnseededSplit(kind, call, parameter))
                break
    yield from sorted(found, key=lambda one: (str(one.call.facts.path), one.call.call.site))


def _generator_parameter(name: str) -> Parameter | None:
    return next((effect.generator_parameter for effect in rng_effects(name) if effect.generator_parameter), None)


def _may_lack(call: KnownCall, parameter: Parameter) -> bool:
    """Whether nothing, or nothing but None, is given on this way; what cannot be followed does not count."""
    given, values = argument(call.arguments, parameter.name, parameter.position)
    if not given:
        return True
    return bool(values) and all(isinstance(value, Constant) and value.value is None for value in values)


def _is_a_truth_only(program: Program, call: KnownCall) -> bool:
    """Whether the sampler is given as `shuffle=`: nothing iterates it."""
    above = parents_of(program.ev, call.facts).of(call.call)
    return isinstance(above, tree.Arg) and above.keyword == "shuffle"


def _is_never_read(program: Program, call: KnownCall) -> bool:
    """Whether the sampler has a name in its function that nothing reads, below or in the next round of a loop."""
    parents = parents_of(program.ev, call.facts)
    match parents.of(call.call):
        case tree.Assign(targets=(tree.Name(id=name),)) if isinstance(parents.function(call.call), tree.FunctionDef):
            loops = {id(above) for above in parents.around(call.call) if isinstance(above, (tree.For, tree.While))}
            return not any(
                use.site > call.call.site or not loops.isdisjoint(map(id, parents.around(use)))
                for use in parents.names.get(name, ())
                if not parents.is_bound(use)
            )
    return False


def in_forked_rng(program: Program, call: KnownCall) -> bool:
    """Whether the call stands in `with torch.random.fork_rng():`, where the state is set for it alone."""
    for above in parents_of(program.ev, call.facts).around(call.call):
        if isinstance(above, tree.With):
            for context, _ in above.items:
                match context:
                    case tree.Call(func=tree.Attribute(attr="fork_rng") | tree.Name(id="fork_rng")):
                        return True
    return False


def part_names(node: tree.Expr) -> bool:
    """Whether a target is called after a part of a data set: `train_idx`, `self.val_set`."""
    match node:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            return bool(_PART.search(name))
        case tree.Display(items=items):
            return any(part_names(item) for item in items)
        case tree.Subscript(index=tree.Const(value=str() as text)):
            return bool(_PART.search(text))
    return False


# --- a permutation that parts a data set ----------------------------------------------------------------------


def _parts_a_set(program: Program, call: KnownCall) -> bool:
    """Whether slices of the permutation are the parts of a data set, by name or by what they are given to."""
    parents = parents_of(program.ev, call.facts)
    node: tree.Expr = call.call
    while True:
        above = parents.of(node)
        match above:
            case tree.Attribute(attr=attr) if attr in _SAME_ORDER:
                outer = parents.of(above)
                if not isinstance(outer, tree.Call):
                    return False
                node = outer
            case tree.Arg():
                outer = parents.of(above)
                if isinstance(outer, tree.Call) and _is_list(outer):
                    node = outer
                else:
                    return False
            case tree.Subscript(value=value) if value is node:
                return _is_part(parents, above)
            case tree.Assign(targets=(tree.Name(id=name),)):
                uses = [use for use in parents.names.get(name, ()) if _is_used_in(parents, call, use)]
                return any(_slice_is_part(parents, use) for use in uses)
            case _:
                return False


def _is_list(call: tree.Call) -> bool:
    return isinstance(call.func, tree.Name) and call.func.id in ("list", "tuple")


def _is_used_in(parents: Parents, call: KnownCall, use: tree.Name) -> bool:
    """Whether a use of the name is one below the call, in the same function."""
    return use.site > call.call.site and parents.function(use) is parents.function(call.call)


def _slice_is_part(parents: Parents, use: tree.Name) -> bool:
    above = parents.of(use)
    return isinstance(above, tree.Subscript) and above.value is use and _is_part(parents, above)


def _is_part(parents: Parents, piece: tree.Subscript) -> bool:
    """Whether a slice goes under the name of a part, or into a subset of a data set."""
    if not isinstance(piece.index, tree.Opaque):
        return False
    for above in parents.around(piece):
        match above:
            case tree.Call(func=tree.Name(id=name) | tree.Attribute(attr=name)) if _SUBSETS.fullmatch(name):
                return True
            case tree.Assign(targets=targets):
                return any(part_names(target) for target in targets)
            case tree.Return() | tree.ExprStmt() | tree.For() | tree.If() | tree.Comprehension():
                return False  # in a comprehension there are many, each of which is a draw of its own
    return False


# --- ranks ----------------------------------------------------------------------------------------------------


def seeds_by_rank(program: Program, call: KnownCall) -> Evidence | None:
    """The call that seeds torch with a number in which the rank of the process takes part."""
    for one in program.evidence_in_programs_of(call.facts, call.frame):
        if one.effect == "seed" and "torch" in one.seeds and one.value is not None and _mentions_rank(one):
            return one
    return None


def _mentions_rank(one: Evidence) -> bool:
    """Whether the seed, or what its name was last bound to, is made of a rank."""
    pending: list[tree.Expr] = [one.value] if one.value is not None else []
    seen: set[str] = set()
    while pending:
        node = pending.pop()
        match node:
            case tree.Name(id=name) | tree.Attribute(attr=name) if _RANK.search(name):
                return True
            case tree.Name(id=name) if name not in seen:
                seen.add(name)
                for binding in one.frame.scope.bindings.get(name, ()):
                    if binding.kind == "assign":
                        pending.append(binding.node)  # type: ignore[arg-type]
                    elif binding.kind == "augmented" and isinstance(binding.node, tree.AugAssign):
                        pending.append(binding.node.value)
        pending.extend(sub_expressions(node))
    return False

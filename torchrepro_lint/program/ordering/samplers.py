"""Splits and samplers that take their random numbers from torch's global generator."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, sub_expressions
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.values import Constant
from torchrepro_lint.program.ordering.fresh_seeds import is_seeded_for
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.fallbacks import stands_in_for
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.running.set_apart import stands_apart
from torchrepro_lint.program.workers.workers import argument

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.switches.intent import Evidence

__all__ = ["UnseededSplit", "part_names", "seeds_by_rank", "unseeded_splits"]

#: Names of the parts of a data set.
_PART: Final = re.compile(
    r"(?<![a-z])(?:train|training|trn|val|valid|validation|dev|test|eval|holdout)(?![a-z])", re.IGNORECASE
)
_RANK: Final = re.compile(r"rank(?!ing)", re.IGNORECASE)
_SUBSETS: Final = re.compile(r"Subset|SubsetRandomSampler|SubsetSampler")
#: Methods after which a permutation is still the same one.
_SAME_ORDER: Final = frozenset({"tolist", "numpy", "long", "int", "cpu", "cuda", "to", "detach", "view", "flatten"})
#: Methods, and functions of torch, that cut it.
_CUTS: Final = frozenset({"split", "chunk", "tensor_split", "split_with_sizes"})


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
                parents = parents_of(program.ev, call.facts)
                if stands_apart(parents, call.call) or stands_in_for(parents, call.call, parameter.name):
                    break
                if kind == "permutation" and not _parts_a_set(program, call):
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
    return _is_parted(parents_of(program.ev, call.facts), call.call, set())


def _is_parted(parents: Parents, node: tree.Expr, seen: set[int]) -> bool:
    """Whether an expression that is the permutation, or data in its order, is cut into the parts of a data set."""
    if id(node) in seen:
        return False
    seen.add(id(node))
    above = parents.of(node)
    match above:
        case tree.Attribute(attr=attr):
            outer = parents.of(above)
            if not isinstance(outer, tree.Call) or outer.func is not above:
                return False
            return (
                _are_parts(parents, outer)
                if attr in _CUTS
                else attr in _SAME_ORDER and _is_parted(parents, outer, seen)
            )
        case tree.Arg():
            outer = parents.of(above)
            match outer:
                case tree.Call(func=tree.Name(id="list" | "tuple")):
                    return _is_parted(parents, outer, seen)
                case tree.Call(func=tree.Attribute(attr=attr), args=(first, *_)) if attr in _CUTS and first is above:
                    return _are_parts(parents, outer)
        case tree.Subscript(value=value):
            return _is_part(parents, above) if value is node else _is_parted(parents, above, seen)
        case tree.Display(kind="tuple", items=items):
            match parents.of(above):
                case tree.Assign(targets=(tree.Display(items=targets),)) if len(targets) == len(items):
                    (place,) = [index for index, item in enumerate(items) if item is node]
                    return _is_used_for_parts(parents, targets[place], node, seen)
        case tree.Assign(targets=(target,)):
            return _is_used_for_parts(parents, target, node, seen)
    return False


def _is_used_for_parts(parents: Parents, target: tree.Expr, value: tree.Expr, seen: set[int]) -> bool:
    return any(_is_parted(parents, use, seen) for use in _uses_below(parents, target, value))


def _uses_below(parents: Parents, target: tree.Expr, value: tree.Expr) -> Iterator[tree.Expr]:
    """The uses of a name, or of an attribute of `self`, below the value that it is given, in the same function."""
    uses: Sequence[tree.Expr] = ()
    match target:
        case tree.Name(id=name):
            uses = parents.names.get(name, ())
        case tree.Attribute(value=tree.Name(id="self"), attr=attr):
            uses = [use for use in parents.attributes.get(attr, ()) if dotted_name(use) == f"self.{attr}"]
    function = parents.function(value)
    for use in uses:
        if use.site > value.site and not parents.is_bound(use) and parents.function(use) is function:
            yield use


def _are_parts(parents: Parents, cut: tree.Call) -> bool:
    """Whether what a permutation is cut into goes by the names of parts, or into subsets of a data set."""
    match parents.of(cut):
        case tree.Assign(targets=(tree.Display(items=items) as target,)):
            return part_names(target) or any(
                _goes_into_a_subset(parents, use) for item in items for use in _uses_below(parents, item, cut)
            )
    return False


def _goes_into_a_subset(parents: Parents, node: tree.Expr) -> bool:
    above = parents.of(node)
    outer = parents.of(above) if isinstance(above, tree.Arg) else None
    return isinstance(outer, tree.Call) and bool(_SUBSETS.fullmatch(called_name(outer.func) or ""))


def _in_same_order(parents: Parents, node: tree.Expr) -> tree.Expr:
    """What methods such as `.tolist()` make of an expression."""
    while isinstance(method := parents.of(node), tree.Attribute) and method.attr in _SAME_ORDER:
        call = parents.of(method)
        if not isinstance(call, tree.Call) or call.func is not method:
            break
        node = call
    return node


def _is_part(parents: Parents, piece: tree.Subscript) -> bool:
    """Whether a slice goes under the name of a part, or into a subset of a data set."""
    if not isinstance(piece.index, tree.Opaque):
        return False
    for above in parents.around(piece):
        match above:
            case tree.Call(func=func) if _SUBSETS.fullmatch(called_name(func) or ""):
                return True
            case tree.Assign(targets=targets, value=value):
                if any(part_names(target) for target in targets):
                    return True
                return value is _in_same_order(parents, piece) and any(
                    _goes_into_a_subset(parents, _in_same_order(parents, use))
                    for use in _uses_below(parents, targets[0], piece)
                )
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

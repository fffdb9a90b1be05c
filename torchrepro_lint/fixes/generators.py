"""Finding a seeded `torch.Generator` that a loader can use, and writing one that is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count, islice

import libcst as cst

from torchrepro_lint.fixes.arms import arms_apart, made_instead
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.made_names import made_name, without_sampler
from torchrepro_lint.fixes.passed_arguments import given
from torchrepro_lint.fixes.scopes import Binding, Scope
from torchrepro_lint.fixes.unseeded_calls import KnownLoaders, may_want_generator
from torchrepro_lint.fixes.worker_init import resolved_name
from torchrepro_lint.knowledge.loaders import torch_position

__all__ = [
    "alike_calls",
    "are_too_many",
    "calls_that_want_one",
    "find_generator",
    "fresh_name",
    "generator_name",
    "is_idle",
    "lacks_one",
    "number_to_come",
    "numbered_name",
    "that_want_one",
]


#: How many calls of one function may want generators: nobody reads a function in which more are made one by one.
MAX_IN_A_FUNCTION = 64


def find_generator(
    document: Document, call: cst.Call, blocks: frozenset[int], seed: str, *, of_module: bool = False
) -> str | None:
    """The name of a generator that is made and seeded once for the loader `call`, above it and outside its loops, in
    one of the `blocks` around it (those of `Place`), and that nothing uses yet.

    In a function, a generator of the module serves only if it has the `seed` that a new one would get, or with
    `of_module`, where the function runs again in one training.
    """
    possible = document.once(_perhaps_generators)
    if not possible:
        return None
    scope = document.scope_of(call)
    owner: Scope | None = scope
    while owner is not None:
        local = owner is not document.scope or document.function(call) is None
        for name, bindings in owner.bindings.items():
            if len(bindings) != 1 or id(bindings[0].node) not in possible or scope.resolve(name) is not owner:
                continue
            found = _seed_of(document, bindings[0], owner, call, blocks)
            if found is not None and (local or of_module or found == seed) and not _is_used(document, name, owner):
                return name
        owner = owner.parent
    return None


def _is_used(document: Document, name: str, owner: Scope) -> bool:
    """Whether anything but its seeding reads the name of a generator: two loaders that share one are not apart."""
    for node in document.nodes(cst.Name):
        if node.value != name or document.scope_of(node).resolve(name) is not owner:
            continue
        match document.parent(node):
            case cst.AssignTarget() | cst.AnnAssign():
                continue
            case cst.Attribute(value=value, attr=cst.Name(value="manual_seed")) if value is node:
                continue
            case cst.Attribute(attr=attr) if attr is node:
                continue
            case cst.Arg(keyword=given) if given is node:
                continue
        return True
    return False


def generator_name(
    document: Document, call: cst.Call, home: cst.BaseStatement, known: KnownLoaders | None, *scopes: Scope
) -> str:
    """A name that is free in `scopes` for the generator of a loader, which is made before the statement `home`: `g`
    where no other loader in its function may want one, else after what is made: `train_generator` for `train_loader`,
    and for `train_sampler` where there is no such loader.

    Of the loaders in the arms of one `if` a run makes one: their generators have one name.
    """
    beside = [one for one in calls_that_want_one(document, known, document.function(call)) if one is not call]
    instead = made_instead(document, call, home, beside)
    taken = next((name for one in beside if id(one) in instead and (name := _name_in_arm(document, call, one))), None)
    if taken is not None:
        return taken
    # Each turn of a loop may take another arm.
    if all(id(one) in instead for one in beside) and not (beside and document.loops(home)):
        return fresh_name(("g", "generator", "loader_generator"), *scopes)
    stem = made_name(document, call)
    alike = alike_calls(document, call, stem, known)
    earlier = [one for one in alike if one is not call and id(one) not in instead and not is_idle(known, one)]
    short = without_sampler(stem)
    shown = stem if short == stem or alike_calls(document, call, short, known) else short
    return numbered_name(
        f"{shown}_generator" if shown else "g",
        number_to_come(document, call, earlier),
        lambda name: any(scope.uses(name) or scope.mentions(name) for scope in scopes),
    )


def are_too_many(document: Document, call: cst.Call) -> bool:
    """Whether a function makes so many loaders, splits and samplers that generators for all of them help nobody."""
    beside = document.once(that_want_one).get(id(document.function(call)), ())
    return len(beside) > MAX_IN_A_FUNCTION


def lacks_one(known: KnownLoaders | None, call: cst.Call) -> bool:
    """Whether a call that may want a generator is given none, and may draw."""
    return given(call, "generator", torch_position("generator")) is None and not is_idle(known, call)


def alike_calls(document: Document, call: cst.Call, stem: str, known: KnownLoaders | None) -> Sequence[cst.Call]:
    """The calls in the function of a call that may want a generator and whose results have names like the one of its
    own; those that draw nothing are among them.
    """
    function = document.function(call)
    found = document.once(_that_want_one_by_name).get((id(function), stem), [])
    others = [
        one
        for one in (known.by_other_names if known is not None else ())
        if function in _homes(document, one) and made_name(document, one) == stem and one not in found
    ]
    return [*found, *others] if others else found


def is_idle(known: KnownLoaders | None, call: cst.Call) -> bool:
    return known is not None and known.is_idle(call)


def _name_in_arm(document: Document, call: cst.Call, other: cst.Call) -> str | None:
    """The name of the generator that another loader is given, where it is bound in no arm that `call` is in as well."""
    passed = given(other, "generator", torch_position("generator"))
    if passed is None or not isinstance(passed.value, cst.Name):
        return None
    name = passed.value.value
    owner = document.scope_of(other).resolve(name)
    if owner is None or document.scope_of(call).resolve(name) is not owner:
        return None
    apart = arms_apart(document, call, other)
    bound = [{id(outer) for outer in document.ancestors(binding.node)} for binding in owner.bindings[name]]
    return name if all(not apart.isdisjoint(around) for around in bound) else None


def number_to_come(document: Document, call: cst.Call, others: Iterable[cst.Call]) -> int:
    """How many of other loaders stand above a loader and are still to get a generator."""
    return sum(
        document.start(one) < document.start(call) and given(one, "generator", torch_position("generator")) is None
        for one in others
    )


def numbered_name(name: str, before: int, is_taken: Callable[[str], bool]) -> str:
    """The first of `name`, `name2`, ... that is free, but for as many as those `before` it will take."""
    numbered = (name if number == 1 else f"{name}{number}" for number in count(1))
    return next(islice((one for one in numbered if not is_taken(one)), before, None))


def calls_that_want_one(
    document: Document, known: KnownLoaders | None, within: cst.CSTNode | None
) -> Sequence[cst.Call]:
    """The calls in a function or a class (or, with None, in the module's own code) that by their text may want a
    generator, or have one, and those of the known loaders that have other names.
    """
    found = {id(one): one for one in document.once(that_want_one).get(id(within), ())}
    for one in known.by_other_names if known is not None else ():
        if any(home is within for home in _homes(document, one)):
            found[id(one)] = one
    return [one for one in found.values() if known is None or not known.is_idle(one)]


def that_want_one(document: Document) -> dict[int, list[cst.Call]]:
    found: dict[int, list[cst.Call]] = {}
    for call in document.nodes(cst.Call):
        if may_want_generator(document, call):
            for home in _homes(document, call):
                found.setdefault(id(home), []).append(call)
    return found


def _that_want_one_by_name(document: Document) -> dict[tuple[int, str], list[cst.Call]]:
    found: dict[tuple[int, str], list[cst.Call]] = {}
    for home, calls in document.once(that_want_one).items():
        for call in calls:
            found.setdefault((home, made_name(document, call)), []).append(call)
    return found


def _homes(document: Document, call: cst.Call) -> tuple[cst.CSTNode | None, ...]:
    """The function around a call, None for the module's own code, and the class, if there is one."""
    function, cls = document.function(call), document.enclosing_class(call)
    return (function,) if cls is None else (function, cls)


def fresh_name(candidates: tuple[str, ...], *scopes: Scope) -> str:
    """The first of some names, or the last with a number, that neither clashes with nor hides another in `scopes`."""
    for name in candidates:
        if not any(scope.uses(name) or scope.mentions(name) for scope in scopes):
            return name
    number = 2
    while any(scope.mentions(f"{candidates[-1]}{number}") for scope in scopes):
        number += 1
    return f"{candidates[-1]}{number}"


def _perhaps_generators(document: Document) -> frozenset[int]:
    """The targets, by id, that are given `torch.Generator()` or what a `.manual_seed(...)` gives, by their form."""
    return frozenset(
        id(target.target)
        for node in document.nodes(cst.Assign)
        if isinstance(node.value, cst.Call) and (not node.value.args or _seeded(node.value) is not None)
        for target in node.targets
    )


def _seeded(call: cst.Call) -> cst.BaseExpression | None:
    """What a `.manual_seed(...)` seeds."""
    return call.func.value if isinstance(call.func, cst.Attribute) and call.func.attr.value == "manual_seed" else None


def _seed_of(document: Document, binding: Binding, owner: Scope, call: cst.Call, blocks: frozenset[int]) -> str | None:
    """With what a binding's generator is seeded; None if it is none that the loader can use."""
    if binding.kind != "assign" or document.start(binding.node) > document.start(call):
        return None
    target = document.parent(binding.node)
    assign = document.parent(target) if target is not None else None
    if not isinstance(assign, cst.Assign):
        return None
    statement = document.parent(assign)
    block = document.parent(statement) if statement is not None else None
    if block is None or (block is not document.module and id(block) not in blocks):
        return None
    value = assign.value
    if isinstance(value, cst.Call) and (seeded := _seeded(value)) is not None:
        return _first_argument(document, value) if _is_generator(owner, seeded) else None
    return _seeded_with(document, binding.name, owner, block) if _is_generator(owner, value) else None


def _is_generator(scope: Scope, node: cst.BaseExpression) -> bool:
    """`torch.Generator()`, which is one on the CPU."""
    return isinstance(node, cst.Call) and not node.args and resolved_name(scope, node.func) == "torch.Generator"


def _seeded_with(document: Document, name: str, owner: Scope, block: cst.CSTNode) -> str | None:
    """The argument of `g.manual_seed(...)`, if that is in the block that makes `g`, and `g` is set nowhere else."""
    seedings = [
        node
        for node in document.nodes(cst.Call, owner.node)
        if isinstance(node.func, cst.Attribute)
        and isinstance(node.func.value, cst.Name)
        and node.func.value.value == name
        and node.func.attr.value in ("manual_seed", "seed", "set_state")
    ]
    if len(seedings) != 1 or document.parent(document.statement(seedings[0])) is not block:
        return None
    func = seedings[0].func
    assert isinstance(func, cst.Attribute)
    return _first_argument(document, seedings[0]) if func.attr.value == "manual_seed" else None


def _first_argument(document: Document, call: cst.Call) -> str | None:
    """The text of what is given first, as on one line."""
    return " ".join(document.module.code_for_node(call.args[0].value).split()) if call.args else None

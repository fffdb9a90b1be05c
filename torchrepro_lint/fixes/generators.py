"""Finding a seeded `torch.Generator` that a loader can use, and writing one that is missing."""

from __future__ import annotations

import libcst as cst

from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.scopes import Binding, Scope
from torchrepro_lint.fixes.worker_init import resolved_name

__all__ = ["find_generator", "fresh_name", "generator_source"]


def find_generator(
    document: Document, call: cst.Call, blocks: frozenset[int], seed: str, *, repeated: bool
) -> str | None:
    """The name of a generator that is made and seeded once for the loader `call`, above it and outside its loops: in
    one of the `blocks` around it, which are those of `Place`.

    In a function, a generator of the module is one for all calls of the function: that is wanted where the function is
    `repeated` in a training. Else the function may be a training, which starts from its own seed, so that the module's
    generator serves only if it has the seed that a new one would get.
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
            if found is not None and (local or repeated or found == seed):
                return name
        owner = owner.parent
    return None


def generator_source(document: Document, name: str, torch: str, seed: str, indentation: str) -> str:
    """The two lines that make a generator and seed it."""
    lines = [f"{name} = {torch}.Generator()", *_call_lines(document, f"{name}.manual_seed", seed, indentation)]
    return "".join(f"{indentation}{line}{document.newline}" for line in lines)


def _call_lines(document: Document, function: str, argument: str, indentation: str) -> list[str]:
    """A call with one argument, on one line if that is not too long; a sum is parted before its last `+`."""
    if len(f"{indentation}{function}({argument})") <= document.line_length:
        return [f"{function}({argument})"]
    step = document.indent_unit
    first, plus, last = argument.rpartition(" + ")
    is_short = len(f"{indentation}{step}{argument}") <= document.line_length or not plus
    inner = [argument] if is_short else [first, f"+ {last}"]
    return [f"{function}(", *(f"{step}{line}" for line in inner), ")"]


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

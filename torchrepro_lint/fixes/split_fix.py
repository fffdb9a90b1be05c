"""The fix that gives a split or a sampler a seeded generator of torch, or a seed of its own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import libcst as cst

from torchrepro_lint.diagnostics import Fix
from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.arguments import add_keyword_arguments
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.loader_fix import is_distributed, surroundings, why_no_generator
from torchrepro_lint.fixes.other_orders import leaves_the_other_order
from torchrepro_lint.fixes.passed_arguments import given, replace_argument
from torchrepro_lint.fixes.program_seed import INITIAL_SEED, seed_around
from torchrepro_lint.fixes.seeding import Declined, plan_generator
from torchrepro_lint.fixes.seeding_request import Ranks
from torchrepro_lint.fixes.unsafe_reasons import ANOTHER_ORDER, ASKS_TORCH
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.running.known_calls import KnownCall, all_names
from torchrepro_lint.program.workers.rank_names import depends_on_rank

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["generator_fix", "random_state_fix"]

Planned = tuple[Fix | None, str | None]

#: What a file says that imports torch, or something of it.
_OF_TORCH: Final = re.compile(r"(?m)^[^\S\n]*(?:import|from)\s+(?:[^\n]*,\s*)?torch\b")


def generator_fix(
    program: Program,
    call: KnownCall,
    parameter: Parameter,
    *,
    since: str,
    is_split: bool,
    seeds_by_rank: bool,
    ranks_differ: bool = False,
) -> Planned:
    """The fix that passes a seeded `torch.Generator`, which the call takes `since` a release of torch, or why there is
    none.

    In a distributed program, or with `seeds_by_rank`, it is one of the call's own, with the same seed on all ranks.
    Where each rank has an order of its own until now, and keeps it (`ranks_differ`), the rank is part of the seed.
    """
    if (reason := why_no_generator(program, call.facts.path, since)) is not None:
        return None, reason
    document = document_of(program, call.facts.path)
    node = document.node_at(*program.parsed(call.facts.path).span(call.call.site), cst.Call)
    if node is None:
        return None, "the call could not be located"
    if any(arg.star for arg in call.call.args):
        return None, "the call unpacks arguments, which may contain a generator"
    if not _always_takes(program, call, parameter):
        return None, f"what is called here is not always one that takes {parameter.name}"
    seeds_by_rank = seeds_by_rank or ranks_differ
    ranks_differ = ranks_differ and not _is_dealt_out(document, node)
    plan = plan_generator(
        document,
        node,
        parameter.name,
        parameter.position,
        replace(
            surroundings(program, document, call.facts, call.scope, call.call.site),
            by_rank=_passed_by_rank(program, call),
        ),
        alone=not ranks_differ and (seeds_by_rank or is_distributed(program, call.facts.path)),
        device=_device_of(document, node),
        is_split=is_split,
        ranks=Ranks(mentioned=ranks_differ, started=ranks_differ, in_seed=ranks_differ),
    )
    if isinstance(plan, Declined):
        return None, plan.reason
    is_half = not is_split and leaves_the_other_order(program, call.site)
    because = plan.because or (ANOTHER_ORDER if is_half else None)
    return Fix.checked("Pass a seeded generator", plan.edits, because), None


def _is_dealt_out(document: Document, sampler: cst.Call) -> bool:
    """Whether the ranks share what a sampler gives, so that they have to agree on it: `DistributedWrapper(sampler)`."""
    made = document.parent(sampler)
    targets = made.targets if isinstance(made, cst.Assign) else ()
    names = {target.target.value for target in targets if isinstance(target.target, cst.Name)}
    return any(
        argument.value is sampler or (isinstance(argument.value, cst.Name) and argument.value.value in names)
        for call in document.nodes(cst.Call)
        if "distributed" in document.text_of(call.func).lower()
        for argument in call.args
    )


def _passed_by_rank(program: Program, call: KnownCall) -> frozenset[str]:
    """The parameters of the function around a call for which its callers pass what hangs on the rank."""
    node = call.scope.node
    names = [param.name for param in node.params] if isinstance(node, tree.FunctionDef) else []
    return frozenset(
        name for name in names if depends_on_rank(program.ev, tree.Name(call.call.site, name), call.facts, call.scope)
    )


def _device_of(document: Document, call: cst.Call) -> str:
    """How the generator of a call is told on which device to draw: "" where it is the CPU, `device=...` elsewhere."""
    device = given(call, "device")
    if device is None or document.text_of(device.value).strip("\"'") in ("cpu", "None"):
        return ""
    return f"device={document.text_of(device.value)}"


def random_state_fix(program: Program, call: KnownCall, parameter: Parameter, form: str = "{}") -> Planned:
    """The fix that passes the program's own seed as `random_state` (or what the library calls it). `form` is how it is
    written: `TPESampler(seed={})`.
    """
    document = document_of(program, call.facts.path)
    node = document.node_at(*program.parsed(call.facts.path).span(call.call.site), cst.Call)
    if node is None:
        return None, "the call could not be located"
    if any(arg.star for arg in call.call.args):
        return None, f"the call unpacks arguments, which may contain {parameter.name}"
    if not _always_takes(program, call, parameter):
        return None, f"what is called here is not always one that takes {parameter.name}"
    if document.loops(node):
        return None, "the call is repeated in a loop, and one seed would give the same parts each time"
    planner = ImportPlanner(document)
    # The parts have to be the same on all ranks.
    seed = seed_around(
        program,
        call.facts.path,
        document.statement(node),
        planner,
        _passed_by_rank(program, call),
        of_all_ranks=True,
        of_32_bits=True,
    )
    if isinstance(seed, Declined):
        return None, seed.reason
    old = given(node, parameter.name)
    text = form.format(seed.text)
    edits = (
        [replace_argument(document, old, text)]
        if old is not None
        else add_keyword_arguments(document, node, [(parameter.name, text)])
    )
    asks = INITIAL_SEED in seed.text and _OF_TORCH.search(document.text) is None
    because = seed.because or (ASKS_TORCH if asks else None)
    return Fix.checked(f"Pass {parameter.name}={text}", (*planner.edits(), *edits), because), None


def _always_takes(program: Program, call: KnownCall, parameter: Parameter) -> bool:
    """Whether all that may be called has the parameter: `sampler_class` may be a DistributedSampler in other runs. A
    method of the same name (`rows.train_test_split`, of rows that come from elsewhere) is taken for the same one.
    """
    own = last_part(call.name)
    return all(
        name is not None and (last_part(name) == own or _takes(name, parameter)) for name in all_names(program, call)
    )


def _takes(name: str, parameter: Parameter) -> bool:
    generators = (effect.generator_parameter for effect in rng_effects(name))
    return any(one is not None and one.name == parameter.name for one in generators)

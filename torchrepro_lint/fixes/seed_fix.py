"""Fixes of seeding calls: a constant in the place of a seed that differs in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.unused_imports import drop_unused_imports
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.runs_once import runs_once
from torchrepro_lint.program.switches.intent import fetches_items
from torchrepro_lint.program.switches.intent_at import ways_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.values import Site
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.seeds.seed_faults import ChangingSeed

__all__ = ["Planned", "constant_seed_fix"]

Planned = tuple[Fix | None, str | None]

_BY_INIT = "seed the workers, by worker_init_fn"
_WITH_A_SEED = {"seed": "manual_seed", "seed_all": "manual_seed_all"}


def constant_seed_fix(program: Program, fault: ChangingSeed) -> Planned:
    """Writes the configured seed where the seed now comes from entropy."""
    if fault.fallback:
        return None, "the user can give a seed, and only the author can choose a default"
    document = document_of(program, fault.site.path)
    node = _node(program, document, fault.site)
    if node is not None and document.loops(node):
        return None, "in a loop, a constant would be the same seed in every iteration: seed once, above the loop"
    if any(fetches_items(waypoint.scope) for way in ways_of(program, fault.seeding) for waypoint in way):
        instead = "take the seed from torch, which has one for each worker" if fault.drawn else _BY_INIT
        return None, f"with a constant every item would get the same draw: {instead}"
    if not fault.seeding.seeds and fault.source is not None and _tells_texts_apart(fault.source.node):
        return None, "with a constant every text would get the same draws: hash it with `zlib.crc32(text.encode())`"
    if fault.drawn and not _is_made_once(program, fault):
        return None, "with a constant all that are made here would draw the same: hand on one that is seeded once"
    seed = str(program.settings.seed)
    edits = _in_place(program, fault, seed) if fault.source is not None else _into_call(program, fault, seed)
    if edits is None:
        return None, "the seed is not written where it could be replaced"
    return Fix(Applicability.UNSAFE, f"Seed with {seed}", tuple(edits)), None


def _is_made_once(program: Program, fault: ChangingSeed) -> bool:
    """Whether the program makes a single generator where it makes this one."""
    frame = fault.seeding.frame
    return runs_once(program.ev, frame.facts, frame.scope, fault.seeding.site.number)


def _tells_texts_apart(seed: tree.Expr) -> bool:
    """Whether a seed has the hash of something that may be another text each time, and is no constant."""
    hashes = [one for one in walk([seed]) if isinstance(one, tree.Call) and called_name(one.func) == "hash"]
    return any(isinstance(part, tree.Name) for one in hashes for arg in one.args for part in walk([arg.value]))


def _in_place(program: Program, fault: ChangingSeed, seed: str) -> list[Edit] | None:
    """A constant for the expression; for torch's own `seed()`, a call that seeds with one and gives it back too."""
    document = document_of(program, fault.site.path)
    node = _node(program, document, fault.site)
    if node is None:
        return None
    return [*drop_unused_imports(document, [node]), document.replacement(*document.outer_span(node), seed)]


def _into_call(program: Program, fault: ChangingSeed, seed: str) -> list[Edit] | None:
    """A seed for a call that has none. Where a parameter without one is given on, it gets the seed as its default: the
    callers may still give another.
    """
    document = document_of(program, fault.site.path)
    call = _node(program, document, fault.site)
    if not isinstance(call, cst.Call) or len(call.args) > 1:
        return None
    default = _empty_default(document, call) if call.args else None
    if default is not None:
        return [document.replacement(*document.span(default), seed)]
    start, end = document.span(call.args[0]) if call.args else (document.end(call) - 1,) * 2
    edits = [document.replacement(start, end, seed)]
    if fault.seeding.name.startswith("torch."):
        # torch.seed() takes no seed: torch.manual_seed(0) does.
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in _WITH_A_SEED:
            return None
        if not isinstance(document.parent(call), cst.Expr):
            return None  # the number that it gives is used
        edits.append(document.replacement(*document.span(call.func.attr), _WITH_A_SEED[call.func.attr.value]))
    return sorted(edits)


def _empty_default(document: Document, call: cst.Call) -> cst.BaseExpression | None:
    """The None that is the default of the parameter which is given on."""
    function, given = document.function(call), call.args[0].value
    if function is None or not isinstance(given, cst.Name):
        return None
    for param in (*function.params.posonly_params, *function.params.params, *function.params.kwonly_params):
        if param.name.value == given.value and isinstance(param.default, cst.Name) and param.default.value == "None":
            return param.default
    return None


def _node(program: Program, document: Document, site: Site) -> cst.BaseExpression | None:
    return document.node_at(*program.parsed(site.path).span(site.number), cst.BaseExpression)

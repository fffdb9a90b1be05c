"""The unsafe fix that lets the rank take part in the seed of a loader's generator, and so in those of its workers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.loader_fix import loader_fix
from torchrepro_lint.fixes.passed_arguments import given, replace_argument
from torchrepro_lint.fixes.rank_expression import find_rank, plus_rank, rank_call
from torchrepro_lint.fixes.unsafe_reasons import ALWAYS
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.seeds.seeding import has_generator

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.values import Site
    from torchrepro_lint.program.program import Program

__all__ = ["rank_fix"]

Planned = tuple[Fix | None, str | None]

_MESSAGE = "Include the rank in the seed of the workers"


def rank_fix(program: Program, loader: Loader, seeding: Site) -> Planned:
    """Add the rank to the seed of the loader's generator, which `seeding` seeds, or pass one that has it."""
    if not has_generator(loader):
        fix, declined = loader_fix(program, loader, init=False, generator=True, by_rank=True)
        return (replace(fix, message=_MESSAGE).made_unsafe(ALWAYS["TRL111"]) if fix else None), declined
    document = document_of(program, seeding.path)
    call = document.node_at(*program.parsed(seeding.path).span(seeding.number), cst.Call)
    loader_call = document.node_at(*program.parsed(loader.facts.path).span(loader.call.site), cst.Call)
    if call is None or len(call.args) != 1 or seeding.path != loader.facts.path or loader_call is None:
        return None, "the seed of the generator is not written in the file of the loader"
    passed = given(loader_call, "generator")
    imports = ImportPlanner(document)
    at = document.statement(call)
    seed = document.text[slice(*document.outer_span(call.args[0].value))]
    rank = find_rank(document, imports, at) or rank_call(document, imports, at)
    if rank is None:
        return None, "the generator is made at the top of the file, where no process has a rank"
    text = plus_rank(seed, rank)
    if passed is not None and not _serves_workers_only(document, call, passed):
        # What else draws from it, such as a split or a sampler, has to be the same on all ranks.
        if document.loops(loader_call):
            return None, "the generator serves others too, and the loader is made in a loop"
        own = f"{imports.require('torch', at=loader_call)}.Generator().manual_seed({text})"
        edit = replace_argument(document, passed, own)
    else:
        edit = replace_argument(document, call.args[0], text)
    return Fix(Applicability.UNSAFE, _MESSAGE, (*imports.edits(), edit)), None


def _serves_workers_only(document: Document, seeding: cst.Call, passed: cst.Arg) -> bool:
    """Whether a generator is a name that is only seeded, and passed to loaders that take their order from a sampler."""
    if not isinstance(passed.value, cst.Name):
        return True
    name = passed.value.value
    owner = document.scope_of(passed.value).resolve(name)
    for node in document.nodes(cst.Name):
        if node.value != name or document.scope_of(node).resolve(name) is not owner:
            continue
        parent = document.parent(node)
        if parent is seeding.func or isinstance(parent, cst.AssignTarget):
            continue
        call = document.parent(parent) if isinstance(parent, cst.Arg) else None
        if not isinstance(parent, cst.Arg) or not isinstance(call, cst.Call) or parent.keyword is None:
            return False
        if parent.keyword is not node and not (given(call, "sampler") or given(call, "batch_sampler")):
            return False
    return True

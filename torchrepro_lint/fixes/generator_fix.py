"""Repairs of generators that are never seeded, or that are torch's global one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.placement import Declined
from torchrepro_lint.fixes.program_seed import seed_around
from torchrepro_lint.fixes.unsafe_reasons import OWN_NUMBERS
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Site

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["own_generator_fix", "seed_generator_fix", "seed_with_number_fix"]

Planned = tuple[Fix | None, str | None]


def seed_generator_fix(program: Program, made: Site, *, of_all_ranks: bool) -> Planned:
    """Seed a generator where it is made: `torch.Generator().manual_seed(SEED)`. `of_all_ranks`: with the same seed on
    every rank, as a generator that is never seeded draws the same numbers on each.
    """
    document = document_of(program, made.path)
    call = document.node_at(*program.parsed(made.path).span(made.number), cst.Call)
    if call is None:
        return None, "the call could not be located"
    if document.loops(call):
        return None, "the generator is made in a loop, and one seed would give the same numbers in each iteration"
    planner = ImportPlanner(document)
    seed = seed_around(program, made.path, document.statement(call), planner, of_all_ranks=of_all_ranks)
    if isinstance(seed, Declined):
        return None, seed.reason
    edit = document.insertion(document.end(call), f".manual_seed({seed.text})")
    because = OWN_NUMBERS if _wants_its_own_numbers(document, call) else seed.because
    return Fix.checked(f"Seed it with {seed.text}", (*planner.edits(), edit), because), None


def _wants_its_own_numbers(document: Document, call: cst.Call) -> bool:
    """Whether a generator is to give the same numbers whatever the program's seed is: one with a number, as if that
    were its seed (`torch.Generator(0)`), or one that is made where a seed is asked for (`if set_masking_seed:`).
    """
    if any(isinstance(argument.value, cst.Integer) for argument in call.args):
        return True
    tests = [outer.test for outer in document.ancestors(call) if isinstance(outer, cst.If | cst.IfExp)]
    asked = (name.value for test in tests for name in document.nodes(cst.Name, test))
    return any(map(function_words("is_a_seed").search, asked))


def seed_with_number_fix(program: Program, seeding: Site) -> Planned:
    """Turn `g.seed()` into `g.manual_seed(SEED)`."""
    document = document_of(program, seeding.path)
    call = document.node_at(*program.parsed(seeding.path).span(seeding.number), cst.Call)
    if call is None or not isinstance(call.func, cst.Attribute):
        return None, "the call could not be located"
    if not isinstance(document.parent(call), cst.Expr):
        return None, "the seed that `seed()` draws is used elsewhere"
    planner = ImportPlanner(document)
    seed = seed_around(program, seeding.path, document.statement(call), planner)
    if isinstance(seed, Declined):
        return None, seed.reason
    edit = document.replacement(document.start(call.func.attr), document.end(call), f"manual_seed({seed.text})")
    return Fix.checked(f"Seed it with {seed.text}", (*planner.edits(), edit), seed.because), None


def own_generator_fix(program: Program, site: Site, *, keep_seeding: bool) -> Planned:
    """Put a generator of its own in the place of torch's global one.

    `keep_seeding`: the program seeds torch nowhere else, so that the call stays, in a line above.
    """
    document = document_of(program, site.path)
    node = document.node_at(*program.parsed(site.path).span(site.number), cst.BaseExpression)
    if node is None:
        return None, "the generator could not be located"
    if document.loops(node):
        return None, "the generator is made in a loop, and one seed would give the same order in each iteration"
    if isinstance(node, cst.Call):
        return _of_seeding_call(document, node, keep_seeding=keep_seeding)
    if not isinstance(node, cst.Attribute):
        return None, "torch is not named where the generator is"
    planner = ImportPlanner(document)
    seed = seed_around(program, site.path, document.statement(node), planner)
    if isinstance(seed, Declined):
        return None, seed.reason
    text = f"{document.text_of(node.value)}.Generator().manual_seed({seed.text})"
    edit = document.replacement(*document.span(node), text)
    return Fix.checked("Use a separate generator", (*planner.edits(), edit), seed.because), None


def _of_seeding_call(document: Document, call: cst.Call, *, keep_seeding: bool) -> Planned:
    func = call.func
    if not isinstance(func, cst.Attribute) or not isinstance(func.value, cst.Name):
        return None, "torch is not named where the generator is"
    edits: list[Edit] = [document.insertion(document.end(func.value), ".Generator()")]
    for arg in call.args:
        if arg.keyword is not None:  # `torch.manual_seed(seed=3)`, whose namesake takes no keyword (torch 2.13)
            edits.append(document.replacement(document.start(arg.keyword), document.start(arg.value), ""))
    statement = document.statement(call)
    if keep_seeding:
        if not isinstance(statement, cst.SimpleStatementLine) or not _is_simple(call):
            return None, "nothing else seeds torch, and the call cannot be kept in a line of its own"
        start = document.start(statement)
        line = f"{document.text_of(call)}{document.newline}{document.indentation(start)}"
        edits.insert(0, document.insertion(start, line))
    return Fix(Applicability.SAFE, "Use a separate generator", tuple(edits)), None


def _is_simple(call: cst.Call) -> bool:
    return all(isinstance(arg.value, cst.Name | cst.Attribute | cst.Integer) for arg in call.args)

"""The operations that the rules of this family look at, and what they say alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from torchrepro_lint.knowledge.ops import OpRow, op_rows
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import intent_at, is_chosen_for_speed
from torchrepro_lint.program.ops.module_runs import is_of_uncalled_objects, is_ruled_out
from torchrepro_lint.program.ops.op_runs import (
    is_about_cuda,
    may_run_backward,
    may_run_on_cuda,
    may_use_cuda,
    of_its_users,
    of_reaching_programs,
    of_trainings,
    prepares_data,
    trains,
    ways_to,
)
from torchrepro_lint.program.ops.operations import Operation, called_by
from torchrepro_lint.program.ops.proven_rows import Flag, can_be_proven, rows_possible, rows_proven, runs_somewhere
from torchrepro_lint.program.ops.replaced_modules import is_replaced
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.unused_methods import is_in_unused_method
from torchrepro_lint.program.word_index import any_word

__all__ = ["OTHERS_SPEAK", "Candidate", "adds_along_sparse_edges", "candidates", "releases", "when_it_runs"]

#: An operation, the row that speaks against it, and the intent that holds there.
Candidate: TypeAlias = tuple[Operation, OpRow, list[Evidence]]

#: Rows on which other rules speak (the cuBLAS workspace, attention, memory), or that are about something else than
#: eager mode on CUDA.
OTHERS_SPEAK = frozenset({"cublas", "attention", "third-party", "memory", "mps", "compiled"})

_MESSAGE_PASSING: Final = "torch_geometric.nn.MessagePassing"
#: What a program says that hands edges over as a sparse matrix.
_SPARSE_EDGES: Final = re.compile(rb"\badj_t\b|SparseTensor|to_torch_(?:coo|csr|csc|sparse)|\bEdgeIndex\b")


def candidates(
    program: Program, is_wanted: Callable[[Evidence], bool], speaks_of: Callable[[OpRow], bool], *, flag: Flag,
    any_backend: bool = False, asked: bool = True,
) -> Iterator[Candidate]:  # fmt: skip
    """The operations in programs in which wanted evidence holds, each with the row that speaks against it and all the
    intent that holds there, what is wanted first. A rule says of which rows it speaks; `flag` and `any_backend` as in
    `rows_proven`. They are those of the files whose findings somebody waits for; with `asked` False, those of all
    other files.

    Work is done only where there is something to find: files that mention an operation, below a module with intent.
    """
    newest = program.target.newest()

    def matters(row: OpRow) -> bool:
        possible = speaks_of(row) and row.holds_at(newest) and is_about_cuda(row)
        return possible and can_be_proven(row, any_backend=any_backend)

    called = called_by(matters)
    words = any_word(called)
    paths = program.asked_with(words) if asked else program.others_with(words)
    wanted = [one for one in program.evidence if is_wanted(one)] if paths else []
    roots = frozenset(root for one in wanted for root in one.roots)
    forced = program.settings.intent == "deterministic" and flag != "raise"
    if not roots and not forced:
        return
    for path in paths:
        if not forced and roots.isdisjoint(program.imports.above(path)):
            continue
        if not may_use_cuda(program, path):
            continue
        for operation in program.operations(path, called):
            rows = [row for row in op_rows(operation.name) if matters(row)]
            if not rows:
                continue
            # What is asked first is what takes least: whose run the call is in, before what its tensors are.
            program.ev.begin_question()
            rows = rows_possible(program.ev, operation, rows, flag=flag, any_backend=any_backend)
            if not rows or not runs_somewhere(program.ev, operation):
                continue
            places = ways_to(program, operation)
            intent = sorted(intent_at(program, path, places), key=lambda one: one not in wanted)
            if not (forced or any(one in wanted for one in intent)) or is_chosen_for_speed(places):
                continue
            if not forced:
                intent = of_its_users(program, operation, intent)
                intent = of_reaching_programs(program, operation, intent)
                if not any(one in wanted for one in intent) or is_in_unused_method(
                    program, operation.frame.facts, operation.frame.scope
                ):
                    continue
            if _never_runs(program, operation):
                continue
            rows = rows_proven(program.ev, operation, rows, flag=flag, any_backend=any_backend)
            if not rows or (rows[0].phase == "backward" and not may_run_backward(program, operation, rows[0])):
                continue
            if not may_run_on_cuda(program, operation):
                continue
            if rows[0].phase != "backward" and prepares_data(program, operation):
                continue
            if rows[0].phase == "backward":
                if not forced:
                    intent = of_trainings(program, path, intent)
                    if not any(one in wanted for one in intent):
                        continue
                # What is shown, and fixed, is a run that has such a pass.
                intent.sort(key=lambda one: (one not in wanted, not trains(program, one.roots)))
            yield operation, rows[0], intent


def _never_runs(program: Program, operation: Operation) -> bool:
    """Whether a module is replaced before anything can run it, or no object that has it comes to its calls; or an
    operation is of the `forward` of a class whose objects are all parts of others that never call them.
    """
    facts, scope, call = operation.frame.facts, operation.frame.scope, operation.call
    if operation.is_module:
        return is_replaced(program.ev, facts, scope, call) or is_ruled_out(program.ev, facts, scope, call)
    return is_of_uncalled_objects(program, facts, scope)


def adds_along_sparse_edges(program: Program, operation: Operation) -> bool:
    """Whether a layer of PyTorch Geometric may get its edges in a sparse matrix, and then adds in a fixed order."""
    if not any(row.op == _MESSAGE_PASSING for row in op_rows(operation.name)):
        return False
    return program.imports.any_together(operation.site.path, _SPARSE_EDGES)


def when_it_runs(row: OpRow) -> str:
    phase = {"forward": "in its forward pass", "backward": "in its backward pass"}.get(row.phase, "")
    shapes = (one for one in row.when if one.test == "ndim-at-least")
    return " ".join((phase, *(f"for {'an ' if one.parameter == 'input' else ''}{one.in_words}" for one in shapes)))


def releases(row: OpRow) -> str:
    """For which releases a row holds, as a person says it."""
    since, until = row.since, row.until
    if since is None:
        return f"in every torch before {until}" if until else "in every torch"
    if until is None:
        return f"in torch {since} and later"
    return f"in torch {since} and later, before {until}"

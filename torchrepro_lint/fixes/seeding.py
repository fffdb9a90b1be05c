"""The canonical seeding code for a DataLoader: `seed_worker`, a seeded generator, and the two keywords.

    def seed_worker(worker_id):
        worker_seed = torch.initial_seed() % 2**32
        np.random.seed(worker_seed)
        random.seed(worker_seed)

    g = torch.Generator()
    g.manual_seed(0)

    DataLoader(..., worker_init_fn=seed_worker, generator=g)

Several loaders of one function share one generator, which is made above the first of them. That is three lines less
for each loader than one generator each, and repeats just as well: the draws come in the order of the program. What it
does not give is that the order of one loader stays when another one is iterated more often.

In a distributed program the rank takes part in the seed if worker code draws random numbers, so that ranks do not draw
the same ones; but only where an expression for the rank is at hand. Else the plain seed is used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.fixes.apply import apply_edits
from torchrepro_lint.fixes.arguments import add_keyword_arguments, given, replace_argument
from torchrepro_lint.fixes.document import Document, dotted_name, is_cell_marker
from torchrepro_lint.fixes.generators import find_generator, fresh_name, generator_source
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.placement import Declined, Place, find_place, repeats_the_seed
from torchrepro_lint.fixes.rank_expression import find_rank, plus_rank, rank_call
from torchrepro_lint.fixes.rank_free import seed_of_all_ranks
from torchrepro_lint.fixes.seed_expression import HandedSeed, Seed, find_seed
from torchrepro_lint.fixes.wanting import KnownLoaders, first_statement_that_needs_init
from torchrepro_lint.fixes.worker_init import WORKER_SEED, ExistingInit, find_worker_init, worker_init_source
from torchrepro_lint.fixes.worker_lines import WorkerTarget, global_lines, worker_lines
from torchrepro_lint.knowledge.loaders import Role, torch_position

__all__ = ["Declined", "ExistingInit", "plan_generator", "plan_worker_seeding"]

_INIT_NAMES = ("seed_worker", "_seed_worker", "seed_loader_worker")
_GENERATOR_NAMES = ("g", "generator", "loader_generator")
# Comments that a tool reads together with the line below them.
_FOR_A_TOOL = re.compile(r"pylint:|fmt:|yapf:|isort:|type:|noqa|nosec|pragma|mypy:|pyright:|ruff:")


def plan_worker_seeding(
    document: Document,
    call: cst.Call,
    *,
    init: bool,
    generator: bool,
    seed: int = 0,
    existing_init: ExistingInit | None = None,
    in_distributed: bool = False,
    starts_ranks: bool = False,
    repeated: bool | None = None,
    may_hold: frozenset[str] = frozenset(),
    also_seeds: Sequence[WorkerTarget] = (),
    workers_draw: bool = False,
    by_rank: bool = False,
    handed: Sequence[HandedSeed] = (),
    known: KnownLoaders | None = None,
) -> list[Edit] | Declined:
    """The edits that give the DataLoader made by `call` a worker init function and a seeded generator.

    `init`, `generator`: which of the two are wanted. `seed`: the constant for programs that have no seed of their own.
    `existing_init`: a correct worker init function elsewhere in the project; one in the same file is found without.
    `in_distributed`: the program mentions ranks; `starts_ranks`: it surely may have several, each with this loader.
    `repeated`: whether the function around the call runs more than once per training, if the caller knows; None: as
    the file says. `may_hold`: the keywords that a `**kwargs` of the call may already carry. `also_seeds`: what the
    init function has to seed beside the global generators; then it is a new one. `workers_draw`: worker code
    draws random numbers; so it does where `init` is wanted. `by_rank`: the rank of the process has to take part in the
    seed of the generator, which then is a new one. `handed`: seeds that the parameters of the function bring along.
    `known`: the calls that make loaders, whatever they are called.
    """
    ranked = in_distributed and (init or workers_draw)
    plan = _Plan(
        document, call, seed, repeated, also_seeds, handed, known, ranked=ranked, by_rank=by_rank,
        starts_ranks=starts_ranks,
    )  # fmt: skip
    return plan.make(init=init, generator=generator, existing_init=existing_init, may_hold=may_hold)


def plan_generator(
    document: Document,
    call: cst.Call,
    parameter: str,
    position: int | None,
    *,
    seed: int = 0,
    repeated: bool | None = None,
    alone: bool = False,
    device: str = "",
    handed: Sequence[HandedSeed] = (),
    known: KnownLoaders | None = None,
) -> list[Edit] | Declined:
    """The edits that give a split or a sampler a seeded generator, as its argument `parameter`.

    With `alone` it is one of its own, written in the call, and its seed is the same on all ranks of a distributed
    program: these must agree on the order. So is one that is made on the `device` of which the call speaks: torch
    draws there with no other. `repeated` is as in `plan_worker_seeding`.
    """
    plan = _Plan(document, call, seed, repeated, (), handed, known)
    return plan.make_generator(parameter, position, alone=alone, device=device)


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines to insert, and how many blank lines belong above and below."""

    offset: int
    source: str
    above: int
    below: int


class _Plan:
    def __init__(
        self,
        document: Document,
        call: cst.Call,
        seed: int,
        repeated: bool | None,
        also_seeds: Sequence[WorkerTarget] = (),
        handed: Sequence[HandedSeed] = (),
        known: KnownLoaders | None = None,
        *,
        ranked: bool = False,
        by_rank: bool = False,
        starts_ranks: bool = False,
    ) -> None:
        self.document = document
        self.call = call
        self.seed = seed
        self.handed = handed
        self.known = known
        self.ranked = ranked
        self.repeated = repeated
        self.also_seeds = also_seeds
        self.by_rank = by_rank
        self.starts_ranks = starts_ranks
        self.imports = ImportPlanner(document)
        self.pending: list[_Block] = []

    def make(
        self, *, init: bool, generator: bool, existing_init: ExistingInit | None, may_hold: frozenset[str]
    ) -> list[Edit] | Declined:
        asked: tuple[tuple[Role, bool], ...] = (("worker_init_fn", init), ("generator", generator))
        wanted = [name for name, is_asked in asked if is_asked]
        held = sorted(may_hold.intersection(wanted))
        if held:
            return Declined(f"the `**` argument of the call may already hold {' and '.join(held)}")
        values: dict[Role, str] = {}
        for name in wanted:
            passed = given(self.call, name, torch_position(name))
            if passed is not None and dotted_name(passed.value) != "None":
                return Declined(f"{name} is given already")
            text = self._init_name(existing_init) if name == "worker_init_fn" else self._generator_name()
            if isinstance(text, Declined):
                return text
            values[name] = text
        return [*self._blocks(), *self._keywords(values)]

    def make_generator(
        self, parameter: str, position: int | None, *, alone: bool, device: str
    ) -> list[Edit] | Declined:  # fmt: skip
        passed = given(self.call, parameter, position)
        if passed is not None and dotted_name(passed.value) != "None":
            return Declined(f"{parameter} is given already")
        text = self._own_generator(device) if alone or device else self._generator_name()
        if isinstance(text, Declined):
            return text
        edits = self._blocks()
        if passed is not None:
            return [*edits, replace_argument(self.document, passed, text)]
        return [*edits, *add_keyword_arguments(self.document, self.call, [(parameter, text)])]

    def _own_generator(self, device: str) -> str | Declined:
        if self.repeated or self.document.loops(self.call):
            return Declined("the call is repeated, and a generator made in it would give the same order each time")
        at = self.document.statement(self.call)
        seed = find_seed(self.document, at, self.seed, self.handed)
        text = seed_of_all_ranks(self.document, seed.text, at) or str(self.seed)
        return f"{self.imports.require('torch', at=at)}.Generator({device}).manual_seed({text})"

    # The worker init function.

    def _init_name(self, existing: ExistingInit | None) -> str | Declined:
        document = self.document
        found = find_worker_init(document) if not self.also_seeds else None
        if found is not None:
            return self._local_init(found.name.value)
        if existing is not None:
            if existing.module is None:
                return self._local_init(existing.name)
            return self.imports.require(existing.module, existing.name, at=self.call)
        statement = first_statement_that_needs_init(document, self.call, self.known)
        offset = _above_title(document, statement)
        self.imports.before = offset
        name = fresh_name(_INIT_NAMES, document.scope)
        torch, numpy, random = (self.imports.require(module) for module in ("torch", "numpy", "random"))
        below = worker_lines(self.imports, self.also_seeds, WORKER_SEED)
        source = worker_init_source(document, name, (torch, numpy, random), global_lines(self.also_seeds), below)
        self.pending.append(_Block(offset, source, above=2, below=2))
        return name

    def _local_init(self, name: str) -> str | Declined:
        document = self.document
        scope = document.scope_of(self.call)
        bindings = document.scope.bindings.get(name, [])
        if scope.resolve(name) is not document.scope or len(bindings) != 1:
            return Declined(f"`{name}` means something else where the loader is made")
        runs_at_once = document.function(self.call) is None
        if runs_at_once and document.start(bindings[0].node) > document.start(self.call):
            return Declined(f"`{name}` is defined below the loader")
        return name

    # The generator.

    def _generator_name(self) -> str | Declined:
        document = self.document
        place = find_place(document, self.call, for_loaders=self.ranked or self.by_rank, known=self.known)
        if isinstance(place, Declined):
            return place
        seed = find_seed(document, place.statement, self.seed, self.handed)
        repeated = self.repeated if self.repeated is not None else repeats_the_seed(document, self.call, seed)
        if repeated and document.function(self.call) is not None:
            place = find_place(document, self.call, at_module_level=True)
            if isinstance(place, Declined):
                return place
            seed = find_seed(document, place.statement, self.seed, self.handed, before_the_run=True)
        if not self.by_rank:
            existing = find_generator(document, self.call, place, seed.text, repeated=repeated)
            if existing is not None:
                return existing
        return self._new_generator(place, seed)

    def _new_generator(self, place: Place, seed: Seed) -> str | Declined:
        document = self.document
        at = place.statement
        name = fresh_name(_GENERATOR_NAMES, document.scope_of(at), document.scope_of(self.call))
        text = seed.text
        if (self.by_rank or self.ranked) and "rank" not in text:
            rank = find_rank(document, self.imports, at)
            if rank is None and (self.by_rank or self.starts_ranks):
                rank = rank_call(document, self.imports, at)
            if rank is None and self.by_rank:
                return Declined("the generator has to be made at the top of the file, where no process has a rank")
            text = plus_rank(text, rank) if rank is not None else text
        torch = self.imports.require("torch", at=at)
        source = generator_source(document, name, torch, text, document.indentation(document.start(at)))
        apart = isinstance(at, cst.FunctionDef | cst.ClassDef) and document.parent(at) is document.module
        offset = document.lead_start(at)
        start = document.line_start(document.start(at))
        # A comment above a loader is the title of what follows; one above a loop or a definition is that one's own.
        if isinstance(at, cst.SimpleStatementLine) and not _FOR_A_TOOL.search(document.text[offset:start]):
            offset = start
        below = 2 * apart
        if apart and _follows_imports(document, at, offset):
            # One blank line below imports, where no definition follows; the other one comes below.
            offset, below = document.line_start(offset - 1), 1
        self.pending.append(_Block(offset, source, above=int(apart), below=below))
        return name

    # The edits.

    def _blocks(self) -> list[Edit]:
        """The imports and what stands below them, with the blank lines that belong around each."""
        document = self.document
        edits = self.imports.edits()
        for block in self.pending:
            head = apply_edits(document.text[: block.offset], [edit for edit in edits if edit.start <= block.offset])
            source = self._blank_lines(head, block.above) + block.source + document.newline * block.below
            edits.append(document.insertion(block.offset, source))
        return edits

    def _blank_lines(self, head: str, wanted: int) -> str:
        """What is missing to so many blank lines behind `head`."""
        lines = head.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        filled = [index for index, line in enumerate(lines) if line.strip()]
        if not filled or is_cell_marker(lines[filled[-1]]):
            return ""
        blank = len(lines) - 2 - filled[-1]
        return self.document.newline * max(0, wanted - blank)

    def _keywords(self, values: dict[Role, str]) -> list[Edit]:
        edits: list[Edit] = []
        missing: list[tuple[str, str]] = []
        for name, value in values.items():
            passed = given(self.call, name, torch_position(name))
            if passed is None:
                missing.append((name, value))
            else:
                edits.append(replace_argument(self.document, passed, value))
        return add_keyword_arguments(self.document, self.call, missing, edits)


def _follows_imports(document: Document, at: cst.BaseStatement, offset: int) -> bool:
    """Whether imports stand above `offset`, at which the lines of `at` begin, with two blank lines between."""
    above = next((one for one in reversed(document.module.body) if document.start(one) < document.start(at)), None)
    if not isinstance(above, cst.SimpleStatementLine) or not isinstance(above.body[-1], cst.Import | cst.ImportFrom):
        return False
    between = document.text[document.next_line(document.end(above)) : offset]
    return not between.strip() and len(between.splitlines()) == 2


def _above_title(document: Document, statement: cst.BaseStatement) -> int:
    """Where the lines of a top-level statement begin; a comment one blank line above a definition is its title."""
    offset = document.lead_start(statement)
    row = document.lines.row(offset)
    if not isinstance(statement, cst.FunctionDef | cst.ClassDef) or row < 3 or document.lines.line(row - 1).strip():
        return offset
    # Only what libcst has as comments above the statement: a line of a text in quotes may look like one.
    titles = {line.comment.value for line in statement.leading_lines if line.comment is not None}
    first = row - 1
    while first > 1 and (title := document.lines.line(first - 1)) in titles and not is_cell_marker(title):
        first -= 1
    return document.lines.starts[first - 1] if first < row - 1 else offset

"""The lines that seed a loader, as a plan for it gathers them: above its call, and the keywords in that.

g = torch.Generator()
g.manual_seed(torch.initial_seed())
DataLoader(..., generator=g)
"""

from __future__ import annotations

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.fixes.apply import NAMES_OF_RANKS
from torchrepro_lint.fixes.arguments import add_keyword_arguments
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.generator_lines import assignment_source, generator_source
from torchrepro_lint.fixes.generators import fresh_name
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.inserted_blocks import Block, above_title, follows_imports
from torchrepro_lint.fixes.late_imports import TORCH_ELSEWHERE, imports_torch_late
from torchrepro_lint.fixes.offsets import plus
from torchrepro_lint.fixes.passed_arguments import given, replace_argument
from torchrepro_lint.fixes.placement import Declined
from torchrepro_lint.fixes.program_seed import program_seed
from torchrepro_lint.fixes.rank_expression import is_choice, plus_rank, rank_at
from torchrepro_lint.fixes.rank_terms import has_rank, is_of_one_rank
from torchrepro_lint.fixes.seed_expression import Seed
from torchrepro_lint.fixes.seeding_request import LoaderNeeds, Ranks, SeedingPlan, Surroundings
from torchrepro_lint.fixes.tool_comments import is_for_a_tool
from torchrepro_lint.fixes.unsafe_reasons import LONG_RANK, Because
from torchrepro_lint.knowledge.loaders import Role, torch_position

__all__ = ["SeedingLines"]


class SeedingLines:
    """The edits for one call, and the lines that they need above it."""

    def __init__(
        self,
        document: Document,
        call: cst.Call,
        around: Surroundings,
        ranks: Ranks,
        needs: LoaderNeeds,
        *,
        is_split: bool = False,
        is_counted: bool = False,
    ) -> None:
        self.document = document
        self.call = call
        self.around = around
        self.ranks = ranks
        self.needs = needs
        self.is_split = is_split
        self.is_counted = is_counted
        # Worker seeds follow from the generator's seed: ranks whose workers draw must not have the same one.
        self.ranks_differ = ranks.mentioned and (needs.init or needs.workers_draw)
        self.imports = ImportPlanner(document)
        self.pending: list[Block] = []
        self.seeds: list[Seed] = []
        self.offset = 0  # of the generator's seed
        self.to_be_read: Because | None = None  # why nobody would merge the lines unread

    def planned(self, edits: list[Edit]) -> SeedingPlan:
        """The edits as a plan, as safe as the seeds in them and what the lines were noted for."""
        because = next((seed.because for seed in self.seeds if seed.because is not None), self.to_be_read)
        return SeedingPlan(tuple(edits), because, self.to_be_read is not None)

    def is_read_if(self, holds: bool, because: Because) -> None:
        """Notes why nobody would merge the lines unread, if something holds."""
        if holds and self.to_be_read is None:
            self.to_be_read = because

    def seed_at(
        self, at: cst.BaseStatement, *, before_the_run: bool = False, of_all_ranks: bool = False
    ) -> Seed | Declined:
        """The program's seed, as it can be written before the statement `at`; see `program_seed`."""
        return program_seed(
            self.document,
            at,
            self.around,
            lambda: self.torch_at(at),
            before_the_run=before_the_run,
            of_all_ranks=of_all_ranks,
        )

    def of_each_turn(self, at: cst.BaseStatement, seed: Seed) -> str | Declined:
        """The generator that a comprehension makes for each of its loaders."""
        torch, text = self.torch_at(at), self.by_rank(at, seed)
        if isinstance(torch, Declined) or isinstance(text, Declined):
            return torch if isinstance(torch, Declined) else text
        self.seeds.append(seed)
        return f"{torch}.Generator().manual_seed({text})"

    def by_rank(self, at: cst.BaseStatement, seed: Seed) -> str | Declined:
        """The seed before the statement `at`, apart from other loaders and, where it has to be, other ranks."""
        rank = self.rank_of(at, seed)
        return rank if isinstance(rank, Declined) else plus_rank(plus(seed.text, self.offset), rank)

    def rank_of(self, at: cst.BaseStatement, seed: Seed) -> str | Declined:
        """The rank that belongs into a seed before the statement `at`; empty where none does."""
        document = self.document
        is_apart = seed.by_rank or has_rank(document, seed.text, at)
        if not (self.ranks.in_seed or self.ranks_differ) or is_apart:
            return ""
        has_ranks = self.ranks.in_seed or self.ranks.started
        # Asked with imports of its own: where one process runs the place, the call of the rank is not written.
        if is_of_one_rank(document, rank_at(document, ImportPlanner(document), at, has_ranks=has_ranks), at):
            return ""
        rank = rank_at(document, self.imports, at, has_ranks=has_ranks)
        if rank is None and self.ranks.in_seed:
            return Declined("the generator has to be made at the top of the file, where no process has a rank")
        return rank or ""

    def new_generator(
        self, at: cst.BaseStatement, name_there: str, name_here: str, seed: Seed, *, after: bool = False
    ) -> str | Declined:
        """Plans the lines before (or `after`) `at` that make a generator, with its name there; gives its name at the
        call.
        """
        document = self.document
        rank, torch = self.rank_of(at, seed), self.torch_at(at)
        if isinstance(rank, Declined) or isinstance(torch, Declined):
            return rank if isinstance(rank, Declined) else torch
        self.seeds.append(seed)
        lines = ""
        if rank and (is_choice(rank) or self.offset) and not self.ranks.in_seed:
            # A rank that is asked for in each place, and `seed + 1 + rank`, which is `seed + rank` of the next rank.
            self.is_read_if(True, LONG_RANK)
        if is_choice(rank):
            # As long as that, it is easier to read on a line of its own.
            scopes = (document.scope_of(at), document.scope_of(self.call))
            name = fresh_name(NAMES_OF_RANKS, *scopes)
            lines, rank = assignment_source(document, name, rank, at), name
        text = plus_rank(plus(seed.text, self.offset), rank)
        source = lines + generator_source(document, name_there, torch, text, at)
        if after:
            offset = document.next_line(document.end(at))
            if not document.text[:offset].endswith(("\n", "\r")):
                source = document.newline + source.rstrip("\r\n")
            self.pending.append(Block(offset, source, above=0, below=0))
            return name_here
        apart = isinstance(at, cst.FunctionDef | cst.ClassDef) and document.parent(at) is document.module
        offset = above_title(document, at) if apart else document.lead_start(at)
        start = document.line_start(document.start(at))
        # A comment above a loader is the title of what follows; one above a loop or a definition is that one's own.
        if isinstance(at, cst.SimpleStatementLine) and not is_for_a_tool(document.text[offset:start]):
            offset = start
        below = 2 * apart
        if apart and follows_imports(document, at, offset):
            # One blank line below imports, where no definition follows; the other one comes below.
            offset, below = document.line_start(offset - 1), 1
        self.pending.append(Block(offset, source, above=int(apart), below=below))
        return name_here

    def torch_at(self, at: cst.CSTNode) -> str | Declined:
        """The name of torch at a node, whose import is planned if it must be."""
        if self.imports.find("torch", at=at) is None and imports_torch_late(self.document):
            return Declined(TORCH_ELSEWHERE)
        return self.imports.require("torch", at=at)

    def keywords(self, values: dict[Role, str]) -> list[Edit]:
        """The edits that pass values to parameters of the call, by keyword or in the place of None."""
        edits: list[Edit] = []
        missing: list[tuple[str, str]] = []
        for name, value in values.items():
            passed = given(self.call, name, torch_position(name))
            if passed is None:
                missing.append((name, value))
            else:
                edits.append(replace_argument(self.document, passed, value))
        return add_keyword_arguments(self.document, self.call, missing, edits)

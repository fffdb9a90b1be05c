"""The seed that a fix writes at a place: the program's own, whatever it is called there.

    g = torch.Generator()
    g.manual_seed(torch.initial_seed())

Where torch is seeded on every path to the place, `torch.initial_seed()` is that seed, with the rank of the process if
the program adds it; where the function itself seeds torch below the place, also through a helper, it is what it seeds
with. Where torch may not be seeded yet, it is the expression that the program seeds with, as far as it can be written
at the place. A number is that expression where the program seeds with it, and never in code that the programs of others
run. A constant that nobody chose is written only into programs that seed nothing at all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.late_imports import TORCH_ELSEWHERE, imports_torch_late
from torchrepro_lint.fixes.optional_seed import may_be_none
from torchrepro_lint.fixes.passed_seed import passed_seeds
from torchrepro_lint.fixes.placement import Declined
from torchrepro_lint.fixes.rank_free import seed_of_all_ranks
from torchrepro_lint.fixes.seed_expression import PassedSeed, Seed, find_seed, seed_written_above, seed_written_below
from torchrepro_lint.fixes.seeding_helpers import seeding_helpers
from torchrepro_lint.fixes.seeding_request import Surroundings
from torchrepro_lint.fixes.text_options import as_number, may_be_several, may_be_text
from torchrepro_lint.program.evaluation.outside_stores import bound_outside
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.programs.several import makes_several
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.seeds.torch_seeds import TorchSeed, torch_seed_at

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.fixes.document import Document
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.program import Program

__all__ = ["INITIAL_SEED", "number_written", "program_seed", "seed_around", "several_at", "torch_seed_of"]

INITIAL_SEED = "initial_seed()"
#: The seeds of NumPy's global generator and scikit-learn's random_state are 32 bits wide.
_OF_32_BITS = f"{INITIAL_SEED} % 2**32"


def program_seed(
    document: Document,
    at: cst.BaseStatement,
    around: Surroundings,
    torch: Callable[[], str | Declined],
    *,
    before_the_run: bool = False,
    of_all_ranks: bool = False,
    of_32_bits: bool = False,
    draws_later: bool = False,
) -> Seed | Declined:
    """The seed as it can be written before the statement `at`, or why there is none.

    `torch` gives the name of the module there. With `of_all_ranks`, the seed has to be the same on every rank;
    with `of_32_bits`, it is for a library that takes no larger one, and an expression
    that the same function seeds with above is preferred to torch's. `before_the_run`: see `find_seed`. `draws_later`:
    what is seeded draws when torch may be seeded anew, as a loader does.
    """
    known = around.torch_seed(at) if around.torch_seed is not None else None

    def is_refused(text: str) -> bool:
        if around.may_be_several(text) or around.may_be_old(text):
            return True
        number = number_written(document, text, at)
        return known is not None and number is not None and not known.may_be(number, is_named=text.isidentifier())

    written = seed_written_above(document, at) if of_32_bits else None
    if written is not None and (written.isdecimal() or is_refused(written)):
        written = None
    below = None
    if known is not None and known.always:
        below = seed_written_below(document, at, around.seeding_helpers, past_a_number=draws_later)
    if below is not None and not of_all_ranks and not may_be_none(document, below, at):
        return Seed(below, is_copied=number_written(document, below, at) is not None)
    if known is not None and known.always and written is None and not (of_all_ranks and known.by_rank):
        name = torch()
        if isinstance(name, Declined):
            return name
        return Seed(f"{name}.{_OF_32_BITS if of_32_bits else INITIAL_SEED}", by_rank=known.by_rank)
    seed = find_seed(document, at, around.seed, around.passed, before_the_run=before_the_run, is_refused=is_refused)
    if around.may_be_text(seed.text):
        seed = replace(seed, text=as_number(seed.text))
    if of_all_ranks and not seed.is_default:
        text = seed_of_all_ranks(document, seed.text, at, around.by_rank)
        if text is None:
            return Declined("the rank of the process is part of the seed here, and all ranks need the same one")
        seed = replace(seed, text=text)
    if seed.is_default and known is not None and known.seeded:
        return Declined(
            "torch may not be seeded yet at this place, and the program's seed has no name here: seed torch before, or "
            "pass the seed to this place"
        )
    is_copied = seed.text.isdecimal() and not seed.is_default and known is not None and known.seeded
    is_chosen = known is not None and known.on_condition
    return replace(seed, is_copied=is_copied, falls_back=seed.falls_back or is_chosen)


def number_written(document: Document, text: str, at: cst.BaseStatement) -> int | None:
    """The number that an expression is: a literal, or a name to which the module gives one and nothing else."""
    node: cst.CSTNode | None = cst.parse_expression(text) if text.isdecimal() else None
    if text.isidentifier():
        owner = document.scope_of(at).resolve(text)
        bindings = owner.bindings[text] if owner is document.scope else []
        assign = bindings[0].node if len(bindings) == 1 else None
        while assign is not None and not isinstance(assign, cst.BaseSmallStatement):
            assign = document.parent(assign)
        node = assign.value if isinstance(assign, cst.Assign | cst.AnnAssign) else None
    return node.evaluated_value if isinstance(node, cst.Integer) else None


def seed_around(
    program: Program,
    path: Path,
    at: cst.BaseStatement,
    planner: ImportPlanner,
    by_rank: frozenset[str] = frozenset(),
    *,
    of_all_ranks: bool = False,
    of_32_bits: bool = False,
) -> Seed | Declined:
    """The seed as it can be written before the statement `at` of a file. The names `by_rank` hold another number on
    each rank; for the rest see `program_seed`.
    """
    document = document_of(program, path)

    def torch() -> str | Declined:
        if planner.find("torch", at=at) is None and imports_torch_late(document):
            return Declined(TORCH_ELSEWHERE)
        return planner.require("torch", at=at)

    place = place_of(program.ev, _site(program, path, at))
    passed = passed_seeds(program, place.facts, place.scope) if place is not None else ()
    around = replace(seed_surroundings(program, path, passed), by_rank=by_rank)
    return program_seed(document, at, around, torch, of_all_ranks=of_all_ranks, of_32_bits=of_32_bits)


def seed_surroundings(program: Program, path: Path, passed: Sequence[PassedSeed]) -> Surroundings:
    """What is known about the seeds of the programs that run a file, wherever in it one is written. `passed`: see
    `Surroundings`.
    """
    return Surroundings(
        seed=program.settings.seed,
        passed=passed,
        torch_seed=torch_seed_of(program, path),
        may_be_text=lambda text: may_be_text(program, path, text),
        may_be_several=lambda text: may_be_several(program, path, text),
        may_be_old=lambda text: _is_an_old_copy(program, path, text),
        seeding_helpers=seeding_helpers(program),
    )


def _is_an_old_copy(program: Program, path: Path, text: str) -> bool:
    """Whether a name was imported, `from settings import SEED`, and the program gives the name of the module another
    value later: `settings.SEED = args.seed`, or by `global SEED` in a function of it.
    """
    facts = program.facts(path)
    for binding in facts.scope.bindings.get(text, ()) if facts is not None else ():
        statement = binding.node
        if not isinstance(statement, tree.ImportFrom):
            continue
        if statement.level:
            source = program.project.resolve_relative(path, statement.level, statement.module)
        else:
            source = program.project.resolve(path, statement.module)
        module = program.facts(source) if source is not None and source.suffix == ".py" else None
        if module is None:
            continue
        name = next(name for name, alias in statement.names if (alias or name) == text)
        own = module.scope.bindings.get(name, ())
        if any(one.scope is not None for one in own) or bound_outside(program.ev, module, name):
            return True
    return False


def torch_seed_of(program: Program, path: Path) -> Callable[[cst.BaseStatement], TorchSeed]:
    """What is known of torch's seed before the statements of a file."""
    return lambda at: torch_seed_at(program, _site(program, path, at))


def several_at(
    program: Program, path: Path, idle: frozenset[Frame] = frozenset()
) -> Callable[[cst.BaseStatement], bool]:
    """Whether one run may come more than once to a statement of a file, other than in the `idle` frames."""

    def is_several(at: cst.BaseStatement) -> bool:
        place = place_of(program.ev, _site(program, path, at))
        return place is None or makes_several(program, place.facts, place.scope, place.site.number, idle)

    return is_several


def _site(program: Program, path: Path, at: cst.BaseStatement) -> Site:
    """The site of a statement: that of the first node in it."""
    starts, sites = program.once(("sites-by-start", path), lambda: _sites_by_start(program, path))
    return Site(path, sites[bisect_left(starts, document_of(program, path).start(at))])


def _sites_by_start(program: Program, path: Path) -> tuple[list[int], list[int]]:
    """The places in the text at which nodes begin, in order, and the first site of those that begin there."""
    parsed = program.parsed(path)
    pairs = sorted((parsed.span(site)[0], site) for site in range(len(parsed.nodes)))
    first = [pair for index, pair in enumerate(pairs) if not index or pairs[index - 1][0] != pair[0]]
    return [start for start, _ in first], [site for _, site in first]

"""The canonical seeding code for a DataLoader: `seed_worker`, a seeded generator, and the two keywords.

    def seed_worker(worker_id):
        worker_seed = torch.initial_seed() % 2**32
        np.random.seed(worker_seed)
        random.seed(worker_seed)

    g = torch.Generator()
    g.manual_seed(torch.initial_seed())

    DataLoader(..., worker_init_fn=seed_worker, generator=g)

The seed is the program's own (`program_seed.py`).

Each loader has a generator of its own: how often the validation data are iterated over does not change the order of the
training data. No two of them begin alike, since loaders with one seed deliver equally long data in the same order: the
second loader of a file has `torch.initial_seed() + 1` (`offsets.py`). Where one call makes several, in a loop or in a
function that is called in several places, each seed is drawn: `torch.randint(2**32, ()).item()`. Where a loader is made
again within one training, its generator outlives the call, as an attribute of the object (`generator_attribute.py`) or
a name of the module, so that no epoch repeats the one before.

What is right and would still not be merged unread `is_to_be_read`, and is no safe fix: drawn seeds, a rank that has to
be asked for, generators whose names or seeds a number tells apart, one that stands far above its loader.

In a distributed program the rank takes part in the seed if worker code draws random numbers, so that ranks do not draw
the same ones; but only where an expression for the rank is available. Else the plain seed is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.fixes.above_arms import above_the_arms
from torchrepro_lint.fixes.arguments import add_keyword_arguments
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.generator_attribute import attribute_home
from torchrepro_lint.fixes.generators import (
    MAX_IN_A_FUNCTION,
    are_too_many,
    find_generator,
    fresh_name,
    generator_name,
)
from torchrepro_lint.fixes.inserted_blocks import Block, above_title, inserted
from torchrepro_lint.fixes.late_imports import LATE_TORCH, imports_torch_late, names_in_new_function
from torchrepro_lint.fixes.offsets import offset_among_loaders, plus
from torchrepro_lint.fixes.passed_arguments import given, is_given, replace_argument
from torchrepro_lint.fixes.placement import Declined, Place, find_place
from torchrepro_lint.fixes.program_seed import program_seed
from torchrepro_lint.fixes.seed_expression import PassedSeed, Seed, is_seeded_anew, is_seeded_each_time
from torchrepro_lint.fixes.seeding_lines import SeedingLines
from torchrepro_lint.fixes.seeding_request import LoaderNeeds, Ranks, SeedingPlan, Surroundings
from torchrepro_lint.fixes.to_be_read import (
    is_a_bare_number,
    is_beside_a_local,
    is_far_above,
    is_in_a_call_with_one,
    is_left_out,
    is_one_of_many,
    keeps_many,
    leaves_another,
    leaves_other_workers,
)
from torchrepro_lint.fixes.unsafe_reasons import (
    BARE_NUMBER,
    DRAWN_SEEDS,
    FAR_ABOVE,
    HIDDEN_NAME,
    LEAVES_OTHERS,
    LEFT_OUT,
    ONE_OF_MANY,
    OPTION_UNREAD,
    SAME_START,
    SEEDED_ANEW,
)
from torchrepro_lint.fixes.unseeded_calls import first_statement_that_needs_init
from torchrepro_lint.fixes.worker_init import WORKER_SEED, find_worker_init, worker_init_source
from torchrepro_lint.fixes.worker_lines import global_lines, worker_lines
from torchrepro_lint.knowledge.loaders import Role, torch_position

__all__ = ["Declined", "plan_generator", "plan_worker_seeding"]

_INIT_NAMES = ("seed_worker", "_seed_worker", "seed_loader_worker")
_NOTHING_KNOWN = Surroundings()
_NO_RANKS = Ranks()


def plan_worker_seeding(
    document: Document,
    call: cst.Call,
    needs: LoaderNeeds,
    around: Surroundings = _NOTHING_KNOWN,
    ranks: Ranks = _NO_RANKS,
    *,
    is_counted: bool = False,
) -> SeedingPlan | Declined:
    """The edits that give the DataLoader made by `call` the worker init function and the generator that it needs. With
    `is_counted` they are only asked whether there are any, and how safe.
    """
    plan = _Plan(document, call, around, ranks, needs, is_counted=is_counted).make()
    if is_counted or around.known is None or isinstance(plan, Declined) or plan.applicability is Applicability.SAFE:
        return plan
    return _Plan(document, call, replace(around, is_last=True), ranks, needs).make()


def plan_generator(
    document: Document,
    call: cst.Call,
    parameter: str,
    position: int | None,
    around: Surroundings,
    *,
    alone: bool,
    device: str,
    is_split: bool,
    ranks: Ranks = _NO_RANKS,
) -> SeedingPlan | Declined:
    """The edits that give a split or a sampler a seeded generator, as its argument `parameter`.

    With `is_split`, equal splits of equally long data do no harm. With `alone`, the generator is created in the call
    and used by nothing else, and its seed is the same on all ranks of a distributed program, because the ranks must
    agree on the order. The same is done if the call has a `device`: torch then requires a generator on that device.
    Without it, `ranks` may ask for the rank in the seed.
    """
    plan = _Plan(document, call, around, ranks, LoaderNeeds(), is_split=is_split)
    return plan.make_generator(parameter, position, alone=alone, device=device)


class _Plan(SeedingLines):
    """What one call needs: a name for its init function and for its generator, and the seed of that."""

    def make(self) -> SeedingPlan | Declined:
        asked: tuple[tuple[Role, bool], ...] = (
            ("worker_init_fn", self.needs.init),
            ("generator", self.needs.generator),
        )
        wanted = [name for name, is_asked in asked if is_asked]
        held = sorted(self.needs.may_hold.intersection(wanted))
        if held:
            return Declined(f"the `**` argument of the call may already hold {' and '.join(held)}")
        values: dict[Role, str] = {}
        for name in wanted:
            passed = given(self.call, name, torch_position(name))
            if is_given(passed):
                return Declined(f"{name} is given already")
            text = self._init_name() if name == "worker_init_fn" else self._generator_name()
            if isinstance(text, Declined):
                return text
            values[name] = text
        leaves_workers = self.needs.init and leaves_other_workers(self.document, self.call)
        self.is_read_if(leaves_workers, LEAVES_OTHERS)
        self.is_read_if(is_left_out(self.document, self.call), LEFT_OUT)
        return self.planned([*inserted(self.document, self.imports, self.pending), *self.keywords(values)])

    def make_generator(
        self, parameter: str, position: int | None, *, alone: bool, device: str
    ) -> SeedingPlan | Declined:  # fmt: skip
        passed = given(self.call, parameter, position)
        if is_given(passed):
            return Declined(f"{parameter} is given already")
        text = self._own_generator(device) if alone or device else self._generator_name()
        if isinstance(text, Declined):
            return text
        beside = is_left_out(self.document, self.call) or is_in_a_call_with_one(self.document, self.call)
        self.is_read_if(beside, LEFT_OUT)
        edits = inserted(self.document, self.imports, self.pending)
        if passed is not None:
            return self.planned([*edits, replace_argument(self.document, passed, text)])
        return self.planned([*edits, *add_keyword_arguments(self.document, self.call, [(parameter, text)])])

    def _own_generator(self, device: str) -> str | Declined:
        place = find_place(self.document, self.call, self.around.own_turns)
        if isinstance(place, Declined):
            return place
        if self.around.again or place.statement is not self.document.statement(self.call):
            reason = self.around.again or "a loop repeats the call"
            return Declined(f"{reason}, and a generator that is made there would give the same order each time")
        at = self.document.statement(self.call)
        seed = self.seed_at(at, of_all_ranks=True)
        torch = self.torch_at(at)
        if isinstance(seed, Declined) or isinstance(torch, Declined):
            return seed if isinstance(seed, Declined) else torch
        if self.is_split:
            self.is_read_if(self._begin_differently(at, seed), SAME_START)
        elif self._begin_differently(at, seed):
            return Declined("this call makes several samplers, which would get the same order: pass each its own")
        else:
            self._tell_apart(at, seed)
        self.seeds.append(seed)
        return f"{torch}.Generator({device}).manual_seed({plus(seed.text, self.offset)})"

    # The worker init function.

    def _init_name(self) -> str | Declined:
        document, existing = self.document, self.needs.existing_init
        found = document.once(find_worker_init) if not self.needs.also_seeds else None
        if found is not None:
            return self._local_init(found.name.value)
        if existing is not None:
            if existing.module is None:
                return self._local_init(existing.name)
            return self.imports.require(existing.module, existing.name, at=self.call)
        statement = first_statement_that_needs_init(document, self.call, self.around.known)
        offset = above_title(document, statement)
        self.imports.before = offset
        name = fresh_name(_INIT_NAMES, document.scope)
        modules, imports = names_in_new_function(self.imports)
        # `import random as _random`, in a file where the name may mean something else.
        self.is_read_if(any(module.startswith("_") for module in modules), HIDDEN_NAME)
        below = worker_lines(self.imports, self.needs.also_seeds, WORKER_SEED)
        source = worker_init_source(
            document, name, modules, [*imports, *global_lines(self.needs.also_seeds)], below, at=statement
        )
        self.pending.append(Block(offset, source, above=2, below=2))
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
        document, around = self.document, self.around
        place = find_place(document, self.call, around.own_turns)
        if isinstance(place, Declined):
            return place
        if are_too_many(document, self.call):
            return Declined(f"more than {MAX_IN_A_FUNCTION} loaders and splits are made here: make them in a loop")
        if around.again and document.function(self.call) is not None:
            return self._kept_generator(place)
        seed = self._own_seed(place.statement, around, several=place.inline)
        if isinstance(seed, Declined):
            return seed
        if place.inline:
            return self.of_each_turn(place.statement, seed)
        if not self.ranks.in_seed:
            existing = find_generator(document, self.call, place.blocks, seed.text)
            if existing is not None:
                return existing
        at = place.statement
        self._note_others(at)
        scopes = (document.scope_of(at), document.scope_of(self.call))
        name = generator_name(document, self.call, at, around.known, *scopes)
        noted = (self.offset, self.to_be_read)
        above = above_the_arms(document, self.call, at, around.known, is_counted=self.is_counted)
        if above is not None and self._own_seed(above, around) == seed:
            at = above
        self.offset, self.to_be_read = noted
        self.is_read_if(is_far_above(document, self.call, at), FAR_ABOVE)
        return self.new_generator(at, name, name, seed)

    def _note_others(self, at: cst.BaseStatement) -> None:
        """Notes what keeps a generator before `at` from being merged unread: the loaders beside it."""
        document, known = self.document, self.around.known
        if is_one_of_many(document, self.call, at, known):
            self.is_read_if(True, ONE_OF_MANY)
        elif known is not None and not self.is_counted and not self.is_split:
            self.is_read_if(leaves_another(document, self.call, known), LEAVES_OTHERS)

    def _kept_generator(self, place: Place) -> str | Declined:
        """The generator of a loader that is made again in one training: it outlives the call."""
        document, around = self.document, self.around
        if imports_torch_late(document):
            return Declined(LATE_TORCH)
        if place.inline:
            return Declined(f"{around.again}, and a comprehension makes several loaders there")
        if around.shared:
            return Declined(
                f"{around.again}, and loaders that are used beside each other would share it: pass each a generator"
            )
        again = f"{around.again}: create the loader once, or pass a generator to it"
        if document.enclosing_class(self.call) is not None:
            home = attribute_home(document, self.call, around.constructor, around.known, self._seed_of_constructor)
            if isinstance(home, Declined):
                return Declined(f"{around.again}, and {home.reason}" if home.reason else again)
            beside = self.offset > 0 and is_beside_a_local(document, self.call, home.statement, around.known)
            self.is_read_if(beside or keeps_many(document, self.call, around.known), ONE_OF_MANY)
            return self.new_generator(home.statement, home.name_there, home.name_here, home.seed, after=home.after)
        at = document.top_level_statement(self.call)
        seed = self._own_seed(at, around, before_the_run=True)
        if isinstance(seed, Declined):
            return Declined(again)
        if not self.ranks.in_seed:
            existing = find_generator(document, self.call, frozenset({id(document.module)}), seed.text, of_module=True)
            if existing is not None:
                return existing
        scopes = (document.scope_of(at), document.scope_of(self.call))
        name = generator_name(document, self.call, at, around.known, *scopes)
        return self.new_generator(at, name, name, seed)

    def _seed_of_constructor(self, at: cst.BaseStatement, passed: Sequence[PassedSeed]) -> Seed | Declined:
        return self._own_seed(at, replace(self.around, passed=passed))

    def _own_seed(
        self, at: cst.BaseStatement, around: Surroundings, *, several: bool = False, before_the_run: bool = False
    ) -> Seed | Declined:
        """The seed, before the statement `at`, of a generator that no other loader's begins like. With `several` the
        call makes several loaders there.
        """
        seed = program_seed(
            self.document,
            at,
            around,
            lambda: self.torch_at(at),
            before_the_run=before_the_run,
            draws_later=not self.is_split,
        )
        if isinstance(seed, Declined):
            return seed
        self.is_read_if(seed.is_unread, OPTION_UNREAD)
        if self.is_split:
            self.is_read_if(self._begin_differently(at, seed, around), SAME_START)
            return seed
        self.is_read_if(is_seeded_anew(self.document, at, seed.text, around.seeding_helpers), SEEDED_ANEW)
        if not several and not self._begin_differently(at, seed, around):
            self._tell_apart(at, seed)
            return seed
        torch = self.torch_at(at)
        if isinstance(torch, Declined):
            return torch
        known = around.torch_seed(at) if around.torch_seed is not None else None
        if known is None or not known.always:
            return Declined(
                "this call makes several loaders, which would all get the same order: seed torch before, or pass each "
                "loader a generator"
            )
        self.is_read_if(True, DRAWN_SEEDS)
        return replace(seed, text=f"{torch}.randint(2**32, ()).item()", names=frozenset())

    def _begin_differently(self, at: cst.BaseStatement, seed: Seed, around: Surroundings | None = None) -> bool:
        """Whether the call makes several loaders, which one seed would give the same order, and do not have it now."""
        around = around or self.around
        known = around.torch_seed(at) if around.torch_seed is not None else None
        # Where the function itself seeds torch, or in programs without a seed, each of its loaders gets that seed.
        is_seeded_here = (known is None or known.each_call) and is_seeded_each_time(self.document, at)
        begins_alike = (seed.is_default and not around.of_each_item) or is_seeded_here
        return not begins_alike and around.several(at)

    def _tell_apart(self, at: cst.BaseStatement, seed: Seed) -> None:
        """Notes what the seed of the generator is told by from those of the other loaders of the file."""
        document, known = self.document, self.around.known
        self.offset = offset_among_loaders(document, self.call, at, seed.text, known, is_last=self.around.is_last)
        if self.offset and is_a_bare_number(
            document, self.call, at, self.offset, known, with_init=self.needs.init
        ):  # fmt: skip
            self.is_read_if(True, BARE_NUMBER)

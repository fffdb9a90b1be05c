"""What the seeding code for a call is planned from: what the call needs, and what is known about the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchrepro_lint.diagnostics import Applicability, Edit
from torchrepro_lint.fixes.seed_expression import PassedSeed
from torchrepro_lint.fixes.seeding_helpers import SeedingHelpers
from torchrepro_lint.fixes.unsafe_reasons import Because
from torchrepro_lint.fixes.unseeded_calls import KnownLoaders
from torchrepro_lint.fixes.worker_init import ExistingInit
from torchrepro_lint.fixes.worker_lines import WorkerTarget

if TYPE_CHECKING:
    import libcst as cst

    from torchrepro_lint.program.seeds.torch_seeds import TorchSeed

__all__ = ["Constructor", "LoaderNeeds", "Ranks", "SeedingPlan", "Surroundings"]


@dataclass(frozen=True, slots=True)
class SeedingPlan:
    """The edits that seed a call: safe, unless they write a constant into a program that has no seed, or are right and
    still `is_to_be_read`: nobody would merge them unread. `because` says what makes them unsafe.
    """

    edits: tuple[Edit, ...]
    because: Because | None
    is_to_be_read: bool = False

    @property
    def applicability(self) -> Applicability:
        """Whether they can be merged unread."""
        return Applicability.SAFE if self.because is None else Applicability.UNSAFE


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderNeeds:
    """What a loader is to be given.

    Attributes:
        init: Whether it needs a worker init function.
        generator: Whether it needs a seeded generator.
        existing_init: A correct worker init function elsewhere in the project. One in the same file is found anyway.
        also_seeds: What the worker init function has to seed besides the global generators; it is a new function then.
        workers_draw: Whether worker code draws random numbers. It always does where `init` is set.
        may_hold: The keywords that a `**kwargs` of the call may already contain.
    """

    init: bool = False
    generator: bool = False
    existing_init: ExistingInit | None = None
    also_seeds: Sequence[WorkerTarget] = ()
    workers_draw: bool = False
    may_hold: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Constructor:
    """The `__init__` of a class of which one object is made in a training.

    Attributes:
        span: The range of its definition in the text.
        passed: Seeds that it gets through its parameters.
    """

    span: tuple[int, int]
    passed: Sequence[PassedSeed] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is known about the program around the call.

    Attributes:
        seed: The constant for programs that have no seed of their own.
        again: Why the function around the call may run again in one training; empty where it does not.
        shared: Whether loaders that are used beside each other may be made by the call, where `again` is not empty.
        several: Whether one run may come to a statement more than once.
        of_each_item: Whether something that the program passes code to, such as `map`, makes a loader of each item.
        own_turns: The ranges in the text of the loops in each turn of which the call makes a loader of its own.
        constructor: The `__init__` of the object whose method the call is in, or why no generator is kept there.
        passed: Seeds that the function gets through its parameters.
        by_rank: The parameters for which callers pass what hangs on the rank of the process.
        known: The calls in the file that create loaders, whatever they are called.
        torch_seed: What is known of torch's seed before a statement; None if nothing is known of the program.
        may_be_text: Whether an expression for the seed may be a text, which a generator does not take.
        may_be_several: Whether it may be a list of seeds, which is none.
        may_be_old: Whether it is the copy of a name that another module gets a new value for later.
        seeding_helpers: The functions through which the program seeds torch.
        is_last: Whether the fix is not safe, so that its seed comes after those of the safe ones.
    """

    seed: int = 0
    again: str = ""
    shared: bool = False
    several: Callable[[cst.BaseStatement], bool] = lambda at: False
    of_each_item: bool = False
    own_turns: frozenset[tuple[int, int]] = frozenset()
    constructor: Constructor | str = "its class has no `__init__`"
    passed: Sequence[PassedSeed] = ()
    by_rank: frozenset[str] = frozenset()
    known: KnownLoaders | None = None
    torch_seed: Callable[[cst.BaseStatement], TorchSeed] | None = None
    may_be_text: Callable[[str], bool] = lambda seed: False
    may_be_several: Callable[[str], bool] = lambda seed: False
    may_be_old: Callable[[str], bool] = lambda seed: False
    seeding_helpers: SeedingHelpers = field(default_factory=dict)
    is_last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """What is known about the processes of a distributed program.

    Attributes:
        mentioned: Whether the program mentions ranks.
        started: Whether it is known that it may start several ranks, each of which creates this loader.
        in_seed: Whether the rank must be part of the generator's seed; the generator is a new one then.
    """

    mentioned: bool = False
    started: bool = False
    in_seed: bool = False

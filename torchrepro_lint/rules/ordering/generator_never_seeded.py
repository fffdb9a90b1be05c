"""TRL203 generator-never-seeded.

What it does
    Finds a `torch.Generator()` that is used without ever being seeded, and one that takes its seed from the operating
    system with `.seed()`.

Why is this bad?
    A generator that is never seeded starts from a constant in torch (67280421310721): its numbers are the same in every
    run, whatever seed the user asks for, so runs with several seeds are not independent. One that is seeded with
    `.seed()` gives different numbers in every run, and no seed of the program affects it.

Example
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    SEED = 0
    torch.manual_seed(SEED)
    g = torch.Generator()
    loader = DataLoader(TensorDataset(torch.arange(16)), batch_size=4, shuffle=True, generator=g)
    ```

Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    SEED = 0
    torch.manual_seed(SEED)
    g = torch.Generator().manual_seed(SEED)
    loader = DataLoader(TensorDataset(torch.arange(16)), batch_size=4, shuffle=True, generator=g)
    ```

Since
    All versions with `torch.Generator`.

How it is proven
    `verify` shows that runs with different seeds have the same order, and that the order follows the seed after the
    fix.

Fix safety
    Safe: seeds the generator with the program's own seed where it is created: `torch.initial_seed()`, the number with
    which torch was last seeded, where torch is seeded on every path before. There is no fix where the seed is not known
    yet, as at the top of an imported module. The drawn numbers change once; they did not depend on any seed of the
    program before. The rank stays in that seed only for a generator that is given to loaders and to nothing else.

    Unsafe where the seed can only be written as a number: one that nobody chose, in a program that seeds nothing, or a
    copy of the one in a call that seeds something else, or later. Unsafe as well where the author may want numbers that
    no seed changes: under a test for a seed (`if fixed_seed:`), or with a number that only looks like one
    (`torch.Generator(0)`).

Not reported
    - A generator that is made for a device (`torch.Generator(device="cuda")`) in a program that seeds nothing and asks
      for no determinism, where its constant start harms nothing: the `strict` profile reports it.
    - Generators of whose attribute another method makes and seeds one: this one keeps the place.
    - Generators that are seeded anywhere (`manual_seed`), given a state (`set_state`), or seeded with `.seed()` only if
      no seed is asked for.
    - Generators that are made where no seed is given, beside one that is seeded
      (`Generator() if seed is None else Generator().manual_seed(seed)`).
    - Generators that nothing draws from.
    - Generators that are given only to loaders which do not shuffle, and of whose workers none is seen to draw: nothing
      depends on their numbers. They are reported in the `strict` profile only.
    - Generators in a function that puts made-up data through a network to see how much of them it takes, or how fast it
      is, by its name (`find_max_batch_size`): a constant is what one wants there. They are reported in the `strict`
      profile only.

References
    https://docs.pytorch.org/docs/stable/generated/torch.Generator.html
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.generator_fix import seed_generator_fix, seed_with_number_fix
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.ordering.generator_uses import decides_nothing
from torchrepro_lint.program.ordering.generators import (
    is_used,
    made_generators,
    may_be_seeded_by,
    may_be_seeded_unseen,
    seedings,
    serves_loaders_alone,
)
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.base import Rule


class GeneratorNeverSeeded(Rule):
    code = "TRL203"
    name = "generator-never-seeded"
    summary = "torch.Generator that is never seeded, or seeded from the operating system"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        for group in made_generators(program):
            finding = self._of_generator(program, group[0])
            if finding is not None:
                yield finding

    def _of_generator(self, program: Program, made: KnownCall) -> Finding | None:
        entropy = None
        for one in seedings(program):
            if not may_be_seeded_by(program, one, made):
                continue
            if one.method != "seed" or made.site not in one.made:
                return None
            entropy = one
        if not is_used(program, made) or may_be_seeded_unseen(program, made) or _is_without_a_seed(program, made):
            return None
        if entropy is not None:
            fix, declined = seed_with_number_fix(program, entropy.site)
            message = (
                "this torch.Generator is seeded with `.seed()`, which takes a new seed from the system in every run"
            )
            trace = [Link(entropy.site, "seeded from the operating system")]
            return self.finding(program, made.site, message, trace, fix=fix, declined=declined)
        # What a split or a model draws has to be the same on all ranks; what workers draw must not be.
        of_all_ranks = not serves_loaders_alone(program, made)
        fix, declined = seed_generator_fix(program, made.site, of_all_ranks=of_all_ranks)
        message = (
            "this torch.Generator is never seeded: it starts from a constant of torch, whatever seed the program sets"
        )
        # One that is made for a device is there because torch asks for it (`torch.set_default_device("cuda")`).
        return self.finding(
            program, made.site, message, fix=fix, declined=declined, about_control=bool(made.call.args),
            seldom_matters=_makes_up_data(made) or (decides_nothing(program, made) and "its loaders do not shuffle"),
        )  # fmt: skip


def _makes_up_data(made: KnownCall) -> bool:
    """Whether a generator is made in a function that puts made-up data through a network, to see how much it takes."""
    return function_words("tries_sizes").search(made.scope.name) is not None


def _is_without_a_seed(program: Program, made: KnownCall) -> bool:
    """Whether a generator is made where no seed is given, beside one that is seeded:
    `Generator() if seed is None else Generator().manual_seed(seed)`.
    """
    above = parents_of(program.ev, made.facts).of(made.call)
    if not isinstance(above, tree.Conditional):
        return False
    other = above.orelse if above.body is made.call else above.body
    return isinstance(other, tree.Call) and called_name(other.func) == "manual_seed"

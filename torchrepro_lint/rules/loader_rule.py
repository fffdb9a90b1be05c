"""What rules share that judge one place at a time where a DataLoader is made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from torchrepro_lint.diagnostics import Finding, Fix
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.options_left_off import is_an_option_left_off
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import is_of_a_self_test, is_read_unused
from torchrepro_lint.program.running.never_read import (
    is_given_up,
    is_never_read,
    is_read_nowhere,
    uses_of_its_name,
)
from torchrepro_lint.program.running.parents import Parents, is_named, parents_of
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.one_cause import first_for_all
from torchrepro_lint.source.cells import is_notebook

__all__ = ["LoaderRule", "is_for_nothing", "only_looks", "safe_for_old_torch_alone"]

_SEEDED_BY_TORCH: Final = "torch >= 1.9 seeds NumPy in the workers by itself"
_OF_WORKERS: Final = "TRL1"
#: Attributes that give what a loader was made with.
_ASKED: Final = frozenset({"dataset", "batch_size"})


class LoaderRule(Rule):
    """A rule that says at most one thing of each place where loaders are made."""

    @abstractmethod
    def of_site(self, program: Program, loaders: Sequence[Loader]) -> Finding | None:
        """What is wrong there. `loaders` is the same call as seen from each of its callers."""

    def cause_of(self, program: Program, loader: Loader, finding: Finding) -> Hashable:
        """What causes a finding at a place where a loader is made, if it causes others that need not be read as well;
        None where each is one to act on.
        """
        return None

    def check(self, program: Program) -> Iterator[Finding]:
        yield from first_for_all(self._each(program))

    def _each(self, program: Program) -> Iterator[tuple[Hashable, Finding]]:
        for loaders in program.asked_loader_sites():
            first = loaders[0]
            if self.passes_over(program, first.site.path) or is_for_nothing(program, first):
                continue
            finding = self.of_site(program, loaders)
            if finding is not None and is_read_unused(program, first.facts, first.call):
                because = "only code that nothing runs reads this loader"
                finding = replace(finding, left_to_strict=(), strict_because=because)
            elif finding is not None and finding.left_to_strict is None:
                without = self._why_without_effect(program, loaders)
                finding = replace(finding, left_to_strict=(), strict_because=without) if without else finding
            if finding is not None:
                yield self.cause_of(program, first, finding), finding

    def _why_without_effect(self, program: Program, loaders: Sequence[Loader]) -> str | None:
        """Why what the loaders of a place do changes no run that anybody makes."""
        if only_looks(program, loaders[0].site):
            return "a self-test looks at these batches"
        if self.code.startswith(_OF_WORKERS) and all(_has_none_by_default(program, one) for one in loaders):
            return "there are workers only with an option that no command of the project gives"
        return None


def _has_none_by_default(program: Program, loader: Loader) -> bool:
    name = loader.known.keywords.get("num_workers")
    written = next((arg.value for arg in loader.call.args if arg.keyword == name), None) if name else None
    return written is not None and is_an_option_left_off(program, written, loader.frame)


def only_looks(program: Program, site: Site) -> bool:
    """Whether a place is of a self-test, in a file that trains nothing: one whose `__main__` block trains is a program,
    though others import from it.
    """
    return is_of_a_self_test(program, site) and not program.project.holds(site.path, program_words("trains"))


def safe_for_old_torch_alone(program: Program, fix: Fix) -> Fix:
    """A fix that seeds NumPy in workers: unsafe where torch >= 1.9 may run it, which seeds NumPy there by itself."""
    if not program.target.admits_from("1.9"):
        return fix
    return fix.made_unsafe(_SEEDED_BY_TORCH)


def is_for_nothing(program: Program, loader: Loader) -> bool:
    """Whether no batch of a loader is asked for: nothing reads it, it is given up, or only asked about."""
    return (
        _is_only_asked_about(program, loader)
        or is_never_read(program.ev, loader.facts, loader.call)
        or is_given_up(program.ev, loader.facts, loader.call)
        or _is_left_in_a_script(program, loader)
    )


def _is_left_in_a_script(program: Program, loader: Loader) -> bool:
    """Whether a script that trains, and that nothing imports, gives a loader a name at its top level and never reads
    that: a Trainer of transformers makes its loaders itself. What only defines something may be yet to be imported.
    """
    path = loader.facts.path
    return (
        not is_notebook(path)
        and program.project.holds(path, program_words("trains", "trains_with_a_trainer"))
        and not program.imports.is_imported(path)
        and not program.is_offered(path)
        and is_read_nowhere(program, loader.facts, loader.call)
    )


def _is_only_asked_about(program: Program, loader: Loader) -> bool:
    """Whether nothing but the length, the data set or the batch size of a loader is asked for: `len(DataLoader(...))`,
    `loader.dataset`. Nothing is read of it then.
    """
    parents = parents_of(program.ev, loader.facts)
    if _is_asked_about(parents, loader.call):
        return True
    uses = uses_of_its_name(program.ev, loader.facts, loader.call)
    return bool(uses) and all(_is_asked_about(parents, use) for use, _ in uses or ())


def _is_asked_about(parents: Parents, node: tree.Expr) -> bool:
    match parents.of(node):
        case tree.Attribute(attr=attr):
            return attr in _ASKED
        case tree.Arg() as argument:
            above = parents.of(argument)
            return isinstance(above, tree.Call) and is_named(above.func, "len")
    return False

"""What a check runs: the rules, and what makes the program that they are asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.rule_metadata import RuleMetadata
from torchrepro_lint.selection import RuleLike
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.target import TargetTorch
from torchrepro_lint.source.text import SourceError, read_bytes

if TYPE_CHECKING:
    from torchrepro_lint.program.looks import Looks

__all__ = ["ProgramFactory", "ProgramLike", "Toolkit"]


class ProgramLike(Protocol):
    """What the engine asks of a program."""

    @property
    def unreadable(self) -> Mapping[Path, tuple[int, int, str]]:
        """Row, column and reason for each file that was looked at and could not be parsed."""
        ...

    def facts(self, path: Path) -> object:
        """What a file says: a look at it."""
        ...

    def is_imported(self, path: Path, by: Set[Path]) -> bool:
        """Whether one of the files `by` imports this one that can be read itself."""
        ...

    def is_offered(self, path: Path) -> bool:
        """Whether the file is part of a package that the project builds, so that others may import it."""
        ...

    def is_draft(self, path: Path) -> bool:
        """Whether scripts and READMEs name other files of the project to run, or it is another version of a file beside
        it, and they do not name this one.
        """
        ...

    def has_read(self, path: Path) -> bool:
        """Whether something has looked at the file."""
        ...

    @property
    def outside(self) -> Mapping[str, bool | str]:
        """The variables for which files that are no Python were searched, and whether one names them."""
        ...

    @property
    def looks(self) -> Looks | None:
        """What was looked up in the texts; None if the program depends on more than these."""
        ...

    def begin_rule(self) -> None:
        """Another rule is run, which is asked about all places."""
        ...

    def begin_place(self) -> None:
        """The current rule goes on after a finding."""
        ...

    def give_up(self, files: Sequence[Path]) -> bool:
        """Leave out the place at which a rule has failed, where it is known, for the rest of this rule. `files` are
        those that the failing code looked at, innermost first. Whether the rule can be run once more.
        """
        ...

    def without(self, refused: SourceError) -> ProgramLike:
        """The program without a file that turned out to be unreadable."""
        ...


class ProgramFactory(Protocol):
    """Makes the program of a project. `overlay` holds texts that replace those on the disk, which `read` reads. `asked`
    are the files whose findings are wanted, None for all.
    """

    def __call__(
        self, root: Path, files: Sequence[Path], settings: Settings, target: TargetTorch, overlay: Mapping[Path, str],
        *, read: Read = read_bytes, asked: frozenset[Path] | None = None,
    ) -> ProgramLike: ...  # fmt: skip


# Both are imported when a file needs them: they bring the parser, which takes longer to load than to say "clean".
def _own_rules() -> Iterable[RuleLike]:
    from torchrepro_lint.rules import all_rules
    from torchrepro_lint.third_party import third_party_rules

    return (*all_rules(), *third_party_rules())


def _own_program(
    root: Path, files: Sequence[Path], settings: Settings, target: TargetTorch, overlay: Mapping[Path, str],
    *, read: Read = read_bytes, asked: frozenset[Path] | None = None,
) -> ProgramLike:  # fmt: skip
    from torchrepro_lint.program.program import Program

    return Program(root, files, settings, target, overlay=overlay, asked=asked, read=read)


@dataclass(frozen=True, slots=True)
class Toolkit:
    """What the engine runs: the rules, and what makes the program that they are asked about."""

    rules: Callable[[], Iterable[RuleLike]] = _own_rules
    make_program: ProgramFactory = _own_program

    @property
    def is_own(self) -> bool:
        """Whether the rules are the tool's own, whose findings may be cached."""
        return self.rules is _own_rules

    def all_rules(self) -> list[RuleMetadata]:
        """All rules in the order of their codes, including those that the engine implements itself."""
        return sorted([*self.rules(), *HOUSEKEEPING], key=lambda rule: rule.code)

"""Where a folder of a project comes from, as its licence and its README say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.source.metadata import text_of
from torchrepro_lint.source.requirements import ENVIRONMENTS, READMES

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "describes_a_repository",
    "folders_between",
    "has_own_licence",
    "is_of_another_paper",
    "named_in",
    "says_where_it_is_from",
]

#: Where a README says how to cite a paper, with the key of the entry (BibTeX).
_CITATION: Final = re.compile(
    r"@(?:article|inproceedings|incollection|conference|misc|phdthesis)\s*\{\s*([^\s,{}]+)", re.I
)
#: Where a README says from which repository its folder comes, in one sentence of its first lines.
_FROM: Final = re.compile(
    r"\b(?:copied|adapted|taken|borrowed|forked|cloned|vendored)\b[^.\n]{0,40}?\bfrom\b[^\n]{0,120}?"
    r"\bhttps?://(?:www\.)?(?:github|gitlab|bitbucket)\.(?:com|org)/[\w.-]+/[\w.-]+",
    re.IGNORECASE,
)
_FIRST_LINES: Final = 30
#: What a folder has that is run, and that is installed, by itself.
_REQUIREMENTS: Final = ("requirements*.txt", *ENVIRONMENTS)
_INSTALLED: Final = ("setup.py", "pyproject.toml", *_REQUIREMENTS)
#: The names of the one licence of a folder, the first of these that it has, and of all that it has.
_LICENCES: Final = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "LICENCE.txt", "LICENCE.md", "COPYING")
_ANY_LICENCE: Final = ("LICENSE*", "LICENCE*", "COPYING*")
#: What the README of a whole repository says in its first lines, and that of a part of one does not.
_OF_A_REPOSITORY: Final = re.compile(
    r"\bthis repo(?:sitory)?\b|\b(?:code|implementation)\s+(?:of|for)\b[^\n]{0,40}\bpapers?\b", re.IGNORECASE
)


def has_own_licence(program: Program, root: Path, folders: tuple[str, ...]) -> bool:
    """Whether a folder has a licence other than that of the project around it: it came from elsewhere. In a project
    without a licence, it has one, and something of the project lies beside it that does not have the same one.
    """
    folder = root.joinpath(*folders)
    own, outer = _licence(folder), _licence(root)
    if own is None:
        return False
    if outer is not None:
        return not _says_the_same(own, outer)
    beside = (one for one in program.project.files if not one.is_relative_to(folder))
    return any(not any(_has_licence(above, own) for above in folders_between(root, one)) for one in beside)


def is_of_another_paper(root: Path, folders: tuple[str, ...]) -> bool:
    """Whether a folder is installed by itself, and its README cites papers of which that of the project around it,
    which says how to cite it, names none.
    """
    folder = root.joinpath(*folders)
    if not any(any(folder.glob(one)) for one in _INSTALLED):
        return False
    own, outer = _cited(folder), _cited(root)
    return bool(own and outer) and own.isdisjoint(outer)


def says_where_it_is_from(root: Path, folders: tuple[str, ...]) -> bool:
    """Whether the README of a folder says in its first lines from which repository the folder is."""
    return any(_FROM.search(_first_lines(readme)) for readme in named_in(root.joinpath(*folders), READMES))


def _cited(folder: Path) -> frozenset[str]:
    return frozenset(key for readme in named_in(folder, READMES) for key in _CITATION.findall(text_of(readme)))


def _has_licence(folder: Path, licence: Path) -> bool:
    own = _licence(folder)
    return own is not None and _says_the_same(own, licence)


def folders_between(root: Path, path: Path) -> Iterator[Path]:
    """The folders around a file, below the folder `root`."""
    return (one for one in path.parents if one != root and one.is_relative_to(root))


def _says_the_same(licence: Path, other: Path) -> bool:
    return _words_of(licence) == _words_of(other)


def _words_of(licence: Path) -> list[str]:
    return text_of(licence).split()


def _first_lines(readme: Path) -> str:
    return "\n".join(text_of(readme).splitlines()[:_FIRST_LINES])


def _licence(folder: Path) -> Path | None:
    return next((one for name in _LICENCES if (one := folder / name).is_file()), None)


def describes_a_repository(root: Path, folder: Path) -> bool:
    """Whether a folder has a README, and a licence other than that of the project or requirements of its own; or the
    README says that it is of a whole repository, or of the code of a paper.
    """
    readmes = named_in(folder, READMES)
    if not readmes:
        return False
    licences = list(map(_words_of, named_in(root, _ANY_LICENCE)))
    if any(_words_of(one) not in licences for one in named_in(folder, _ANY_LICENCE)):
        return True
    if named_in(folder, _REQUIREMENTS):
        return True
    return any(_OF_A_REPOSITORY.search(_first_lines(one)) for one in readmes)


def named_in(folder: Path, patterns: Iterable[str]) -> list[Path]:
    """The files directly in a folder that match one of some patterns, in the order of these."""
    return [one for pattern in patterns for one in sorted(folder.glob(pattern)) if one.is_file()]

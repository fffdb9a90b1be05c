"""Which files of a project are code for the programs of others: what it distributes as a package, and what is copied
into it from elsewhere. Whoever runs such code chooses the seed, and a constant there would take the choice away.

And which are kept without being worked on: what was put aside, and whole projects that were downloaded into this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.knowledge.copied_libraries import copied_libraries
from torchrepro_lint.program.programs.distributions import is_built, names_of
from torchrepro_lint.program.programs.folder_origins import (
    folders_between,
    has_own_licence,
    is_of_another_paper,
    says_where_it_is_from,
)
from torchrepro_lint.program.programs.used_copies import is_of_a_used_copy
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.project_tests import is_called_as_a_program
from torchrepro_lint.source.left_over import defined_in
from torchrepro_lint.source.root import is_marked, is_shared_folder

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "files_of_its_package",
    "is_another_version",
    "is_beside_its_packages",
    "is_beside_programs",
    "is_copied",
    "is_for_others",
    "is_from_elsewhere",
    "is_no_longer_used",
    "is_of_its_package",
    "is_one_of_many",
    "is_out_of_use",
    "is_put_aside",
    "is_second_copy",
    "shows_or_measures",
]

#: How many files of Python a folder has at least that is taken for a copied library though its name is a common word.
_MANY_FILES: Final = 20

#: Folders for code of others (github-linguist/linguist, lib/linguist/vendor.yml@v9.0.0).
_COPIED: Final = re.compile(r"_?vendor(s|ed)?|extern(als?)?|(3rd|third)[-_]?party|deps|submodules", re.IGNORECASE)
#: What a Chinese name says of what is no longer used: given up, not in use (any more), old, a backup.
_CHINESE: Final = r".*(?:废弃|弃用|备份).*|.*(?:不用|用不到|不再使用)了?的?(?:文件|代码|脚本)?|旧.+|.*旧(?:版本?)?"
#: Folders for what is no longer used.
_OLD_FOLDER: Final = re.compile(
    r"\.?_*(?:old|olds|trash|bak|bkp|back_?ups?|deprecated|obsolete|legacy|archi?e?ved?|archives|unused|attic|junk|graveyard)"
    r"|.+[-_ ](?:old|bak|bkp|backup|deprecated|copy|unused|obsolete|archived?|legacy)"
    rf"|(?:old|deprecated|obsolete|unused|archived|legacy)[-_ ].+|{_CHINESE}",
    re.IGNORECASE,
)
#: Folders that the archive of a repository on GitHub unpacks to.
_ARCHIVE: Final = re.compile(r".+-(?:master|main)", re.IGNORECASE)
#: Files beside the ones that replace them: `train_old.py`, `model copy.py`.
_OLD_FILE: Final = re.compile(
    r".+[-_ .](?:old|bak|bkp|backup|deprecated|copy|unused|obsolete|archived?|legacy)\d*"
    rf"|(?:deprecated|obsolete)[-_ ].+|{_CHINESE}",
    re.IGNORECASE,
)
#: Folders that hold what one experiment was run with: `experiments/7`.
_NUMBERED: Final = re.compile(r"(?:exp(?:eriment)?s?|runs?|trials?|tests?|v|ver|version)?[-_ ]?\d+(?:[._]\d+)*", re.I)
#: Folders of results: a program there that a folder above holds by the same name is the record of what made them.
_OF_RUNS: Final = re.compile(r"(?:runs?|results?|outputs?|logs?)(?:[-_].+)?", re.IGNORECASE)
#: Folders in which each run of a program keeps a copy of the files that it was run with.
_SNAPSHOTS: Final = re.compile(r"snapshots?", re.IGNORECASE)
#: How many of them hold a file of one name, at least, that are taken for a record of experiments.
_MANY_FOLDERS: Final = 4
#: What an archive of a release adds to the name of a library.
_VERSION: Final = re.compile(r"[-_]v?\d+(?:\.\d+)+\w*$")
#: Folders for documentation, in which programs are there to be read.
_DOCUMENTATION: Final = re.compile(r"docs?|documentation", re.IGNORECASE)
#: Files that sphinx-gallery makes pages of by its default (`filename_pattern`: "/plot"), and the folders around them.
_PAGE: Final = re.compile(r"plot_.+")
_GALLERY: Final = re.compile(r"examples?|tutorials?|gallery", re.IGNORECASE)
#: Folders and files of programs that measure times, if they read a clock; others compare what models have learned.
_BENCHMARK: Final = re.compile(r"(?:.+[-_])?bench(?:mark)?s?(?:[-_].+)?", re.IGNORECASE)
_CLOCK: Final = re.compile(rb"\bperf_counter|\btimeit\b|\btorch\.utils\.benchmark\b|\bcuda\.Event\b")
_IMPORTS_SRC: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t]+src\b", re.MULTILINE)


def is_for_others(program: Program, path: Path) -> bool:
    """Whether a file is of a package that the project distributes, or of code that is copied into it; and no program
    starts in it.
    """
    return program.once(("is for others", path), lambda: _is_for_others(program, path))


def _is_for_others(program: Program, path: Path) -> bool:
    if not path.is_relative_to(program.root) or path in _starts(program):
        return False
    return is_copied(program, path) or _is_distributed(program, path)


def is_of_its_package(program: Program, path: Path) -> bool:
    """Whether a file is of a package that the project distributes, and no program starts in it."""
    return path in files_of_its_package(program)


def is_beside_its_packages(program: Program, path: Path) -> bool:
    """Whether a file lies in a folder without an `__init__.py` somewhere below one that has it: what finds the packages
    of a project (`find_packages()`) passes over such a folder.
    """
    files = program.project.files
    around = folders_between(program.root, path)
    return path.parent / "__init__.py" not in files and any(one / "__init__.py" in files for one in around)


def files_of_its_package(program: Program) -> frozenset[Path]:
    """The files of the packages that the project distributes, but those in which a program starts."""
    return program.once("files of its package", lambda: _files_of_its_package(program))


def _files_of_its_package(program: Program) -> frozenset[Path]:
    starts = _starts(program)
    inside = (one for one in program.project.files if one.is_relative_to(program.root) and one not in starts)
    return frozenset(one for one in inside if _is_distributed(program, one))


def _starts(program: Program) -> frozenset[Path]:
    """The files in which a program starts."""
    return program.once("files that start", lambda: frozenset(one.path for one in entry_points(program)))


def is_put_aside(program: Program, path: Path) -> bool:
    """Whether a file, by its name or that of a folder below the root, was put aside, or downloaded with a whole
    project: nobody asks for a change there.
    """
    if not path.is_relative_to(program.root):
        return False
    return _is_old(program, path) or any(map(_ARCHIVE.fullmatch, _folders(program, path)))


def is_out_of_use(root: Path, path: Path) -> bool:
    """Whether a file of the project at `root`, by its name or that of a folder, was put aside, is code of others, or
    documentation: nobody keeps it like the rest.
    """
    folders = path.relative_to(root).parts[:-1] if path.is_relative_to(root) else ()
    patterns = (_OLD_FOLDER, _ARCHIVE, _COPIED, _DOCUMENTATION, _OF_RUNS)
    return _OLD_FILE.fullmatch(path.stem) is not None or any(
        one.fullmatch(name) for one in patterns for name in folders
    )


def shows_or_measures(program: Program, path: Path) -> bool:
    """Whether a file is of the documentation, where each line that a fix adds has to be explained, as is a page of a
    gallery of examples, or a program that measures times, on which no order of samples has a bearing.
    """
    if not path.is_relative_to(program.root):
        return False
    folders = _names_around(program, path)
    if any(map(_DOCUMENTATION.fullmatch, folders)):
        return True
    if _PAGE.fullmatch(path.stem) and any(map(_GALLERY.fullmatch, folders)):
        return True
    is_named_so = any(map(_BENCHMARK.fullmatch, (*folders, path.stem)))
    return is_named_so and program.project.holds(path, _CLOCK)


def is_one_of_many(program: Program, path: Path) -> bool:
    """Whether a file lies in one of several numbered folders that each hold a file of its name, or in one of results
    below a folder that holds such a file: they keep what experiments were run with. So does a folder of snapshots that
    has a copy of a file of the project: `snapshot/first/lib/utils.py` of `lib/utils.py`.
    """
    if _is_of_a_snapshot(program, path):
        return True
    if any(map(_OF_RUNS.fullmatch, _folders(program, path))):
        named = program.once("files by name", lambda: _files_by_name(program))[path.name]
        if any(one != path and one.parent in path.parents for one in named):
            return True
    if _NUMBERED.fullmatch(path.parent.name) is None:
        return False
    files = program.project.files
    alike = (one for one in files if one.name == path.name and one.parent.parent == path.parent.parent)
    folders = (one for one in alike if _NUMBERED.fullmatch(one.parent.name) is not None)
    return len(list(islice(folders, _MANY_FOLDERS))) == _MANY_FOLDERS


def _is_of_a_snapshot(program: Program, path: Path) -> bool:
    """Whether a file below a folder of snapshots has the name, and the folders, of one beside that folder."""
    if not path.is_relative_to(program.root):
        return False
    parts = path.relative_to(program.root).parts
    found = next((at for at, one in enumerate(parts[:-1]) if _SNAPSHOTS.fullmatch(one)), None)
    if found is None:
        return False
    around, below = program.root.joinpath(*parts[:found]), parts[found + 1 :]
    return any(around.joinpath(*below[start:]) in program.project.files for start in range(len(below)))


def is_no_longer_used(program: Program, path: Path) -> bool:
    """Whether a file, by its name or that of a folder below the root, is kept beside what is used instead, and nothing
    that is used imports it.
    """
    if not path.is_relative_to(program.root) or not _is_old(program, path):
        return False
    old = program.once("old files", lambda: frozenset(one for one in program.project.files if _is_old(program, one)))
    return len(old) < len(program.project.files) and program.imports.above(path) <= old


def _is_old(program: Program, path: Path) -> bool:
    if not path.is_relative_to(program.root):
        return False
    return any(map(_OLD_FOLDER.fullmatch, _names_around(program, path))) or _OLD_FILE.fullmatch(path.stem) is not None


def is_copied(program: Program, path: Path, *, by_licence: bool = True) -> bool:
    """Whether a file of the project lies in a folder for code of others, or in a copy of a library that is known, under
    the library's own name: `mmseg/`, or `fairseq/` with a `setup.py` of its own, or in a folder with another licence,
    or that is installed by itself and cites another paper, or whose README says which repository it is copied from.
    A change would let the copy differ from what it is a copy of. Without `by_licence` another licence shows nothing, as
    the packages of one project may have one each; nor does a README, as what is adapted may be the project itself.
    """
    return program.once(
        ("is copied", path.parent, by_licence), lambda: _is_copied(program, path, by_licence=by_licence)
    )


def _is_copied(program: Program, path: Path, *, by_licence: bool) -> bool:
    if not path.is_relative_to(program.root):
        return False
    inner = _folders(program, path)
    if any(map(_COPIED.fullmatch, _names_around(program, path))) or program.once(
        "is a copy", lambda: _is_copy(program)
    ):
        return True
    outer = program.once("outer root", lambda: _outer_root(program.root))
    if by_licence and any(
        program.once(("licence", outer, one), partial(has_own_licence, program, outer, one))
        or program.once(("from", outer, one), partial(says_where_it_is_from, outer, one))
        for one in _above(inner)
    ):
        return True
    if any(program.once(("paper", outer, one), partial(is_of_another_paper, outer, one)) for one in _above(inner)):
        return True
    folders = path.relative_to(program.root).parts[:-1]
    return any(program.once(("is a library", one), partial(_is_library, program, one)) for one in _above(folders))


def is_second_copy(program: Program, path: Path) -> bool:
    """Whether a file that no other imports defines what another file of its name defines, and that one is imported."""
    if program.imports.is_imported(path):
        return False
    named = program.once("files by name", lambda: _files_by_name(program))
    others = [one for one in named[path.name] if one != path and program.imports.is_imported(one)]
    defined = _definitions(program, path) if others else frozenset()
    return bool(defined) and any(defined == _definitions(program, one) for one in others)


def is_another_version(program: Program, path: Path) -> bool:
    """Whether all that a file defines at its top level, `main` aside and at least two things, is defined by another
    file of its folder that can be read. The file itself may have a syntax error.
    """
    source = program.project.source(path)
    defined = frozenset() if source is None else defined_in(source.searched) - {"main"}
    beside = (one for one in program.project.files if one != path and one.parent == path.parent)
    return len(defined) > 1 and any(defined <= _definitions(program, one) for one in beside)


def is_beside_programs(program: Program, path: Path) -> bool:
    """Whether a file without the name of a program (`train.py`) lies in one folder with two programs at the least."""
    beside = {one for one in _starts(program) if one != path and one.parent == path.parent}
    return len(beside) > 1 and not is_called_as_a_program(path)


def _files_by_name(program: Program) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in program.project.files:
        found.setdefault(path.name, []).append(path)
    return found


def _definitions(program: Program, path: Path) -> frozenset[str]:
    """The names of the functions and classes that a file defines at its top level."""
    facts = program.facts(path)
    return frozenset() if facts is None else frozenset(one.name for one in facts.scope.children)


def is_from_elsewhere(program: Program, path: Path, *, by_licence: bool = True) -> bool:
    """Whether a file is copied, or lies in another project that was downloaded into this one: a folder as the archive
    of a repository unpacks to, beside which this project has files of its own, or a project of which this one uses some
    functions and none of the programs.
    """
    if is_copied(program, path, by_licence=by_licence) or is_of_a_used_copy(program, path):
        return True
    if not path.is_relative_to(program.root):
        return False
    archives = [one for one in _above(_folders(program, path)) if _ARCHIVE.fullmatch(one[-1])]
    outer = program.once("outer root", lambda: _outer_root(program.root))
    return any(program.once(("archive", one), partial(_has_files_beside, program, outer, one)) for one in archives)


def _has_files_beside(program: Program, outer: Path, folders: tuple[str, ...]) -> bool:
    """Whether the project, or the one around it, has Python files that are not in a folder."""
    folder = outer.joinpath(*folders)
    if program.root.is_relative_to(folder):
        return any(any(above.glob("*.py")) for above in (folder.parent, *folders_between(outer, folder.parent), outer))
    return any(not file.is_relative_to(folder) for file in program.project.files)


def _above(folders: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return (folders[:end] for end in range(1, len(folders) + 1))


def _folders(program: Program, path: Path) -> tuple[str, ...]:
    """The folders around a file, below the root of the project in which its own project lies, if it lies in one."""
    return path.relative_to(program.once("outer root", lambda: _outer_root(program.root))).parts[:-1]


def _names_around(program: Program, path: Path) -> tuple[str, ...]:
    """The same, with the name of a root without a project file: scripts in `trash` that import nothing from above."""
    found, outer = _folders(program, path), program.once("outer root", lambda: _outer_root(program.root))
    is_found = program.once("root has no marker", lambda: outer == program.root and not is_marked(program.root))
    return (program.root.name, *found) if is_found else found


def _outer_root(root: Path) -> Path:
    for folder in root.parents:
        if is_shared_folder(folder):
            break
        if is_marked(folder):
            return folder
    return root


def _is_library(program: Program, folders: tuple[str, ...]) -> bool:
    """Whether a folder of the project has the name of a library that is another project's, as it is imported or as an
    archive of it unpacks (`fairseq-0.10.2`).
    """
    packages, words = copied_libraries(), copied_libraries(words=True)
    name = _VERSION.sub("", folders[-1])
    distribution = packages.get(name.lower(), words.get(name))
    if distribution is None or distribution in program.once("names", lambda: names_of(program.root)):
        return False
    folder = program.root.joinpath(*folders)
    inside = (one for one in program.project.files if one.is_relative_to(folder))
    is_plain = name.lower() in packages or name != folders[-1]
    return is_plain or len(list(islice(inside, _MANY_FILES))) == _MANY_FILES


def _is_copy(program: Program) -> bool:
    """Whether a project is a library that lies in another project, by its folder or by what its metadata calls it."""
    if _outer_root(program.root) == program.root:
        return False
    known = {**copied_libraries(), **copied_libraries(words=True)}
    return program.root.name.lower() in known or not names_of(program.root).isdisjoint(known.values())


def _is_distributed(program: Program, path: Path) -> bool:
    """Whether a file is a module of a package at the root of the project, or in `src`, and the project is built. Not so
    in an application whose code imports `src` itself, as nobody installs a package by that name.
    """
    folders = path.relative_to(program.root).parts[:-1]
    in_src = folders[:1] == ("src",)
    if in_src and program.project.matching(_IMPORTS_SRC):
        return False
    top = folders[in_src : in_src + 1]
    if not top or not program.once("is built", lambda: is_built(program.root)):
        return False
    return in_src or program.root.joinpath(*top, "__init__.py") in program.project.files

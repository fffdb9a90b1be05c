"""The oldest torch that a project can mean, where it names no version of torch: by the versions of packages that need
torch, by the Python that it asks for or its notebooks were run with, and by the names of torch and the syntax that its
code uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

from torchrepro_lint.knowledge.torch_floors import companions
from torchrepro_lint.knowledge.versions import release
from torchrepro_lint.source.cells import is_notebook
from torchrepro_lint.source.code_floor import code_floor
from torchrepro_lint.source.metadata import ini_of, text_of, toml_of
from torchrepro_lint.source.package_versions import declared_versions, versions_in
from torchrepro_lint.source.requirements import ENVIRONMENTS, READMES
from torchrepro_lint.source.stamps import stamp
from torchrepro_lint.source.text import SourceError, read_bytes

__all__ = ["inferred_torch", "pinned_beside", "python_files"]

#: How many files of a project are searched; a project with more mostly names its torch.
_MAX_FILES = 5_000
#: Where a notebook says which Python has run it (nbformat's `language_info`), as JSON is laid out.
_RUN_WITH = re.compile(
    rb'"language_info"\s*:\s*\{(?:[^{}]|\{[^{}]*\})*?"name"\s*:\s*"python"(?:[^{}]|\{[^{}]*\})*?"version"\s*:\s*"(\d+\.\d+)'
)


def inferred_torch(root: Path, files: Iterable[Path]) -> tuple[str, str] | None:
    """A version specifier of torch, and what it follows from; None where nothing tells.

    A package that is built for one release of torch, with its version pinned, tells it exactly. Everything else is a
    lower bound, and the highest one counts.
    """
    told = [*_by_packages(root), *_by_python(root)]
    exact = next(((torch, why) for torch, why in told if torch.startswith("==")), None)
    searched = list(islice(files, _MAX_FILES)) if exact is None else []
    return exact or max([*told, *_by_notebooks(root, searched), *_by_code(root, searched)], key=_floor, default=None)


def pinned_beside(root: Path) -> tuple[str, ...]:
    """The releases of torch that packages need which are built for one alone, and of which the version is pinned."""
    return tuple(torch for torch, _ in _by_packages(root) if torch.startswith("=="))


def python_files(root: Path) -> list[Path]:
    """The files in which the version of Python may be, beside those that name versions of packages."""
    return [root / name for name in (".python-version", "runtime.txt")]


def _floor(told: tuple[str, str]) -> tuple[int, ...]:
    return release(told[0].removeprefix(">="))


def _by_packages(root: Path) -> Iterator[tuple[str, str]]:
    for name, companion in companions().items():
        if name == "python":
            continue
        specifiers = declared_versions(root, name)
        torches = [companion.torch_of(specifier) for specifier in specifiers]
        if torches and None not in torches and len(set(torches)) == 1:
            yield str(torches[0]), f"{name}{specifiers[0]}"


def _by_python(root: Path) -> Iterator[tuple[str, str]]:
    torches = [companions()["python"].torch_of(specifier) for specifier in _pythons(root)]
    floors = [torch for torch in torches if torch is not None]
    if floors and len(floors) == len(torches):
        lowest = min(floors, key=lambda torch: release(torch.removeprefix(">=")))
        yield lowest, f"python{_pythons(root)[floors.index(lowest)]}"


def _pythons(root: Path) -> list[str]:
    """The specifiers of Python in the metadata of the project, without those of its environments' lock files."""
    table = toml_of(root / "pyproject.toml")
    project, poetry = table.get("project"), table.get("tool")
    texts = [project.get("requires-python") if isinstance(project, dict) else None]
    for key in ("poetry", "dependencies", "python"):
        poetry = poetry.get(key) if isinstance(poetry, dict) else None
    found = versions_in(f'python = "{poetry}"', "python") if isinstance(poetry, str) else []
    texts.append(ini_of(root / "setup.cfg").get("options", "python_requires", fallback=None))
    in_setup = re.search(r"""python_requires\s*=\s*["']([^"'\n]*)["']""", text_of(root / "setup.py"))
    texts.append(in_setup[1] if in_setup else None)
    for pattern in ENVIRONMENTS:
        for path in sorted(root.glob(pattern)):
            in_environment = re.search(r"""(?m)^\s*-\s*["']?python\s*((?:[=<>!~]=?)[^#"'\n]*)""", text_of(path))
            texts.append(in_environment[1] if in_environment else None)
    for pattern in READMES:
        for path in sorted(root.glob(pattern)):
            created = re.search(r"(?m)^.*\bconda create\b.*\bpython\s?(={1,2}\s?\d+(?:\.\d+)*)", text_of(path))
            texts.append(created[1] if created else None)
    for path in python_files(root):
        plain = re.match(r"\s*(?:python-)?(\d+(?:\.\d+)*)\s*$", text_of(path))
        texts.append(f"=={plain[1]}" if plain else None)
    for text in texts:
        if isinstance(text, str):
            found += versions_in(f"python{text.strip()}", "python")
    return found


def _by_code(root: Path, files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for path in files:
        floor = code_floor(path)
        if floor is not None:
            yield f">={floor.torch}", f"{floor.what}, {_name(path, root)}:{floor.row}"


def _by_notebooks(root: Path, files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """By the oldest Python that has run a notebook of the project."""
    notebooks = [path for path in files if is_notebook(path)]
    run = [(version, path) for path in notebooks if (version := _python_of_notebook(path, *stamp(path))) is not None]
    if run:
        version, path = min(run, key=lambda one: release(one[0]))
        torch = companions()["python"].torch_of(f">={version}")
        if torch is not None:
            yield torch, f"Python {version}, which has run {_name(path, root)}"


@lru_cache(maxsize=10_000)
def _python_of_notebook(path: Path, changed: int, size: int) -> str | None:
    """The version of Python, as 3.10, with which a notebook was last saved, if it says so."""
    try:
        found = _RUN_WITH.search(read_bytes(path))
    except SourceError:
        return None
    return found[1].decode() if found is not None else None


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()

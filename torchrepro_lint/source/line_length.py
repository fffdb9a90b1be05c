"""How long a project wants its lines to be: what its formatter is told, else what its linter allows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from torchrepro_lint.source.ignore import git_top
from torchrepro_lint.source.metadata import ini_of, toml_of

__all__ = ["layout_files", "line_length_of"]

# Formatters break lines at their limit; what a linter allows beyond that is not what the project's lines look like.
_TOML = (("black", "line-length"), ("ruff", "line-length"), ("yapf", "column_limit"))
_INI = (
    ("yapf", "column_limit"),
    ("flake8", "max-line-length"),
    ("pycodestyle", "max-line-length"),
    ("pep8", "max-line-length"),
)
_STYLE_FILES = (("ruff.toml", "line-length"), (".ruff.toml", "line-length"))
_INI_FILES = (".style.yapf", "setup.cfg", "tox.ini", ".flake8")

_NAMES = ("pyproject.toml", *(name for name, _ in _STYLE_FILES), *_INI_FILES)


#: The limit of black and of ruff's formatter where a project that uses them states none.
_BY_DEFAULT = 88


def line_length_of(root: Path) -> int | None:
    """The longest line, in characters, that the project at `root` wants; None where nothing says it.

    Of a project that is a part of a git repository, the nearest folder above that says it counts, as for formatters.
    """
    return next((length for folder in _folders(root) for length in _answers(folder)), None)


def layout_files(root: Path) -> Iterator[Path]:
    """The files that may say it, as far as they are there."""
    return (path for folder in _folders(root) for name in _NAMES if (path := folder / name).is_file())


def _folders(root: Path) -> Iterator[Path]:
    """The project's own folder, and those above it up to the top of its git repository."""
    top = git_top(root) or root
    for folder in (root, *root.parents):
        yield folder
        if folder == top:
            return


def _answers(root: Path) -> Iterator[int]:
    for name, key in _STYLE_FILES:
        yield from _length(toml_of(root / name).get(key))
    tools = toml_of(root / "pyproject.toml").get("tool")
    sections = {tool: one for tool, one in tools.items() if isinstance(one, dict)} if isinstance(tools, dict) else {}
    for tool, key in _TOML:
        yield from _length(sections.get(tool, {}).get(key))
    if "black" in sections or "format" in sections.get("ruff", {}):
        yield _BY_DEFAULT
    parsers = [(name, ini_of(root / name)) for name in _INI_FILES]
    for tool, key in _INI:
        for name, parser in parsers:
            section = "style" if name == ".style.yapf" else tool
            for spelling in (key, key.replace("-", "_")):
                yield from _length(parser.get(section, spelling, fallback=None))


def _length(value: object) -> Iterator[int]:
    """A limit as it is written; one that no code keeps to (flake8's `max-line-length = 10000`) is none."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value.strip())
    if isinstance(value, int) and not isinstance(value, bool) and 40 <= value <= 320:
        yield value

"""The versions of a library that a project asks for, wherever its files name it with one.

Unlike for torch, no reading by the rules of each format is needed: any requirement of the name in the files that list
requirements counts, and one without a version says nothing.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from torchrepro_lint.knowledge.versions import admits
from torchrepro_lint.regular_files import read_if_there
from torchrepro_lint.source.stamps import stamp

__all__ = ["BEYOND_ALL", "declared_versions", "is_declared", "surely_in", "version_files", "versions_in"]

_FILES = (
    "requirements*.txt", "requirements/*.txt", "*requirements*.in", "setup.py", "setup.cfg", "pyproject.toml",
    "Pipfile", "environment*.y*ml", "env.y*ml", "conda*.y*ml", "Dockerfile*", "docker/Dockerfile*", "*.lock",
    "pylock.toml",
)  # fmt: skip
_MAX_BYTES = 2_000_000
#: A version above all that there will be.
BEYOND_ALL: Final = "99999"


def declared_versions(root: Path, package: str) -> tuple[str, ...]:
    """The specifiers (`==1.3.1`, `>=0.5,<2`) that stand after the name of `package` in the project's metadata.

    Empty where the package is not named, or never with a version. Conda's `=1.3` is given as `==1.3`; what Poetry's
    `^1.3` and pip's `~=1.3` stand for is written out.
    """
    return tuple(dict.fromkeys(found for text in _texts(root) for found in versions_in(text, package)))


def surely_in(root: Path, package: str, versions: str) -> bool:
    """Whether the project asks for the package with a version, and every one that it admits lies in `versions`."""
    declared = declared_versions(root, package)
    numbers = re.findall(r"\d+(?:\.\d+)*", " ".join((versions, *declared)))
    # Between two versions that are named, and above the last, nothing changes that a specifier can tell.
    candidates = [BEYOND_ALL, *numbers, *(f"{number}.0.1" for number in numbers)]
    return bool(declared) and all(
        admits(versions, version) for version in candidates if any(admits(one, version) for one in declared)
    )


def versions_in(text: str, package: str) -> list[str]:
    """The specifiers after the name of `package` in a text."""
    found = [_specifier(match) for match in _pattern(package).finditer(text)]
    return [specifier for specifier in found if specifier is not None]


def is_declared(root: Path, package: str) -> bool:
    """Whether the project's metadata names the package at all."""
    return any(_pattern(package).search(text) for text in _texts(root))


@lru_cache(maxsize=64)
def _pattern(package: str) -> re.Pattern[str]:
    name = re.sub(r"[-_.]+", "[-_.]+", re.escape(package).replace(r"\-", "-").replace(r"\.", "."))
    return re.compile(
        rf"""(?<![\w./-]){name}(?![\w.-])
        (?:\[[^\]]*\])?                                   # extras
        (?:["']?\s*[,=]?\s*\n?\s*version\s*=\s*["'](?P<locked>\d[\w.]*)["']   # name = "x", version = "1" of lock files
        |["']?\s*=\s*["'](?P<poetry>[\^~=<>!]*\s*\d[^"']*)["']             # x = "^1.0"
        |\s*(?P<clauses>(?:===?|>=|<=|~=|!=|>|<|=)\s*\d[\w.*]*(?:\s*,\s*(?:==|>=|<=|~=|!=|>|<)\s*\d[\w.*]*)*))?""",
        re.VERBOSE | re.IGNORECASE,
    )


def _specifier(match: re.Match[str]) -> str | None:
    if match["locked"] is not None:
        return f"=={match['locked']}"
    text = match["poetry"] or match["clauses"]
    if text is None:
        return None
    clauses = []
    for clause in text.split(","):
        parts = re.match(r"\s*(\^|~=|~|===?|>=|<=|!=|>|<|=)?\s*v?(\d+(?:\.\d+)*)", clause)
        if parts is None:
            continue
        operator, version = parts[1] or "==", parts[2]
        if operator in ("^", "~", "~="):
            clauses += [f">={version}", f"<{_next(version, 1 if operator == '^' else 2)}"]
        else:
            clauses.append({"=": "==", "===": "=="}.get(operator, operator) + version)
    return ",".join(clauses) or None


def _next(version: str, kept: int) -> str:
    """The first version that `^` (kept=1) or `~` (kept=2) no longer admits."""
    numbers = [int(number) for number in version.split(".")]
    first = next((index for index, number in enumerate(numbers) if number), 0) + 1
    kept = max(1, first) if kept == 1 else max(1, len(numbers) - 1)
    return ".".join(map(str, [*numbers[: kept - 1], numbers[kept - 1] + 1]))


def version_files(root: Path) -> tuple[Path, ...]:
    """The files of a project in which versions of libraries are looked for, as they are on the disk now."""
    paths: dict[Path, None] = {}
    for pattern in _FILES:
        with suppress(OSError):
            paths.update(dict.fromkeys(path for path in sorted(root.glob(pattern)) if path.is_file()))
    return tuple(paths)


def _texts(root: Path) -> tuple[str, ...]:
    return tuple(_text(path, *stamp(path)) for path in version_files(root))


@lru_cache(maxsize=64)
def _text(path: Path, changed: int, size: int) -> str:
    text = read_if_there(path)[:_MAX_BYTES].decode("utf-8-sig", "replace")
    if not path.name.endswith((".lock", ".toml")) or "version" not in text:
        text = re.sub(r"(?m)#.*$", "", text)
    return text

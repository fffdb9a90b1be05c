"""Fixtures: programs that say in their own text what the tool finds in them and what is seen when they run.

`fixtures/README.md` describes the format for people; this module is its only reader.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify.claims import Claim, ClaimError, parse_claims

ENTRY = "main.py"
_RULE_FOLDER = re.compile(r"(TRL\d{3})_[a-z0-9_]+")
_CASE = re.compile(r"(bad|good|fixed)_[a-z0-9_]+")
_HEADER = re.compile(r"#\s*(about|claim|settings):\s*(.*)")
_EXPECTATION = re.compile(r"[ \t]*# expect: (TRL\d{3}(?:, TRL\d{3})*)[ \t]*(?=\r?$)", re.MULTILINE)


class FixtureError(TorchReproLintError):
    """A fixture that does not keep to the format."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """One program.

    `path` is the file, or the folder whose `main.py` is run. `settings` holds TOML lines, as they would are in the
    settings file of a project that is this program.
    """

    path: Path
    rule: str
    kind: str
    about: str
    claims: tuple[Claim, ...]
    settings: tuple[str, ...]

    @property
    def name(self) -> str:
        """`rule folder/case`, without a suffix."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def entry(self) -> Path:
        """The file that is run."""
        return self.path if self.alone else self.path / ENTRY

    @property
    def alone(self) -> bool:
        """Whether the program is one file."""
        return self.path.suffix == ".py"

    @property
    def files(self) -> tuple[Path, ...]:
        """All Python files of the program, sorted."""
        return (self.path,) if self.alone else tuple(sorted(self.path.rglob("*.py")))

    @property
    def twin(self) -> Path | None:
        """The repaired program of a bad one, where there is one."""
        if self.kind != "bad":
            return None
        twin = self.path.with_name("fixed" + self.path.name.removeprefix("bad"))
        return twin if twin.exists() else None


def find_fixtures(paths: Iterable[Path]) -> list[Fixture]:
    """All fixtures below the paths, sorted, each once.

    Raises:
        FixtureError: a path does not exist, or a fixture is malformed.
    """
    found: dict[Path, Fixture] = {}
    for path in paths:
        if not path.exists():
            raise FixtureError(f"{path}: no such file or folder")
        for case in _cases(path):
            found.setdefault(case.resolve(), read_fixture(case))
    return sorted(found.values(), key=lambda fixture: fixture.path.as_posix())


def _cases(path: Path) -> Iterator[Path]:
    if _CASE.fullmatch(path.stem) and (path.suffix == ".py" or (path / ENTRY).is_file()):
        yield path
    elif path.is_dir():
        for entry in sorted(path.iterdir()):
            yield from _cases(entry)


def is_fixture(path: Path) -> bool:
    """Whether a path is a fixture by its place and its name."""
    in_folder = _RULE_FOLDER.fullmatch(path.resolve().parent.name) is not None
    return in_folder and _CASE.fullmatch(path.stem) is not None


def read_fixture(path: Path) -> Fixture:
    """Read the header of one fixture.

    Raises:
        FixtureError: the place, the name or the header is not as the format says.
    """
    folder, case = _RULE_FOLDER.fullmatch(path.resolve().parent.name), _CASE.fullmatch(path.stem)
    if folder is None or case is None:
        raise FixtureError(f"{path}: a fixture stands in TRLnnn_rule_name/ and is called bad_*, good_* or fixed_*")
    entry = path if path.suffix == ".py" else path / ENTRY
    about: list[str] = []
    claims: list[Claim] = []
    settings: list[str] = []
    for key, value in _header(entry.read_text(encoding="utf-8")):
        if key == "about":
            about.append(value)
        elif key == "settings":
            settings.append(value)
        else:
            try:
                claims.extend(parse_claims(value))
            except ClaimError as error:
                raise FixtureError(f"{entry}: {error}") from None
    if not about or not claims:
        raise FixtureError(f"{entry}: the header needs `# about:` and at least one `# claim:`")
    return Fixture(path, folder[1], case[1], " ".join(about), tuple(claims), tuple(settings))


def _header(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if (match := _HEADER.fullmatch(line.strip())) is None:
            return
        yield match[1], match[2].strip()


def expectations(text: str) -> Counter[tuple[int, str]]:
    """What the tool is to find in this file: (row, code), counted; rows start at 1."""
    found: Counter[tuple[int, str]] = Counter()
    for row, line in enumerate(text.splitlines(), start=1):
        if (match := _EXPECTATION.search(line)) is not None:
            found.update((row, code) for code in match[1].split(", "))
    return found


def header_length(text: str) -> int:
    """The number of lines of the header."""
    return sum(1 for _ in _header(text))


def strip_marks(text: str) -> str:
    """The program alone: without its header and its expectations, as two twins are compared."""
    lines = text.splitlines(keepends=True)[header_length(text) :]
    return _EXPECTATION.sub("", "".join(lines)).lstrip("\n")

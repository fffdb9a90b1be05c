"""Fixtures that are edited by chance: after each edit, a program that is kept finds what one finds that is made anew."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fixture_format import FOLDER, all_fixtures
from program.edits import EDITS

from torchrepro_lint.engine import check
from torchrepro_lint.program.kept.programs import KeptPrograms
from torchrepro_lint.settings import SettingsOverride
from torchrepro_lint.toolkit import Toolkit
from torchrepro_lint.verify.fixtures.fixture import Fixture

STRICT: SettingsOverride = {"profile": "strict", "unsafe_fixes": True}
STEPS = 10


class Edited:
    """A program on the disk, some of whose files are open with other texts."""

    def __init__(self, fixture: Fixture, root: Path) -> None:
        self.root = root
        self.chance = Random(fixture.path.relative_to(FOLDER).as_posix())
        home = fixture.path if fixture.path.is_dir() else fixture.path.parent
        self.first = {file.relative_to(home).as_posix(): file.read_text(encoding="utf-8") for file in fixture.files}
        self.texts = dict(self.first)
        self.open: dict[Path, str] = {}
        # What is asked about a few of many files is looked for in these alone.
        others = {f"others/model{number}.py": "import torch\n" for number in range(8)}
        for name, text in {**self.texts, **others, "torchrepro-lint.toml": ""}.items():
            self._put(name, text)

    def _put(self, name: str, text: str | None) -> None:
        path = self.root / name
        self.open.pop(path, None)
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")

    def edit(self) -> None:
        edited = self.chance.choice(EDITS)(self.chance, self.texts, self.first)
        is_saved = self.chance.random() < 0.6
        for name, text in edited.items():
            if not name.endswith(".py"):
                self._put(name, text)
                continue
            if is_saved or text is None or name not in self.texts:
                self._put(name, text)
            else:
                self.open[self.root / name] = text
            if text is None:
                del self.texts[name]
            else:
                self.texts[name] = text

    def asked(self) -> list[Path]:
        """All files, or one."""
        return [self.root] if self.chance.random() < 0.7 else [self.root / self.chance.choice(sorted(self.texts))]


def _several() -> list[Fixture]:
    return [fixture for fixture in all_fixtures() if not fixture.alone and fixture.path.name.startswith("bad_")]


@pytest.mark.exhaustive
@pytest.mark.parametrize("fixture", _several(), ids=lambda fixture: f"{fixture.rule}-{fixture.path.name}")
def test_after_each_edit_the_findings_are_those_of_a_program_made_anew(
    fixture: Fixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchrepro_lint.program.kept.project._MAX_RETIRED", 2_000)
    program, kept = Edited(fixture, tmp_path), Toolkit(make_program=KeptPrograms())
    for _ in range(STEPS):
        asked = program.asked()
        assert check(asked, STRICT, overlay=program.open, toolkit=kept) == check(asked, STRICT, overlay=program.open)
        program.edit()

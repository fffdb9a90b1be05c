from __future__ import annotations

import gc
from pathlib import Path

import pytest
from programs import AUGMENT, LOADER, PACKAGE

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.facts.module import facts_of_text
from torchrepro_lint.lsp.session import Session
from torchrepro_lint.program.kept.project import KeptProject
from torchrepro_lint.source.stamps import stamp


def test_facts_are_made_again_only_of_what_has_changed(write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(PACKAGE)
    made: list[str] = []

    def make(path: Path, text: str) -> object:
        made.append(path.name)
        return facts_of_text(path, text)

    monkeypatch.setattr("torchrepro_lint.program.kept.programs.facts_of_text", make)
    session = Session()
    loader, augment = root / "pkg/loader.py", root / "pkg/augment.py"
    assert [one.code for one in session.check({loader: LOADER}).findings] == ["TRL101"]
    assert {"loader.py", "augment.py", "dataset.py"} <= set(made)
    made.clear()
    assert len(session.check({loader: LOADER}).findings) == 1
    assert made == []
    # Another buffer is opened and changed; then a file on the disk is.
    assert session.check({loader: LOADER, augment: "def jitter(image):\n    return image\n"}).findings == ()
    assert made == ["augment.py"]
    made.clear()
    augment.write_text(AUGMENT + "\n")
    assert len(session.check({loader: LOADER}).findings) == 1
    assert made == ["augment.py"]


def test_a_text_that_does_not_parse_is_remembered_too(write) -> None:
    root = write({"torchrepro-lint.toml": "", "a.py": ""})
    session = Session()
    for _ in range(2):
        assert [one.code for one in session.check({root / "a.py": "import torch\nf("}).findings] == ["TRL900"]


def test_libraries_are_not_looked_at(write) -> None:
    root = write({f"lib/site-packages/{path}": text for path, text in {**PACKAGE, "six.py": ""}.items()})
    loader = root / "lib/site-packages/pkg/loader.py"
    session = Session()
    assert session.check({loader: LOADER}).findings == ()
    assert not any(one.code for one in session.check({loader: LOADER, root / "a.py": "x = 1\n"}).findings)


def test_settings_are_read_again_when_they_are_forgotten(write) -> None:
    root = write({**PACKAGE, "torchrepro-lint.toml": ""})
    session = Session()
    loader = root / "pkg/loader.py"
    assert len(session.check({loader: LOADER}).findings) == 1
    (root / "torchrepro-lint.toml").write_text('ignore = ["TRL101"]\n')
    assert len(session.check({loader: LOADER}).findings) == 1
    session.forget()
    assert session.check({loader: LOADER}).findings == ()
    session.configure({})
    (root / "torchrepro-lint.toml").write_text("")
    session.forget()
    assert [one.code for one in session.check({loader: LOADER}).findings] == ["TRL101"]
    session.configure({"ignore": ("TRL1",)})
    assert session.check({loader: LOADER}).findings == ()


def test_the_programs_of_projects_of_which_no_file_is_open_are_let_go(write, tmp_path: Path) -> None:
    write({f"{name}/{path}": text for name in ("one", "other") for path, text in PACKAGE.items()})
    one, other = (tmp_path / name / "pkg/loader.py" for name in ("one", "other"))
    session = Session()

    def programs() -> list[object]:
        gc.collect()
        return [found for found in gc.get_objects() if isinstance(found, KeptProject)]

    session.check({one: LOADER, other: LOADER})
    assert len(programs()) == 2
    (kept,) = (found for found in programs() if found.root == tmp_path / "other")
    session.check({other: LOADER})
    session.check({})
    assert programs() == [kept]
    assert len(session.check({other: LOADER}).findings) == 1
    assert programs() == [kept]


def test_a_fix_is_offered_for_closed_files_that_are_as_they_were_and_in_the_project(write) -> None:
    root = write({"outside.py": "x = 1\n", "project/pyproject.toml": "", "project/a.py": "x = 1\n"})
    (root / "project" / "link.py").symlink_to(root / "outside.py")
    a, link = root / "project" / "a.py", root / "project" / "link.py"
    session = Session()

    def may_edit(path: Path, texts: dict[Path, str]) -> bool:
        fix = Fix(Applicability.SAFE, "mend it", (Edit(path, 0, 0, "y"),))
        return session.may_edit(fix, texts, {a: seen, link: stamp(link)})

    seen = stamp(a)
    assert may_edit(a, {})
    assert not may_edit(link, {})
    assert may_edit(link, {link: "x = 1\n"})
    a.write_text("y = 12\n")
    assert not may_edit(a, {})

"""Whether an installed package brings rules: a quick look says no where there are none, and never where there are."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from torchrepro_lint.cache import installed
from torchrepro_lint.cache.installed import are_rules_installed

GROUP = "[torchrepro_lint.rules]\nmine = mine:Mine\n"


@pytest.fixture(autouse=True)
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of the path."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def install(folder: Path, entry_points: str) -> None:
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (folder / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(entry_points)


@pytest.mark.parametrize("name", ["mine-1.dist-info", "Mine-1.DIST-INFO", "mine.egg-info"])
def test_rules_are_found(only: Path, name: str) -> None:
    install(only / name, GROUP)
    assert are_rules_installed()


def test_rules_of_an_egg_are_found(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (only / "mine-1.egg").mkdir()
    install(only / "mine-1.egg" / "EGG-INFO", GROUP)
    assert not are_rules_installed()
    monkeypatch.setattr(sys, "path", [str(only / "mine-1.egg")])
    assert are_rules_installed()


def test_rules_of_the_current_folder_are_found(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(only / "mine-1.dist-info", GROUP)
    monkeypatch.chdir(only)
    monkeypatch.setattr(sys, "path", [""])
    assert are_rules_installed()


def test_rules_in_an_archive_are_found(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(only / "mine.zip", "w") as archive:
        archive.writestr("mine-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
        archive.writestr("mine-1.dist-info/entry_points.txt", GROUP)
    monkeypatch.setattr(sys, "path", [str(only / "mine.zip"), str(only / "nothing.zip")])
    assert are_rules_installed()


def test_another_finder_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Finder:
        def find_spec(self, *args: object) -> None: ...

        def find_distributions(self, context: object) -> list[object]:
            asked.append(context)
            return []

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert not are_rules_installed()
    assert asked


def test_what_names_no_rules(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(only / "other-1.dist-info", "[console_scripts]\nother = other:main\n")
    (only / "none-1.dist-info").mkdir()
    (only / "old.egg-info").write_text("")
    (only / "module.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(only), str(only / "not there")])
    assert not installed._may_be()
    install(only / "says-1.dist-info", "[other]\ntext = says:torchrepro_lint.rules\n")
    assert installed._may_be()
    assert not are_rules_installed()


def test_a_metadata_file_that_cannot_be_read_is_left_to_python(only: Path) -> None:
    (only / "odd-1.dist-info" / "entry_points.txt").mkdir(parents=True)
    assert installed._may_be()
    assert not are_rules_installed()


def test_a_quick_look_needs_no_parser_of_mails() -> None:
    command = "import sys; from torchrepro_lint.cache.installed import are_rules_installed as f; print(f(), 'email' in sys.modules)"
    said = subprocess.run([sys.executable, "-S", "-c", command], capture_output=True, text=True, check=True).stdout
    assert said == "False False\n"

"""YAML files, as they are found and read."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.regular_files import collected_notices
from torchrepro_lint.source.configurations import configurations_digest, read_configuration, yaml_files


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("trainer:\n  deterministic: true\n", {"trainer": {"deterministic": True}}),
        ("seed: 1e3\n", {"seed": "1e3"}),
        ("1: 2\nseed: 3\n", {"seed": 3}),
        ("", {}),
        ("- a\n- b\n", {}),
        ("just text", {}),
        ("a: [1, 2\n", {}),
        ("a: b: c\n", {}),
        ("model: !Unknown {size: 3}\n", {}),
        ("model: !!python/object/apply:os.system ['false']\n", {}),
        ("a: &a [*a]\n", None),
        ("a: \x00\n", {}),
        ("when: 2024-13-45\n", {}),
        ("[" * 5000, {}),
        ("a: " + "[" * 90_000 + "]" * 90_000, {}),
        ("}" * 300 + "{" * 300, {}),
        ("a: !!bool maybe\n", {}),
        ("a: !!float\n", {}),
        ("a: !!timestamp soon\n", {}),
        ("a:\n" + "- [1, {b: 2}]\n" * 300, {"a": [[1, {"b": 2}]] * 300}),
    ],
)
def test_what_a_file_holds(tmp_path: Path, text: str, known: object) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    found = read_configuration(file)
    assert found == known if known is not None else set(found) == {"a"}


@pytest.mark.parametrize(("brackets", "is_read"), [(199, True), (201, False)])
def test_brackets_beyond_a_depth_are_not_given_to_the_parser(tmp_path: Path, brackets: int, *, is_read: bool) -> None:
    """PyYAML takes time that grows with the square of the open brackets."""
    file = tmp_path / "config.yaml"
    file.write_text("a: " + "[" * brackets + "]" * brackets + "\n")
    with collected_notices() as notices:
        assert bool(read_configuration(file)) == is_read
    assert (file in notices) != is_read


def test_a_file_that_cannot_be_read_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "latin.yaml").write_bytes(b"name: \xff\xfe\xfd\n")
    (tmp_path / "large.yaml").write_text("a: 1\n" * 100_000)
    for name in ("missing.yaml", "folder.yaml", "latin.yaml", "large.yaml"):
        assert read_configuration(tmp_path / name) == {}


def test_every_file_counts_and_every_change(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config.yaml").write_text("a: 1\n")
    (tmp_path / "conf").mkdir()
    seen = {configurations_digest(tmp_path)}
    for name, text in (("b.yml", "b: 1\n"), ("conf/a.yaml", "a: 1\n"), ("conf/a.yaml", "a: 2\n")):
        (tmp_path / name).write_text(text)
        seen.add(configurations_digest(tmp_path))
    assert len(seen) == 4
    assert yaml_files(tmp_path) == [tmp_path / "b.yml", tmp_path / "conf" / "a.yaml"]

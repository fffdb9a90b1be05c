"""YAML files, as they are found and read."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    ],
)
def test_what_a_file_holds(tmp_path: Path, text: str, known: object) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    found = read_configuration(file)
    assert found == known if known is not None else set(found) == {"a"}


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

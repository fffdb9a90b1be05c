"""Command lines of frameworks: whether they seed the program that they build."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.program.intent.command_lines import command_line_calls, configuration_files, may_seed

CLI = "from pytorch_lightning.cli import LightningCLI\n"


def seeds(root: Path, code: str, files: dict[str, str]) -> bool:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    program = program_of(root, CLI + code)
    (call,) = command_line_calls(program)
    return may_seed(program, call)


def told(seed: str) -> dict[str, str]:
    return {"config.yaml": f"seed_everything: {seed}\ntrainer:\n  max_epochs: 1\n"}


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("LightningCLI()", {}),
        ("LightningCLI(seed_everything_default=7)", {}),
        ("LightningCLI(seed_everything_default=None)", {}),
        ("LightningCLI(seed_everything_default=None)", {"requirements.txt": "pytorch-lightning>=1.6\n"}),
        ("LightningCLI(seed_everything_default=unknown)", {}),
        ("LightningCLI(seed_everything_default=False)", told("3")),
        ("LightningCLI(seed_everything_default=False)", told("true")),
        ("LightningCLI(seed_everything_default=False, args=['--seed_everything=3'])", {}),
        ("LightningCLI(**options)", {}),
        ("LightningCLI()", told("null")),
        ("LightningCLI()", {**told("false"), "other.yaml": "trainer: {}\nmodel: {}\n"}),
        ("LightningCLI()", {**told("3"), "requirements.txt": "pytorch-lightning==1.5.10\n"}),
        (
            "class Mine(LightningCLI):\n"
            "    def __init__(self):\n        super().__init__(seed_everything_default=7)\nMine()",
            {},
        ),
    ],
)
def test_may_seed(tmp_path: Path, code: str, files: dict[str, str]) -> None:
    assert seeds(tmp_path, code, files)


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("LightningCLI(seed_everything_default=False)", {}),
        ("class Mine(LightningCLI):\n    pass\nMine(seed_everything_default=False)", {}),
        ("LightningCLI(seed_everything_default=7)", told("false")),
        ("LightningCLI()", {"requirements.txt": "pytorch-lightning==1.5.10\n"}),
        ("LightningCLI()", {**told("null"), "requirements.txt": "pytorch-lightning<1.6\n"}),
        ("LightningCLI(seed_everything_default=None)", {"requirements.txt": "pytorch-lightning==1.8.6\n"}),
    ],
)
def test_surely_does_not_seed(tmp_path: Path, code: str, files: dict[str, str]) -> None:
    assert not seeds(tmp_path, code, files)


def test_configurations_of_another_program_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.yaml").write_text(told("3")["config.yaml"])
    program = program_of(tmp_path, dict.fromkeys(["main.py", "other/fit.py"], f"{CLI}LightningCLI()\n"))
    read = {one.facts.path.name: configuration_files(program, one) for one in command_line_calls(program)}
    assert read == {"main.py": [], "fit.py": [tmp_path / "other" / "config.yaml"]}

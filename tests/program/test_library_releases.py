"""What a call switches depends on the release of its library, where the project asks for one."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

CODE = "from pytorch_lightning import Trainer\nTrainer(deterministic=True)\n"


@pytest.mark.parametrize(
    ("required", "effect"),
    [
        ("", "algorithms"),
        ("pytorch-lightning\n", "algorithms"),
        ("pytorch_lightning==1.3.2\n", "cudnn"),
        ("pytorch-lightning>=1.3\n", "algorithms"),
        ("pytorch-lightning>=1.2,<1.5\n", "cudnn"),
        ("pytorch-lightning==1.5.0\n", "algorithms"),
    ],
)
def test_lightning_before_1_5_sets_cudnn_alone(tmp_path: Path, required: str, effect: str) -> None:
    (tmp_path / "requirements.txt").write_text(required)
    assert {one.effect for one in program_of(tmp_path, CODE).evidence} == {effect}


def test_a_configuration_likewise(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("pytorch-lightning==1.4.9\n")
    (tmp_path / "config.yaml").write_text("seed_everything: 1\ntrainer:\n  deterministic: true\n")
    code = "from pytorch_lightning.utilities.cli import LightningCLI\nLightningCLI()\n"
    assert {one.effect for one in program_of(tmp_path, code).evidence} == {"seed", "cudnn"}

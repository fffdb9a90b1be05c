"""What a call switches depends on the release of its library, where the project asks for one."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.engine import check

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


@pytest.mark.parametrize(
    ("required", "effects"),
    [
        ("", set()),
        ("pytorch-lightning==1.4.9\n", set()),
        ("pytorch-lightning==1.5.10\n", {"algorithms-off"}),
        ("pytorch-lightning>=1.6,<2\n", {"algorithms-off"}),
        ("pytorch-lightning>=1.6\n", set()),
        ("pytorch-lightning==2.0.0\n", set()),
    ],
)
def test_lightning_before_2_takes_the_switch_back_unasked(tmp_path: Path, required: str, effects: set[str]) -> None:
    (tmp_path / "requirements.txt").write_text(required)
    code = "from pytorch_lightning import Trainer\nTrainer(max_epochs=3)\n"
    assert {one.effect for one in program_of(tmp_path, code).evidence} == effects


def test_the_variable_is_not_missed_where_the_switch_is_taken_back(tmp_path: Path) -> None:
    code = """\
import torch
from pytorch_lightning import Trainer

torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
model = torch.nn.Linear(4, 4).to("cuda")
Trainer(max_epochs=3).fit(model)
"""
    (tmp_path / "train.py").write_text(code)
    for required, told in (("pytorch-lightning==1.5.10\n", False), ("pytorch-lightning==2.0.0\n", True)):
        (tmp_path / "requirements.txt").write_text(f"torch==1.12.1\n{required}")
        assert ("TRL303" in {one.code for one in check([tmp_path]).findings}) is told


def test_a_configuration_likewise(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("pytorch-lightning==1.4.9\n")
    (tmp_path / "config.yaml").write_text("seed_everything: 1\ntrainer:\n  deterministic: true\n")
    code = "from pytorch_lightning.utilities.cli import LightningCLI\nLightningCLI()\n"
    assert {one.effect for one in program_of(tmp_path, code).evidence} == {"seed", "cudnn"}

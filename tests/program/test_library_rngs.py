"""Draws from libraries' own generators: by version, and whether anything in a pipeline is random."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.knowledge.rng import RngEffect, rng_effects
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.workers.library_rngs import has_effect, library_draws
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch

PROGRAM = """\
import albumentations as A
import cv2
import dgl
import imgaug as ia
import imgaug.augmenters as iaa
from monai.transforms import RandFlip
from torch.utils.data import DataLoader, Dataset

once = {once}


class Data(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        {item}


loader = DataLoader(Data(), num_workers=2)
"""


def albumentations() -> RngEffect:
    return next(effect for effect in rng_effects("albumentations.HorizontalFlip.__call__") if effect.rng == "own")


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        ("", True), ("albumentations", True), ("albumentations==1.3.1", False), ("albumentations==1.4.21", True),
        ("albumentations>=0.5", True), ("albumentations>=1.3,<1.4", False), ("albumentations>=1.3,<2", True),
        ("albumentations~=1.3.0", False), ("albumentationsx>=2", False), ("not-albumentations==1.0", True),
        ("albumentations\nnumpy==1.21.6", False), ("albumentations>=1.0\nnumpy==1.21.6", False),
        ("albumentations\nnumpy>=1.21", True), ("albumentations\nnumpy<1.24", False),
        ("albumentations==2.0.8\nnumpy==1.21", True), ("albumentations\nscipy==1.7.3", False),
        ("albumentations\npython=3.7", False), ("albumentations\npython=3.8", False),
        ("albumentations\npython=3.10", True), ("albumentations\npython", True),
    ],
)  # fmt: skip
def test_a_range_counts_when_any_version_in_it_has_the_fault(requirement: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"torch\n{requirement}\n", encoding="utf-8")
    assert has_effect(tmp_path, albumentations()) is expected


@pytest.mark.parametrize(
    ("once", "item", "expected"),
    [
        ("iaa.Sequential([iaa.Fliplr(0.5)])", "return once(image=index)", True),
        ("iaa.Sequential([iaa.Resize(3)])", "return once(image=index)", False),
        ("iaa.Sequential([iaa.Resize(3)], random_order=True)", "return once(image=index)", True),
        ("iaa.Sequential([iaa.Fliplr(0.5).to_deterministic()])", "return once(image=index)", False),
        ("iaa.Sequential([iaa.Sequential([iaa.Resize(3)])])", "return once.augment_image(index)", False),
        ("iaa.Sequential([iaa.Sequential([iaa.Add(3)])])", "return once.augment_image(index)", True),
        ("iaa.Fliplr(0.5)", "ia.seed(index); return once(image=index)", False),
        ("A.Compose([A.HorizontalFlip(), A.Normalize()])", "return once(image=index)", True),
        ("None", "return dgl.sampling.sample_neighbors(graph, [index], 5)", True),
        ("None", "return dgl.sampling.sample_neighbors(graph, [index], fanout=size)", True),
        ("None", "return dgl.sampling.sample_neighbors(graph, [index], -1)", False),
        ("None", "return dgl.sampling.sample_neighbors(graph, [index], fanout=-1, edge_dir='out')", False),
        ("A.Compose([A.Resize(3, 3), A.Normalize()])", "return once(image=index)", False),
        ("None", "return A.HorizontalFlip()(image=index)", False),
        ("None", "return cv2.randn(index, 0, 1)", True),
        ("None", "cv2.setRNGSeed(index); return cv2.randn(index, 0, 1)", False),
        ("RandFlip()", "return once(index)", True),
    ],
)
def test_draws(once: str, item: str, expected: bool, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(once=once, item=item), encoding="utf-8")
    program = Program(tmp_path, [path], Settings(), TargetTorch())
    (only,) = program.loaders
    assert bool(library_draws(program, only)) is expected


def test_monais_loader_seeds_monais_transforms(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    text = PROGRAM.format(once="RandFlip()", item="return once(index)")
    path.write_text(text.replace("loader = ", "from monai.data import DataLoader\n\nloader = "), encoding="utf-8")
    program = Program(tmp_path, [path], Settings(), TargetTorch())
    (only,) = program.loaders
    assert library_draws(program, only) == []

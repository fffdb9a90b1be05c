"""The names that libraries have given up, and what a file that uses them says of the release that it runs with."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.knowledge.old_names import last_release_with
from torchrepro_lint.knowledge.tables import read_toml
from torchrepro_lint.knowledge.versions import release


def test_every_row_says_where_it_is_from() -> None:
    for row in read_toml("old_names.toml")["old"]:
        assert row["source"] and row["names"] and release(row["last"])
        assert row.get("module", row["package"]).partition(".")[0] == row["package"]
    for row in read_toml("old_names.toml")["needs"]:
        assert row["source"] and row["other"] and release(row["since"]) and release(row["last"])


@pytest.mark.parametrize(
    ("names", "last"),
    [
        (["albumentations.Compose", "albumentations.HorizontalFlip"], None),
        (["albumentations.Cutout"], "1.3.1"),
        (["albumentations.imgaug.transforms.IAAAffine"], "1.3.1"),
        (["albumentations.Cutout", "albumentations.augmentations.transforms.RandomRotate90"], "0.5.2"),
        (["albumentations.RandomRotate90", "albumentations.augmentations.geometric.RandomRotate90"], None),
    ],
)
def test_the_newest_release_that_has_all(names: list[str], last: str | None) -> None:
    assert last_release_with("albumentations", [(name, None) for name in names]) == last
    assert last_release_with("another", [(name, None) for name in names]) is None


@pytest.mark.parametrize(
    ("name", "keyword", "last"),
    [
        ("albumentations.RandomResizedCrop", "height", "1.4.24"),
        ("albumentations.RandomResizedCrop", "size", None),
        ("albumentations.RandomResizedCrop", None, None),
        ("albumentations.CenterCrop", "height", None),
        ("albumentations.Flip", "p", None),
        ("albumentations.Flip", None, "1.4.23"),
    ],
)
def test_the_newest_release_that_takes_a_keyword(name: str, keyword: str | None, last: str | None) -> None:
    assert last_release_with("albumentations", [(name, keyword)]) == last


PROGRAM = """
from torch.utils.data import DataLoader, Dataset
{imports}

class Images(Dataset):
    transform = {compose}([{draws}])

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.transform(image=open(index))["image"]

loader = DataLoader(Images(), num_workers=2)
"""


@pytest.mark.parametrize(
    ("imports", "compose", "draws", "found"),
    [
        ("import albumentations as A", "A.Compose", "A.HorizontalFlip()", True),
        ("import albumentations as A", "A.Compose", "A.HorizontalFlip(), A.IAAAffine()", False),
        ("from albumentations import Compose, Flip, RandomContrast", "Compose", "Flip()", False),
        ("import albumentations as A\nfrom albumentations.pytorch import ToTensor", "A.Compose", "A.Flip()", False),
        ("import albumentations as A", "A.Compose", "A.Flip()", False),
        ("import albumentations as A", "A.Compose", "A.RandomResizedCrop(height=8, width=8)", False),
        ("import albumentations as A", "A.Compose", "A.RandomResizedCrop(size=(8, 8))", True),
        (
            "from albumentations.augmentations import transforms\nfrom albumentations import Compose",
            "Compose", "transforms.RandomRotate90()", False,
        ),
    ],
)  # fmt: skip
def test_a_file_that_only_an_older_release_runs(
    tmp_path: Path, imports: str, compose: str, draws: str, *, found: bool
) -> None:
    text = PROGRAM.format(imports=imports, compose=compose, draws=draws)
    (tmp_path / "train.py").write_text(text)
    findings = check([tmp_path], {"profile": "strict"}).findings
    assert any(one.code == "TRL109" for one in findings) is found


def test_a_version_that_is_asked_for_decides(tmp_path: Path) -> None:
    text = PROGRAM.format(imports="import albumentations as A", compose="A.Compose", draws="A.Flip(), A.Cutout()")
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "requirements.txt").write_text("albumentations==2.0.8\n")
    assert any(one.code == "TRL109" for one in check([tmp_path]).findings)

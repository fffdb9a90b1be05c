"""One name for one thing."""

from __future__ import annotations

import pytest

from torchrepro_lint.knowledge import callables, ops, rng
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import read_toml


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ("torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
        ("torch.utils.data.dataset.Subset", "torch.utils.data.Subset"),
        ("torch.utils.data.sampler.WeightedRandomSampler", "torch.utils.data.WeightedRandomSampler"),
        ("torch.utils.data.DistributedSampler", "torch.utils.data.distributed.DistributedSampler"),
        ("torch.utils.data.distributed.DistributedSampler", "torch.utils.data.distributed.DistributedSampler"),
        ("numpy.random.mtrand.normal", "numpy.random.normal"),
        ("numpy.random.mtrand.RandomState.rand", "numpy.random.RandomState.rand"),
        ("numpy.random._generator.Generator", "numpy.random.Generator"),
        ("torch._C.Generator", "torch.Generator"),
        ("torch.random.manual_seed", "torch.manual_seed"),
        ("pytorch_lightning.seed_everything", "lightning.pytorch.seed_everything"),
        ("lightning.seed_everything", "lightning.pytorch.seed_everything"),
        ("lightning.pytorch.utilities.seed.seed_everything", "lightning.pytorch.seed_everything"),
        ("pytorch_lightning.Trainer", "lightning.pytorch.Trainer"),
        ("torch.nn.functional.interpolate", "torch.nn.functional.interpolate"),
        ("torch.nn.modules.conv.Conv2d", "torch.nn.Conv2d"),
        ("torchvision.transforms.transforms.Compose", "torchvision.transforms.Compose"),
        ("torchvision.transforms.v2.Compose", "torchvision.transforms.v2.Compose"),
        ("torchvision.transforms.v2.functional.resize", "torchvision.transforms.v2.functional.resize"),
        ("torchvision.datasets.cifar.CIFAR10", "torchvision.datasets.CIFAR10"),
        ("albumentations.augmentations.geometric.transforms.Affine", "albumentations.Affine"),
        ("imgaug.augmenters.meta.Sequential.augment_image", "imgaug.augmenters.Sequential.augment_image"),
        ("my.own.module.DataLoader", "my.own.module.DataLoader"),
    ],
)
def test_canonical(private: str, public: str) -> None:
    assert canonical(private) == public
    assert canonical(public) == public


def test_no_rule_rewrites_a_name_into_itself_or_into_one_that_another_rule_rewrites() -> None:
    rules = read_toml("names.toml")
    targets = {*rules["exact"].values(), *rules["prefix"].values(), *rules["flatten"].values()}
    assert not [target for target in targets if canonical(target) != target]
    assert not [name for name, target in rules["exact"].items() if name == target]


def test_the_tables_speak_of_names_as_they_are_folded() -> None:
    names = {*rng._index().names(), *callables._index().names(), *ops._index().names()}
    assert not [name for name in names if canonical(name) != name]

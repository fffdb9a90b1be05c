"""Which call touches which generator."""

from __future__ import annotations

import inspect
import random
from collections import Counter

import pytest

from torchrepro_lint.knowledge import rng
from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.knowledge.rng import RngEffect, rng_effects
from torchrepro_lint.knowledge.tables import expand_names, read_table


def only(qualname: str) -> RngEffect:
    effects = rng_effects(qualname)
    assert len(effects) == 1, effects
    return effects[0]


@pytest.mark.parametrize(
    ("qualname", "generator", "kind", "when"),
    [
        ("numpy.random.randint", "numpy", "draw", []),
        ("numpy.random.mtrand.shuffle", "numpy", "draw", []),
        ("numpy.random.seed", "numpy", "seed", []),
        ("numpy.random.set_state", "numpy", "restore-state", []),
        ("numpy.random.default_rng", "receiver", "make", []),
        ("numpy.random.Generator.integers", "receiver", "draw", []),
        ("numpy.random.RandomState.randn", "receiver", "draw", []),
        ("random.shuffle", "python", "draw", []),
        ("random.Random.sample", "receiver", "draw", []),
        ("random.SystemRandom.random", "entropy", "draw", []),
        ("os.urandom", "entropy", "draw", []),
        ("uuid.uuid4", "entropy", "draw", []),
        ("builtins.hash", "hash", "draw", []),
        ("torch.rand", "torch", "draw", ["generator missing-or-none"]),
        ("torch.Tensor.uniform_", "torch", "draw", ["generator missing-or-none"]),
        ("torch.nn.init.kaiming_normal_", "torch", "draw", ["generator@4 missing-or-none"]),
        ("torch.nn.functional.dropout", "torch", "draw", ["training@2 is-true-or-missing"]),
        ("torch.utils.data.random_split", "torch", "draw", ["generator@2 missing-or-none"]),
        ("torch.distributions.Normal.rsample", "torch", "draw", []),
        ("torch.Generator.manual_seed", "receiver", "seed", []),
        ("scipy.stats.truncnorm.rvs", "numpy", "draw", ["random_state missing-or-none"]),
        ("scipy.stats.rv_frozen.rvs", "numpy", "draw", ["random_state@1 missing-or-none"]),
        (
            "sklearn.model_selection.train_test_split",
            "numpy",
            "draw",
            ["random_state missing-or-none", "shuffle is-true-or-missing"],
        ),
        ("sklearn.utils.resample", "numpy", "draw", ["random_state missing-or-none"]),
        ("pandas.core.frame.DataFrame.sample", "numpy", "draw", ["random_state@4 missing-or-none"]),
        ("cv2.randu", "opencv", "draw", []),
        ("imgaug.augmenters.Fliplr.augment_image", "imgaug", "draw", []),
        ("imgaug.augmenters.Sequential.__call__", "imgaug", "draw", []),
        ("monai.transforms.RandFlipd.__call__", "own", "draw", []),
        ("torchvision.transforms.v2.RandomCrop.forward", "torch", "draw", []),
        ("torchvision.transforms.RandomChoice.__call__", "python", "draw", []),
        ("elasticdeform.deform_random_grid", "numpy", "draw", []),
        ("kornia.augmentation.RandomAffine.forward", "torch", "draw", []),
        ("networkx.watts_strogatz_graph", "python", "draw", ["seed@3 missing-or-none"]),
        ("faker.Faker.name", "faker", "draw", []),
        ("audiomentations.AddBackgroundNoise.__call__", "python", "draw", []),
        ("timm.data.RandomResizedCropAndInterpolation.__call__", "python", "draw", []),
        ("ultralytics.data.augment.RandomHSV.__call__", "numpy", "draw", []),
        (
            "datasets.dataset_dict.DatasetDict.shuffle",
            "numpy",
            "draw",
            ["seeds@0 missing-or-none", "seed@1 missing-or-none", "generators@2 missing-or-none"],
        ),
        ("dgl.transforms.svd_pe", "numpy", "draw", ["random_flip@3 is-true-or-missing"]),
        ("dgl.data.utils.mask_nodes_by_property", "fresh", "draw", ["random_seed@2 missing-or-none"]),
        ("stable_baselines3.common.noise.NormalActionNoise.__call__", "numpy", "draw", []),
    ],
)
def test_effects(qualname: str, generator: str, kind: str, when: list[str]) -> None:
    effect = only(qualname)
    assert (effect.rng, effect.kind) == (generator, kind)
    assert [str(condition) for condition in effect.when] == when


@pytest.mark.parametrize(
    "qualname",
    [
        "numpy.zeros",
        "torch.zeros",
        "torchvision.transforms.ToTensor.__call__",
        "albumentations.Compose.__call__",
        "albumentations.Normalize.__call__",
        "albumentations.pytorch.ToTensorV2.__call__",
        "kornia.augmentation.Normalize.__call__",
        "random.Random.mystery",
        "my.random.randint",
    ],
)
def test_what_draws_nothing(qualname: str) -> None:
    assert rng_effects(qualname) == ()


def at(qualname: str, package: str, version: str) -> set[str]:
    return {e.rng for e in rng_effects(qualname) if e.package == package and e.kind == "draw" and e.holds_at(version)}


@pytest.mark.parametrize(
    ("qualname", "package", "version", "drawn"),
    [
        ("albumentations.HorizontalFlip.__call__", "albumentations", "1.3.1", {"python"}),
        ("albumentations.HorizontalFlip.__call__", "albumentations", "1.4.20", {"python"}),
        ("albumentations.HorizontalFlip.__call__", "albumentations", "1.4.21", {"own"}),
        ("albumentations.GlassBlur.__call__", "albumentations", "1.0.3", {"python", "numpy"}),
        ("albumentations.GlassBlur.__call__", "albumentations", "1.3.1", {"python"}),
        ("albumentations.GlassBlur.__call__", "albumentations", "2.0.8", {"own"}),
        ("skimage.util.random_noise", "scikit-image", "0.18.3", {"numpy"}),
        ("skimage.util.random_noise", "scikit-image", "0.26.0", {"fresh"}),
        ("webdataset.WebDataset", "webdataset", "0.2.100", {"python", "entropy"}),
        ("webdataset.filters.shuffle", "webdataset", "0.2.86", {"entropy"}),
        ("datasets.iterable_dataset.IterableDataset.shuffle", "datasets", "5.2.0", {"fresh"}),
        ("torchrl.data.replay_buffers.PrioritizedReplayBuffer.sample", "torchrl", "0.14.1", {"numpy"}),
        ("monai.transforms.SignalRandShift.__call__", "monai", "1.6.1", {"own", "torch"}),
        ("monai.transforms.SignalRandAddSinePartial.__call__", "monai", "1.5.0", {"own", "numpy"}),
        ("monai.transforms.SignalRandAddSinePartial.__call__", "monai", "1.6.1", {"own"}),
        ("audiomentations.AddColorNoise.__call__", "audiomentations", "0.43.1", {"python", "numpy"}),
        (
            "batchgenerators.transforms.noise_transforms.RicianNoiseTransform.__call__",
            "batchgenerators",
            "0.25.5",
            {"python", "numpy"},
        ),
        ("timm.data.RandAugment.__call__", "timm", "1.0.31", {"python", "numpy"}),
        ("ultralytics.data.augment.MixUp.__call__", "ultralytics", "8.4.190", {"python", "numpy"}),
        ("webdataset.shardlists.ResampledShards", "webdataset", "0.2.86", {"entropy"}),
        ("dgl.data.adapter.AsLinkPredDataset", "dgl", "2.1.0", {"numpy"}),
        ("torchvision.transforms.RandomCrop.__call__", "torchvision", "0.7.0", {"python"}),
        ("torchvision.transforms.RandomCrop.__call__", "torchvision", "0.8.1", {"torch"}),
        ("torchvision.transforms.ColorJitter.__call__", "torchvision", "0.8.1", {"python"}),
        ("torchvision.transforms.ColorJitter.__call__", "torchvision", "0.9.1", {"torch"}),
    ],
)
def test_versions(qualname: str, package: str, version: str, drawn: set[str]) -> None:
    assert at(qualname, package, version) == drawn


def test_what_a_call_makes() -> None:
    effect = only("numpy.random.default_rng")
    assert effect.makes == "numpy.random.Generator"
    assert effect.seed_parameter is not None
    assert (effect.seed_parameter.name, effect.seed_parameter.position) == ("seed", 0)
    assert only("torch.Generator").seed_parameter is None
    assert only("random.Random").makes == "random.Random"


def test_the_generator_that_the_caller_brings() -> None:
    parameter = only("torch.utils.data.RandomSampler").generator_parameter
    assert parameter is not None
    assert (parameter.name, parameter.position) == ("generator", 3)
    assert only("torch.utils.data.RandomSampler").moment == "use"


def test_manual_seed_seeds_the_devices_too() -> None:
    assert [effect.rng for effect in rng_effects("torch.manual_seed")] == ["torch", "torch-cuda"]


def rows() -> list[dict[str, str]]:
    return [row for file in ("rng.tsv", "rng_libraries.tsv") for row in read_table(file, rng._COLUMNS)]


def test_every_row_has_a_source_a_package_and_a_known_generator() -> None:
    for row in rows():
        assert row["source"] and row["package"], row
        assert row["rng"] in generators(), row


def test_no_row_says_twice_the_same() -> None:
    keys = Counter(
        (name, row["rng"], row["kind"], row["package"], row["versions"], row["when"])
        for row in rows()
        for name in expand_names(row["names"])
    )
    assert not [key for key, count in keys.items() if count > 1]


def test_every_generator_is_used_by_a_row() -> None:
    assert {row["rng"] for row in rows()} == set(generators())


def test_a_make_row_says_what_it_makes() -> None:
    for row in rows():
        assert (row["kind"] == "make") == bool(row["makes"]), row


def test_all_of_numpys_and_pythons_functions_are_there() -> None:
    numpy = pytest.importorskip("numpy")
    quiet = {"seed", "test", "mtrand", "bit_generator"}
    for name in dir(numpy.random):
        if name.islower() and not name.startswith("_") and name not in quiet:
            assert rng_effects(f"numpy.random.{name}"), name
    for kind in ("Generator", "RandomState"):
        for name in dir(getattr(numpy.random, kind)):
            if not name.startswith("_") and name != "bit_generator":
                assert rng_effects(f"numpy.random.{kind}.{name}"), name
    for name in random.__all__:
        assert rng_effects(f"random.{name}"), name


def test_all_of_torchs_samplers_are_there() -> None:
    torch = pytest.importorskip("torch")
    for name in dir(torch.nn.init):
        if name.endswith(("uniform_", "normal_", "orthogonal_")) and not name.startswith("_"):
            assert rng_effects(f"torch.nn.init.{name}"), name
    for name in dir(torch.Generator):
        if not name.startswith("_") and name != "device":
            assert rng_effects(f"torch.Generator.{name}"), name
    drawing = ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson", "rand_like")
    for name in drawing:
        assert hasattr(torch, name)
        assert rng_effects(f"torch.{name}")


def test_the_positions_are_torchs() -> None:
    torch = pytest.importorskip("torch")
    checked = 0
    for name in rng._index().names():
        thing: object = torch
        for part in name.split(".")[1:] if name.startswith("torch.") and "*" not in name else ():
            thing = getattr(thing, part, None)
        if thing is torch or not inspect.isroutine(thing) or not inspect.getmodule(thing):
            continue
        try:
            parameters = list(inspect.signature(thing).parameters)
        except ValueError:  # a builtin without a signature
            continue
        for effect in rng_effects(name) if "args" not in parameters else ():
            for condition in effect.when:
                if condition.position is not None:
                    checked += 1
                    assert parameters[condition.position] == condition.parameter, name
    assert checked > 15

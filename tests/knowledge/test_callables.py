"""What libraries run of the program's code, and what their calls give."""

from __future__ import annotations

import inspect
from collections import Counter

import pytest

from torchrepro_lint.knowledge import callables
from torchrepro_lint.knowledge.callables import ExternalCallable, external_callable
from torchrepro_lint.knowledge.tables import expand_names, read_table


def known(qualname: str) -> ExternalCallable:
    found = external_callable(qualname)
    assert found is not None, qualname
    return found


@pytest.mark.parametrize(
    ("qualname", "kind", "runs"),
    [
        ("torch.utils.data.Subset", "dataset", [("dataset", 0, "dataset", "item")]),
        ("torch.utils.data.ConcatDataset", "dataset", [("datasets", 0, "datasets", "item")]),
        ("torch.utils.data.ChainDataset", "iterable-dataset", [("datasets", 0, "datasets", "item")]),
        ("torch.utils.data.TensorDataset", "dataset", []),
        ("torch.utils.data.random_split", "function", [("dataset", 0, "dataset", "item")]),
        ("torch.utils.data.BatchSampler", "sampler", [("sampler", 0, "sampler", "now")]),
        (
            "torchvision.datasets.cifar.CIFAR10",
            "dataset",
            [("transform", 2, "callable", "item"), ("target_transform", 3, "callable", "item")],
        ),
        (
            "torchvision.datasets.ImageFolder",
            "dataset",
            [
                ("transform", 1, "callable", "item"),
                ("target_transform", 2, "callable", "item"),
                ("loader", 3, "callable", "item"),
                ("is_valid_file", 4, "callable", "now"),
            ],
        ),
        ("torchvision.transforms.Compose", "transform", [("transforms", 0, "callables", "call")]),
        ("torchvision.transforms.v2.RandomApply", "transform", [("transforms", 0, "callables", "call")]),
        ("torchvision.transforms.Lambda", "transform", [("lambd", 0, "callable", "call")]),
        ("albumentations.core.composition.Compose", "transform", [("transforms", 0, "callables", "call")]),
        ("monai.transforms.Compose", "transform", [("transforms", 0, "callables", "call")]),
        (
            "torch_geometric.data.InMemoryDataset",
            "dataset",
            [
                ("self", None, "getter", "item"),
                ("transform", 1, "callable", "item"),
                ("pre_transform", 2, "callable", "now"),
                ("pre_filter", 3, "callable", "now"),
            ],
        ),
        ("datasets.Dataset.map", "function", [("function", 0, "callable", "now")]),
        (
            "datasets.Dataset.with_transform",
            "dataset",
            [("self", None, "dataset", "item"), ("transform", 0, "callable", "item")],
        ),
        (
            "webdataset.WebDataset.map",
            "iterable-dataset",
            [("self", None, "dataset", "item"), ("f", 0, "callable", "item")],
        ),
    ],
)
def test_runs(qualname: str, kind: str, runs: list[tuple[str, int | None, str, str]]) -> None:
    found = known(qualname)
    assert found.kind == kind
    assert [(run.parameter, run.position, run.protocol, run.moment) for run in found.runs] == runs


def test_what_is_a_dataset() -> None:
    assert known("torch.utils.data.Subset").is_dataset
    assert not known("torchvision.transforms.Compose").is_dataset


@pytest.mark.parametrize(
    ("qualname", "returns"),
    [
        ("torch.utils.data.random_split", "sequence-of:torch.utils.data.Subset"),
        ("tqdm.tqdm", "param:0"),
        ("tqdm.auto.tqdm", "param:0"),
        ("accelerate.Accelerator.prepare", "params"),
        ("numpy.random.default_rng", "numpy.random.Generator"),
        ("torch.Generator.manual_seed", "receiver"),
        ("torch.manual_seed", "torch.default_generator"),
        ("scipy.stats.norm", "scipy.stats.rv_frozen"),
    ],
)
def test_returns(qualname: str, returns: str) -> None:
    assert known(qualname).returns == returns


def test_unknown() -> None:
    assert external_callable("my.module.Compose") is None


def test_every_row_has_a_source_and_no_name_stands_twice() -> None:
    rows = list(read_table("callables.tsv", callables._COLUMNS))
    assert all(row["source"] for row in rows)
    names = Counter(name for row in rows for name in expand_names(row["names"]))
    assert not [name for name, count in names.items() if count > 1]


def test_every_parameter_that_runs_is_one_of_the_callables() -> None:
    for row in read_table("callables.tsv", callables._COLUMNS):
        found = callables._callable(row)
        for run in found.runs:
            free = run.parameter in ("*", "**", "self") or run.parameter in found.keyword_only
            assert free or run.position is not None or row["names"].startswith("tonic."), (row["names"], run)


def test_the_parameters_are_torchs() -> None:
    torch_data = pytest.importorskip("torch.utils.data")
    for name in ("Subset", "ConcatDataset", "ChainDataset", "RandomSampler", "WeightedRandomSampler", "random_split"):
        parameters = [
            parameter.name
            for parameter in inspect.signature(getattr(torch_data, name)).parameters.values()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        assert list(known(f"torch.utils.data.{name}").parameters) == parameters

"""Loaders of torch and of libraries, and who seeds their workers."""

from __future__ import annotations

import inspect

import pytest

from torchrepro_lint.knowledge import loaders
from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.knowledge.loaders import ROLES, LoaderClass, init_function, loader_class, manager, managers
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import read_toml


def known(qualname: str) -> LoaderClass:
    found = loader_class(qualname)
    assert found is not None, qualname
    return found


def test_torchs_own() -> None:
    loader = known("torch.utils.data.dataloader.DataLoader")
    assert loader.qualname == "torch.utils.data.DataLoader"
    positions = {"dataset": 0, "num_workers": 5, "worker_init_fn": 10, "generator": 12}
    assert {role: loader.position(role) for role in ROLES if role in positions} == positions
    assert loader.position("persistent_workers") is None
    assert loader.keywords["persistent_workers"] == "persistent_workers"
    assert loader.defaults == {"batch_size": 1, "shuffle": False, "num_workers": 0, "persistent_workers": False}
    assert (loader.worker_seeding, loader.order, loader.kind) == ("torch", "torch", "class")


def test_torchs_parameters_are_torchs() -> None:
    torch_data = pytest.importorskip("torch.utils.data")
    parameters = inspect.signature(torch_data.DataLoader).parameters.values()
    positional = tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)
    assert known("torch.utils.data.DataLoader").parameters == positional


def test_a_loader_that_forwards_takes_all_roles_that_it_does_not_set_itself() -> None:
    loader = known("torch_geometric.loader.DataLoader")
    assert loader.takes_generator
    assert loader.takes_worker_init_fn
    assert "collate_fn" not in loader.keywords
    assert loader.position("generator") is None
    assert loader.position("shuffle") == 2


def test_a_factory_with_its_own_seeding() -> None:
    loader = known("timm.data.create_loader")
    assert loader.kind == "factory"
    assert loader.worker_seeding == "numpy"
    assert loader.defaults["num_workers"] == 1
    assert not loader.takes_generator
    assert [condition.holds(False) for condition in loader.seeding_when] == [True]
    assert [condition.holds(True, "part") for condition in loader.seeding_when] == [False]


def test_a_loader_may_call_a_role_otherwise() -> None:
    assert known("fastai.data.load.DataLoader").keywords["worker_init_fn"] == "wif"
    assert known("fastai.vision.all.DataLoader").order == "python"
    assert known("mmdet.datasets.build_dataloader").keywords["num_workers"] == "workers_per_gpu"


def test_monai_seeds_what_the_dataset_holds() -> None:
    loader = known("monai.data.DataLoader")
    assert loader.worker_seeding == "dataset"


def test_what_is_no_loader() -> None:
    assert loader_class("torch.utils.data.Dataset") is None
    assert manager("torch.manual_seed") is None


def test_managers() -> None:
    lightning = manager("pytorch_lightning.seed_everything")
    assert lightning is not None
    assert lightning.reaches == "program"
    assert "numpy" in lightning.workers
    assert [condition.holds(False) for condition in lightning.when] == [False]
    assert not lightning.holds_at("1.2.10")
    trainer = manager("transformers.trainer.Trainer")
    assert trainer is not None and trainer.order


def test_init_functions() -> None:
    found = init_function("monai.data.utils.worker_init_fn")
    assert found is not None and found.seeds == {"own"}
    mmengine = init_function("mmengine.dataset.worker_init_fn")
    assert mmengine is not None and mmengine.seeds == {"python", "numpy", "torch"}
    assert init_function("my.worker_init_fn") is None


def test_rows_are_whole() -> None:
    data = read_toml("loaders.toml")
    for row in (*data["loader"], *data["manager"], *data["init_function"]):
        assert row["source"] and row["package"], row
        for name in row["names"]:
            assert canonical(name) == name
    for loader in loaders._loaders().values():
        assert len(set(loader.parameters)) == len(loader.parameters)
    for names in data["manager"]:
        for name in names["names"]:
            for row in managers(name):
                assert row.workers <= set(generators())

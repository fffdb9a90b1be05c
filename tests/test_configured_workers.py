"""Loaders whose number of workers is an argument of a class that only configurations make."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from torchrepro_lint.engine import check

HEAD = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from pytorch_lightning import LightningDataModule


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + np.random.randn()


"""
MODULE = (
    HEAD
    + """\
class Digits(LightningDataModule):
    def __init__(self, {parameters}):
        super().__init__()
        {kept}

    def train_dataloader(self):
        return DataLoader(Noisy(), num_workers={workers})
"""
)
MAIN = """\
import hydra
from hydra.utils import instantiate
from pytorch_lightning import Trainer, seed_everything


@hydra.main(config_path="configs", config_name="config")
def main(config):
    seed_everything(config.seed)
    Trainer().fit(instantiate(config.model), datamodule=instantiate(config.data))


if __name__ == "__main__":
    main()
"""
FORMS = {
    "its own parameter": ("num_workers", "self.num_workers = num_workers", "self.num_workers"),
    "with a default": ("num_workers=4", "self.workers = num_workers", "self.workers"),
    "the keywords": ("**kwargs", 'self.num_workers = kwargs["num_workers"]', "self.num_workers"),
    "saved": ("num_workers=4", "self.save_hyperparameters(logger=False)", "self.hparams.num_workers"),
}
BELOW = {
    "a mapping": ("loading", "self.loading = loading", "self.loading.num_workers"),
    "of the keywords": ("**kwargs", 'self.loading = kwargs["loading"]', 'self.loading["num_workers"]'),
}
TARGET = "_target_: data.digits.Digits\n"


def found(write, form: tuple[str, str, str], files: Mapping[str, str]) -> set[str]:
    parameters, kept, workers = form
    module = MODULE.format(parameters=parameters, kept=kept, workers=workers)
    root = write(
        {
            "torchrepro-lint.toml": "",
            "requirements.txt": "torch==1.8\nhydra-core\n",
            "data/__init__.py": "",
            "data/digits.py": module,
            "main.py": MAIN,
            **files,
        }
    )
    return {one.code for one in check([root], {"profile": "strict"}).findings} & {"TRL101"}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    "files",
    [
        {"configs/data/digits.yaml": TARGET + "num_workers: 0\n"},
        {"configs/config.yaml": "data:\n  _target_: data.digits.Digits\n  num_workers: 0\n"},
        {"config.yaml": "data:\n  class_path: data.digits.Digits\n  init_args:\n    num_workers: 0\n"},
        {
            "configs/data/digits.yaml": TARGET + "num_workers: 0\n",
            "configs/data/others.yaml": "_target_: data.others.Others\nnum_workers: 8\n",
            "configs/experiment/one.yaml": "data:\n  num_workers: 0\n",
            "run.sh": "python main.py data.num_workers=0\n",
            "tests/run.sh": "python main.py data.num_workers=4\n",
        },
    ],
    ids=["a file of its own", "in another", "of a command line", "beside others"],
)
def test_no_configuration_asks_for_workers(write, form: tuple[str, str, str], files: Mapping[str, str]) -> None:
    assert found(write, form, files) == set()


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    "files",
    [
        {},
        {"configs/data/digits.yaml": TARGET + "num_workers: 4\n"},
        {"configs/data/digits.yaml": TARGET + "num_workers: ${workers}\n"},
        {"configs/data/digits.yaml": TARGET + "batch_size: 4\n"},
        {
            "configs/data/digits.yaml": TARGET + "num_workers: 0\n",
            "configs/data/more.yaml": TARGET + "num_workers: 4\n",
        },
        {
            "configs/data/digits.yaml": TARGET + "num_workers: 0\n",
            "configs/experiment/one.yaml": "data:\n  num_workers: 4\n",
        },
        {"configs/data/digits.yaml": TARGET + "num_workers: 0\n", "run.sh": "python main.py data.num_workers=4\n"},
        {"configs/data/digits.yaml": TARGET + "num_workers: 0\n", "run.sh": "python main.py --data.num_workers $N\n"},
        {"configs/data/digits.yaml": TARGET + "num_workers: 0\n", "main.py": MAIN.replace("(config.data)", "(config.data, num_workers=4)")},
        {
            "configs/data/digits.yaml": TARGET + "num_workers: 0\n",
            "main.py": MAIN.replace("    seed_", "    config.data.num_workers = config.workers\n    seed_"),
        },
        {
            "configs/data/digits.yaml": TARGET + "num_workers: 0\n",
            "other.py": "from data.digits import Digits\n\nfor batch in Digits(num_workers=4).train_dataloader():\n    print(batch)\n",
        },
        {"configs/data/digits.yaml": "_target_: data.others.Digits2\nnum_workers: 0\n"},
    ],
    ids=[
        "none", "some", "interpolated", "left out", "in another file", "in an experiment", "by a command", "by an option", "by code",
        "set by code", "made by code", "of another class",
    ],
)  # fmt: skip
def test_workers_may_be_asked_for(write, form: tuple[str, str, str], files: Mapping[str, str]) -> None:
    assert found(write, form, files) == {"TRL101"}


@pytest.mark.parametrize("form", BELOW.values(), ids=BELOW)
@pytest.mark.parametrize(("number", "expected"), [("0", set()), ("2", {"TRL101"}), (None, {"TRL101"})])
def test_a_number_in_a_mapping(write, form: tuple[str, str, str], number: str | None, expected: set[str]) -> None:
    text = TARGET + "loading:\n  batch_size: 2\n" + (f"  num_workers: {number}\n" if number is not None else "")
    assert found(write, form, {"configs/data/digits.yaml": text}) == expected


@pytest.mark.parametrize(("default", "expected"), [("0", set()), ("2", {"TRL101"})])
def test_what_configurations_leave_out_is_the_default(write, default: str, expected: set[str]) -> None:
    form = (f"num_workers={default}", "self.num_workers = num_workers", "self.num_workers")
    assert found(write, form, {"configs/data/digits.yaml": TARGET + "batch_size: 2\n"}) == expected


def test_what_the_constructor_changes_is_not_known(write) -> None:
    form = ("num_workers", "num_workers = num_workers or 4; self.num_workers = num_workers", "self.num_workers")
    assert found(write, form, {"configs/data/digits.yaml": TARGET + "num_workers: 0\n"}) == {"TRL101"}

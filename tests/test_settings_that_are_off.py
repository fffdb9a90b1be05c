"""What is made only where a setting is on that all code and all configurations have as False is not made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from torchrepro_lint.engine import check

PARTS = """\
import random
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

class Images(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return index + random.random()

def seed_worker(worker_id):
    random.seed(worker_id)

def get_loader(cfg):
    if cfg.use_ddp:
        sampler = DistributedSampler(Images())
    else:
        sampler = None
    return DataLoader(
        Images(), sampler=sampler, num_workers=cfg.workers, worker_init_fn=seed_worker if cfg.seed_workers else None
    )
"""
MAIN = """\
import settings
from parts import get_loader

config = settings.Settings.fromfile("config.py")
config.use_ddp = False
config.seed_workers = False
for epoch in range(3):
    for batch in get_loader(config):
        print(batch)
"""
SETTINGS = """\
from importlib import import_module
from addict import Dict

class Settings:
    @staticmethod
    def fromfile(name):
        return Settings(vars(import_module(name)))
    def __init__(self, table):
        super().__setattr__("table", Dict(table))
    def __getattr__(self, name):
        return getattr(self.table, name)
    def __setattr__(self, name, value):
        setattr(self.table, name, value)
"""
OFF: Mapping[str, Mapping[str, str]] = {
    "in the program": {"main.py": MAIN},
    "in both programs": {"main.py": MAIN, "test.py": MAIN},
    "in a configuration": {
        "main.py": MAIN.replace("config.use_ddp = False\nconfig.seed_workers = False\n", ""),
        "config.py": "use_ddp = False\nseed_workers = False\nworkers = 2\n",
    },
}
ON: Mapping[str, Mapping[str, str]] = {
    "on in the other program": {"main.py": MAIN, "many.py": MAIN.replace("False", "True")},
    "from the command line": {"main.py": "import sys\n" + MAIN.replace("False", "'--on' in sys.argv")},
    "an option of the command line": {
        "main.py": MAIN,
        "options.py": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--use-ddp')\n"
        "p.add_argument('--seed-workers')\n",
    },
    "on in a configuration": {"main.py": MAIN, "config.py": "use_ddp = True\nseed_workers = True\nworkers = 2\n"},
    "in a YAML file": {"main.py": MAIN, "config.yaml": "use_ddp: true\nseed_workers: true\n"},
}


def reported(folder: Path, files: Mapping[str, str], rule: str) -> bool:
    texts = {**files, "parts.py": PARTS, "settings.py": SETTINGS}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return any(one.code == rule for one in check([folder]).findings)


@pytest.mark.parametrize("rule", ["TRL104", "TRL206"])
@pytest.mark.parametrize("files", OFF.values(), ids=OFF)
def test_nothing_is_said_of_what_is_off(tmp_path: Path, files: Mapping[str, str], rule: str) -> None:
    assert not reported(tmp_path, files, rule)


@pytest.mark.parametrize("rule", ["TRL104", "TRL206"])
@pytest.mark.parametrize("files", ON.values(), ids=ON)
def test_what_may_be_on_is_reported(tmp_path: Path, files: Mapping[str, str], rule: str) -> None:
    assert reported(tmp_path, files, rule)

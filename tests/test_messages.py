"""What the messages of findings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.engine import check

_PROGRAM = """\
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, random_split


def loader(data, seed=None, generator=None):
    return {call}


print(loader(range(10)))
"""


@pytest.mark.parametrize(
    ("call", "beginning"),
    [
        ("DataLoader(data, shuffle=True)", "no `generator`:"),
        ("DataLoader(data, shuffle=True, generator=None)", "`generator` is None:"),
        ("DataLoader(data, shuffle=True, generator=generator)", "`generator` may be None:"),
        ("random_split(data, [8, 2])[0]", "random_split without `generator`:"),
        ("random_split(data, [8, 2], generator)[0]", "random_split whose `generator` may be None:"),
        ("train_test_split(data)[0]", "train_test_split without `random_state`:"),
        ("train_test_split(data, random_state=seed)[0]", "train_test_split whose `random_state` may be None:"),
    ],
)
def test_an_argument_that_is_written_is_not_said_to_be_missing(call: str, beginning: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_PROGRAM.format(call=call), encoding="utf-8")
    (finding,) = check([tmp_path], {"select": ("TRL2",)}).findings
    assert finding.message.startswith(beginning)


_SEEDING = "import torch\n\n\ndef seed_all(seed):\n    torch.manual_seed(seed)\n"
_SPLIT = """\
import torch.distributed as dist
from torch.utils.data import random_split

from seeding import seed_all


def main(seed):
    seed_all({seed})
    train, val = random_split(range(10), [8, 2])
    print(list(train), list(val))


if __name__ == "__main__":
    main(1)
"""


def test_a_split_leaks_where_its_own_program_seeds_by_rank(tmp_path: Path) -> None:
    (tmp_path / "seeding.py").write_text(_SEEDING, encoding="utf-8")
    (tmp_path / "ranks.py").write_text(_SPLIT.format(seed="seed + dist.get_rank()"), encoding="utf-8")
    (tmp_path / "single.py").write_text(_SPLIT.format(seed="seed"), encoding="utf-8")
    (leak,) = check([tmp_path / "ranks.py"], {"select": ("TRL202",)}).findings
    assert "each rank has a different split" in leak.message
    assert [(step.location.path.name, step.location.start.row, step.note) for step in leak.trace] == [
        ("seeding.py", 5, "each rank gets a seed of its own here"),
        ("ranks.py", 8, "the rank is part of the seed"),
    ]
    assert not check([tmp_path / "single.py"], {"select": ("TRL202",)}).findings


_TWO_RESIZINGS = """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.backends.cudnn.deterministic = True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3)

    def forward(self, images):
        features = F.interpolate(self.conv(images), scale_factor=2, mode="bilinear")
        return F.interpolate(features, scale_factor=2, mode="bicubic")


model = Net().cuda()
model(torch.rand(2, 3, 8, 8, device="cuda")).sum().backward()
"""


def test_which_other_call_keeps_an_operation_from_its_fix(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_TWO_RESIZINGS, encoding="utf-8")
    bilinear, bicubic = check([tmp_path], {"select": ("TRL402",), "profile": "strict"}).findings
    assert bilinear.fix_declined is not None and "another call" in bilinear.fix_declined
    step = bilinear.trace[-1]
    assert "would raise" in step.note and step.location.start.row == bicubic.location.start.row
    assert bicubic.fix_declined is not None and "make it raise" in bicubic.fix_declined


_WORDS = """\
import random

import torch

torch.manual_seed(0)
random.seed(0)
words = list(set(open("words.txt").read().split()))
{use}
"""


@pytest.mark.parametrize(
    ("use", "decided"),
    [
        ("print(torch.tensor([words.index(one) for one in words[:2]]))", "the numbers of its words or classes"),
        ("print(words[int(open('number').read())])", "what is looked up by position"),
        ("positions = torch.randperm(len(words))[:3]\nprint([words[one] for one in positions])", "a random choice"),
    ],
)
def test_what_the_order_of_a_set_decides(use: str, decided: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_WORDS.format(use=use), encoding="utf-8")
    (finding,) = check([tmp_path], {"select": ("TRL208",)}).findings
    assert f"{decided} differ" in finding.message


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("open('labels.txt').read().split()", "a set of strings"),
        ("[str(one) for one in frame.rows]", "a set of strings"),
        ("list(frame['labels'])", "a set of what may be strings, by its name,"),
        ("frame.labels", "a set of what may be strings, by its name,"),
    ],
)
def test_what_only_a_name_says_of_a_set(labels: str, said: str, tmp_path: Path) -> None:
    program = (
        f"import torch\nfrom tables import frame\n\nnames = list(set({labels}))\ntorch.save(names.index('a'), 'a.pt')\n"
    )
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    (finding,) = check([tmp_path], {"select": ("TRL208",)}).findings
    assert finding.message.startswith(said)


_INIT = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + np.random.normal()


def init(worker_id):
    np.random.seed({seed})


torch.manual_seed(0)
for batch in DataLoader(Noisy(), num_workers=2, worker_init_fn=init):
    print(batch)
"""


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ("7 + worker_id", "once `worker_init_fn` follows torch's seed"),
        ("torch.initial_seed() % 2**32", "torch's global RNG seeds the workers"),
    ],
)
def test_what_seeds_the_workers_of_a_loader_without_a_generator(seed: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_INIT.format(seed=seed), encoding="utf-8")
    (finding,) = check([tmp_path], {"select": ("TRL201",)}).findings
    assert said in finding.message


def test_a_generator_of_ones_own_beside_unseeded_draws_is_named(tmp_path: Path) -> None:
    text = "import numpy as np\nimport torch\n\ntorch.manual_seed(0)\nrng = np.random.default_rng(0)\n"
    (tmp_path / "train.py").write_text(
        f"{text}print(np.random.rand(), rng.random(), torch.rand(1))\n", encoding="utf-8"
    )
    (finding,) = check([tmp_path], {"select": ("TRL502",)}).findings
    notes = [step.note for step in finding.trace]
    assert "makes a generator of its own, `rng`: NumPy's global RNG does not draw from it" in notes

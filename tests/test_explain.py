"""What `explain` says of a loader: whole views of small programs, and the lines on what is unknown."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchrepro_lint.commands.explain import explain
from torchrepro_lint.explain import explain_line
from torchrepro_lint.program.program import Program
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import find_target

DATA = """\
import numpy as np
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __init__(self, transform):
        self.transform = transform
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.transform(index + np.random.randn() + self.rng.normal())
"""
MAIN = """\
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader

from data import Noisy


def seed_worker(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)


torch.manual_seed(3)
loader = DataLoader(
    Noisy(sys.argv[1].transform),
    shuffle=True,
    num_workers=int(sys.argv[2]),
    worker_init_fn=seed_worker,
)
"""


ORDER = "  order            "


def view(root: Path, file: str, row: int) -> str:
    """What is said of a line."""
    files = sorted(root.rglob("*.py"))
    program = Program(root, files, Settings(), find_target(root, Settings()))
    return "\n".join(explain_line(program, root / file, row, lambda path: path.relative_to(root).as_posix()))


def test_a_whole_view(write) -> None:
    root = write({"data.py": DATA, "main.py": MAIN, "requirements.txt": "torch>=1.9\n"})
    assert view(root, "main.py", 17) == dedent(
        """\
        The loader at main.py:15: torch.utils.data.DataLoader
          dataset          Noisy, made at main.py:16
          order            shuffle = True
          workers          unknown, which is assumed to be more than 0
          start method     the platform's default (Linux: fork, from Python 3.14 on forkserver)
          worker_init_fn   seed_worker at main.py:10
                             seeds NumPy's global RNG at main.py:11 with torch's seed of the worker
          generator        none: order and base seed come from torch's default RNG
          torch is seeded  main.py:14

          Random numbers in the workers:
            from NumPy's global RNG
              numpy.random.randn at data.py:14
                main.py:16  the dataset: Noisy
                data.py:13  Noisy.__getitem__
            from a numpy.random.Generator made at data.py:8
              numpy.random.Generator.normal at data.py:14
                main.py:16  the dataset: Noisy
                data.py:13  Noisy.__getitem__

          Not followed (1); what these calls run is unknown, and assumed to draw nothing:
            data.py:14  calls self.transform: what self.transform can be is not known"""
    )


def test_a_line_that_workers_run(write) -> None:
    root = write({"data.py": DATA, "main.py": MAIN})
    assert view(root, "data.py", 14).splitlines()[-1] == "  main.py:15"
    assert view(root, "data.py", 8) == ""


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("data", "  workers          0: no worker processes; everything runs in the main process"),
        ("data, num_workers=2, persistent_workers=True", "  workers          2 (persistent)"),
        ("data, num_workers=2", "  dataset          something that could not be followed"),
        ("data, shuffle=flag", f"{ORDER}shuffle = unknown, which may be true"),
        ("data, sampler=RandomSampler(data)", f"{ORDER}sampler: torch.utils.data.RandomSampler, made at a.py:9"),
        ("data, generator=g", "  generator        torch.Generator, made at a.py:4"),
        ("data, worker_init_fn=lambda i: None", "                     <lambda> seeds nothing"),
        ("data, worker_init_fn=unknown.seed", "  worker_init_fn   something that could not be followed"),
        ("data, multiprocessing_context='spawn'", "  start method     'spawn'"),
        ("data, num_workers=1", "  No random draws were found in the workers."),
        ("data, num_workers=0", "  No random draws were found in the code that fetches items."),
        ("data", "  torch is seeded  unknown: no program in sight makes this loader"),
    ],
)
def test_one_line(write, arguments: str, line: str) -> None:
    text = "import torch\nfrom torch.utils.data import DataLoader, RandomSampler\n\ng = torch.Generator()\n\n\n"
    text += f"def build(data, flag, unknown):\n    return (\n        DataLoader({arguments})\n    )\n"
    assert line in view(write({"a.py": text}), "a.py", 9).splitlines()


def test_a_program_in_sight_that_seeds_nothing(write) -> None:
    text = "from torch.utils.data import DataLoader\n\n\ndef build(data):\n    return DataLoader(data)\n\n\n"
    main = "from a import build\n\nfor batch in build([1]):\n    print(batch)\n"
    root = write({"a.py": text, "main.py": main})
    assert "  torch is seeded  nowhere in the programs that make this loader" in view(root, "a.py", 5).splitlines()


NETWORK = """\
import torch
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.up = nn.Upsample(scale_factor=2, mode="bilinear")
        self.nearest = nn.Upsample(scale_factor=2)

    def forward(self, x):
        x = self.up(self.nearest(self.conv(x)))
        return nn.functional.scaled_dot_product_attention(x, x, x)


model = Network().cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(3):
    model(torch.randn(2, 3, 8, 8).cuda()).sum().backward()
    optimizer.step()
number = 1
"""


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (9, "  TRL402 applies if the program asks for determinism; it does not: `nn.Upsample` is nondeterministic"),
        (10, "  `nn.Upsample`: nondeterministic on CUDA, but not with these arguments ("),
        (14, "  TRL404 applies if the program asks for determinism; it does not: `F.scaled_dot_product_attention`"),
        (8, "No finding is at net.py:8 itself."),
        (20, "  `torch.randn`: draws random numbers; no rule objects to where, or to the generator"),
        (21, "  `optimizer.step`: "),
        (22, "  There is no call on this line that a rule is about."),
        (17, "This finding is not reported: only the `strict` profile reports it"),
    ],
)
def test_why_nothing_is_reported(write, monkeypatch, capsys, row: int, said: str) -> None:
    monkeypatch.chdir(write({"pyproject.toml": "", "net.py": NETWORK}))
    assert explain([f"net.py:{row}"]) == 0
    assert said in capsys.readouterr().out


def test_a_rule_for_another_torch(write, monkeypatch, capsys) -> None:
    loader = "loader = DataLoader(Noisy(None), num_workers=2)\n"
    text = "import torch\nfrom torch.utils.data import DataLoader\n\nfrom data import Noisy\n\ntorch.manual_seed(0)\n"
    data = DATA.replace(" + self.rng.normal()", "").replace(
        "self.transform(index + np.random.randn())", "np.random.rand()"
    )
    files = {"pyproject.toml": "", "requirements.txt": "torch>=2.0\n", "data.py": data, "main.py": text + loader}
    monkeypatch.chdir(write(files))
    assert explain(["main.py:7"]) == 0
    assert "TRL101" in capsys.readouterr().out


def test_ways_that_differ(write) -> None:
    text = """\
        from torch.utils.data import DataLoader

        def build(data, workers):
            return DataLoader(data, num_workers=workers)

        build([], 0)
        build([], 4)
        """
    shown = view(write({"a.py": text}), "a.py", 4)
    assert "in 2 variants, depending on what its callers pass; variant 2:" in shown
    assert "0: no worker processes" in shown and "  workers          4" in shown


def test_the_command(write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"pyproject.toml": "", "data.py": DATA, "main.py": MAIN})
    monkeypatch.chdir(root)
    assert explain(["main.py:15"]) == 0
    assert "The loader at main.py:15: torch.utils.data.DataLoader\n" in capsys.readouterr().out


def test_of_a_loader_it_is_not_said_that_no_rule_is_about_it(write, capsys) -> None:
    root = write({"main.py": "from torch.utils.data import DataLoader\n\nloader = DataLoader([1, 2], num_workers=0)\n"})
    assert explain([f"{root / 'main.py'}:3"]) == 0
    out = capsys.readouterr().out
    assert "`DataLoader`: a loader; no rule objects to what it is passed, or to what its workers run" in out
    assert "no rule is about it" not in out


@pytest.mark.parametrize(
    ("files", "place", "because"),
    [
        (
            {
                "train.py": """
                    import argparse
                    import torch
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--seed", type=int, default=0)
                    parser.add_argument("--size", type=int, default=2)
                    args = parser.parse_args()
                    print(torch.ones(args.size))
                """,
            },
            "train.py:5",
            "nothing is trained or drawn in that program",
        ),
        (
            {
                "test_split.py": """
                    import torch
                    from torch.utils.data import DataLoader, TensorDataset
                    torch.manual_seed(0)
                    def test_order():
                        assert list(DataLoader(TensorDataset(torch.ones(4)), shuffle=True))
                """,
            },
            "test_split.py:6",
            "it is in a test",
        ),
        (
            {
                "train.py": """
                    import torch
                    import lib
                    torch.manual_seed(0)
                    print(torch.rand(1))
                """,
                "lib.py": """
                    import torch
                    from torch.utils.data import DataLoader, TensorDataset
                    def unused():
                        return DataLoader(TensorDataset(torch.ones(4)), shuffle=True)
                """,
            },
            "lib.py:5",
            "nothing in the project runs this code",
        ),
    ],
    ids=["seldom", "a test", "unused"],
)
def test_one_reason_is_given_for_the_strict_profile(
    write, monkeypatch, capsys, files, place: str, because: str
) -> None:
    monkeypatch.chdir(write({"torchrepro-lint.toml": "", **files}))
    assert explain([place]) == 0
    said = f"This finding is not reported: only the `strict` profile reports it: {because}."
    assert said in capsys.readouterr().out

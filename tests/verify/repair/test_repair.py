"""`repair` on programs that are run: what is fixed, what is refused, what is left, and what is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from verify_runs import forked_command as command
from verify_runs import line_of, script

pytest.importorskip("torch")
pytestmark = pytest.mark.verify


def repaired(*words: str, folder: Path) -> tuple[int, dict[str, Any]]:
    ran = command("--output-format", "json", *words, folder=folder, name="repair")
    assert ran.stdout, ran.stderr
    answer = json.loads(ran.stdout)
    assert isinstance(answer, dict)
    return ran.returncode, answer


def codes(answer: dict[str, Any]) -> list[str | None]:
    return [one["fix"] and one["fix"]["code"] for one in answer["rounds"]]


TRAINS = """
    import random

    import torch

    weight = torch.zeros(3, requires_grad=True)
    for step in range(2):
        noise = torch.randn(3) + random.random()
        (weight * noise).sum().backward()
    print(weight.grad)
    """


def test_a_program_without_seeds_is_shown_and_written(tmp_path: Path) -> None:
    path = script(tmp_path, TRAINS)
    before = path.read_text()
    ran = command("--report", "out.html", "train.py", folder=tmp_path, name="repair")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "fixed: TRL501" in ran.stdout and "+torch.manual_seed(0)" in ran.stdout
    assert "repaired: after 1 fix, no difference observed in 2 runs of train.py: " in ran.stdout
    assert "nothing was written: --write writes the fixes" in ran.stdout
    assert path.read_text() == before
    page = (tmp_path / "out.html").read_text()
    assert "<h2>Rounds</h2>" in page and "<h2>Round 1</h2>" in page and "+torch.manual_seed(0)" in page
    assert "torchrepro-lint repair</title>" in page

    status, answer = repaired("--write", "train.py", folder=tmp_path)
    assert (status, answer["outcome"], answer["written"]) == (0, "repaired", True), answer
    assert "random.seed(0)\ntorch.manual_seed(0)\n" in path.read_text()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.html", "train.py"]

    ran = command("train.py", folder=tmp_path, name="repair")
    assert ran.returncode == 0 and ran.stdout.startswith("nothing to repair: no difference observed")


def test_workers_that_draw_from_numpy(tmp_path: Path) -> None:
    text = """
        import numpy as np
        import torch
        from torch.utils.data import DataLoader, Dataset

        np.random.seed(3)


        class Noisy(Dataset):
            def __len__(self):
                return 4

            def __getitem__(self, index):
                return torch.tensor(index + np.random.rand())


        if __name__ == "__main__":
            loader = DataLoader(Noisy(), batch_size=2, num_workers=1)
            for epoch in range(2):
                for batch in loader:
                    print(batch.sum())
        """
    script(tmp_path, text)
    status, answer = repaired("train.py", folder=tmp_path)
    assert (status, answer["outcome"]) == (0, "repaired"), answer
    assert answer["rounds"][0]["difference"]["cause"]["in_worker"]
    assert "no epoch, loader or worker repeats another one where none did" in answer["checks"]
    assert any("seeds that it sets" in one for one in answer["checks"])


def test_the_seed_stays_in_command(tmp_path: Path) -> None:
    """A seed that the program is given and does not use: a constant in its place is refused."""
    text = """
        import argparse

        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int, default=0)
        parser.parse_args()
        weight = torch.randn(3, requires_grad=True)
        (weight * weight).sum().backward()
        torch.optim.SGD([weight], lr=0.1).step()
        """
    path = script(tmp_path, text)
    ran = command("--write", "train.py", folder=tmp_path, name="repair")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "would be the same for every seed that the script is given" in ran.stdout
    assert f"train.py:{line_of(path, 'torch.randn')}" in ran.stdout
    assert "not repaired: 2 runs of train.py still differ" in ran.stdout
    assert "manual_seed" not in path.read_text()


def test_shuffling_with_an_option_for_the_seed(tmp_path: Path) -> None:
    text = """
        import argparse
        import random

        import torch
        from torch.utils.data import DataLoader

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int, default=0)
        args = parser.parse_args()
        random.seed(args.seed)
        loader = DataLoader(torch.arange(20), batch_size=5, shuffle=True)
        for epoch in range(2):
            for batch in loader:
                print(batch.sum() + random.random())
        """
    path = script(tmp_path, text)
    status, answer = repaired("--write", "train.py", folder=tmp_path)
    assert (status, answer["outcome"]) == (0, "repaired"), answer
    assert "args.seed" in answer["diff"]
    assert any(one.startswith("another seed (--seed 1)") for one in answer["checks"])
    assert path.read_text().count("args.seed") == 2


def test_the_order_of_a_listing(tmp_path: Path) -> None:
    text = """
        import os

        import torch

        torch.manual_seed(0)
        names = os.listdir("data")
        samples = torch.tensor([float(len(name)) for name in names])
        order = torch.randperm(len(names))
        print(samples[order].tolist())
        """
    path = script(tmp_path, text)
    for number in range(5):
        (tmp_path / "data" / ("x" * (number + 1))).mkdir(parents=True)
    status, answer = repaired("--perturb", "listing", "--write", "train.py", folder=tmp_path)
    assert (status, codes(answer)) == (0, ["TRL207"]), answer
    assert 'sorted(os.listdir("data"))' in path.read_text()


def test_what_cannot_be_fixed_is_named(tmp_path: Path) -> None:
    text = """
        import os

        import torch

        torch.manual_seed(0)
        salt = os.urandom(1)[0]
        print(torch.full((2,), float(salt)).sum())
        """
    path = script(tmp_path, text)
    ran = command("train.py", folder=tmp_path, name="repair")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert f"train.py:{line_of(path, 'torch.full')}" in ran.stdout
    assert "not fixed: the linter finds nothing there that explains it" in ran.stdout
    assert "not repaired: 2 runs of train.py still differ, and there is no fix for why" in ran.stdout


def test_a_script_that_does_not_run(tmp_path: Path) -> None:
    script(tmp_path, 'raise ValueError("no data")')
    ran = command("--write", "train.py", folder=tmp_path, name="repair")
    assert ran.returncode == 2
    assert ran.stdout.startswith("could not run: train.py") and "no data" in ran.stdout

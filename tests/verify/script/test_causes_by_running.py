"""Causes that are no draw and no operation of the main process, each in a program that is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from verify_runs import answer, answers, forked_command, line_of, script

pytest.importorskip("torch")
pytestmark = pytest.mark.verify


def test_hash_decides(tmp_path: Path) -> None:
    text = """
        import torch

        names = [f"image {number}.png" for number in range(40)]
        held_out = [number for number, name in enumerate(names) if hash(name) % 4 == 0]
        torch.full((2,), float(sum(held_out)))
        """
    path = script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path)
    cause = found["cause"]
    assert (status, cause["why"]) == (1, "hash"), found["verdict"]
    assert cause["first"]["place"]["row"] == line_of(path, "hash(name)")
    assert "hash('image 0.png') gives another number in each run" in cause["words"]
    assert set(cause["rules"]) <= {"TRL214"}


def test_completion_and_children_and_evaluation(tmp_path: Path) -> None:
    """The three by one program each, by its argument."""
    text = """
        import multiprocessing
        import random
        import sys
        import time
        import torch


        def late(number):
            time.sleep(0.05 * ((number + time.time_ns()) % 3))
            return float(number)


        def drawn(number):
            return random.random()


        if __name__ == "__main__":
            if sys.argv[1] == "completion":
                with multiprocessing.get_context("fork").Pool(3) as pool:
                    torch.tensor(list(pool.imap_unordered(late, range(9)))).sum()
            elif sys.argv[1] == "children":
                random.seed(0)
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    torch.tensor(pool.map(drawn, range(2))).sum()
            else:
                with torch.no_grad():
                    torch.nn.Dropout()(torch.ones(9)).sum()
        """
    path = script(tmp_path, text)
    for name, why, words in (
        ("completion", "completion", "list(pool.imap_unordered"),
        ("children", "unseeded", "return random.random()"),
        ("evaluation", "unseeded", "torch.nn.Dropout()"),
    ):
        status, found = answer("train.py", "--", name, folder=tmp_path, run=forked_command)
        assert (status, found["cause"] and found["cause"]["why"]) == (1, why), (name, found)
        assert found["cause"]["first"]["place"]["row"] == line_of(path, words)
        assert ("eval()" in found["cause"]["words"]) == (name == "evaluation")


def test_classes_numbered_from_a_set_beside_memory_that_nothing_has_written(tmp_path: Path) -> None:
    """The weights begin as they were found in memory: a view of that is no difference."""
    text = """
        import torch

        names = [f"kind {number}" for number in range(30)]
        numbers = {name: number for number, name in enumerate(set(names))}
        torch.manual_seed(0)
        weight = torch.nn.Parameter(torch.empty(30, 30))
        weight.data.uniform_(-1, 1)
        labels = torch.tensor([numbers[name] for name in names])
        for step in range(2):
            loss = torch.nn.functional.cross_entropy(weight.t(), labels)
            loss.backward()
        """
    path = script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path)
    cause = found["cause"]
    assert (status, cause["why"]) == (1, "hash"), found["verdict"]
    assert cause["first"]["place"]["row"] == line_of(path, "labels = ")
    assert cause["finding"]["code"] == "TRL208"


def test_a_generator_of_its_own_decides_how_much_is_drawn_from_another(tmp_path: Path) -> None:
    """NumPy's generators tell what they were made from, each its own."""
    text = """
        import sys
        import time
        import numpy as np
        import torch

        seeded = np.random.RandomState(7)
        if sys.argv[1] == "system":
            own = np.random.RandomState()
        else:
            own = np.random.Generator(np.random.PCG64(time.time_ns()))
        torch.manual_seed(0)
        width = int(own.uniform(2, 900))
        torch.randn(width).sum()
        """
    path = script(tmp_path, text)
    for name, line, words in (
        ("system", "RandomState()", "seeds from the operating system"),
        ("clock", "PCG64", "in one run and"),
    ):
        status, found = answer("train.py", "--", name, folder=tmp_path, run=forked_command)
        cause = found["cause"]
        assert (status, cause and cause["why"]) == (1, "seed"), found["verdict"]
        assert cause["first"]["place"]["row"] == line_of(path, "width = ")
        assert cause["seed"][0]["place"]["row"] == line_of(path, line)
        assert words in cause["words"] and cause["finding"]["code"] == "TRL503"


def test_copies_of_generators_are_what_they_are_without_the_recording(tmp_path: Path) -> None:
    """Spaces of environments ask whether a copy is a generator of NumPy, and what is copied draws the same."""
    text = """
        import copy
        import pickle
        import numpy as np
        import torch


        class Own(np.random.Generator):
            pass


        for made in (np.random.default_rng(0), np.random.Generator(np.random.PCG64(0)), np.random.RandomState(0)):
            kind = np.random.RandomState if hasattr(made, "seed") else np.random.Generator
            made.normal()
            for again in (copy.deepcopy(made), copy.copy(made), pickle.loads(pickle.dumps(made))):
                assert isinstance(again, kind) and not isinstance(again, Own) and issubclass(type(again), kind)
                number = copy.deepcopy(again).normal()
                assert number == copy.deepcopy(made).normal()
        assert isinstance(Own(np.random.PCG64(0)), Own) and issubclass(Own, np.random.Generator)
        drawn = copy.deepcopy(np.random.default_rng())
        torch.tensor(drawn.normal()).sum()
        """
    path = script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path, run=forked_command)
    assert (status, found["cause"] and found["cause"]["why"]) == (1, "seed"), found
    assert found["cause"]["first"]["place"]["row"] == line_of(path, "torch.tensor(drawn")


def test_parameters_that_nothing_initialises(tmp_path: Path) -> None:
    """Two runs may find the same in memory; with other bytes in it they part, at what made the parameter."""
    text = """
        import torch
        from torch import nn


        class Head(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Parameter(torch.ones(4, 8))
                self.late = nn.Parameter(torch.empty(4, 8))

            def forward(self, x):
                return torch.cat([self.first, self.late]) @ x


        print(Head()(torch.ones(8)).sum().item())
        """
    path = script(tmp_path, text)
    ran = answers("--perturb", "memory", "train.py", folder=tmp_path, run=forked_command)
    cause = ran[-1]["cause"]
    assert cause is not None, ran[-1]["verdict"]
    assert (cause["why"], cause["first"]["place"]["row"]) == ("memory", line_of(path, "torch.empty"))
    assert cause["rules"] == ["TRL403"] and cause["finding"]["code"] == "TRL403"


def test_a_program_that_only_prints(tmp_path: Path) -> None:
    for name in "abcde":
        (tmp_path / f"{name}.png").touch()
    script(tmp_path, "import glob\nfirst = glob.glob('*.png')[0]\nprint(first)\n")
    plain, varied = answers("--perturb", "listing", "train.py", folder=tmp_path, run=forked_command)
    assert plain["outcome"] == "agreed" and plain["compared"] == {"print": 1}
    assert varied["outcome"] == "differed" and varied["met"][0]["row"] == 2


def test_what_a_library_draws_from_the_global_generator_under_its_own_name(tmp_path: Path) -> None:
    """As scikit-learn does where it is given no `random_state`; the numbers are those that are drawn unwatched."""
    text = """
        import sys
        import numpy as np
        import torch

        if sys.argv[1] == "seeded":
            np.random.seed(3)
        generator = np.random.mtrand._rand
        split = [generator.normal(), np.random.normal(), *generator.permutation(9), generator.normal()]
        print(split)
        torch.tensor(split).sum()
        """
    path = script(tmp_path, text)
    status, found = answer("train.py", "--", "unseeded", folder=tmp_path, run=forked_command)
    assert (status, found["cause"]["why"], found["cause"]["rng"]) == (1, "unseeded", "numpy"), found["verdict"]
    assert found["cause"]["first"]["place"]["row"] == line_of(path, "split = ")
    assert answer("train.py", "--", "seeded", folder=tmp_path, run=forked_command)[0] == 0

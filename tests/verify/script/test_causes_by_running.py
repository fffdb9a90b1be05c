"""Causes that are no draw and no operation of the main process, each in a program that is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from verify_runs import answer, line_of, script

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
        status, found = answer("train.py", "--", name, folder=tmp_path)
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

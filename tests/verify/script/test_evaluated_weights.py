"""The weights that are evaluated are compared: an average of them may differ where the trained ones agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from verify_runs import answer, forked_command, line_of, script

pytest.importorskip("torch")
pytestmark = pytest.mark.verify


def test_an_average_that_differs(tmp_path: Path) -> None:
    text = """
        import copy
        import os
        import torch

        torch.manual_seed(0)
        net = torch.nn.Linear(2, 1)
        average = copy.deepcopy(net).eval()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(2):
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            with torch.no_grad():
                for mean, weight in zip(average.parameters(), net.parameters()):
                    mean.lerp_(weight, 1 / (os.getpid() % 1000 + 2))
        average.eval()
        average.eval()
        """
    path = script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path, run=forked_command)
    assert (status, found["outcome"]) == (1, "differed"), found
    assert found["verdict"].endswith("they first differ in step 2, at the weights of Linear in evaluation")
    assert found["cause"]["first"]["place"]["row"] == line_of(path, "lerp_")

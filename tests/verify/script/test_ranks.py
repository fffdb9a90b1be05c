"""Several ranks of one script: started as torchrun does, compared rank by rank and with each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from verify_runs import answer, record, script

from torchrepro_lint.verify.script.between_ranks import between_ranks
from torchrepro_lint.verify.script.entries import Entry, Place
from torchrepro_lint.verify.script.ranks import variables


def test_the_variables_of_torchrun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    given = variables(1, 2, 1234)
    assert (given["RANK"], given["LOCAL_RANK"], given["WORLD_SIZE"], given["MASTER_PORT"]) == ("1", "1", "2", "1234")
    assert given["OMP_NUM_THREADS"] == "1"
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert "OMP_NUM_THREADS" not in variables(1, 2, 1234)


def rank(process: str, parameters: str, batches: str, collectives: tuple[str, ...], state: str) -> list[Entry]:
    within = "" if process == "main" else f"{process}, "
    return [
        *(
            Entry("parameter", "SGD 0", process, step=step, output=one)
            for step, one in enumerate(parameters)
        ),
        *(Entry("batch", f"batch {at} of loader 0", process, output=one) for at, one in enumerate(batches)),
        *(
            Entry("collective", name, process, place=Place("/project/train.py", line))
            for line, name in enumerate(collectives)
        ),
        Entry("rng", process=f"{within}worker 0 of loader 0", detail={"numpy": state, "torch": process}),
    ]  # fmt: skip


def test_ranks_that_do_as_they_should() -> None:
    calls = ("broadcast", "all_reduce")
    entries = rank("main", "ab", "12", calls, "s") + rank("rank 1", "ab", "34", calls, "t")
    assert list(between_ranks(record(entries))) == []


def test_ranks_that_do_not() -> None:
    entries = rank("main", "ab", "12", ("broadcast", "barrier"), "s")
    entries += rank("rank 1", "ac", "12", ("broadcast", "all_reduce"), "s")
    assert list(between_ranks(record(entries))) == [
        "the parameters of rank 1 are not those of rank 0 after step 1: copies of one model agree, and only shards of it "
        "do not",
        "rank 1 calls all_reduce where rank 0 calls barrier (/project/train.py:1 and /project/train.py:1): they wait for "
        "each other",
        "rank 1 is given the same batches as rank 0, from batch 0 of loader 0 on: their samplers are not of a rank each",
        "worker 0 of loader 0 has the same state of numpy in rank 1 as in rank 0, and draws the same",
    ]


@pytest.mark.verify
def test_a_script_in_two_processes_and_one_whose_rank_fails(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = """
        import os
        import sys
        import torch
        import torch.distributed as distributed

        rank = int(os.environ["RANK"])
        distributed.init_process_group("gloo")
        weight = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for step in range(5):
            (weight * (rank + 1)).sum().backward()
            if step == 1 and len(sys.argv) > 1 and rank == 1:
                raise ValueError("no data")
            distributed.all_reduce(weight.grad)
            optimizer.step()
        """
    script(tmp_path, text)
    words = ("--nproc-per-node", "2", "--steps", "3", "--scratch", "train.py")
    status, found = answer(*words, folder=tmp_path)
    assert (status, found["outcome"]) == (0, "agreed"), found
    assert found["verdict"].startswith(
        "no difference observed in 2 runs of train.py in 2 processes, each stopped after 3"
    )
    assert found["compared"] == {"parameter": 8, "loss": 6}
    assert not any("rank 1" in note for note in found["notes"])
    status, found = answer(*words, "--", "fail", folder=tmp_path)
    assert (status, found["outcome"]) == (2, "could not run")
    assert "each run failed in rank 1: ValueError: no data at train.py:13" in found["verdict"]


@pytest.mark.verify
def test_a_script_in_one_process_as_torchrun_starts_it(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = """
        import torch
        import torch.distributed as distributed

        distributed.init_process_group("gloo")
        torch.manual_seed(distributed.get_rank())
        weight = torch.randn(2, requires_grad=True)
        loss = weight.sum()
        loss.backward()
        distributed.all_reduce(weight.grad)
        """
    script(tmp_path, text)
    status, found = answer("--nproc-per-node", "1", "train.py", folder=tmp_path)
    assert (status, found["outcome"]) == (0, "agreed"), found
    assert "processes" not in found["verdict"]

"""`--steps`: a run ends after so many optimizer steps, in every process of it, as a script ends by itself."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from verify_runs import answer, command, script

from torchrepro_lint.verify.script.plan import Plan
from torchrepro_lint.verify.script.watch.limit import RunLimit, Stopped
from torchrepro_lint.verify.script.watch.threads import ThreadState

TRAINING = """
    import atexit
    import multiprocessing
    import torch
    from torch.utils.data import DataLoader

    weight = torch.ones(3, requires_grad=True)
    loader = DataLoader(torch.arange(40.0), batch_size=4)


    def wrote(name, text="here"):
        with open(name, "w") as file:
            file.write(text)


    def train(name):
        optimizer = torch.optim.SGD([weight], lr=0.001)
        steps = 0
        try:
            for epoch in range(1_000_000):
                for batch in loader:
                    (weight * batch.sum()).sum().backward()
                    steps += 1
                    optimizer.step()
        finally:
            wrote(name, str(steps))


    if __name__ == "__main__":
        atexit.register(wrote, "atexit.txt")
        fork = multiprocessing.get_context("fork")
        processes = [fork.Process(target=train, args=(f"process {number}.txt",)) for number in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
            assert process.exitcode == 0
        try:
            train("main.txt")
        finally:
            try:
                with fork.Pool(1) as pool:
                    pool.apply(train, ("pool.txt",))
            except Exception as error:
                wrote("error.txt", type(error).__name__)
    """


@pytest.mark.verify
def test_every_process_ends_after_the_steps_and_in_order(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script(tmp_path, TRAINING)
    status, found = answer("--steps", "3", "train.py", folder=tmp_path)
    assert (status, found["outcome"]) == (0, "agreed"), found
    assert found["verdict"].startswith(
        "no difference observed in 2 runs of train.py, each stopped after 3 optimizer steps: "
    )
    # Of the main process, two others, and one in a pool.
    assert (found["compared"]["loss"], found["compared"]["batch"]) == (12, 12)
    written = {path.name: path.read_text() for path in tmp_path.glob("*.txt")}
    assert written == {
        **dict.fromkeys(("main.txt", "process 0.txt", "process 1.txt", "pool.txt"), "3"),
        "atexit.txt": "here",
        "error.txt": "Stopped",
    }
    (note,) = (note for note in found["notes"] if "--scratch" in note)
    assert note.startswith("the first run left atexit.txt, error.txt, main.txt, pool.txt, process 0.txt, ... in its")
    assert [run["trouble"] for run in found["runs"]] == [None, None]


class Recorder:
    """Stands for a recorder: keeps what is recorded."""

    def __init__(self, steps: int | None) -> None:
        self.plan = Plan("", steps=steps)
        self.here = ThreadState()
        self.worker: int | None = None
        self.within_pool = False
        self.notes: list[Any] = []

    def record(self, kind: str, name: str, shown: str, **fields: Any) -> None:
        self.notes.append((kind, name, shown))


def program(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    """Let the running program consist of one module."""
    path = folder / "program.py"
    path.write_text(text)
    module = ModuleType("program")
    module.__file__ = str(path)
    monkeypatch.setattr(sys, "modules", {"program": module, "nothing": SimpleNamespace()})


def test_batches_count_where_nothing_is_trained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorder = Recorder(2)
    limit = RunLimit(recorder)  # type: ignore[arg-type]
    program(monkeypatch, tmp_path, "model.eval()")
    limit.before_batch()
    limit.before_batch()
    for _ in range(2):  # who catches it is told again, and the record is not
        with pytest.raises(SystemExit):
            limit.before_batch()
    assert recorder.notes == [("note", "stopped", "2 batches")]


@pytest.mark.parametrize("text", ["torch.optim.SGD(p)", "loss.backward()", "Trainer(model)", "runner.fit(model)"])
def test_batches_before_a_training_do_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    limit = RunLimit(Recorder(1))  # type: ignore[arg-type]
    program(monkeypatch, tmp_path, text)
    for _ in range(5):
        limit.before_batch()


def test_backward_passes_count_where_there_is_no_optimizer() -> None:
    recorder = Recorder(1)
    limit = RunLimit(recorder)  # type: ignore[arg-type]
    limit.before_backward()
    with pytest.raises(SystemExit):
        limit.before_backward()
    assert recorder.notes == [("note", "stopped", "1 backward pass")]
    accumulating = RunLimit(Recorder(1))  # type: ignore[arg-type]
    accumulating.has_optimizer = True
    for _ in range(5):
        accumulating.before_backward()


def test_a_pool_is_told_by_an_exception_that_it_passes_on_and_a_worker_goes_on() -> None:
    recorder = Recorder(1)
    recorder.here.step = 1
    limit = RunLimit(recorder)  # type: ignore[arg-type]
    recorder.within_pool = True
    with pytest.raises(Stopped):
        limit.after_step()
    recorder.worker = 0
    limit.after_step()


def test_without_a_limit_nothing_ends() -> None:
    recorder = Recorder(None)
    recorder.here.step = recorder.here.backwards = recorder.here.batches = 1000
    limit = RunLimit(recorder)  # type: ignore[arg-type]
    limit.after_step()
    limit.before_backward()
    limit.before_batch()


@pytest.mark.verify
def test_a_run_that_takes_too_long_is_told_what_to_do(tmp_path: Path) -> None:
    script(tmp_path, "import time\ntime.sleep(600)")
    ran = command("--timeout", "1", "train.py", folder=tmp_path)
    assert ran.returncode == 2
    assert "--steps 20 ends each run after 20 optimizer steps; --timeout S gives it S seconds" in ran.stdout


def test_halves_are_not_cut_short(tmp_path: Path) -> None:
    script(tmp_path, "")
    words = ("--perturb", "resume", "--resume-first=a", "--resume-with=b", "--steps", "2", "train.py")
    ran = command(*words, folder=tmp_path)
    assert ran.returncode == 2 and "--steps would end the halves" in ran.stderr

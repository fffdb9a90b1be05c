"""Real scripts in fresh processes: the runs agree, or the line that parts them is named, with the rule about it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from verify_runs import answer, command, forked_command, line_of, script

pytest.importorskip("torch")

pytestmark = pytest.mark.verify

TRAINING = """
    import random
    import sys
    import time
    import numpy as np
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset


    class Images(Dataset):
        def __len__(self):
            return 12

        def __getitem__(self, index):
            return self.augment(torch.full((4,), float(index))), index % 2

        def augment(self, image):
            return image {augment}


    def main():
        torch.manual_seed({seed})
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 2))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        loader = DataLoader(Images(), batch_size=4, shuffle=True, num_workers={workers})
        for epoch in range(2):
            for images, labels in loader:
                loss = nn.functional.cross_entropy(net(images), labels)
                optimizer.zero_grad()
                loss.backward(){noise}
                optimizer.step()


    if __name__ == "__main__":
        main()
    """


def training(folder: Path, augment: str = "", seed: str = "0", workers: int = 0, noise: str = "") -> Path:
    return script(folder, TRAINING.format(augment=augment, seed=seed, workers=workers, noise=noise))


def test_no_difference(tmp_path: Path) -> None:
    training(tmp_path, "+ torch.rand(4)", workers=1)
    ran = command("--save", "records", "train.py", folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    first = ran.stdout.splitlines()[0]
    assert first == (
        "no difference observed in 2 runs of train.py: 6 batches, 7 states of the parameters, 6 losses agreed"
    )
    assert "deterministic" not in ran.stdout
    assert sorted(path.name for path in (tmp_path / "records").glob("*.jsonl")) == ["run-1.jsonl", "run-2.jsonl"]


def test_an_rng_that_nothing_seeds(tmp_path: Path) -> None:
    path = training(tmp_path, "+ random.random()")
    status, found = answer("train.py", folder=tmp_path)
    assert (status, found["outcome"]) == (1, "differed")
    cause = found["cause"]
    assert (cause["why"], cause["rng"], cause["in_worker"]) == ("unseeded", "random", False)
    assert cause["first"]["name"] == "random.random"
    assert cause["first"]["place"] == {
        "filename": str(path),
        "row": line_of(path, "return image"),
        "function": "Images.augment" if sys.version_info >= (3, 11) else "augment",
    }
    assert cause["first"]["shown"] != cause["second"]["shown"]
    assert "TRL502" in cause["rules"]
    divergence = found["divergence"]["first"]
    assert (divergence["kind"], divergence["step"], divergence["epoch"]) == ("batch", 0, 0)


def test_a_seed_from_the_clock_is_linked_to_the_rule_that_finds_it(tmp_path: Path) -> None:
    path = training(tmp_path, seed="time.time_ns()")
    ran = command("train.py", folder=tmp_path)
    assert ran.returncode == 1
    assert ran.stdout.startswith(
        "difference observed: 2 runs of train.py did not agree; they first differ in step 0 (epoch 0), at "
    )
    seed = line_of(path, "torch.manual_seed")
    assert f"torch.manual_seed at line {seed} seeds with " in ran.stdout
    assert f"{seed} |     torch.manual_seed(time.time_ns())" in ran.stdout
    assert f"the linter's finding there: train.py:{seed}:" in ran.stdout and "TRL503" in ran.stdout


def test_a_draw_in_a_worker(tmp_path: Path) -> None:
    path = training(tmp_path, "+ np.random.default_rng().random()", workers=2)
    status, found = answer("train.py", folder=tmp_path, run=forked_command)
    cause = found["cause"]
    assert status == 1 and cause["in_worker"]
    assert cause["first"]["process"] == "worker 0 of loader 0"
    assert (cause["first"]["worker"], cause["first"]["epoch"]) == (0, 0)
    assert cause["first"]["place"]["row"] == line_of(path, "return image")
    assert (cause["why"], cause["rng"]) == ("seed", "numpy.random.Generator")
    assert "from the operating system" in cause["words"]


def test_an_operation_that_is_not_repeatable(tmp_path: Path) -> None:
    """Of its own kind, as no operation of torch on a CPU is: its result hangs on the process."""
    text = """
        import os
        import torch

        library = torch.library.Library("noisy", "DEF")
        library.define("add(Tensor x) -> Tensor")
        library.impl("add", lambda x: x + os.getpid(), "CPU")

        weight = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for step in range(4):
            hidden = weight.sin()
            if step == 2:
                hidden = hidden + torch.ops.noisy.add(hidden.detach())
            hidden.sum().backward()
            optimizer.step()
        """
    path = script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path, run=forked_command)
    assert status == 1
    cause = found["cause"]
    assert (cause["why"], cause["first"]["name"], cause["first"]["step"]) == ("operation", "noisy.add", 2)
    assert cause["first"]["inputs"] == cause["second"]["inputs"]
    assert cause["first"]["place"]["row"] == line_of(path, "torch.ops.noisy.add(")
    assert cause["rules"][0] == "TRL402"


def test_an_operation_of_a_backward_of_ones_own_is_told_by_its_own_line(tmp_path: Path) -> None:
    text = """
        import os
        import torch

        library = torch.library.Library("noisy", "DEF")
        library.define("add(Tensor x) -> Tensor")
        library.impl("add", lambda x: x + os.getpid(), "CPU")

        class Noisy(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, gradient):
                return torch.ops.noisy.add(gradient)

        weight = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.1)
        Noisy.apply(weight).sum().backward()
        optimizer.step()
        """
    path = script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path, run=forked_command)
    assert status == 1
    first = found["cause"]["first"]
    assert (first["name"], first["backward"]) == ("noisy.add", True)
    assert first["place"]["row"] == line_of(path, "return torch.ops.noisy.add")


def test_memory_that_an_operation_works_in_is_no_result(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import random
        import torch

        torch.manual_seed(0)
        rnn = torch.nn.LSTM(8, 16)
        for step in range(2):
            output, state = rnn(torch.rand(5, 4, 8))
            (output.sum() * random.random()).backward()
        """,
    )
    status, found = answer("train.py", folder=tmp_path, run=forked_command)
    assert (status, found["cause"]["why"]) == (1, "unseeded")
    assert found["cause"]["first"]["place"]["row"] == line_of(path, "random.random()")


def test_data_that_comes_in_another_order(tmp_path: Path) -> None:
    text = """
        import torch
        from torch.utils.data import DataLoader

        names = {"cat", "dog", "owl", "bee", "ant", "elk", "fox", "hen"}
        samples = [torch.tensor([float(sum(map(ord, name)))]) for name in names]
        for batch in DataLoader(samples, batch_size=8):
            print(batch.sum())
        """
    script(tmp_path, text)
    status, found = answer("--runs", "4", "train.py", folder=tmp_path)
    assert status == 1
    # Where all runs have one PYTHONHASHSEED they agree, so that is the cause.
    assert (found["cause"]["why"], found["cause"]["rules"]) == ("hash", ["TRL208"])
    assert found["cause"]["finding"]["code"] == "TRL208"


def test_several_processes(tmp_path: Path) -> None:
    text = """
        import torch
        import torch.multiprocessing as mp

        def train(rank):
            torch.manual_seed(0)
            weight = torch.ones(3, requires_grad=True)
            optimizer = torch.optim.SGD([weight], lr=0.1)
            noise = torch.randn(3) if rank == 0 else torch.from_numpy(__import__("numpy").random.rand(3))
            (weight * noise).sum().backward()
            optimizer.step()

        if __name__ == "__main__":
            mp.spawn(train, nprocs=2)
        """
    path = script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path, run=forked_command)
    assert status == 1
    cause = found["cause"]
    assert (cause["first"]["process"], cause["why"], cause["rng"]) == ("process 2", "unseeded", "numpy")
    assert cause["first"]["place"]["row"] == line_of(path, "noise =")


def test_a_module_and_its_arguments(tmp_path: Path) -> None:
    script(tmp_path, "", "pkg/__init__.py")
    text = """
        import sys
        import torch

        assert sys.argv[1:] == ["--epochs", "1"], sys.argv
        assert __name__ == "__main__" and __package__ == "pkg" and sys.path[0] != "", sys.path
        torch.ones(1, requires_grad=True).sum().backward()
        """
    script(tmp_path, text, "pkg/train.py")
    status, found = answer("-m", "pkg.train", "--", "--epochs", "1", folder=tmp_path)
    assert (status, found["outcome"]) == (0, "agreed"), found["verdict"]
    assert found["command"] == ["-m", "pkg.train", "--epochs", "1"]
    assert found["compared"] == {"loss": 1}


def test_what_only_computes_is_compared_by_its_operations(tmp_path: Path) -> None:
    script(tmp_path, "import torch\ntorch.manual_seed(0)\nprint(torch.randn(3).sum())")
    status, found = answer("train.py", folder=tmp_path, run=forked_command)
    assert (status, found["outcome"]) == (0, "agreed")
    assert found["compared"]["op"] >= 1


def test_what_is_compiled_is_said(tmp_path: Path) -> None:
    text = """
        import torch

        step = torch.compile(lambda x: (x * 2).sin(), backend="eager")
        weight = torch.ones(3, requires_grad=True)
        step(weight).sum().backward()
        """
    script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path)
    assert status == 0
    assert "torch.compile: what is compiled is not seen operation by operation" in found["notes"]


def test_a_script_that_forks_and_leaves(tmp_path: Path) -> None:
    text = """
        import os
        import torch

        torch.ones(1, requires_grad=True).sum().backward()
        for number in range(2):
            if os.fork() == 0:
                torch.full((1,), float(number), requires_grad=True).sum().backward()
                os._exit(0)
        os.wait(), os.wait()
        os._exit(0)
        """
    script(tmp_path, text)
    status, found = answer("--save", "records", "train.py", folder=tmp_path)
    assert (status, found["outcome"]) == (0, "agreed")
    # Each fork's own loss, and that of the process that forked.
    assert found["compared"] == {"loss": 3}
    assert "the script exits through os._exit" in found["notes"]


def test_another_python_program_is_not_watched_and_that_is_said(tmp_path: Path) -> None:
    text = """
        import subprocess, sys
        import torch

        subprocess.run([sys.executable, "-c", "print(1)"], check=True)
        torch.ones(1, requires_grad=True).sum().backward()
        """
    script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path)
    assert status == 0
    assert any(note.startswith("unwatched program: ") for note in found["notes"])


def test_records_are_compared_offline_without_torch(tmp_path: Path) -> None:
    training(tmp_path, "+ random.random()")
    ran = command("--save", "records", "train.py", folder=tmp_path)
    assert ran.returncode == 1
    program = (
        "import sys\n"
        "from torchrepro_lint.cli import main\n"
        "status = main(sys.argv[1:])\n"
        "assert not {'torch', 'numpy'} & set(sys.modules)\n"
        "sys.exit(status)\n"
    )
    names = ["records/run-1-full-1.jsonl", "records/run-2-full-1.jsonl"]

    def compare(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, "verify", "compare", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    differed = compare(*names)
    assert differed.returncode == 1, differed.stderr
    assert (
        differed.stdout.startswith("difference observed: ")
        and "random.random draws from Python's `random`" in differed.stdout
    )
    # The answer of the run itself, and the command that it named.
    assert "random.random()" in ran.stdout and "random.random()" in differed.stdout
    assert f"`torchrepro-lint verify compare {' '.join(names)}` shows this difference again" in ran.stdout
    # Those of the first stage have seen less, and say which have seen more.
    coarse = compare("records/run-1.jsonl", "records/run-2.jsonl")
    assert coarse.returncode == 1 and "cause:" not in coarse.stdout
    assert f"so what differs may come from earlier code; to see why, compare {' '.join(names)}\n" in coarse.stdout

    same = compare(names[0], names[0])
    assert same.returncode == 0 and same.stdout.startswith("no difference observed in 2 recordings")

    # The record of another machine.
    path = tmp_path / names[1]
    path.write_text(path.read_text().replace('"torch":"2.', '"torch":"9.'))
    elsewhere = compare(*names)
    assert elsewhere.stdout.splitlines()[1:3] == ["", "The environments differ:"]
    assert json.loads(compare("--output-format", "json", *names).stdout)[0]["environment_differences"][0]["name"] == (
        "torch"
    )

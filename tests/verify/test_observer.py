"""What the observer sees of loaders, in real programs."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from torchrepro_lint.verify.runner import Condition, Run, run_program

pytest.importorskip("torch")


def run(tmp_path: Path, program: str, **condition: object) -> Run:
    (tmp_path / "main.py").write_text(textwrap.dedent(program))
    seen = run_program(tmp_path, "main.py", Condition("cpu", **condition), timeout=300, alone=True)  # type: ignore[arg-type]
    assert seen.trouble is None, seen.errors
    return seen


def test_batches_with_loader_epoch_position_and_worker(tmp_path: Path) -> None:
    seen = run(
        tmp_path,
        """
        import torch
        from torch.utils.data import DataLoader

        samples = torch.arange(4)
        plain = DataLoader(samples, batch_size=2)
        workers = DataLoader(samples, batch_size=1, num_workers=2)
        lasting = DataLoader(samples, batch_size=2, num_workers=1, persistent_workers=True)
        for loader in (plain, plain, workers, lasting, lasting):
            for batch in loader:
                pass
        """,
    )
    assert [(b.loader, b.epoch, b.position, b.worker, b.value) for b in seen.record.batches] == [
        *((0, epoch, position, None, value) for epoch in (0, 1) for position, value in enumerate(["0 1", "2 3"])),
        *((1, 0, position, position % 2, str(position)) for position in range(4)),
        *((2, epoch, position, 0, value) for epoch in (0, 1) for position, value in enumerate(["0 1", "2 3"])),
    ]
    assert {(i.loader, i.epoch, i.indices) for i in seen.record.order if i.loader == 2} == {
        (2, epoch, indices) for epoch in (0, 1) for indices in ("[0, 1]", "[2, 3]")
    }
    assert seen.record.switches["torch.backends.cudnn.benchmark"] is False
    assert seen.record.environment["torch"]


def test_two_iterations_at_once_and_a_loader_that_is_gone(tmp_path: Path) -> None:
    seen = run(
        tmp_path,
        """
        import torch
        from torch.utils.data import DataLoader

        for turn in range(2):
            loader = DataLoader(torch.arange(2))
            one, two = iter(loader), iter(loader)
            next(one), next(two), next(one)
            del loader, one, two
        """,
    )
    assert [(b.loader, b.epoch, b.position) for b in seen.record.batches] == [
        (loader, epoch, position) for loader in (0, 1) for epoch, position in ((0, 0), (1, 0), (0, 1))
    ]


def test_watching_changes_nothing(tmp_path: Path) -> None:
    program = """
        import torch
        from torch.utils.data import DataLoader

        torch.manual_seed(0)
        for batch in DataLoader(torch.arange(8), batch_size=4, shuffle=True):
            print(batch)
        print(torch.rand(1))
    """
    seen = run(tmp_path, program)
    bare = subprocess.run([sys.executable, tmp_path / "main.py"], capture_output=True, check=True)
    assert seen.output == bare.stdout


def test_alerts_are_asked_for_from_outside(tmp_path: Path) -> None:
    program = """
        import torch
        torch.zeros(3).put_(torch.tensor([0]), torch.tensor([1.0]))
    """
    assert run(tmp_path, program).record.warnings == []
    (alert,) = run(tmp_path, program, perturb="determinism").record.warnings
    assert alert.startswith("put_ does not have a deterministic implementation")


@pytest.mark.parametrize("seeder", ["torch.manual_seed", "np.random.seed"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_seeding_in_a_worker_is_not_shifted(tmp_path: Path, seeder: str, method: str) -> None:
    program = """
        import numpy as np
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Draws(Dataset):
            def __len__(self):
                return 2

            def __getitem__(self, index):
                np.random.seed(index)
                torch.manual_seed(index)
                return np.random.randint(1000), torch.randint(1000, ())

        if __name__ == "__main__":
            np.random.seed(1)
            torch.manual_seed(seed=1)
            for batch in DataLoader(Draws(), num_workers=1):
                pass
    """
    plain, shifted = (
        run(tmp_path, program, start_method=method),
        run(tmp_path, program, start_method=method, perturb=seeder),
    )
    assert shifted.record.shifted_seeds == 1
    assert plain.record.batches == shifted.record.batches
    assert len(plain.record.batches) == 2


def test_how_workers_were_started_is_seen(tmp_path: Path) -> None:
    program = """
        import torch
        from torch.utils.data import DataLoader

        if __name__ == "__main__":
            for options in ({}, {"num_workers": 1}, {"num_workers": 1, "multiprocessing_context": "spawn"}):
                loader = DataLoader(torch.arange(2), **options)
                list(loader), list(loader)
    """
    assert run(tmp_path, program, start_method="fork").record.start_methods == ["fork", "spawn"]


def test_workers_that_cannot_be_started_are_seen(tmp_path: Path) -> None:
    program = """
        import torch
        from torch.utils.data import DataLoader

        if __name__ == "__main__":
            list(DataLoader(torch.arange(2), num_workers=1, worker_init_fn=lambda number: None))
    """
    record = run(tmp_path, program, start_method="forkserver").record
    assert record.failure is not None and record.start_methods == ["forkserver"]

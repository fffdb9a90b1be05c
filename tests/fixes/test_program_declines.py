"""Repairs that need the whole program and are not made: each says why."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchrepro_lint.engine import check

INIT = """
    from functools import partial

    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Noise(Dataset):
        def __getitem__(self, index):
            return np.random.rand()

    def set_seed(seed, base=0):
        seed += base
        torch.manual_seed(seed)
        np.random.seed(seed)

    set_seed(7)
    loader = DataLoader(Noise(), num_workers=2, worker_init_fn=partial(set_seed, base=7))
    """

EITHER = """
    from torch.utils.data import DataLoader, DistributedSampler, RandomSampler

    def train(data, rank, epochs):
        sampler = RandomSampler(data) if rank == -1 else DistributedSampler(data)
        loader = DataLoader(data, sampler=sampler)
        for epoch in range(epochs):
            for batch in loader:
                print(batch)
    """

PHASES = """
    from torch.utils.data import DataLoader, DistributedSampler

    def main(data, val_data, args):
        sampler = DistributedSampler(data, num_replicas=2, rank=0)
        loaders = {"train": DataLoader(data, sampler=sampler), "val": DataLoader(val_data)}
        passes = {"train": 1, "val": args.val_passes}
        for epoch in range(2):
            for phase in ("train", "val"):
                for _ in range(passes[phase]):
                    for batch in loaders[phase]:
                        print(batch)
    """

OPTIONAL = """
    import numpy as np
    import torch

    def set_seed(seed, with_torch=False):
        np.random.seed(seed)
        if with_torch:
            torch.manual_seed(seed)

    set_seed(0)
    model = torch.nn.Linear(8, 2)
    model(torch.ones(8)).sum().backward()
    """


@pytest.mark.parametrize(
    ("code", "program", "reason"),
    [
        ("TRL104", INIT, "`set_seed` is called outside of workers, too, where its seed is to stay"),
        ("TRL502", OPTIONAL, "torch.manual_seed is called beside it under a condition that does not hold"),
        ("TRL206", EITHER, "`sampler` may be another sampler, which counts no epochs"),
        ("TRL206", PHASES, "the loop is inside another, and counts from the start each time"),
    ],
)
def test_a_repair_that_is_not_made_says_why(tmp_path: Path, code: str, program: str, reason: str) -> None:
    (tmp_path / "train.py").write_text(dedent(program))
    (found,) = [one for one in check([tmp_path]).findings if one.code == code]
    assert (found.fix, found.fix_declined) == (None, reason)


EACH_EPOCH = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    DATA, HELD_OUT = TensorDataset(torch.arange(16.0)), TensorDataset(torch.arange(24.0))

    def make(data):
        return DataLoader(data, batch_size=4, shuffle=True)

    def passes(model, batches):
        return sum(model(x[:, None]).mean() for (x,) in batches)

    def main():
        torch.manual_seed(3)
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        BEFORE
        for epoch in range(3):
            optimizer.zero_grad()
            passes(model, TRAINED).backward()
            optimizer.step()
            print(passes(model, HELD).item())

    main()
    """


@pytest.mark.parametrize(
    ("before", "trained", "held", "is_declined"),
    [
        pytest.param("pass", "make(DATA)", "make(HELD_OUT)", True, id="two calls in each epoch"),
        pytest.param("pass", "make(DATA)", "DataLoader(HELD_OUT)", False, id="one call in each epoch"),
        pytest.param("one, two = map(make, (DATA, HELD_OUT))", "one", "two", False, id="map"),
        pytest.param("one, two = make(DATA), make(HELD_OUT)", "one", "two", False, id="two calls, once"),
    ],
)
def test_no_generator_is_shared_by_loaders_beside_each_other(
    before: str, trained: str, held: str, is_declined: bool, tmp_path: Path
) -> None:
    """How often the held out data are gone through would decide the order of the others."""
    text = dedent(EACH_EPOCH).replace("BEFORE", before).replace("TRAINED", trained).replace("HELD)", f"{held})")
    (tmp_path / "main.py").write_text(text)
    (found,) = check([tmp_path], {"select": ("TRL201",)}).findings
    assert (found.fix is None) is is_declined, found.fix_declined


LOADERS = """
    import torch
    from torch.utils.data import DataLoader

    class Images:
        def NAME(self, dataset, **options):
            return DataLoader(dataset, shuffle=True, **options)

    if torch.cuda.is_available():
        torch.manual_seed(0)
    """


@pytest.mark.parametrize(
    ("name", "is_built", "declined"), [("loader", True, True), ("_loader", True, False), ("loader", False, False)]
)
def test_options_of_the_users_of_a_package(name: str, is_built: bool, declined: bool, tmp_path: Path) -> None:
    package = tmp_path / "pictures"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "data.py").write_text(dedent(LOADERS).replace("NAME", name))
    if is_built:
        (tmp_path / "pyproject.toml").write_text("[build-system]\nrequires = ['hatchling']\n")
    run = f"import torch\nfrom pictures.data import Images\n\ntorch.manual_seed(3)\nprint(len(Images().{name}(range(9))))\n"
    (tmp_path / "train.py").write_text(run)
    (found,) = (one for one in check([tmp_path], {"profile": "strict"}).findings if one.code == "TRL201")
    held = "the `**` argument of the call may already hold generator"
    assert (found.fix_declined == held) is declined, found.fix_declined


OF_EACH = """
    import torch
    from torch.utils.data import DataLoader

    class Loader(DataLoader):
        def __init__(self, data):
            super().__init__(data, batch_size=4, shuffle=True)

    def make(data):
        return Loader(data)

    SEED
    for loader in LOADERS:
        print(len(list(loader)))
    """


@pytest.mark.parametrize(
    "loaders",
    ["[*map(Loader, [range(8), range(9)]), Loader(range(8))]", "map(lambda data: Loader(data), [range(8)])",
     "map(lambda data: make(data), [range(8)])"],
)  # fmt: skip
def test_no_number_for_the_loaders_of_each_item(loaders: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = dedent(OF_EACH).replace("SEED", "").replace("LOADERS", loaders)
    (found,) = check([path], {"select": ("TRL201",)}, overlay={path: text}).findings
    assert found.fix_declined is not None
    assert found.fix_declined.startswith("this call makes several loaders")


def test_a_seed_is_drawn_for_each_loader_of_map(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    loaders = "[*map(Loader, [range(8), range(9)]), Loader(range(8))]"
    text = dedent(OF_EACH).replace("SEED", "torch.manual_seed(3)").replace("LOADERS", loaders)
    text = text.replace("def make(data):\n    return Loader(data)\n", "")
    (found,) = check([path], {"select": ("TRL201",)}, overlay={path: text}).findings
    assert found.fix is not None
    assert any("g.manual_seed(torch.randint(2**32, ()).item())" in edit.content for edit in found.fix.edits)


@pytest.mark.parametrize(
    ("above", "below", "seed"),
    [
        ("pass", "torch.manual_seed(args.seed)", "args.seed"),
        ("torch.manual_seed(args.seed)", "pass", "torch.initial_seed()"),
        ("torch.manual_seed(args.seed)", "torch.manual_seed(args.seed)", "torch.initial_seed()"),
    ],
)
def test_a_function_that_seeds_below_the_loader(above: str, below: str, seed: str, write) -> None:
    text = f"""\
import argparse
import torch
from torch.utils.data import DataLoader, TensorDataset

def train(args):
    {above}
    loader = DataLoader(TensorDataset(torch.arange(8)), 2, shuffle=True)
    {below}
    print(*loader)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train(args)
"""
    root = write({"pyproject.toml": "", "main.py": text})
    (found,) = check([root], {"select": ("TRL201",)}).findings
    assert found.fix is not None
    assert f"g.manual_seed({seed})" in "".join(edit.content for edit in found.fix.edits)


SEEDS_NUMPY = """
    import random
    import sys

    import numpy as np
    import torch

    {0}
    np.random.seed(int(sys.argv[1]))
    print(np.random.rand(), random.random())
    """


@pytest.mark.parametrize(
    ("line", "is_fixed"),
    [("random.seed = 3", False), ("print(random.seed == 3)", True), ("options = dict(random_seed=3)", True)],
)
@pytest.mark.parametrize("is_elsewhere", [False, True], ids=("here", "in another file"))
def test_no_call_of_a_function_that_is_overwritten(line: str, is_fixed: bool, is_elsewhere: bool, write) -> None:
    files = {"train.py": SEEDS_NUMPY.format("print()" if is_elsewhere else line)}
    if is_elsewhere:
        files["other.py"] = f"import random\n\n\ndef seed():\n    {line}\n"
    root = write({"pyproject.toml": "", **files})
    (found,) = [one for one in check([root]).findings if one.code == "TRL502"]
    assert (found.fix is not None) is is_fixed
    assert is_fixed or "mend that first" in (found.fix_declined or "")

"""A number beside the seeding call that has it is the program's own seed where nobody gives it another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from notebooks import notebook

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix

PROGRAM = """\
import argparse
import random
import numpy as np
import torch

def main(args):
    random.seed(SEED)
    OTHER
    print(random.random(), np.random.rand(), torch.rand(1))

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=42)
    main(parser.parse_args())
"""


@pytest.mark.parametrize(
    ("seed", "other", "is_safe"),
    [
        ("42", "pass", True),
        ("42", "torch.manual_seed(42)", True),
        ("42", "torch.manual_seed(43)", True),
        ("args.seed", "torch.manual_seed(43)", False),
        # The seed beside that of torch comes first.
        ("42", "torch.manual_seed(args.seed)", True),
        ("args.seed", "torch.manual_seed(args.seed)", True),
    ],
)
def test_a_number_beside_its_own_call(seed: str, other: str, is_safe: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = PROGRAM.replace("SEED", seed).replace("OTHER", f"torch.cuda.is_available()\n    {other}")
    (found,) = check([path], {"select": ("TRL502",)}, overlay={path: text}).findings
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe


@pytest.mark.parametrize("is_below", [True, False])
def test_a_seed_of_a_part_without_torch(is_below: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    parts = ["import numpy as np\n", "np.random.seed(7)\nprint(np.random.rand(3))\n"]
    parts.insert(2 if is_below else 1, "import torch\n")
    text = "".join(parts) + "print(torch.rand(2))\n"
    (found,) = check([path], {"select": ("TRL502",)}, overlay={path: text}).findings
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.UNSAFE) is is_below


SWITCH = """import torch

torch.manual_seed(0)
torch.backends.cudnn.SWITCH
print(torch.rand(2))
"""


@pytest.mark.parametrize(
    ("switch", "is_safe"),
    [("enabale = False", False), ("enabale = True", True), ("determinstic = True", True), ("benchmrk = False", True)],
)
def test_a_dead_switch_that_would_turn_cudnn_off(switch: str, is_safe: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = SWITCH.replace("SWITCH", switch)
    (found,) = check([path], {"select": ("TRL305",)}, overlay={path: text}).findings
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe


SOMETIMES = """import argparse

import numpy as np
import torch
from torch.utils.data import DataLoader


def main(args):
    if TEST:
        torch.manual_seed(args.number)
    OTHER
    for batch in DataLoader(range(8), shuffle=True):
        print(batch, torch.rand(2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, default=42)
    parser.add_argument("--deterministic", action="store_true")
    main(parser.parse_args())
"""


@pytest.mark.parametrize(
    ("test", "other", "fix"),
    [
        ("args.deterministic", "pass", "unsafe"),
        ("args.seed is not None", "pass", "safe"),
        ("torch.cuda.is_available()", "np.random.seed(args.seed)", "safe"),
    ],
)
def test_a_seed_that_some_runs_set(test: str, other: str, fix: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = SOMETIMES.replace("TEST", test).replace("OTHER", other).replace("number", "seed")
    (found,) = check([path], {"select": ("TRL201",)}, overlay={path: text}).findings
    assert found.fix is not None
    assert found.fix.applicability.value == fix


MADE = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand(2)


def make_init(base_seed):
    def init(worker_id):
        np.random.seed(base_seed + worker_id)
    REST
    return init


torch.manual_seed(3)
for epoch in range(2):
    for batch in DataLoader(Noise(), num_workers=2, worker_init_fn=make_init(3)):
        print(batch)
"""


@pytest.mark.parametrize(("rest", "is_safe"), [("pass", False), ("print(base_seed)", True)])
def test_a_worker_seed_that_callers_choose(rest: str, is_safe: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    (found,) = check([path], {"select": ("TRL104",)}, overlay={path: MADE.replace("REST", rest)}).findings
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe


@pytest.mark.parametrize(
    ("cell", "is_safe"),
    [("print(np.random.rand(3))", False), ("print(np.random.rand(3))\noptimizer.step()", True)],
)
def test_a_draw_that_another_cell_shows(cell: str, is_safe: bool, tmp_path: Path) -> None:
    path = tmp_path / "shown.ipynb"
    path.write_text(notebook("import numpy as np\nimport torch\ntorch.manual_seed(7)\nprint(torch.rand(2))", cell))
    (found,) = check([path], {"select": ("TRL502",)}).findings
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe


IN_ARMS = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=42)
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
{arms}
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.rand(1, 2)).sum().backward()
optimizer.step()
print(model.weight)
"""
SEEDS, SAYS = "    torch.cuda.manual_seed(args.seed)\n", "    print('no GPU')\n"
#: The arms, and where torch is seeded by a safe fix: above the `if`, inside of it, or not at all.
ARMS = {
    "alone": (f"if torch.cuda.is_available():\n{SEEDS}", "above"),
    "beside one for the CPU": (f"if torch.cuda.is_available():\n{SEEDS}else:\n{SAYS}", "above"),
    "in the last arm": (f"if not torch.cuda.is_available():\n{SAYS}else:\n{SEEDS}", "above"),
    "beside one that seeds torch": (
        f"if torch.cuda.is_available():\n{SEEDS}else:\n    torch.manual_seed(args.seed)\n", "inside"
    ),
    "beside a further test": (
        f"if torch.cuda.is_available():\n{SEEDS}elif args.device == 'mps':\n{SAYS}else:\n{SAYS}", "nowhere"
    ),
    "beside one that makes the seed": (
        f"if torch.cuda.is_available():\n    args.seed = 3\n{SEEDS}else:\n{SAYS}".replace("args.seed", "seed"), "nowhere"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("arms", "place"), ARMS.values(), ids=ARMS)
def test_the_seed_of_a_gpu_in_an_arm(arms: str, place: str, write) -> None:
    root = write({"pyproject.toml": "", "train.py": IN_ARMS.format(arms=arms)})
    before = arms.count("torch.manual_seed(")
    fix([root])
    lines = (root / "train.py").read_text().splitlines()
    added = [line for line in lines if "torch.manual_seed(" in line]
    assert len(added) - before == (place != "nowhere")
    assert any(not line.startswith(" ") for line in added) is (place == "above")

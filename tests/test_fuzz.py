"""Any text, and any file of the standard library, is checked to its end by every rule.

`python tests/fuzz_files.py FOLDER ...` does the same for every Python file below the folders.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest
from facts.programs import programs
from fuzz_files import checked_alone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesmith import from_grammar

from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix

STANDARD_LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))

# So that rules look at the file: loaders, seeds, switches and sets of the names that the programs use.
HEAD = (
    "import torch, random\nimport numpy as np\nfrom torch.utils.data import DataLoader\ntorch.manual_seed(a)\n"
    "torch.backends.cudnn.deterministic = cfg\nDataLoader(x1, num_workers=a, worker_init_fn=b, generator=cfg)\n"
    "for q in set(a): np.random.rand(q)\n"
)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_programs(tmp_path: Path, text: str) -> None:
    path = tmp_path / "program.py"
    report = check([path], {"profile": "strict"}, overlay={path: text + "\n" + HEAD})
    assert report.errors == ()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(from_grammar())
def test_programs_of_the_grammar(tmp_path: Path, text: str) -> None:
    path = tmp_path / "program.py"
    report = check([path], {"profile": "strict"}, overlay={path: text + "\n" + HEAD})
    assert report.errors == ()


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200))
def test_random_bytes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bytes.py"
    path.write_bytes(b"import torch\n" + data)
    assert check([path], {"profile": "strict"}).errors == ()


@pytest.mark.parametrize("path", STANDARD_LIBRARY[::20], ids=lambda path: path.name)
def test_a_sample_of_the_standard_library(path: Path) -> None:
    assert checked_alone(path) == ()


@pytest.mark.parametrize("project_file", [True, False])
def test_half_a_character_in_an_editor(tmp_path: Path, project_file: bool) -> None:
    """An editor may hold one surrogate while an emoji is typed. Without a project file, which files are one program is
    told from their imports.
    """
    if project_file:
        (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "data.py").write_text("import torch\n")
    (tmp_path / "other.py").write_text("import torch\n")
    path = tmp_path / "program.py"
    text = 'import data\nimport torch\nx = "\ud83d"\ng = torch.Generator()\ntorch.rand(2, generator=g)\n'
    report = check([path], {"profile": "strict"}, overlay={path: text})
    assert report.errors == ()
    assert [one.code for one in report.findings] == ["TRL203"]
    fixed = fix([path], {"unsafe_fixes": True}, write=False, overlay={path: text})
    assert [one.code for one in fixed.fixed] == ["TRL203"]


def test_a_worker_init_function_that_makes_a_generator_of_the_module_anew_by_an_odd_call(tmp_path: Path) -> None:
    """Found by changing a fixture: the name is bound in the function, but belongs to the module."""
    text = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
rng = np.random.default_rng(0)
def seed_worker(worker_id):
    global rng
    rng = globals()["x"].random.default_rng(torch.initial_seed())
class Augmented(Dataset):
    def __getitem__(self, i):
        return rng.integers(0, 1000, 3)
DataLoader(Augmented(), num_workers=2, worker_init_fn=seed_worker)
"""
    path = tmp_path / "program.py"
    report = check([path], {"profile": "strict"}, overlay={path: text})
    assert report.errors == ()
    assert "TRL107" in {finding.code for finding in report.findings}


@pytest.mark.parametrize("arm", ["pass", "..."])
def test_an_arm_that_does_nothing_above_a_seed(tmp_path: Path, arm: str) -> None:
    """Found by putting statements into fixtures: a block of `pass` alone has no statement that could be its last."""
    text = f"""\
import sys
import torch
from torch import nn
def sample():
    print(torch.rand(3))
def train():
    if x:
        {arm}
    torch.manual_seed(0)
    model = nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        torch.manual_seed(0)
        model(torch.rand(8)).sum().backward()
        optimizer.step()
COMMANDS = {{"sample": sample, "train": train}}
if __name__ == "__main__":
    for _ in range(2):
        COMMANDS[sys.argv[1]]()
"""
    path = tmp_path / "program.py"
    assert check([path], {"profile": "strict"}, overlay={path: text}).errors == ()


def test_a_constructor_that_does_nothing_can_make_the_generator(tmp_path: Path) -> None:
    text = """\
import torch
from torch.utils.data import DataLoader
class Trainer:
    def __init__(self):
        pass
    def fit(self, data):
        for batch in DataLoader(data, shuffle=True):
            print(batch)
torch.manual_seed(0)
trainer = Trainer()
for epoch in range(3):
    trainer.fit([1, 2])
"""
    path = tmp_path / "program.py"
    report = check([path], {"profile": "strict"}, overlay={path: text})
    assert report.errors == ()
    (finding,) = [one for one in report.findings if one.code == "TRL201"]
    assert finding.fix is not None

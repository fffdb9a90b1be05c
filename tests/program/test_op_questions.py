"""What the rules about operations do not ask, since no answer could be a finding."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.program import Program
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.ops.nondeterministic_op import NondeterministicOp
from torchrepro_lint.rules.ops.op_raises_under_determinism import OpRaisesUnderDeterminism

SWITCH = "torch.backends.cudnn.deterministic = True"
FLAG = "torch.use_deterministic_algorithms(True)"
WORK = """
x = torch.rand(4, 4, device="cuda", requires_grad=True)
index = torch.tensor([0, 0], device="cuda")
F.interpolate(x[None, None], size=(8, 8), mode="bicubic").sum().backward()
F.cross_entropy(x, index).backward()
x.gather(0, index[None]).sum().backward()
x.cumsum(0)
"""


def asked_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rule: Rule, seeding: str) -> Set[str]:
    """The names of operations that a rule looks for in a program which begins with these lines."""
    names: set[str] = set()
    answer = Program.operations

    def noted(program: Program, path: Path, called: Set[str]) -> list[Operation]:
        names.update(called)
        return list(answer(program, path, called))

    monkeypatch.setattr(Program, "operations", noted)
    imports = "import torch\nimport torch.nn.functional as F\n"
    list(rule.check(program_of(tmp_path, {"main.py": f"{imports}{seeding}\n{WORK}"})))
    return names


def test_none_where_the_flag_is_set_beside_the_switch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not asked_names(monkeypatch, tmp_path, NondeterministicOp(), f"{SWITCH}\n{FLAG}")


@pytest.mark.parametrize("flag", ["", f"if torch.cuda.is_available():\n    {FLAG}"])
def test_those_that_differ_where_it_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flag: str) -> None:
    names = asked_names(monkeypatch, tmp_path, NondeterministicOp(), f"{SWITCH}\n{flag}")
    assert {"gather", "cumsum", "interpolate"} <= names


def test_under_the_flag_those_alone_that_raise_in_the_newest_release(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = asked_names(monkeypatch, tmp_path, OpRaisesUnderDeterminism(), FLAG)
    assert {"interpolate", "ctc_loss"} <= names  # a blank of the latter shows the kernel that torch chooses
    assert not {"gather", "cumsum"} & names

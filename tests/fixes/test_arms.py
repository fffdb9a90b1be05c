"""What is found in several arms of one `if` is fixed in all of them, or in none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent

import pytest
from fakes import FakeProgram, WordRule, toolkit

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.halves import BESIDE_ONE_THAT_IS_LEFT

REASON = "what the other arm of the `if` makes cannot be fixed, and half of the runs would stay as they are"


class SomeWords(WordRule):
    """A rule with a fix for each word, but where a comment says that it is hard."""

    def check(self, program: FakeProgram) -> Iterator[Finding]:
        for finding in super().check(program):
            line = program.facts(finding.location.path).splitlines()[finding.location.start.row - 1]
            yield replace(finding, fix=None, fix_declined="it is hard") if "hard" in line else finding


@pytest.mark.parametrize(
    ("program", "fixed"),
    [
        pytest.param("if x:\n    bad\nelse:\n    bad\n", 2, id="both"),
        pytest.param("if x:\n    bad\nelse:\n    bad  # hard\n", 0, id="none"),
        pytest.param("if x:\n    bad  # hard\nelse:\n    bad\n", 0, id="the second"),
        pytest.param("if x:\n    bad\nelif y:\n    bad  # hard\nelse:\n    bad\n", 0, id="one of three"),
        pytest.param("if x:\n    bad\nbad  # hard\n", 1, id="below both"),
        pytest.param("if x:\n    bad\n    bad  # hard\n", 1, id="in one arm"),
        pytest.param("if x:\n    bad\nif y:\n    z\nelse:\n    bad  # hard\n", 1, id="two of them"),
        pytest.param(
            "if x:\n    if y:\n        bad\nelse:\n    for i in z:\n        bad  # hard\n", 0, id="further in"
        ),
        pytest.param("if x:\n    raise bad\nbad  # hard\n", 0, id="left before the other"),
        pytest.param("while x:\n    if y:\n        bad\n        break\n    bad  # hard\nx = bad\n", 1, id="in a loop"),
        pytest.param("match x:\n    case 1:\n        bad\n    case _:\n        bad  # hard\n", 0, id="cases"),
        pytest.param("if x == 1:\n    bad\nif x == 2:\n    bad  # hard\n", 0, id="other values of one name"),
        pytest.param("if x == 1:\n    bad\ndef g(x):\n    if x == 2:\n        y = bad  # hard\n", 1, id="another name"),
        pytest.param("try:\n    bad\nexcept E:\n    bad  # hard\n", 1, id="no if"),
    ],
)
@pytest.mark.parametrize("in_function", [False, True])
def test_arms(program: str, fixed: int, in_function: bool, write) -> None:
    text = f"import torch\ndef f():\n{indent(program, '    ')}" if in_function else f"import torch\n{program}"
    root = write({"a.py": text})
    result = fix([root], {"unsafe_fixes": True}, toolkit=toolkit(SomeWords("TRL101", "bad-word", "bad", "good")))
    assert len(result.fixed) == fixed
    assert (root / "a.py").read_text().count("good") == fixed
    assert {one.reason for one in result.rejected} == (
        {REASON} if text.count("bad") - text.count("hard") > fixed else set()
    )


def test_a_switch_is_right_in_one_arm_alone(write) -> None:
    root = write({"a.py": "import torch\nif x:\n    bad\nelse:\n    bad  # hard\n"})
    assert len(fix([root], toolkit=toolkit(SomeWords("TRL301", "bad-word", "bad", "good"))).fixed) == 1


def test_a_switch_that_nothing_reads_is_wrong_in_both_arms(write) -> None:
    program = """\
import sys

import torch
import torch.backends.cuda as cudnn

if len(sys.argv) > 1:
    torch.manual_seed(int(sys.argv[1]))
    cudnn.benchmark = False
    cudnn.deterministic = True
else:
    cudnn.benchmark = True
print(torch.rand(1))
"""
    root = write({"train.py": program})
    result = fix([root], {"unsafe_fixes": True, "profile": "strict"})
    assert not result.changes
    assert {one.reason for one in result.rejected} == {REASON}
    (found,) = check([root]).findings
    assert not found.is_fixed_safely and found.fix is not None
    assert found.fix.unsafe_because == BESIDE_ONE_THAT_IS_LEFT


def test_a_generator_that_is_made_in_a_loop_in_the_other_arm(tmp_path: Path) -> None:
    program = """
        import sys

        import torch

        torch.manual_seed(int(sys.argv[1]))
        if len(sys.argv) > 2:
            g = torch.Generator()
            print(torch.randperm(4, generator=g))
        else:
            for _ in range(2):
                g = torch.Generator()
                print(torch.randperm(4, generator=g))
        """
    (tmp_path / "main.py").write_text(dedent(program))
    result = fix([tmp_path], {"select": ("TRL203",), "unsafe_fixes": True})
    assert not result.changes
    assert REASON in [one.fix_declined for one in result.report.findings]

"""What the messages of findings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.engine import check

_PROGRAM = """\
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, random_split


def loader(data, seed=None, generator=None):
    return {call}


print(loader(range(10)))
"""


@pytest.mark.parametrize(
    ("call", "beginning"),
    [
        ("DataLoader(data, shuffle=True)", "no `generator`:"),
        ("DataLoader(data, shuffle=True, generator=None)", "`generator` is None:"),
        ("DataLoader(data, shuffle=True, generator=generator)", "`generator` may be None:"),
        ("random_split(data, [8, 2])[0]", "random_split without `generator`:"),
        ("random_split(data, [8, 2], generator)[0]", "random_split whose `generator` may be None:"),
        ("train_test_split(data)[0]", "train_test_split without `random_state`:"),
        ("train_test_split(data, random_state=seed)[0]", "train_test_split whose `random_state` may be None:"),
    ],
)
def test_an_argument_that_is_written_is_not_said_to_be_missing(call: str, beginning: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_PROGRAM.format(call=call), encoding="utf-8")
    (finding,) = check([tmp_path], {"select": ("TRL2",)}).findings
    assert finding.message.startswith(beginning)

"""How a script is given another seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.verify.repair.other_seed import OtherSeed, other_seed


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        (["--seed", "3"], ["--seed", "4"]),
        (["--lr", "1", "--random-seed", "3", "--epochs", "2"], ["--lr", "1", "--random-seed", "4", "--epochs", "2"]),
        (["--seed=3"], ["--seed=4"]),
        (["trainer.max_epochs=1", "train.seed=3"], ["trainer.max_epochs=1", "train.seed=4"]),
    ],
)
def test_among_the_arguments(arguments: list[str], changed: list[str]) -> None:
    found = other_seed(["train.py", *arguments], None, [])
    assert found is not None and list(found.command) == ["train.py", *changed]


def test_declared(tmp_path: Path) -> None:
    def declared(text: str) -> OtherSeed | None:
        path = tmp_path / "train.py"
        path.write_text(text)
        return other_seed(["train.py", "x"], None, [tmp_path / "none.py", path])

    assert declared('parser.add_argument("--seed", type=int, default=7)') == OtherSeed(
        ("train.py", "x", "--seed", "8"), "--seed 8"
    )
    assert declared('@click.option("-s", "--seed")\ndef main(seed): ...') == OtherSeed(
        ("train.py", "x", "--seed", "1"), "--seed 1"
    )
    both = 'parser.add_argument("--split_seed", default=1)\nparser.add_argument("--manualSeed")'
    assert declared(both) == OtherSeed(("train.py", "x", "--manualSeed", "1"), "--manualSeed 1")
    assert declared('parser.add_argument("--no-seed", action="store_true")') is None
    assert declared("def f(:") is None
    given = other_seed(["train.py"], ["--rng", "2"], [])
    assert given == OtherSeed(("train.py", "--rng", "2"), "--rng 2")

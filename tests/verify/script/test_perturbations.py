"""Perturbations by name."""

from __future__ import annotations

import pytest

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify.script import perturbations
from torchrepro_lint.verify.script.perturbations import Perturbation


def test_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    table = {
        "one": Perturbation("one thing", (), environment=lambda run: {"RUN": str(run)}),
        "two": Perturbation("another", ("TRL207",), patch=seeds.append),
    }
    monkeypatch.setattr(perturbations, "PERTURBATIONS", table)
    assert perturbations.named("all") == ("one", "two")
    assert perturbations.named("two, one,two") == ("two", "one")
    assert perturbations.environment("one", 2) == {"RUN": "2"}
    assert perturbations.environment("two", 2) == {}
    perturbations.apply("one", 1)
    perturbations.apply("two", 5)
    assert seeds == [5]
    with pytest.raises(TorchReproLintError, match='"three" is not a perturbation; there are: all, one, two'):
        perturbations.named("one,three")

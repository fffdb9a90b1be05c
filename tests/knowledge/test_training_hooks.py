"""Which methods and handlers frameworks call in each epoch or step."""

from __future__ import annotations

import pytest

from torchrepro_lint.knowledge.training_hooks import events_of, hooks_of


@pytest.mark.parametrize(
    ("base", "method", "is_one"),
    [
        ("lightning.pytorch.LightningModule", "on_train_epoch_start", True),
        ("lightning.pytorch.LightningModule", "training_step", True),
        ("lightning.pytorch.LightningModule", "on_fit_start", False),
        ("transformers.TrainerCallback", "on_epoch_begin", True),
        ("transformers.TrainerCallback", "on_train_begin", False),
        ("torch.nn.Module", "forward", False),
    ],
)
def test_what_is_called_in_each_epoch_or_step(base: str, method: str, is_one: bool) -> None:
    assert (method in hooks_of(base)) is is_one


def test_events_come_in_each_epoch_or_iteration() -> None:
    assert "ignite.engine.Events.EPOCH_STARTED" in events_of("on")
    assert "ignite.engine.Events.STARTED" not in events_of("on")
    assert events_of("run") == frozenset()

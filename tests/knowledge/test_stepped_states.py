"""Objects with a state that a training moves on and a checkpoint has to hold."""

from __future__ import annotations

import pytest

from torchrepro_lint.knowledge.stepped_states import stepped_states

KINDS = {one.kind: one for one in stepped_states()}
#: They go on from the rate in the optimizer's state; the others are bases.
WITHOUT_A_STATE = {"ExponentialLR", "MultiplicativeLR", "LRScheduler"}


def test_every_scheduler_of_torch_is_listed() -> None:
    scheduler = pytest.importorskip("torch").optim.lr_scheduler
    public = {name for name in scheduler.__all__ if isinstance(getattr(scheduler, name), type)} - WITHOUT_A_STATE
    listed = {
        name.rpartition(".")[2]
        for kind in ("scheduler", "plateau")
        for name in KINDS[kind].made
        if name.startswith("torch.")
    }
    assert listed == public


@pytest.mark.parametrize(
    "name", sorted({name for one in stepped_states() for name in (*one.made, *one.steps) if name.startswith("torch.")})
)
def test_what_is_of_torch_is_there(name: str) -> None:
    found = pytest.importorskip("torch")
    *parts, last = name.removeprefix("torch.").split(".")
    for part in parts:
        found = getattr(found, part)
    if last not in ("step", "update", "update_parameters") or found.__name__ != "AveragedModel":
        assert hasattr(found, last)


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("scheduler", b"'sched': scheduler.state_dict()", True),
        ("scheduler", b"lr_scheduler[0].load_state_dict(state)", True),
        ("scheduler", b"StepLR(optimizer, 3, last_epoch=start - 1)", True),
        ("scheduler", b"optimizer.state_dict()", False),
        ("scaler", b"loss_scaler.state_dict()", True),
        ("average", b"self.ema.module.state_dict()", True),
        ("loader", b"train_loader.state_dict()", True),
        ("loader", b"model.state_dict()", False),
    ],
)
def test_what_a_program_says_that_keeps_a_state(kind: str, text: bytes, found: bool) -> None:
    assert (KINDS[kind].state.search(text) is not None) is found


@pytest.mark.parametrize(
    ("kind", "key", "found"),
    [
        ("scheduler", "lr_sched", True),
        ("scheduler", "optimizer", False),
        ("scaler", "amp", True),
        ("scaler", "model", False),
    ],
)
def test_keys(kind: str, key: str, found: bool) -> None:
    assert (KINDS[kind].key.search(key) is not None) is found

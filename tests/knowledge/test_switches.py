"""Switches and seeding calls."""

from __future__ import annotations

import pytest

from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.switches import (
    Switch,
    assignment_switch,
    call_switches,
    seeding_call,
)
from torchrepro_lint.knowledge.tables import expand_names, read_toml


def effects(switches: tuple[Switch, ...], **arguments: object) -> set[str]:
    """The effects whose conditions hold for these arguments."""
    return {
        switch.effect
        for switch in switches
        if all(c.holds(c.parameter in arguments, arguments.get(c.parameter)) for c in switch.when)
    }


@pytest.mark.parametrize(
    ("attribute", "value", "effect"),
    [
        ("deterministic", True, {"cudnn"}),
        ("deterministic", False, {"cudnn-off"}),
        ("benchmark", True, {"benchmark"}),
        ("benchmark", False, {"benchmark-off"}),
        ("enabled", True, set()),
    ],
)
def test_assignments(attribute: str, value: bool, effect: set[str]) -> None:
    assert effects(assignment_switch(f"torch.backends.cudnn.{attribute}"), value=value) == effect


@pytest.mark.parametrize(
    ("qualname", "arguments", "effect"),
    [
        ("torch.use_deterministic_algorithms", {"mode": True}, {"algorithms"}),
        ("torch.use_deterministic_algorithms", {"mode": True, "warn_only": True}, {"algorithms-warn"}),
        ("torch.use_deterministic_algorithms", {"mode": False}, {"algorithms-off"}),
        ("torch.set_deterministic", {"d": True}, {"algorithms"}),
        ("torch.set_deterministic_debug_mode", {"debug_mode": "error"}, {"algorithms"}),
        ("torch.set_deterministic_debug_mode", {"debug_mode": 1}, {"algorithms-warn"}),
        ("torch.set_deterministic_debug_mode", {"debug_mode": 0}, {"algorithms-off"}),
        ("torch.backends.cudnn.flags", {"benchmark": True}, {"benchmark"}),
        ("pytorch_lightning.Trainer", {}, set()),
        ("pytorch_lightning.Trainer", {"deterministic": True}, {"algorithms"}),
        ("pytorch_lightning.Trainer", {"deterministic": "warn"}, {"algorithms-warn"}),
        ("lightning.Trainer", {"benchmark": True}, {"benchmark"}),
        ("transformers.set_seed", {"seed": 1}, set()),
        ("transformers.set_seed", {"seed": 1, "deterministic": True}, {"algorithms"}),
        ("transformers.enable_full_determinism", {"seed": 1}, {"algorithms"}),
        ("transformers.TrainingArguments", {"full_determinism": True}, {"algorithms"}),
        ("trl.trainer.sft_config.SFTConfig", {"full_determinism": True}, {"algorithms"}),
        ("ray.train.torch.enable_reproducibility", {}, {"algorithms"}),
        ("monai.utils.set_determinism", {}, {"cudnn", "benchmark-off"}),
        ("monai.utils.set_determinism", {"seed": 0}, {"cudnn", "benchmark-off"}),
        ("monai.utils.set_determinism", {"seed": None}, set()),
        (
            "monai.utils.set_determinism",
            {"seed": 0, "use_deterministic_algorithms": True},
            {"cudnn", "benchmark-off", "algorithms"},
        ),
        ("fastai.vision.all.set_seed", {"s": 1, "reproducible": True}, {"cudnn"}),
        ("mmengine.runner.set_random_seed", {"seed": 1, "deterministic": True}, {"algorithms"}),
    ],
)
def test_calls(qualname: str, arguments: dict[str, object], effect: set[str]) -> None:
    of_new_releases = [switch for switch in call_switches(qualname) if switch.only_for is None]
    assert effects(of_new_releases, **arguments) == effect


@pytest.mark.parametrize(
    ("qualname", "seeds", "default"),
    [
        ("random.seed", {"python"}, None),
        ("numpy.random.seed", {"numpy"}, None),
        ("torch.random.manual_seed", {"torch", "torch-cuda", "torch-device"}, None),
        ("torch.cuda.manual_seed_all", {"torch-cuda"}, None),
        (
            "pytorch_lightning.seed_everything",
            {"python", "numpy", "torch", "torch-cuda", "torch-device"},
            0,
        ),
        ("timm.utils.random_seed", {"python", "numpy", "torch"}, 42),
        ("imgaug.seed", {"imgaug"}, None),
    ],
)
def test_seeding(qualname: str, seeds: set[str], default: int | None) -> None:
    call = seeding_call(qualname)
    assert call is not None
    assert call.seeds == seeds
    assert call.default == default
    assert call.seed_parameter is not None


def test_a_seeding_call_without_a_seed() -> None:
    call = seeding_call("torch.seed")
    assert call is not None and call.seed_parameter is None and call.default is None
    assert seeding_call("torch.rand") is None


def test_rows_are_whole() -> None:
    data = read_toml("switches.toml")
    for row in (*data["assignment"], *data["call"], *data["seeding"]):
        assert row["source"], row
        for name in expand_names(row["name"]):
            assert canonical(name) == name
    for row in data["seeding"]:
        assert set(row["seeds"]) <= set(generators())
    for row in (*data["assignment"], *data["call"]):
        against = row["effect"] in ("benchmark", "precision", "autotune") or row["effect"].endswith("-off")
        assert against != ("level" in row), row
    for row in data["call"]:
        if "parameter" in row:
            assert row["parameter"].partition("@")[0] in row["when"], row

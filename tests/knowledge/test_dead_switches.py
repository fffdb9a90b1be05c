"""Which attribute a misspelt or misplaced name means, and the list of attributes against the installed torch."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

from torchrepro_lint.knowledge.dead_switches import backend_attributes, meant_attribute, unmissed_values

DETERMINISTIC = "torch.backends.cudnn.deterministic"
BENCHMARK = "torch.backends.cudnn.benchmark"

MISSPELT = {
    "torch.backends.cudnn.determinstic": DETERMINISTIC,
    "torch.backends.cudnn.determinisitc": DETERMINISTIC,
    "torch.backends.cudnn.determenistic": DETERMINISTIC,
    "torch.backends.cudnn.deterministics": DETERMINISTIC,
    "torch.backends.cudnn.determinism": DETERMINISTIC,
    "torch.backends.cudnn.Deterministic": DETERMINISTIC,
    "torch.backends.cudnn.benchmarks": BENCHMARK,
    "torch.backends.cudnn.bechmark": BENCHMARK,
    "torch.backends.cudnn.benckmark": BENCHMARK,
    "torch.backends.cudnn.benchamrk": BENCHMARK,
    "torch.backends.cudnn.benchmarck": BENCHMARK,
    "torch.backends.cudnn.enable": "torch.backends.cudnn.enabled",
    "torch.backends.cuda.matmul.allow_tf": "torch.backends.cuda.matmul.allow_tf32",
}
MISPLACED = {
    "torch.backends.cuda.deterministic": DETERMINISTIC,
    "torch.backends.cuda.benchmark": BENCHMARK,
    "torch.backends.cuda.allow_tf32": "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.deterministic": DETERMINISTIC,
    "torch.backends.benchmark": BENCHMARK,
    "torch.backend.cudnn.deterministic": None,
    "torch.cuda.deterministic": DETERMINISTIC,
    "torch.cuda.benchmark": BENCHMARK,
    "torch.cudnn.deterministic": DETERMINISTIC,
    "torch.cudnn.benchmark": BENCHMARK,
    "torch.deterministic": DETERMINISTIC,
    "torch.benchmark": BENCHMARK,
}


@pytest.mark.parametrize(("name", "meant"), [*MISSPELT.items(), *MISPLACED.items()])
def test_what_is_meant(name: str, meant: str | None) -> None:
    assert meant_attribute(name) == meant


@pytest.mark.parametrize(
    "name",
    [
        "torch.backends.cudnn.fastest",
        "torch.backends.cudnn.verbose",
        "torch.backends.mps.anything",
        "torch.backends.mudnn.allow_tf32",  # of a package for other GPUs
        "torch.backends.mudnn.deterministic",
        "torch.cuda.is_available",
        "torch.nn.benchmark",
        "numpy.deterministic",
        "deterministic",
    ],
)
def test_what_means_nothing(name: str) -> None:
    assert meant_attribute(name) is None


def test_what_is_real_means_itself() -> None:
    assert [name for name in backend_attributes() if meant_attribute(name) is not None] == []


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="compares with the installed torch")
def test_the_list_has_every_attribute_of_the_installed_torch() -> None:
    from update_backend_attributes import attributes

    assert attributes() <= backend_attributes()


def test_what_nobody_misses_is_a_value_of_a_real_switch() -> None:
    assert set(unmissed_values()) == {DETERMINISTIC, BENCHMARK, "torch.backends.cudnn.enabled"}
    assert set(unmissed_values()) <= backend_attributes()
    for switch, values in unmissed_values().items():
        module, _, name = switch.rpartition(".")
        assert values, "a row without values says nothing"
        if importlib.util.find_spec("torch") is not None:
            assert getattr(importlib.import_module(module), name) in values

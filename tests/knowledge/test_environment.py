"""Environment variables: when each is read, and which values work."""

from __future__ import annotations

import pytest

from torchrepro_lint.knowledge.environment import CUBLAS_WORKSPACE, environment_variables


def test_every_variable_has_a_source_and_a_known_reader() -> None:
    for name, one in environment_variables().items():
        assert one.name == name
        assert one.source
        assert one.read_at_start_of in (None, "python", "cuda")


@pytest.mark.parametrize(
    ("release", "checked"), [("1.6", False), ("1.7", True), ("2.9.1", True), ("2.10", False), ("2.13", False)]
)
def test_torch_checks_the_workspace_from_1_7_to_2_9(release: str, checked: bool) -> None:
    assert environment_variables()[CUBLAS_WORKSPACE].is_checked_by(release) is checked


def test_what_nothing_checks_is_checked_by_no_release() -> None:
    assert not environment_variables()["PYTHONHASHSEED"].is_checked_by("2.0")

"""What rules about loaders find in tests is of the strict profile: a loader there trains nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from torchrepro_lint.engine import check

_FIXTURES = Path(__file__).parent.parent / "fixtures"

#: For each of these rules a program with its fault, in one file.
FAULTS = {
    "TRL101": "TRL101_numpy_rng_in_workers/bad_form_collate.py",
    "TRL102": "TRL102_worker_init_fn_misses_rng/bad_seeds_random_only.py",
    "TRL108": "TRL108_reseeded_per_item/bad_constant_generator.py",
    "TRL201": "TRL201_dataloader_without_generator/bad_articles_torch_seed_one_worker.py",
}
_SETTINGS = 'target-torch = ">=1.8"\n'
#: A rule that a program is asked about by its name: two runs have one order as it is.
_ASKED = {"TRL201": {"extend_select": ("TRL201",)}}
_EXPECTED = re.compile(r"# expect: \S+")


def _codes(path: Path, override: dict[str, Any] | None = None) -> list[str]:
    return [one.code for one in check([path], override or {}).findings]


@pytest.mark.parametrize("code", FAULTS)
def test_only_the_strict_profile_has_it(write, code: str) -> None:
    text = (_FIXTURES / FAULTS[code]).read_text(encoding="utf-8")
    root = write(
        {
            **{f"{name}/torchrepro-lint.toml": _SETTINGS for name in ("program", "test")},
            "program/train.py": _EXPECTED.sub("", text),
            "test/tests/test_data.py": _EXPECTED.sub("", text),
        }
    )
    assert code in _codes(root / "program", _ASKED.get(code))
    assert code not in _codes(root / "test")
    assert code in _codes(root / "test", {"profile": "strict"})
    assert code in _codes(root / "test", {"extend_select": (code,)})


@pytest.mark.parametrize("code", FAULTS)
def test_a_comment_that_silences_it_is_needed(write, code: str) -> None:
    text = _EXPECTED.sub(f"# noqa: {code}", (_FIXTURES / FAULTS[code]).read_text(encoding="utf-8"))
    root = write({"torchrepro-lint.toml": _SETTINGS, "tests/test_data.py": text})
    assert "TRL901" not in _codes(root)
    assert "TRL901" not in _codes(root, {"profile": "strict"})

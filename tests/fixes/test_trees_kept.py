"""The trees of files with something to fix take most of the memory of a run: those that were used last are kept."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import libcst as cst
import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.facts.memory import Recent
from torchrepro_lint.program import locations

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"


def test_what_was_used_last_is_kept() -> None:
    recent: Recent[str, str] = Recent(10)
    for key, size in (("a", 4), ("b", 4), ("c", 2)):
        recent.put(key, key.upper(), size)
    assert recent.get("a") == "A"
    recent.put("d", "D", 4)
    assert [recent.get(key) for key in "abcd"] == ["A", None, "C", "D"]
    recent.put("e", "E", 100)
    assert [recent.get(key) for key in "acde"] == [None, None, None, "E"]
    recent.keep({"f"})
    assert recent.get("e") is None


def trees_there() -> int:
    return sum(type(one) is cst.Module for one in gc.get_objects())


@pytest.mark.exhaustive
def test_trees_go_without_a_search_for_cycles_and_the_fixes_stay_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = sorted(
        path for rule in FIXTURES.glob("TRL*") for path in sorted(rule.glob("bad_*.py"))[:2] if "TRL9" not in rule.name
    )
    for path in bad:
        shutil.copy(path, tmp_path / f"{path.parent.name}_{path.name}")
    made: list[int] = []
    parsed_with_places = locations.parsed_with_places

    def noted(path: Path, text: str) -> cst.Module:
        module = parsed_with_places(path, text)
        made.append(trees_there() - before)
        return module

    settings = {"profile": "strict"}
    whole = check([tmp_path], settings)
    monkeypatch.setattr(locations, "parsed_with_places", noted)
    monkeypatch.setattr(locations, "MOST_PARSED", 1)
    before = trees_there()
    gc.disable()
    try:
        report = check([tmp_path], settings)
    finally:
        gc.enable()
    assert (report.errors, report.findings) == ((), whole.findings)
    assert len(made) > len(bad) // 2
    # The one that was used last, one that a planner has in hand, and the new one.
    assert max(made) <= 3

"""What the documentation of a rule says of its fix is what the fix is: safe, unsafe, or there is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fixture_format import all_fixtures, copied
from test_fix_proofs import FIXABLE

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check
from torchrepro_lint.report.rule_pages import sections
from torchrepro_lint.rules import all_rules

WORDS = {Applicability.SAFE: r"\bSafe\b", Applicability.UNSAFE: r"\bUnsafe\b"}
RULES = {rule.code: rule for rule in all_rules()}


def told(code: str) -> str:
    """The section of the documentation about the fix."""
    return sections(RULES[code]).get("Fix safety", "")


@pytest.mark.parametrize("code", FIXABLE)
def test_each_kind_of_fix_is_explained(code: str, tmp_path: Path) -> None:
    made: set[Applicability] = set()
    for number, fixture in enumerate(one for one in all_fixtures() if one.rule == code and one.twin is not None):
        (tmp_path / str(number)).mkdir()
        findings = check([copied(fixture, tmp_path / str(number))]).findings
        made |= {one.fix.applicability for one in findings if one.code == code and one.fix is not None}
    assert made
    for applicability in made:
        assert re.search(WORDS[applicability], told(code)), f"{code} has a fix that is {applicability.value}"
    # A reason, not the word alone.
    assert len(told(code).split()) > 12


@pytest.mark.parametrize("code", sorted(RULES.keys() - set(FIXABLE)))
def test_a_rule_without_a_fix_says_so(code: str) -> None:
    assert told(code).startswith("No fix") or not told(code)

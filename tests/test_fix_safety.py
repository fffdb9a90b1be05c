"""What the documentation of a rule says of its fix is what the fix is: safe, unsafe, or there is none."""

from __future__ import annotations

import pytest
from test_fix_proofs import FIXABLE

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.report.rule_pages import sections
from torchrepro_lint.rules import all_rules

WORDS = {Applicability.SAFE: r"\bSafe\b", Applicability.UNSAFE: r"\bUnsafe\b"}
RULES = {rule.code: rule for rule in all_rules()}


def told(code: str) -> str:
    """The section of the documentation about the fix."""
    return sections(RULES[code]).get("Fix safety", "")


@pytest.mark.parametrize("code", sorted(RULES.keys() - set(FIXABLE)))
def test_a_rule_without_a_fix_says_so(code: str) -> None:
    assert told(code).startswith("No fix") or not told(code)

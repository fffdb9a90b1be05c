"""The examples in the documentation of a rule are programs: the rule finds the bad one once, and the good one never."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.housekeeping import HOUSEKEEPING, UNREADABLE_FILE
from torchrepro_lint.report.rule_pages import documentation, sections
from torchrepro_lint.rule_metadata import RuleMetadata
from torchrepro_lint.rules import all_rules

_CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def examples(rule: RuleMetadata, title: str) -> list[str]:
    """The programs in one section."""
    return _CODE.findall(sections(rule).get(title, ""))


each_rule = pytest.mark.parametrize("rule", (*all_rules(), *HOUSEKEEPING), ids=lambda rule: rule.code)


def found(rule: RuleMetadata, program: str, folder: Path) -> list[str]:
    """The findings of one rule in one program, as messages."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    # Whether a comment silences something is known of the rules that run.
    report = check([folder], {"profile": "strict", **({} if rule in HOUSEKEEPING else {"select": (rule.code,)})})
    assert report.errors == ()
    return [finding.message for finding in report.findings if finding.code == rule.code]


@each_rule
def test_the_bad_example_is_found_once(rule: RuleMetadata, tmp_path: Path) -> None:
    programs = examples(rule, "Example")
    assert programs
    for program in programs:
        if rule is not UNREADABLE_FILE:
            compile(program, "example", "exec")
        assert len(found(rule, program, tmp_path)) == 1


@each_rule
def test_nothing_is_found_in_what_to_use_instead(rule: RuleMetadata, tmp_path: Path) -> None:
    programs = examples(rule, "Use instead")
    assert programs
    for program in programs:
        compile(program, "example", "exec")
        assert found(rule, program, tmp_path) == []


@each_rule
def test_the_documentation_begins_with_code_and_name(rule: RuleMetadata) -> None:
    assert documentation(rule).startswith(f"{rule.code} {rule.name}.\n")

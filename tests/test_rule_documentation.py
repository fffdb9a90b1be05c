"""The examples in the documentation of a rule are programs: the rule finds the bad one once, and the good one never."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.rules import Rule, all_rules

_SECTION = re.compile(r"^(?P<title>\S.*)\n(?P<body>(?:(?: {4}.*)?\n)+)", re.MULTILINE)
_CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def documentation(rule: Rule) -> str:
    return inspect.cleandoc(sys.modules[type(rule).__module__].__doc__ or "") + "\n"


def examples(rule: Rule, title: str) -> list[str]:
    """The programs in one section."""
    for section in _SECTION.finditer(documentation(rule)):
        if section["title"] == title:
            return _CODE.findall(textwrap.dedent(section["body"]))
    return []


each_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


def found(rule: Rule, program: str, folder: Path) -> list[str]:
    """The findings of one rule in one program, as messages."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    report = check([folder], {"select": (rule.code,), "profile": "strict"})
    assert report.errors == ()
    return [finding.message for finding in report.findings]


@each_rule
def test_the_bad_example_is_found_once(rule: Rule, tmp_path: Path) -> None:
    programs = examples(rule, "Example")
    assert programs
    for program in programs:
        compile(program, "example", "exec")
        assert len(found(rule, program, tmp_path)) == 1


@each_rule
def test_nothing_is_found_in_what_to_use_instead(rule: Rule, tmp_path: Path) -> None:
    programs = examples(rule, "Use instead")
    assert programs
    for program in programs:
        compile(program, "example", "exec")
        assert found(rule, program, tmp_path) == []


@each_rule
def test_the_documentation_begins_with_code_and_name(rule: Rule) -> None:
    assert documentation(rule).startswith(f"{rule.code} {rule.name}.\n")

"""The examples in the documentation of a rule are programs: the rule finds the bad one once, and the good one never."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.housekeeping import HOUSEKEEPING, UNREADABLE_FILE
from torchrepro_lint.report.rule_pages import documentation, markdown, sections, title
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
def test_the_first_words_on_fixes_say_whether_they_are_safe(rule: RuleMetadata) -> None:
    """`torchrepro-lint rule` takes them for its summary."""
    text = sections(rule).get("Fix safety", "No fix: there is none")
    assert re.match(r"(Safe|Unsafe)(:| if )|No fix: ", text), text


@each_rule
def test_the_documentation_begins_with_code_and_name(rule: RuleMetadata) -> None:
    assert documentation(rule).startswith(f"{rule.code} {rule.name}.\n")


@each_rule
def test_a_title_begins_like_a_sentence_and_keeps_names_as_they_are(rule: RuleMetadata) -> None:
    first, rest = title(rule).split(maxsplit=1)
    summary, rest_of_summary = rule.summary.split(maxsplit=1)
    assert rest == rest_of_summary
    assert summary[0] not in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" or summary in ("DataLoader", "TF32")
    assert first == (summary.capitalize() if summary.strip(",").isalpha() and summary.islower() else summary)


@each_rule
def test_as_markdown_only_programs_are_code(rule: RuleMetadata) -> None:
    text = markdown(rule)
    assert text.startswith(f"# {rule.code} {rule.name}\n\n## What it does\n\n")
    assert not re.search(r"^ {4}", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)


@each_rule
def test_no_sentence_is_too_long_to_be_read_fast(rule: RuleMetadata) -> None:
    """A colon or a semicolon counts as an end, each item of a list for itself."""
    for name, text in sections(rule).items():
        for part in re.split(r"\n\s*\n|\n\s*- ", "\n" + _CODE.sub("", text)):
            for sentence in re.split(r"(?<=[.!?:;])\s+", " ".join(part.split())):
                assert len(sentence.split()) <= 50, f"{rule.code}, {name}: {sentence}"

"""`torchrepro-lint rule [CODE]`: the documentation of a rule, which is at the head of its module."""

from __future__ import annotations

import json
from collections.abc import Sequence

from torchrepro_lint.arguments import ArgumentParser
from torchrepro_lint.console import PROGRAM
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.report.gpu_evidence import gpu_evidence
from torchrepro_lint.report.op_evidence import op_evidence
from torchrepro_lint.report.rule_pages import explanation, fixability, markdown, rule_url, sections, title
from torchrepro_lint.rule_metadata import RuleMetadata
from torchrepro_lint.selection import unknown_rule
from torchrepro_lint.toolkit import Toolkit

__all__ = ["find_rule", "rule"]


def rule(arguments: Sequence[str], toolkit: Toolkit | None = None) -> int:
    """Print what the rule is about that `arguments` name, or one line for each rule. Exit status 0.

    TorchReproLintError where there is no such rule.
    """
    parser = ArgumentParser(f"{PROGRAM} rule", "Show the documentation of a rule.")
    parser.add_argument(
        "code", nargs="?", metavar="CODE", help="a code, a name, or a prefix of codes; without it, all rules are listed"
    )
    parser.add_argument("--all", action="store_true", help="show the documentation of every rule")
    parser.add_argument("--output-format", choices=["text", "json"], default="text", help="default: text")
    options = parser.parse_args(arguments)
    if options.code is not None and options.all:
        parser.error("give a rule or --all, not both")
    rules = (toolkit or Toolkit()).all_rules()
    word = options.code or ""
    family = [one for one in rules if one.code.startswith(word.upper()) and one.code != word.upper()]
    chosen = family or [find_rule(word, rules)]
    if options.output_format == "json":
        objects = [_rule_object(one) for one in chosen]
        print(json.dumps(objects if family else objects[0], indent=2))
    elif family and not options.all:
        _list(family)
    else:
        print("\n\n".join(_text(one) for one in chosen))
    return 0


def find_rule(code: str, rules: Sequence[RuleMetadata]) -> RuleMetadata:
    """The rule with this code or name. TorchReproLintError where there is none."""
    for one in rules:
        if code.upper() == one.code or code.lower() == one.name:
            return one
    raise TorchReproLintError(unknown_rule(code, [(one.code, one.name) for one in rules]))


def _rule_object(one: RuleMetadata) -> dict[str, object]:
    """A rule as an object of JSON. `fix` says whether the fix is safe and why, None where the rule has none;
    `explanation` is Markdown.
    """
    text = sections(one)
    return {
        "code": one.code,
        "name": one.name,
        "summary": title(one),
        "severity": one.severity.value,
        "profile": one.profile,
        "fix": text.get("Fix safety"),
        "explanation": markdown(one),
        "url": rule_url(one.code),
    }


def _list(rules: Sequence[RuleMetadata]) -> None:
    width = max((len(one.name) for one in rules), default=0)
    for one in rules:
        strict = " (strict)" if one.profile == "strict" else ""
        print(f"{one.code} {one.name:{width}} {title(one)}{strict}")


def _text(one: RuleMetadata) -> str:
    about = [f"Severity: {one.severity.value}. Profile: {one.profile}. Fix: {fixability(one)}."]
    url = rule_url(one.code)
    parts = (
        f"{one.code} {one.name}",
        "\n".join([f"{title(one)}.", *about, *filter(None, [url])]),
        explanation(one),
        op_evidence(one.code),
        gpu_evidence(one.code),
    )
    return "\n\n".join(filter(None, parts))

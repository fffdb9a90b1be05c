"""`torchrepro-lint rule [CODE]`: the documentation of a rule, which stands at the head of its module."""

from __future__ import annotations

import json
from collections.abc import Sequence

from torchrepro_lint.arguments import ArgumentParser
from torchrepro_lint.console import PROGRAM
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.engine import Toolkit
from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.report.op_evidence import op_evidence
from torchrepro_lint.report.rule_pages import documentation, rule_url, sections, title
from torchrepro_lint.rule_metadata import RuleMetadata
from torchrepro_lint.selection import unknown_rule

__all__ = ["all_rules", "find_rule", "rule", "rule_object"]


def rule(arguments: Sequence[str], toolkit: Toolkit | None = None) -> int:
    """Print what the rule is about that `arguments` name, or one line for each rule. Exit status 0.

    TorchReproLintError where there is no such rule.
    """
    parser = ArgumentParser(f"{PROGRAM} rule", "Say what a rule is about.")
    parser.add_argument("code", nargs="?", metavar="CODE", help="a code or a name; all rules are listed without it")
    parser.add_argument("--all", action="store_true", help="what every rule is about")
    parser.add_argument("--output-format", choices=["text", "json"], default="text", help="(text)")
    options = parser.parse_args(arguments)
    if options.code is not None and options.all:
        parser.error("a rule or --all, not both")
    rules = all_rules(toolkit)
    chosen = [find_rule(options.code, rules)] if options.code is not None else rules
    if options.output_format == "json":
        objects = [rule_object(one) for one in chosen]
        print(json.dumps(objects if options.code is None else objects[0], indent=2))
    elif options.code is None and not options.all:
        _list(rules)
    else:
        print("\n\n".join(_text(one) for one in chosen))
    return 0


def all_rules(toolkit: Toolkit | None = None) -> list[RuleMetadata]:
    """All rules, those that the engine applies itself among them, in the order of their codes."""
    return sorted([*(toolkit or Toolkit()).rules(), *HOUSEKEEPING], key=lambda one: one.code)


def find_rule(code: str, rules: Sequence[RuleMetadata]) -> RuleMetadata:
    """The rule with this code or name. TorchReproLintError where there is none."""
    for one in rules:
        if code.upper() == one.code or code.lower() == one.name:
            return one
    raise TorchReproLintError(unknown_rule(code, [(one.code, one.name) for one in rules]))


def rule_object(one: RuleMetadata) -> dict[str, object]:
    """A rule as an object of JSON. `fix` says whether the fix is safe and why, None where the rule has none."""
    text = sections(one)
    return {
        "code": one.code,
        "name": one.name,
        "summary": title(one),
        "severity": one.severity.value,
        "profile": one.profile,
        "fix": text.get("Fix safety"),
        "explanation": documentation(one),
        "url": rule_url(one.code),
    }


def _list(rules: Sequence[RuleMetadata]) -> None:
    width = max((len(one.name) for one in rules), default=0)
    for one in rules:
        strict = " (strict)" if one.profile == "strict" else ""
        print(f"{one.code} {one.name:{width}} {title(one)}{strict}")


def _text(one: RuleMetadata) -> str:
    parts = (
        f"{one.code} {one.name}: {one.severity.value}, {one.profile} profile",
        documentation(one),
        op_evidence(one.code),
    )
    return "\n\n".join(filter(None, parts))

"""What a report says of a rule beside its findings: its documentation, and the page where that stands."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap

from torchrepro_lint.rule_metadata import RuleMetadata

__all__ = ["DOCUMENTATION", "PROJECT", "documentation", "markdown", "rule_url", "sections", "title"]

PROJECT = "https://github.com/torchrepro-lint/torchrepro-lint"
DOCUMENTATION = "https://torchrepro-lint.github.io/torchrepro-lint"


# A heading stands flush, its text is indented.
_SECTION = re.compile(r"^(\S.*)\n((?:(?: {4}.*)?\n)+)", re.MULTILINE)


def documentation(rule: RuleMetadata) -> str:
    """The text at the head of the rule's module, which is its documentation; its summary where there is none."""
    kind = rule if isinstance(rule, type) else type(rule)
    return inspect.cleandoc(sys.modules[kind.__module__].__doc__ or rule.summary)


def sections(rule: RuleMetadata) -> dict[str, str]:
    """The sections of the documentation by their titles, each without its indentation, in their order."""
    found = _SECTION.findall(documentation(rule) + "\n")
    return {heading: text for heading, body in found if (text := textwrap.dedent(body).strip())}


def markdown(rule: RuleMetadata) -> str:
    """The documentation as Markdown, with its sections under headings."""
    parts = [f"### {rule.code} {rule.name}"]
    parts += [f"#### {heading}\n\n{body}" for heading, body in sections(rule).items()]
    return "\n\n".join(parts)


def rule_url(code: str) -> str:
    """The page of a rule on the documentation site."""
    return f"{DOCUMENTATION}/rules/{code}/"


def title(rule: RuleMetadata) -> str:
    """The summary as a sentence begins."""
    return rule.summary[:1].upper() + rule.summary[1:]

"""What a report says of a rule beside its findings: its documentation, and the page where that is."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap

from torchrepro_lint.rule_metadata import RESERVED, RuleMetadata

__all__ = [
    "DOCUMENTATION",
    "PROJECT",
    "documentation",
    "explanation",
    "fixability",
    "markdown",
    "rule_url",
    "sections",
    "title",
]

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


def explanation(rule: RuleMetadata) -> str:
    """The documentation without its first line, which names the rule."""
    named, _, rest = documentation(rule).partition("\n")
    return rest.strip() if named.startswith(rule.code) else documentation(rule)


def markdown(rule: RuleMetadata, level: int = 1) -> str:
    """The documentation as Markdown: the name under a heading of this level, the sections under the next one."""
    marks = "#" * level
    parts = [f"{marks} {rule.code} {rule.name}"]
    parts += [f"{marks}# {heading}\n\n{body}" for heading, body in sections(rule).items()]
    return "\n\n".join(parts)


def fixability(rule: RuleMetadata) -> str:
    """Whether `--fix` fixes what the rule finds: safe, unsafe or none, as its documentation says."""
    word = sections(rule).get("Fix safety", "None").partition(" ")[0].strip(":")
    return {"Safe": "safe", "Unsafe": "unsafe"}.get(word, "none")


def rule_url(code: str) -> str | None:
    """The page of a rule on the documentation site, None for a rule of another package, which has none there."""
    return None if code.startswith(RESERVED) else f"{DOCUMENTATION}/rules/{code}/"


# A word that a sentence may begin with: `torch.Generator` and `cuDNN` stay as they are written.
_WORD = re.compile(r"^[a-z]+(?=[\s,])")


def title(rule: RuleMetadata) -> str:
    """The summary as a sentence begins."""
    return (
        _WORD.sub(lambda word: word[0].capitalize(), rule.summary, count=1)
        if _WORD.match(rule.summary)
        else rule.summary
    )

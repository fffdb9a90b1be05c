"""What a report says of a rule beside its findings: its documentation, and the page where that stands."""

from __future__ import annotations

import inspect
import sys
from typing import Protocol

from torchrepro_lint.diagnostics import Severity

__all__ = ["DOCUMENTATION", "PROJECT", "RuleMetadata", "documentation", "rule_url", "title"]

PROJECT = "https://github.com/torchrepro-lint/torchrepro-lint"
DOCUMENTATION = "https://torchrepro-lint.github.io/torchrepro-lint"


class RuleMetadata(Protocol):
    """What a report needs to know of a rule. `summary` is one line; `profile` is "default" or "strict"."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def profile(self) -> str: ...
    @property
    def summary(self) -> str: ...


def documentation(rule: RuleMetadata) -> str:
    """The text at the head of the rule's module, which is its documentation; its summary where there is none."""
    kind = rule if isinstance(rule, type) else type(rule)
    return inspect.cleandoc(sys.modules[kind.__module__].__doc__ or rule.summary)


def rule_url(code: str) -> str:
    """The page of a rule on the documentation site."""
    return f"{DOCUMENTATION}/rules/{code}/"


def title(rule: RuleMetadata) -> str:
    """The summary as a sentence begins."""
    return rule.summary[:1].upper() + rule.summary[1:]

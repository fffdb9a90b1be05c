"""What is known about every rule without asking it."""

from __future__ import annotations

from typing import Protocol

from torchrepro_lint.diagnostics import Severity

__all__ = ["RESERVED", "RULES_GROUP", "Named", "RuleMetadata"]

#: The entry points by which installed packages bring rules.
RULES_GROUP = "torchrepro_lint.rules"


#: How their codes begin, which no rule of ours has.
RESERVED = "TRL8"


class Named(Protocol):
    """What has a code and a name of a rule: the rule itself, and its findings."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...


class RuleMetadata(Named, Protocol):
    """A rule as it is listed. `summary` is one line; `profile` is "default" or "strict"."""

    @property
    def severity(self) -> Severity: ...
    @property
    def profile(self) -> str: ...
    @property
    def summary(self) -> str: ...

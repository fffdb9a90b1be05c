"""Which rules run: codes, prefixes of codes and names, the most specific of which decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.settings import Settings, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchrepro_lint.diagnostics import Finding, Severity

__all__ = ["PREFIX", "RuleLike", "UNREADABLE_CODE", "UNREADABLE_NAME", "is_ignored_code", "selected_rules"]

PREFIX = "TRL"
UNREADABLE_CODE = "TRL900"
UNREADABLE_NAME = "unreadable-file"

_ALL = "ALL"


class RuleLike(Protocol):
    """What the engine asks of a rule. `profile` is "default" or "strict"; `summary` is one line."""

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

    def check(self, program: Any) -> Iterator[Finding]:
        """The findings of the rule in the whole program."""
        ...


def selected_rules(rules: Iterable[RuleLike], settings: Settings) -> list[RuleLike]:
    """The rules that `settings` select, in the order of their codes.

    Of `select` and `ignore`, the longer prefix that fits a rule decides, and `ignore` where they are equal. A rule of
    the strict profile needs that profile, `ALL`, or a selector of its own: its code, its name or its family (`TRL4`).
    `TRL` alone means the rules of the profile, as `flake8 --select TRL` does.

    TorchReproLintError for a selector that fits no rule.
    """
    known = sorted(rules, key=lambda rule: rule.code)
    selectors = (*settings.select, *settings.extend_select)
    for selector in (*selectors, *settings.ignore):
        _require_known(selector, known)
    return [rule for rule in known if _is_selected(rule, selectors, settings)]


def is_ignored_code(code: str, name: str, settings: Settings) -> bool:
    """Whether `ignore` speaks of the code: for what is reported unless the user objects."""
    return _weight(code, name, settings.ignore) >= 0


def _is_selected(rule: RuleLike, selectors: Sequence[str], settings: Settings) -> bool:
    chosen = _weight(rule.code, rule.name, selectors)
    if chosen <= _weight(rule.code, rule.name, settings.ignore):
        return False
    by_itself = chosen > len(PREFIX) or any(selector.upper() == _ALL for selector in selectors)
    return rule.profile != "strict" or settings.profile == "strict" or by_itself


def _weight(code: str, name: str, selectors: Sequence[str]) -> int:
    """How specific the most specific selector is that fits: the length of the prefix, -1 where none fits."""
    return max((_fit(code, name, selector) for selector in selectors), default=-1)


def _fit(code: str, name: str, selector: str) -> int:
    if selector.lower() == name:
        return len(code)
    if selector.upper() == _ALL:
        return 0
    return len(selector) if selector and code.startswith(selector.upper()) else -1


def _require_known(selector: str, rules: Sequence[RuleLike]) -> None:
    named = [(rule.code, rule.name) for rule in rules] + [(UNREADABLE_CODE, UNREADABLE_NAME)]
    if selector.upper() == _ALL or any(_fit(code, name, selector) > 0 for code, name in named):
        return
    words = [name for _, name in named] if "-" in selector else [code for code, _ in named]
    near = did_you_mean(selector.lower() if "-" in selector else selector.upper(), words)
    raise TorchReproLintError(f'unknown rule "{selector}"{near}')

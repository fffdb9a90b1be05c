"""Which rules run: codes, prefixes of codes and names, the most specific of which decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from torchrepro_lint.console import PROGRAM, did_you_mean
from torchrepro_lint.diagnostics import Severity, TorchReproLintError
from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.rule_metadata import Named, RuleMetadata
from torchrepro_lint.settings import Settings, SettingsOverride
from torchrepro_lint.source.ignore import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchrepro_lint.diagnostics import Finding
    from torchrepro_lint.source.project import Project

__all__ = [
    "PREFIX",
    "RuleLike",
    "is_fixable",
    "is_ignored",
    "is_ignored_in",
    "is_left_to_strict",
    "is_left_since_it_repeats",
    "is_selected",
    "is_severe_enough",
    "require_known_rules",
    "rules_of",
    "runs",
    "selected_rules",
    "unknown_rule",
]

PREFIX = "TRL"

_ALL = "ALL"


class RuleLike(RuleMetadata, Protocol):
    """What the engine asks of a rule."""

    def check(self, program: Any) -> Iterator[Finding]:
        """The findings of the rule in the whole program."""
        ...


def selected_rules(rules: Iterable[RuleLike], settings: Settings, where: str = "") -> list[RuleLike]:
    """The rules that `settings` select, in the order of their codes.

    If a rule is both selected and ignored, the longer prefix decides; if both are equally long, it is ignored. `ALL` is
    as general as `TRL`. A rule of the strict profile needs that profile, `ALL`, or a more specific selector: its code,
    its name or its family (`TRL4`). `TRL` alone means the rules of the profile, as `flake8 --select TRL` does.

    TorchReproLintError, which begins with `where` and the name of the setting, for a selector that matches no rule.
    """
    known = sorted(rules, key=lambda rule: rule.code)
    for setting, selectors in _all_selectors(settings):
        for selector in selectors:
            _require_known(selector, f"{where}{setting}", known)
    return [rule for rule in known if is_selected(rule, settings)]


def rules_of(project: Project, rules: Iterable[RuleLike]) -> list[RuleLike]:
    """The rules that the settings of `project` select, as `selected_rules` does.

    TorchReproLintError, which begins with the settings file, for a selector that matches no rule. What takes precedence
    over the file is assumed to be checked already (`require_known_rules`).
    """
    return selected_rules(rules, project.settings, "".join(f"{path}: " for path in project.settings.files[:1]))


def require_known_rules(override: SettingsOverride, rules: Iterable[RuleLike], where: str = "--") -> None:
    """TorchReproLintError for a selector in `override` that matches no rule. It begins with `where` and the name of the
    setting; `--` makes the name that of an option.
    """
    known = list(rules)
    selected_rules(known, replace(Settings(), **override.get("over_files", {})), "--config: ")
    selected_rules(known, Settings().overridden(override), where)


def is_selected(rule: RuleMetadata, settings: Settings) -> bool:
    """Whether `settings` select the rule; see `selected_rules`."""
    if _weight(rule, _selectors(settings)) <= _weight(rule, settings.ignore):
        return False
    return rule.profile != "strict" or _runs_strictly(rule, settings)


def is_left_to_strict(finding: Finding, settings: Settings) -> bool:
    """Whether `settings` leave out a finding that only those want who want a run to repeat: there, its rule counts as
    one of the strict profile.
    """
    return finding.left_to_strict is not None and not _runs_strictly(finding, settings)


def is_left_since_it_repeats(finding: Finding, settings: Settings) -> bool:
    """Whether `settings` leave out a finding about what two runs agree in as it is."""
    return finding.repeats and not _runs_strictly(finding, settings)


def _runs_strictly(rule: Named, settings: Settings) -> bool:
    """Whether a rule runs that counts as one of the strict profile: by the profile, `ALL`, or a specific selector."""
    selectors = _selectors(settings)
    by_itself = _weight(rule, selectors) > len(PREFIX) or any(selector.upper() == _ALL for selector in selectors)
    return settings.profile == "strict" or by_itself


def _selectors(settings: Settings) -> tuple[str, ...]:
    return (*settings.select, *settings.extend_select)


def runs(settings: Settings, rules: Callable[[], Iterable[RuleMetadata]]) -> Callable[[str], bool]:
    """A function that says whether the rule with a code runs under `settings`. A code of a rule that no longer exists
    counts as running, since nothing will ever be found for it.
    """

    @cache
    def by_code() -> dict[str, RuleMetadata]:
        return {rule.code: rule for rule in (*rules(), *HOUSEKEEPING)}

    return lambda code: code not in by_code() or is_selected(by_code()[code], settings)


def is_ignored(rule: Named, path: Path, settings: Settings) -> bool:
    """Whether the rule is ignored, in general or in the file `path`. For findings that do not come from a selected
    rule.
    """
    return _names(settings.ignore, rule) or is_ignored_in(path, rule, settings)


def is_ignored_in(path: Path, rule: Named, settings: Settings) -> bool:
    """Whether `per-file-ignores` contains the rule for the file `path` (absolute).

    Patterns are relative to the folder of the settings file or, without one, to the current folder.
    """
    return any(
        _names(selectors, rule) and _matches(path, pattern, settings.base or Path.cwd())
        for pattern, selectors in settings.per_file_ignores
    )


@cache
def _matches(path: Path, pattern: str, base: Path) -> bool:
    """Whether the pattern, of the kind that a .gitignore file has, matches `path` or a folder that it is in."""
    layer = Layer(base if base in path.parents else path.parent, [pattern])
    folders = [folder for folder in path.parents if layer.base in folder.parents]
    return bool(layer.verdict(path.as_posix(), False)) or any(layer.verdict(one.as_posix(), True) for one in folders)


def is_severe_enough(finding: Finding, settings: Settings) -> bool:
    """Whether a finding is at least as severe as `min-severity`."""
    return settings.min_severity == "warning" or finding.severity is Severity.ERROR


def is_fixable(rule: Named, settings: Settings) -> bool:
    """Whether `--fix` may fix what the rule finds: `fixable` and `extend-fixable` against `unfixable`. The longer
    prefix decides.
    """
    fixable = max(_weight(rule, settings.fixable), _weight(rule, settings.extend_fixable))
    return fixable > _weight(rule, settings.unfixable)


def _names(selectors: Sequence[str], rule: Named) -> bool:
    """Whether one of the selectors fits the rule."""
    return _weight(rule, selectors) >= 0


def _all_selectors(settings: Settings) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every list of selectors, with the name of its setting."""
    for name in ("select", "extend_select", "ignore", "fixable", "extend_fixable", "unfixable"):
        yield name.replace("_", "-"), getattr(settings, name)
    for pattern, selectors in settings.per_file_ignores:
        yield f'per-file-ignores: "{pattern}"', selectors


def _weight(rule: Named, selectors: Sequence[str]) -> int:
    """The length of the longest selector that matches: the more specific, the longer. -1 if none matches."""
    return max((_fit(rule.code, rule.name, selector) for selector in selectors), default=-1)


def _fit(code: str, name: str, selector: str) -> int:
    if selector.lower() == name:
        return len(code)
    if selector.upper() == _ALL:
        return len(PREFIX)
    return len(selector) if selector and code.startswith(selector.upper()) else -1


def _require_known(selector: str, setting: str, rules: Sequence[RuleMetadata]) -> None:
    named = [(rule.code, rule.name) for rule in (*rules, *HOUSEKEEPING)]
    if selector.upper() == _ALL or any(_fit(code, name, selector) > 0 for code, name in named):
        return
    raise TorchReproLintError(f"{setting}: {unknown_rule(selector, named)}")


def unknown_rule(word: str, rules: Iterable[tuple[str, str]]) -> str:
    """The message for a word that is neither the code nor the name of one of `rules`, given as pairs of both."""
    by_name = "-" in word
    known = [name if by_name else code for code, name in rules]
    # A code of another tool, such as E501, is not near to one of ours.
    ours = by_name or word.upper().startswith(PREFIX)
    near = did_you_mean(word.lower() if by_name else word.upper(), known) if ours else ""
    return f'unknown rule "{word}"{near or f"; `{PROGRAM} rule` lists them"}'

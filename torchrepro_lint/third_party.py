"""The rules that installed packages bring, by entry points of the group `torchrepro_lint.rules` (see api.py)."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from torchrepro_lint.api import Rule
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.rule_metadata import RESERVED, RULES_GROUP
from torchrepro_lint.selection import RuleLike

__all__ = ["third_party_rules"]

_CODE = re.compile(rf"{RESERVED}\d\d")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")


@cache
def third_party_rules() -> tuple[RuleLike, ...]:
    """The rules that are installed, in the order of their codes.

    TorchReproLintError where one cannot be loaded, is none, or has a code that another has.
    """
    found: dict[str, tuple[EntryPoint, RuleLike]] = {}
    for entry in sorted(entry_points(group=RULES_GROUP), key=lambda one: (one.name, one.value)):
        rule = _loaded(entry)
        if rule.code in found:
            other = found[rule.code][0]
            raise TorchReproLintError(f"{rule.code} is defined both by {_origin(other)} and by {_origin(entry)}")
        found[rule.code] = (entry, rule)
    return tuple(rule for _, (_, rule) in sorted(found.items()))


def _loaded(entry: EntryPoint) -> Rule:
    try:
        kind = entry.load()
    except Exception as error:
        raise TorchReproLintError(f"the rule {_origin(entry)} cannot be loaded: {error}") from error
    if not (isinstance(kind, type) and issubclass(kind, Rule)):
        raise TorchReproLintError(f"{_origin(entry)} is not a subclass of torchrepro_lint.api.Rule")
    for attribute, form in (("code", _CODE), ("name", _NAME), ("summary", re.compile(r".+"))):
        if not form.fullmatch(str(getattr(kind, attribute, ""))):
            raise TorchReproLintError(f"the rule {_origin(entry)} has no `{attribute}` of the form {form.pattern}")
    rule: Rule = kind()
    return rule


def _origin(entry: EntryPoint) -> str:
    package = entry.dist.name if entry.dist is not None else "an unknown package"
    return f"{entry.value} ({package})"

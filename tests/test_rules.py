"""What counts as a rule among the names of the modules of rules."""

from __future__ import annotations

import pytest

from torchrepro_lint.rules import all_rules, base


class Alias:
    """What `list[int]` is until Python 3.10: no class, although it says so when it is asked for its own."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type


def test_an_alias_of_a_type_is_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    alias = Alias()
    assert isinstance(alias, type)
    monkeypatch.setattr(base, "Names", alias, raising=False)
    assert [rule.code for rule in all_rules.__wrapped__()] == [rule.code for rule in all_rules()]

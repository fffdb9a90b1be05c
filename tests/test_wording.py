"""What findings say: one sentence of a length that can be read at a glance, in the words of PyTorch's users."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from fixture_format import all_fixtures

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.engine import check
from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.rules import all_rules

_LONGEST = 160
#: Words in which the authors speak to each other, and nobody else.
_PRIVATE = re.compile(
    r"goes (?:unsorted )?into|hands? (?:it |each |this )?(?:on|to)\b|handed (?:on|over)|comes? by\b|speaks? of|stands? in\b"
    r"|gone through|goes through|in its place|worker's number|given by position|numbers by position|the same for\b"
    r"|is meant\b|takes? part in|reach(?:es)? them|is told\b|the one before drew|by way of",
    re.IGNORECASE,
)


@cache
def _findings() -> tuple[Finding, ...]:
    """Those of all fixtures, as one project, in the strict profile: the default one has none that are not among them."""
    files = [file for fixture in all_fixtures() if fixture.path.name.startswith("bad_") for file in fixture.files]
    return check(files, {"profile": "strict"}).findings


def _texts(one: Finding) -> Iterator[str]:
    yield one.message
    yield from (step.note for step in one.trace)
    if one.fix is not None:
        yield one.fix.message
    if one.fix_declined is not None:
        yield one.fix_declined


def test_a_message_is_short() -> None:
    long = {one.message for one in _findings() if len(one.message) > _LONGEST}
    assert not long


def test_no_text_is_in_a_private_dialect() -> None:
    private = {text for one in _findings() for text in _texts(one) if _PRIVATE.search(text)}
    assert not private


def test_the_rules_of_all_findings_are_seen() -> None:
    assert len({one.code for one in _findings()}) >= 35


def test_no_summary_is_in_a_private_dialect() -> None:
    assert not [rule.summary for rule in (*HOUSEKEEPING, *all_rules()) if _PRIVATE.search(rule.summary)]

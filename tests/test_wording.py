"""What the summaries of rules say; what findings say is held to the same words beside the fixtures they are made of."""

from __future__ import annotations

from wording import PRIVATE

from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.rules import all_rules


def test_no_summary_is_in_a_private_dialect() -> None:
    assert not [rule.summary for rule in (*HOUSEKEEPING, *all_rules()) if PRIVATE.search(rule.summary)]

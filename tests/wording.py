"""How findings are worded: one sentence that can be read at a glance, in the words of PyTorch's users."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding

__all__ = ["LONGEST", "PRIVATE", "texts_of"]

#: How many characters a message may have.
LONGEST = 160
#: Words in which the authors speak to each other, and nobody else.
PRIVATE = re.compile(
    r"goes (?:unsorted )?into|hands? (?:it |each |this )?(?:on|to)\b|handed (?:on|over)|comes? by\b|speaks? of|stands? in\b"
    r"|gone through|goes through|in its place|worker's number|given by position|numbers by position|the same for\b"
    r"|is meant\b|takes? part in|reach(?:es)? them|is told\b|the one before drew|by way of",
    re.IGNORECASE,
)


def texts_of(one: Finding) -> Iterator[str]:
    """All that a finding says: its message, the notes of its proof, and what it says of its fix."""
    yield one.message
    yield from (step.note for step in one.trace)
    if one.fix is not None:
        yield one.fix.message
        if one.fix.unsafe_because is not None:
            yield one.fix.unsafe_because
    if one.fix_declined is not None:
        yield one.fix_declined

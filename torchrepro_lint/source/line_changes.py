"""Which lines of a text stay in another one, also where both hold thousands of equal lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from torchrepro_lint.source.lines import shared_start

__all__ = ["Opcode", "line_changes"]

#: What becomes of lines: "equal", "replace", "delete" or "insert", their first and last index in the old text (the last
#: one not included) and those in the new text, as `difflib.SequenceMatcher.get_opcodes` has them.
Opcode = tuple[str, int, int, int, int]

#: For more pairs of equal lines than this, `difflib`, which looks at each pair, takes seconds.
_MOST_PAIRS = 1_000_000

#: How many lines may be added or taken away for the shortest way to be looked for, which costs this times the lines.
_MOST_CHANGES = 200


def line_changes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """What becomes of the lines of `old` in `new`, in order. Together, the parts cover both texts."""
    counts = Counter(new)
    if sum(counts[line] for line in old) <= _MOST_PAIRS:
        return list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
    head = shared_start(old, new)
    tail = shared_start(old[head:][::-1], new[head:][::-1])
    inner, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    kept = [(0, 0, head), *((head + one, head + other, size) for one, other, size in _kept(inner, inner_new))]
    return _opcodes([*kept, (len(old) - tail, len(new) - tail, tail), (len(old), len(new), 0)])


def _kept(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    """The runs of lines that stay: where each begins in both, and its length. None where too much has changed. This is
    the algorithm of E. Myers, An O(ND) difference algorithm and its variations, Algorithmica 1 (1986).
    """
    # By the number of changes: how far in `old` each diagonal is followed, which is a line of `old` minus one of `new`.
    reached: list[dict[int, int]] = []
    furthest = {1: 0}
    for changes in range(_MOST_CHANGES + 1):
        reached.append(dict(furthest))
        for diagonal in range(-changes, changes + 1, 2):
            start = _start(furthest, diagonal, len(old), len(new))
            if start is None:
                continue
            at = start + _equal_from(old, start, new, start - diagonal)
            furthest[diagonal] = at
            if at == len(old) and at - diagonal == len(new):
                return _way_back(reached, at, diagonal, len(old), len(new))
    return []


def _start(furthest: dict[int, int], diagonal: int, most_old: int, most_new: int) -> int | None:
    """Where a diagonal is entered: by a line of the new text, from above, or by one of the old left out, from below."""
    added = furthest.get(diagonal + 1, -1)
    left_out = furthest.get(diagonal - 1, -2) + 1
    starts = [
        *([added] if added >= 0 and added - diagonal <= most_new else []),
        *([left_out] if 0 <= left_out <= most_old else []),
    ]
    return max((start for start in starts if start >= diagonal), default=None)


def _equal_from(old: Sequence[str], start: int, new: Sequence[str], start_new: int) -> int:
    """The number of lines that are equal from a line of each text on."""
    count = 0
    while start + count < len(old) and start_new + count < len(new) and old[start + count] == new[start_new + count]:
        count += 1
    return count


def _way_back(
    reached: list[dict[int, int]], at: int, diagonal: int, most_old: int, most_new: int
) -> list[tuple[int, int, int]]:
    kept = []
    for furthest in reversed(reached):
        start = _start(furthest, diagonal, most_old, most_new)
        assert start is not None  # it was entered on the way there
        if at > start:
            kept.append((start, start - diagonal, at - start))
        from_above = furthest.get(diagonal + 1, -1) == start
        diagonal += 1 if from_above else -1
        at = start if from_above else start - 1
    return kept[::-1]


def _opcodes(kept: list[tuple[int, int, int]]) -> list[Opcode]:
    opcodes: list[Opcode] = []
    done, done_new = 0, 0
    for first, first_new, size in kept:
        if done < first or done_new < first_new:
            kind = "insert" if done == first else "delete" if done_new == first_new else "replace"
            opcodes.append((kind, done, first, done_new, first_new))
        done, done_new = first + size, first_new + size
        if size:
            opcodes.append(("equal", first, done, first_new, done_new))
    return opcodes

"""What a fix may not change: recordings of the script before the fix are held against those with it.

Each check asks that what held before still holds. That the runs agree further than before is not among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from torchrepro_lint.verify.repair.streams import Epochs, Stream, seeds, shared_generators, streams, work
from torchrepro_lint.verify.script.between_ranks import between_ranks
from torchrepro_lint.verify.script.entries import Entry
from torchrepro_lint.verify.script.record import Record

_PLACES = re.compile(r" \([^)]*\)")
_WORKER = re.compile(r"(?:(.*), )?worker \d+ of loader \d+$")
# One pass over a loader: what is taken in it, and its epoch.
_Pass: TypeAlias = tuple[Stream, int | None]


class Contract:
    """What the script did before a fix: plain `runs` of it, at least two."""

    def __init__(self, runs: Sequence[Record]) -> None:
        self._runs = runs
        self._streams = [streams(run) for run in runs]

    @property
    def checks(self) -> list[str]:
        """What `broken_by` can tell with these recordings, in words."""
        told = ["the script does as much work as before"]
        if any(len(passes) > 1 for passes in _passes(self._streams[0]).values()):
            told.append("no epoch, loader or worker repeats another one where none did")
        if len({stream.name for stream in self._streams[0] if stream.about == "order"}) > 1:
            told.append("no loader takes its order from the generator of another one")
        if self._seeds():
            told.append("the seeds that it sets are those of before")
        if self._runs[0].header.ranks > 1:
            told.append("ranks agree and differ as before")
        return told

    def broken_by(self, run: Record) -> str | None:
        """What a run with the fixes does otherwise and may not, in words; None where it keeps to all that is known."""
        return next(self._broken(run), None)

    def _broken(self, run: Record) -> Iterator[str]:
        before = [work(one) for one in self._runs]
        if before[0] == before[1] != (now := work(run)):
            kind = next(kind for kind in (*before[0], *now) if before[0][kind] != now[kind])
            yield f"the script would do other work: {now[kind]} of kind {kind} in place of {before[0][kind]}"
        yield from self._repeated(streams(run))
        shared = sorted(shared_generators(run) - shared_generators(self._runs[0]))
        if shared:
            one, other = shared[0]
            yield f"{one} and {other} would draw from one generator: how often one is gone through changes the other"
        missing = [entry for key, entry in self._seeds().items() if key not in seeds(run)]
        if missing:
            yield f"{missing[0].name} would no longer be called with {missing[0].shown}, as it is in the script"
        known = {_PLACES.sub("", words) for words in between_ranks(self._runs[0])}
        yield from (words for words in between_ranks(run) if _PLACES.sub("", words) not in known)

    def _repeated(self, now: dict[Stream, Epochs]) -> Iterator[str]:
        before = _passes(self._streams[0])
        for group, passes in _passes(now).items():
            was = before.get(group, {})
            alike: dict[tuple[str, ...], list[_Pass]] = {}
            for one in passes:
                alike.setdefault(passes[one], []).append(one)
            for same in alike.values():
                for one, other in combinations(same, 2):
                    if one in was and other in was and was[one] != was[other]:
                        yield f"{_of(other)} would be {_of(one, other)}"
                        return

    def _seeds(self) -> dict[tuple[str, str], Entry]:
        in_both = seeds(self._runs[0])
        other = seeds(self._runs[1])
        return {key: entry for key, entry in in_both.items() if key in other}

    def deaf_to_the_seed(self, before: Record, run: Record, other: Record, *, drawn: bool) -> str | None:
        """What is the same in runs with the fix and two seeds, and was not before, in words; None where nothing is.

        Args:
            before: A run without the fix, with the other seed.
            run: A run with the fix and the script's usual seed.
            other: One with the fix and the other seed.
            drawn: Whether the fix is for random numbers. Only then is it asked of what differed between plain runs,
                too: an order that each run had otherwise, as that of a set, need not depend on a seed.
        """
        was, one, second = streams(before), streams(run), streams(other)
        for stream, epochs in one.items():
            usual = [known.get(stream) for known in self._streams[:2]]
            if None in (*usual, was.get(stream)) or usual[0] == was[stream] or epochs != second.get(stream):
                continue
            if drawn or usual[0] == usual[1]:
                return f"{stream.words} would be the same for every seed that the script is given"
        return None


def _passes(known: dict[Stream, Epochs]) -> dict[tuple[str, str, str], dict[_Pass, tuple[str, ...]]]:
    """The passes over all loaders of a process together, and what all its workers draw from one generator: a loader
    that is made anew for each epoch is one of another number each time.
    """
    groups: dict[tuple[str, str, str], dict[_Pass, tuple[str, ...]]] = {}
    for stream, epochs in known.items():
        worker = _WORKER.match(stream.process)
        if stream.about == "worker" and worker is not None:
            group: tuple[str, str, str] = ("worker", worker[1] or "", stream.name)
        elif stream.about in ("order", "batches"):
            group = (stream.about, stream.process, "")
        else:
            continue
        for epoch, values in epochs.items():
            groups.setdefault(group, {})[stream, epoch] = values
    return groups


def _of(one: _Pass, other: _Pass | None = None) -> str:
    """A pass in words; after another one, only what tells it apart."""
    stream, epoch = one
    if other is not None and other[0] == stream:
        return f"that of epoch {epoch}"
    return f"{stream.words} in epoch {epoch}"

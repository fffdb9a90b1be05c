"""Statements that look like a switch or a seed and reach none: which attribute of torch a misspelt or misplaced name
means, which values of a switch nobody misses, and which generators are lost where nothing keeps them
(dead_switches.toml).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import expand_names, read_rows

__all__ = ["DroppedGenerator", "backend_attributes", "dropped_generators", "meant_attribute", "unmissed_values"]

_FILE = "dead_switches.toml"

_MOST_EDITS = 2
_MOST_EDITS_OF_A_LONG_NAME = 3
_LONG = 10
_FEWEST_LETTERS = 6  # of a name in which one edit is a slip and not another word
_HOMES = ("torch", "torch.backend", "torch.backends", "torch.cuda", "torch.cudnn")

#: Names that say by themselves which switch is meant, wherever they are assigned.
_TELLING = ("deterministic", "benchmark", "allow_tf32")


@dataclass(frozen=True, slots=True)
class DroppedGenerator:
    """A call that makes a generator. `meant` seeds the global generator `rng`, with the same argument."""

    meant: str
    rng: str


@cache
def dropped_generators() -> Mapping[str, DroppedGenerator]:
    """The calls by their canonical names."""
    found: dict[str, DroppedGenerator] = {}
    for row in read_rows(_FILE, "dropped"):
        one = DroppedGenerator(row["meant"], row["seeds"])
        found.update((canonical(name), one) for text in row["names"] for name in expand_names(text))
    return found


@cache
def unmissed_values() -> Mapping[str, frozenset[bool]]:
    """Switches by their canonical names, with the values that change nothing but the speed of a run where they never
    reach torch.
    """
    rows = read_rows(_FILE, "unmissed")
    return {canonical(name): frozenset(row["values"]) for row in rows for name in row["names"]}


@cache
def backend_attributes() -> frozenset[str]:
    """Every public attribute of torch.backends and of what is below it."""
    text = (Path(__file__).parent / "backend_attributes.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def meant_attribute(qualname: str) -> str | None:
    """The real attribute that an assignment to `qualname` means; None where that is real itself, or means nothing.

    It is the one with the fewest edits (letters added, left out, changed or swapped) from the same owner: two at most,
    three for a name of ten letters or more.
    A name that belongs to cuDNN alone is also known in a wrong place: `torch.backends.cuda.deterministic`.
    """
    name = canonical(qualname)
    owner, _, attr = name.rpartition(".")
    if name in backend_attributes() or not attr:
        return None
    is_known = _attributes_below(owner)  # other packages put backends of their own below torch.backends: mudnn, say
    if is_known:
        near = _nearest(attr, _attributes_of(owner))
        if near is not None:
            return f"{owner}.{near}"
    if owner in _HOMES or is_known:
        telling = _nearest(attr, _TELLING)
        home = "torch.backends.cuda.matmul" if telling == "allow_tf32" else "torch.backends.cudnn"
        if telling is not None and f"{home}.{telling}" != name:
            return f"{home}.{telling}"
    return None


@cache
def _attributes_of(owner: str) -> tuple[str, ...]:
    """The attributes of one owner, as far as they are not owners themselves."""
    names = (name.rpartition(".") for name in backend_attributes())
    found = {attr for home, _, attr in names if home == owner}
    return tuple(sorted(attr for attr in found if not _attributes_below(f"{owner}.{attr}")))


def _attributes_below(owner: str) -> bool:
    return any(name.startswith(f"{owner}.") for name in backend_attributes())


def _nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate with the fewest edits, if those are few for its length; the word itself counts with none."""
    best: tuple[int, str] | None = None
    for candidate in candidates:
        if min(len(word), len(candidate)) < _FEWEST_LETTERS or word[:1].lower() != candidate[:1]:
            continue
        distance = 0 if word.lower() == candidate else _edits(word.lower(), candidate)
        allowed = _MOST_EDITS if len(candidate) < _LONG else _MOST_EDITS_OF_A_LONG_NAME
        if distance <= allowed and (best is None or (distance, candidate) < best):
            best = (distance, candidate)
    return best[1] if best is not None else None


def _edits(first: str, second: str) -> int:
    """The optimal string alignment distance: letters added, left out, changed, or swapped with their neighbour."""
    before: list[int] = []
    above = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        row = [i]
        for j, other in enumerate(second, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]

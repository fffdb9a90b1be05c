"""What is said of a fault of the tool itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

__all__ = ["files_in_hand", "internal_error"]


def internal_error(what: str, error: Exception, files: Iterable[Path]) -> str:
    """One line on a fault of the tool: which part, in which file of the user, where in our code."""
    import traceback  # which a run without a fault does not wait for

    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "torchrepro_lint" in frame.filename] or frames
    place = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    text = " ".join(str(error).split())
    file = next(iter(files_in_hand(error, files)), None)
    where = f" in {file}" if file is not None and str(file) not in what else ""
    return f"internal error: {what}{where}: {type(error).__name__}: {text}{place}; please report it"


def files_in_hand(error: Exception, files: Iterable[Path]) -> list[Path]:
    """The user's files that the failing code was at, innermost first, as far as its local variables tell."""
    import traceback

    known = set(files)
    found: dict[Path, None] = {}
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for value in frame.f_locals.values():
            found.update((path, None) for path in _paths_of(value) if path in known)
    return list(found)


def _paths_of(value: object) -> Iterator[Path]:
    """The file that a value is, or is in; of several values, the first one's."""
    if isinstance(value, (list, tuple)) and value:
        value = value[0]
    if isinstance(value, Path):
        yield value
    for place in ("path", "facts.path", "site.path", "frame.facts.path"):
        with suppress(Exception):  # it has none, or is an object whose making has just failed
            found = attrgetter(place)(value)
            if isinstance(found, Path):
                yield found

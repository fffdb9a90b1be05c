"""Which releases of a library still have a name, or run beside old releases of others: the rows of `old_names.toml`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from torchrepro_lint.knowledge.tables import read_toml
from torchrepro_lint.knowledge.versions import admits

__all__ = ["Need", "last_release_with", "needs_of"]

_FILE = "old_names.toml"


def last_release_with(package: str, uses: Iterable[tuple[str, str | None]]) -> str | None:
    """The newest release of a package that has all of some dotted names of it, and takes the keyword of a call that is
    given with a name; None where the newest of all does.
    """
    newest: str | None = None
    for name, keyword in uses:
        module, _, own = name.rpartition(".")
        for at in (package, module):
            last = _rows().get((package, at, own, keyword))
            if last is not None and (newest is None or not admits(f">={newest}", last)):
                newest = last
    return newest


@dataclass(frozen=True, slots=True)
class Need:
    """The releases of a package after `last` need another, `other`, from the version `since` on."""

    other: str
    since: str
    last: str


@cache
def needs_of(package: str) -> tuple[Need, ...]:
    """What the releases of a package need, the strictest first."""
    rows = [row for row in read_toml(_FILE)["needs"] if row["package"] == package]
    return tuple(sorted((Need(row["other"], row["since"], row["last"]) for row in rows), key=lambda need: need.last))


@cache
def _rows() -> dict[tuple[str, str, str, str | None], str]:
    """The last release with a name, by the package, the module that had it (the package: any of it), the name, and the
    keyword of a call of it.
    """
    return {
        (row["package"], row.get("module", row["package"]), name, keyword): row["last"]
        for row in read_toml(_FILE)["old"]
        for name in row["names"]
        for keyword in row.get("keywords", (None,))
    }

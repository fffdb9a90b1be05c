"""What the rules say about the programs of the table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from torchrepro_lint.engine import check

from .cells import Construct, bad, left_out, twins
from .clients import Client

#: A gap of a cell: the fault is not found, or the innocent twin is reported.
MISSED, FALSE = "missed", "false"


def gaps_of(client: Client, chosen: Iterable[Construct], folder: Path) -> set[tuple[str, str]]:
    """What is amiss in the cells of a client, as (construct, gap). The programs are written below the folder."""
    return {
        (construct.name, gap)
        for construct in chosen
        if left_out(construct, client) is None
        for gap in _gaps(construct, client, folder)
    }


def _gaps(construct: Construct, client: Client, folder: Path) -> set[str]:
    gaps = set()
    if not reported(bad(construct, client), client.rule, folder):
        gaps.add(MISSED)
    if any(reported(twin, client.rule, folder) for twin in twins(construct, client)):
        gaps.add(FALSE)
    return gaps


def reported(files: dict[str, str], rule: str, folder: Path) -> bool:
    """Whether a rule reports anything in the program of these files, which are written into a folder of their own."""
    with TemporaryDirectory(dir=folder) as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        report = check([Path(root)], {"select": (rule,), "profile": "strict"})
    assert not report.errors, report.errors
    return bool(report.findings)

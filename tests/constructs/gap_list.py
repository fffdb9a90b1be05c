"""The list of known gaps, and what the page on limits says of them.

`python -m tests.constructs --update` writes both.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .cells import Construct, constructs, left_out
from .clients import CLIENTS, Client
from .measure import FALSE, MISSED

#: Each gap as construct, client, and `missed` or `false`.
FILE = Path(__file__).with_name("gaps.tsv")
PAGE = Path(__file__).parents[2] / "docs" / "pages" / "limits.md"
BEGIN, END = "<!-- constructs: begin -->\n", "<!-- constructs: end -->\n"
#: Of the analyses that follow no more than this share of a construct's cells, the construct is listed.
_HARDLY, _PARTLY = 0.2, 0.6

Gap = tuple[str, str, str]


def known_gaps() -> set[Gap]:
    """The gaps in the list."""
    rows = (line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines()[1:])
    return {(construct, client, gap) for construct, client, gap in rows}


def as_text(gaps: set[Gap]) -> str:
    """The list of these gaps, in the order of the constructs and the clients."""
    places = {construct.name: number for number, construct in enumerate(constructs())}
    columns = {client.name: number for number, client in enumerate(CLIENTS)}
    rows = sorted(gaps, key=lambda row: (places[row[0]], columns[row[1]], row[2]))
    return "construct\tclient\tgap\n" + "".join("\t".join(row) + "\n" for row in rows)


def clients_of(construct: Construct) -> list[Client]:
    """The clients with a cell for a construct."""
    return [client for client in CLIENTS if left_out(construct, client) is None]


def constructs_of(client: Client) -> list[Construct]:
    """The constructs with a cell for a client."""
    return [construct for construct in constructs() if left_out(construct, client) is None]


def section(gaps: set[Gap]) -> str:
    """What docs/pages/limits.md says of these gaps."""
    by_client = Counter((client, gap) for _, client, gap in gaps)
    amiss = Counter(construct for construct, _ in {(construct, client) for construct, client, _ in gaps})
    shares = {one.name: 1 - amiss[one.name] / len(clients_of(one)) for one in constructs()}
    rows = []
    for client in CLIENTS:
        cells = len(constructs_of(client))
        found = cells - by_client[client.name, MISSED]
        rows.append(f"| {client.name} | {client.rule} | {found} of {cells} | {by_client[client.name, FALSE]} |\n")
    hardly = [name for name, share in shares.items() if share <= _HARDLY]
    partly = [name for name, share in shares.items() if _HARDLY < share <= _PARTLY]
    return (
        f"{BEGIN}\n"
        f"{len(constructs())} constructs of Python were each used to carry a value from where it begins to where it matters, for\n"
        f"{len(CLIENTS)} analyses: in a program with a fault, and in its twin without one. `python -m tests.constructs` measures it.\n\n"
        "| What is followed | Rule | Faults found | Twins reported |\n|---|---|---|---|\n"
        f"{''.join(rows)}\n"
        f"Followed by no more than {_HARDLY:.0%} of these analyses:\n\n{_listed(hardly)}\n"
        f"By more, but no more than {_PARTLY:.0%}:\n\n{_listed(partly)}\n"
        f"`tests/constructs/gaps.tsv` lists each combination that is not followed, and `tests/constructs/python/` has the texts.\n\n"
        f"{END}"
    )


def _listed(names: list[str]) -> str:
    of_part: dict[str, list[str]] = {}
    for construct in constructs():
        if construct.name in names:
            of_part.setdefault(construct.part, []).append(_code(construct.name))
    return "".join(f"- {part}: {'; '.join(listed)}\n" for part, listed in of_part.items())


def _code(name: str) -> str:
    # Underscores and stars would be taken for markup.
    return f"`{name}`" if set(name) & set("_*") else name


def with_section(page: str, text: str) -> str:
    """The page with this text for its section on constructs."""
    before, _, rest = page.partition(BEGIN)
    return before + text + rest.partition(END)[2]

"""Prints which constructs of Python each analysis follows: `python -m tests.constructs`, from the folder of the project.

With `--update`, the list of gaps and the page on limits are written anew. With names of clients or constructs (in
quotes), only these are measured, and each gap is printed with its program: `python -m tests.constructs "zip"`.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from .cells import Construct, bad, constructs, left_out, twins
from .clients import CLIENTS, Client
from .gap_list import FILE, PAGE, as_text, clients_of, constructs_of, with_section
from .gap_list import section as section_of
from .measure import FALSE, MISSED, gaps_of


def main(arguments: list[str]) -> None:
    names = {argument for argument in arguments if argument != "--update"}
    known = {one.name for one in (*CLIENTS, *constructs())}
    if names - known:
        sys.exit(f"neither a client nor a construct: {', '.join(sorted(names - known))}")
    clients = [client for client in CLIENTS if client.name in names] or list(CLIENTS)
    chosen = [construct for construct in constructs() if construct.name in names] or list(constructs())
    began = time.process_time()
    with TemporaryDirectory() as folder:
        found = {client.name: gaps_of(client, chosen, Path(folder)) for client in clients}
    gaps = {(construct, client, gap) for client, amiss in found.items() for construct, gap in amiss}
    if names:
        _print_programs(gaps, clients, chosen)
        return
    _print_table(gaps)
    print(f"\n{time.process_time() - began:.0f} seconds of processor time")
    if "--update" in arguments:
        FILE.write_text(as_text(gaps), encoding="utf-8")
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(with_section(page, section_of(gaps)), encoding="utf-8")


def _print_table(gaps: set[tuple[str, str, str]]) -> None:
    by_client = Counter((client, gap) for _, client, gap in gaps)
    print(f"{'client':36}{'rule':8}{'found':>8}{'twins reported':>18}")
    for client in CLIENTS:
        cells = len(constructs_of(client))
        found = 1 - by_client[client.name, MISSED] / cells
        print(f"{client.name:36}{client.rule:8}{found:>8.0%}{by_client[client.name, FALSE]:>18}")
    cells = sum(len(constructs_of(client)) for client in CLIENTS)
    missed, false = (sum(kind == gap for _, _, gap in gaps) for kind in (MISSED, FALSE))
    print(f"{'all':44}{1 - missed / cells:>8.0%}{false:>18}")
    print("\nconstructs with the most gaps")
    by_construct = Counter((construct, gap) for construct, _, gap in gaps)
    worst = sorted(constructs(), key=lambda one: -by_construct[one.name, MISSED] - by_construct[one.name, FALSE])
    for construct in worst[:40]:
        amiss = f"{by_construct[construct.name, MISSED]} missed, {by_construct[construct.name, FALSE]} false"
        print(f"{construct.name:56}{amiss} of {len(clients_of(construct))}")


def _print_programs(gaps: set[tuple[str, str, str]], clients: list[Client], chosen: list[Construct]) -> None:
    for client in clients:
        for construct in chosen:
            for kind in (MISSED, FALSE):
                if (construct.name, client.name, kind) in gaps:
                    print(f"{'=' * 100}\n{kind}: {construct.name}, {client.name} ({client.rule})")
                    for files in [bad(construct, client)] if kind == MISSED else twins(construct, client):
                        for name, text in files.items():
                            print(f"--- {name}\n{text}")
    cells = sum(left_out(construct, client) is None for client in clients for construct in chosen)
    print(f"{len({gap[:2] for gap in gaps})} of {cells} cells with a gap")


if __name__ == "__main__":
    main(sys.argv[1:])

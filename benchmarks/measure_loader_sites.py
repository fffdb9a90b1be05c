#!/usr/bin/env python3
"""How much of what a careful reviewer finds does the tool find, and how much of what it finds is right?

`loader_sites.tsv` holds loaders of public repositories, each with what rules of the family 1xx should say of it,
decided by reading the code before the tool was run on it. This script runs the tool on local clones and compares:

    python benchmarks/measure_loader_sites.py CLONES [--only NAME] [--certain]

CLONES is a folder with the repositories as `owner__name`, each at the commit of the table (another commit is said, and
the repository left out). A finding counts for a loader when it stands at the loader's call, names it in its trace, or
stands at the place that the table gives for it.
Recall = expected and found / expected; precision = expected and found / found. Exit 1 below the bars 0.9 and 0.97.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from torchrepro_lint.engine import check

TABLE = Path(__file__).with_name("loader_sites.tsv")
RECALL, PRECISION = 0.9, 0.97
Row = Mapping[str, str]


def expected_codes(row: Row) -> dict[str, tuple[str, int]]:
    """`TRL107@data/aug.py:33,TRL101` -> the codes, each with the place where its finding stands."""
    expected = {}
    for part in row["expected"].split(","):
        code, _, place = part.partition("@")
        path, _, line = place.rpartition(":")
        if code != "-":
            expected[code] = (path, int(line)) if place else (row["path"], int(row["line"]))
    return expected


def found_codes(folder: Path) -> dict[tuple[str, int], set[str]]:
    """The codes that the tool reports for each line, the lines of the traces included."""
    found: dict[tuple[str, int], set[str]] = defaultdict(set)
    report = check([folder], {"select": ("TRL1",), "profile": "default", "ignore": ("TRL111",)})
    for finding in report.findings:
        places = [finding.location, *(step.location for step in finding.trace)]
        if finding.code == "TRL101":
            places = places[:1]
        for place in places:
            found[place.path.relative_to(folder).as_posix(), place.start.row].add(finding.code)
    return found


def commit_of(folder: Path) -> str:
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def measure(rows: Iterable[Row], clones: Path) -> tuple[int, int, int]:
    """Prints each disagreement; returns the numbers of hits, misses and false alarms."""
    hits = misses = false_alarms = 0
    by_repository: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_repository[row["repository"]].append(row)
    for repository, sites in by_repository.items():
        folder = (clones / repository.replace("/", "__")).resolve()
        if not folder.is_dir():
            print(f"-- {repository}: no clone")
            continue
        if (commit := commit_of(folder)) != sites[0]["commit"]:
            print(f"-- {repository}: the clone is at {commit[:12]}, not at {sites[0]['commit'][:12]}")
            continue
        started = time.perf_counter()
        found = found_codes(folder)
        for row in sites:
            places = expected_codes(row)
            wanted, got = set(places), set(found.get((row["path"], int(row["line"])), ()))
            # One finding stands for all the loaders that suffer from it, and its trace names one of them.
            got |= {code for code, place in places.items() if code in found.get(place, ())}
            hits += len(wanted & got)
            misses += len(wanted - got)
            false_alarms += len(got - wanted)
            place = f"{repository} {row['path']}:{row['line']} ({row['certainty']})"
            for code in sorted(wanted - got):
                print(f"MISSED {code} {place}: {row['reason']}")
            for code in sorted(got - wanted):
                print(f"FALSE  {code} {place}: {row['reason']}")
        print(f"-- {repository}: {len(sites)} sites, {time.perf_counter() - started:.1f} s")
    return hits, misses, false_alarms


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", default="", help="repositories whose name contains this")
    parser.add_argument("--certain", action="store_true", help="leave out the sites that are debatable")
    options = parser.parse_args()
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = [row for row in rows if options.only in row["repository"]]
    if options.certain:
        rows = [row for row in rows if row["certainty"] != "debatable"]
    hits, misses, false_alarms = measure(rows, options.clones)
    recall = hits / (hits + misses) if hits + misses else 1.0
    precision = hits / (hits + false_alarms) if hits + false_alarms else 1.0
    print(f"{hits} found, {misses} missed, {false_alarms} false: recall {recall:.3f}, precision {precision:.3f}")
    return 0 if recall >= RECALL and precision >= PRECISION else 1


if __name__ == "__main__":
    sys.exit(main())

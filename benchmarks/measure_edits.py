#!/usr/bin/env python3
"""What an edit costs in the language server, beside a server that has just started.

    python benchmarks/measure_edits.py [--files 8] [--edits 4] monai/ timm/

Of each tree some files are opened, one after the other, and lines of them are doubled, as a person would who writes.
After each edit the findings in the open file are asked of the server that has seen the one before, and of a new one.
They must be the same; the time is that of the processor.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import threading
import time
from pathlib import Path

from torchrepro_lint.lsp.session import Session

STACK = 64 * 1024 * 1024  # as the server's thread has


def seconds(session: Session, texts: dict[Path, str]) -> tuple[float, object]:
    """How long the findings in the open files take, and they themselves."""
    started = time.process_time()
    findings = session.check(texts).findings
    return time.process_time() - started, findings


def measure(tree: Path, files: int, edits: int, chance: random.Random) -> int:
    """Prints a row of the table: medians, the slowest, and the median of the ratios. How many findings differed."""
    candidates = sorted(path for path in tree.rglob("*.py") if b"torch" in path.read_bytes())
    session, kept, anew = Session(), [], []
    different = 0
    for path in chance.sample(candidates, min(files, len(candidates))):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        session.check({path: "".join(lines)})
        for _ in range(edits):
            at = chance.randrange(len(lines))
            lines.insert(at, lines[at])
            texts = {path: "".join(lines)}
            after, findings = seconds(session, texts)
            fresh, others = seconds(Session(), texts)
            kept.append(after)
            anew.append(fresh)
            different += findings != others
    ratio = statistics.median(one / other for one, other in zip(anew, kept, strict=True))
    print(
        f"| {tree.name} | {statistics.median(kept):.2f} s, at most {max(kept):.2f} s "
        f"| {statistics.median(anew):.2f} s | {ratio:.0f} times |",
        flush=True,
    )
    return different


def main() -> int:
    """The exit status: 1 where findings differed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=8, help="how many files of each tree are opened")
    parser.add_argument("--edits", type=int, default=4, help="how often each is changed")
    given = parser.parse_args()
    print("| tree | after an edit | a new server | ratio |\n|---|---|---|---|")
    different = sum(measure(tree.resolve(), given.files, given.edits, random.Random(0)) for tree in given.trees)
    if different:
        print(f"{different} edits with other findings", file=sys.stderr)
    return bool(different)


if __name__ == "__main__":
    ended: list[int] = []
    threading.stack_size(STACK)
    thread = threading.Thread(target=lambda: ended.append(main()))
    thread.start()
    thread.join()
    sys.exit(ended[0] if ended else 2)

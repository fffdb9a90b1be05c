"""Rewrite the fixed twins of fixtures from the tool's own fix: `python tests/update_fixed.py [PATH ...]`.

The header of a twin, its claims, stays. Read the difference before you keep it: a twin is what a person would have
written, and where the tool writes something else, it is the tool that is to be mended.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fixture_format import FOLDER, fixed_texts, header_of

from torchrepro_lint.verify.fixtures.fixture import find_fixtures


def main(paths: list[str]) -> int:
    """Rewrite the twins of the bad programs below the paths (all of them by default); says what changed."""
    for bad in find_fixtures([Path(path) for path in paths] or [FOLDER]):
        if bad.twin is None:
            if str(bad.path) in paths:
                print(
                    f"{bad.path} has no twin: write the header of fixed_*.py beside it first, and give the bad program"
                )
            continue
        for name, text in fixed_texts(bad).items():
            target = bad.twin / name if bad.twin.is_dir() else bad.twin
            old = target.read_text(encoding="utf-8") if target.exists() else ""
            new = header_of(old) + text
            if new != old or not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(new, encoding="utf-8")
                print(f"rewrote {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Checks every Python file below some folders, each as a project of its own, and prints the faults of the tool.

    python tests/fuzz_files.py FOLDER ...

Run over the standard library and over all packages of an environment, it must print nothing but the count.
"""

from __future__ import annotations

import sys
from pathlib import Path

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.engine import check
from torchrepro_lint.source.text import SourceError, read_source


def checked_alone(path: Path) -> tuple[str, ...]:
    """The faults of the tool on the text of a file, as if it stood alone and spoke of torch."""
    try:
        text = read_source(path).text
    except SourceError:
        return ()
    alone = Path(path.anchor) / "no such folder" / path.name
    return check([alone], {"profile": "strict"}, overlay={alone: text + "\nimport torch\n"}).errors


def main() -> None:
    files = sorted({path for folder in sys.argv[1:] for path in Path(folder).rglob("*.py") if path.is_file()})
    for number, path in enumerate(files, 1):
        try:
            faults = checked_alone(path)
        except TorchReproLintError as error:
            faults = (str(error),)
        for fault in faults:
            print(f"{path}: {fault}", flush=True)
        print(f"\r{number} of {len(files)}", end="", file=sys.stderr)
    print(f"{len(files)} files")


if __name__ == "__main__":
    main()

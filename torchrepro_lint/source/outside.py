"""What the files of a project say that are no Python: shell scripts, container files, CI files, metadata."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from torchrepro_lint.regular_files import read_regular

__all__ = ["METADATA", "SCRIPTS", "SKIPPED", "files_below", "is_named_below"]

#: The files at the root of a project that may name its console scripts.
METADATA = ("pyproject.toml", "setup.cfg", "setup.py")

#: Files with commands in them, or with variables for commands, by their names.
SCRIPTS = re.compile(
    r"(Dockerfile|Containerfile|Makefile|Justfile|justfile|Jenkinsfile)(\..*)?|.*\.(sh|bash|zsh|slurm|sbatch|job|env|yml"
    r"|yaml|mk|dockerfile|ps1|bat|toml|ini|cfg)|\.env.*|\.envrc|.*rc",
    re.IGNORECASE,
)
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", "build", "dist"})
_MAX_FILES = 5_000
_MAX_BYTES = 1_000_000


def files_below(root: Path, wanted: Callable[[str], object], skipped: Collection[str] = SKIPPED) -> Iterator[Path]:
    """The files below `root` whose names are wanted, folder by folder in order, but for folders that are called one of
    `skipped`.
    """
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in skipped)
        for name in sorted(filter(wanted, files)):
            yield Path(folder, name)


def is_named_below(root: Path, needle: bytes) -> bool:
    """Whether a shell script, container file, Makefile, .env or CI file below `root` holds `needle`."""
    seen = 0
    for path in files_below(root, SCRIPTS.fullmatch):
        seen += 1
        if seen > _MAX_FILES:
            return False
        try:
            if needle in read_regular(path, _MAX_BYTES):
                return True
        except OSError:
            continue
    return False

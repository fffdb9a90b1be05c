"""What the answer of a run depends on, as one digest."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import torchrepro_lint

__all__ = ["DIGEST_SIZE", "digest_of", "key_of", "own_state"]

DIGEST_SIZE = 16
_PACKAGE = Path(torchrepro_lint.__file__).parent


def digest_of(data: bytes) -> bytes:
    """The digest of the contents of a file."""
    return hashlib.blake2b(data, digest_size=DIGEST_SIZE).digest()


def key_of(parts: Iterable[bytes | str]) -> str:
    """One word that stands for all of `parts`, in their order."""
    pieces: list[bytes] = []
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        pieces += (b"%d:" % len(data), data)
    return hashlib.blake2b(b"".join(pieces), digest_size=24).hexdigest()


@cache
def own_state() -> str:
    """The tool and the Python that it runs on. The tool's own files count, as they are on the disk: a version number
    does not change while the tool is worked on.
    """
    states = [torchrepro_lint.__version__, sys.version]
    pending = [str(_PACKAGE)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        pending.append(entry.path)
                else:
                    state = entry.stat()
                    states.append(f"{entry.path} {state.st_size} {state.st_mtime_ns}")
    return "\n".join(states)

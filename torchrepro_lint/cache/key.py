"""What the answer of a run depends on, as one digest."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import torchrepro_lint

__all__ = ["digest_of", "run_key"]

_PACKAGE = Path(torchrepro_lint.__file__).parent


def digest_of(data: bytes) -> bytes:
    """The digest of the contents of a file."""
    return hashlib.blake2b(data, digest_size=16).digest()


def run_key(parts: Iterable[str], contents: Mapping[Path, bytes]) -> str:
    """The key of a run: the tool and the Python it runs on, `parts` (what is asked, settings), digests of contents."""
    whole = hashlib.blake2b(digest_size=24)
    for text in (torchrepro_lint.__version__, _own_code(), sys.version, *parts):
        data = text.encode("utf-8", "surrogatepass")
        whole.update(b"%d:" % len(data) + data)
    for path in sorted(contents):
        data = os.fsencode(path)
        whole.update(b"%d:" % len(data) + data + contents[path])
    return whole.hexdigest()


@cache
def _own_code() -> str:
    """The state of the tool's own files: a version number does not change while the tool is worked on."""
    states = []
    pending = [str(_PACKAGE)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        pending.append(entry.path)
                else:
                    state = entry.stat()
                    states.append(f"{entry.path} {state.st_size} {state.st_mtime_ns}")
    return "\n".join(sorted(states))

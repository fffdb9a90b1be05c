"""The file of the cache. It is replaced as a whole, so that a run that is killed, or another at the same time, leaves
a whole file behind; of two that write at once, the later one's is kept. A file that is not in order counts as empty.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["FOLDER", "Store", "clean"]

FOLDER = ".torchrepro-lint-cache"
_FILE = "results.json"
_FORMAT = "torchrepro-lint results 1"

MAX_ENTRIES = 32
MAX_CHARACTERS = 32_000_000

_MARKS = {
    ".gitignore": "# Made by torchrepro-lint.\n*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds a cache of torchrepro-lint.\n",
}


class Store:
    """Texts by key. The ones used last are kept, as many as `MAX_ENTRIES` and `MAX_CHARACTERS` allow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> str | None:
        """The text of `key`, None where there is none."""
        for name, text in self._entries():
            if name == key:
                return text
        return None

    def put(self, key: str, text: str) -> None:
        """Keeps `text` under `key`. Where the folder cannot be written, nothing is kept, and nothing said."""
        entries = [(key, text), *(entry for entry in self._entries() if entry[0] != key)][:MAX_ENTRIES]
        while len(entries) > 1 and sum(len(one) for _, one in entries) > MAX_CHARACTERS:
            entries.pop()
        if len(text) > MAX_CHARACTERS:
            return
        with suppress(OSError):
            self._make_folder()
            self._replace(json.dumps([_FORMAT, [[name, _digest(name, one), one] for name, one in entries]]))

    def _entries(self) -> list[tuple[str, str]]:
        try:
            # No link to elsewhere is followed, and a FIFO would wait for ever.
            file = self.folder / _FILE
            if file.is_symlink() or not file.is_file():
                return []
            form, entries = json.loads(file.read_text(encoding="utf-8"))
            if form != _FORMAT:
                return []
            return [(name, text) for name, digest, text in entries if digest == _digest(name, text)]
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return []

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in _MARKS.items():
            if not (self.folder / name).exists():
                (self.folder / name).write_text(text, encoding="utf-8")

    def _replace(self, text: str) -> None:
        descriptor, temporary = tempfile.mkstemp(prefix=".results-", dir=self.folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.replace(temporary, self.folder / _FILE)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise


def clean(folder: Path) -> bool:
    """Removes a cache: what this tool has written, and the folder if nothing else is in it. Whether there was one."""
    if folder.is_symlink() or not (folder / "CACHEDIR.TAG").is_file():
        return False
    for file in (*folder.glob(".results-*"), *(folder / name for name in (_FILE, *_MARKS))):
        with suppress(OSError):
            file.unlink()
    with suppress(OSError):
        folder.rmdir()
    return True


def _digest(name: str, text: str) -> str:
    return hashlib.blake2b((name + "\0" + text).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

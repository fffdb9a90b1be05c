"""Whether files can be read at all: for those that no rule had to look at, in other processes where that pays.

Python's symbol table is made without a tree of Python objects, three times as fast as facts are. What it refuses is
looked at closely by whoever asked: it alone says why.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.quiet import without_warnings
from torchrepro_lint.source.depth import is_too_deep, too_large_for_python
from torchrepro_lint.source.text import SourceError, read_source

if TYPE_CHECKING:
    from multiprocessing.pool import AsyncResult, Pool

__all__ = ["Readers", "is_surely_readable"]

# A process takes a tenth of a second to start: it pays from about a second's work on.
_BYTES_THAT_PAY = 6_000_000
_FILES_AT_ONCE = 64


def is_surely_readable(text: str) -> bool:
    """Whether facts can be made of a text, as far as a quick look can tell: false where it takes a closer one."""
    import symtable

    if is_too_deep(text) or too_large_for_python(text) is not None:
        return False
    try:
        with without_warnings():
            symtable.symtable(text, "", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _doubtful(paths: Sequence[Path]) -> list[Path]:
    """The files of `paths` that take a closer look."""
    doubtful = []
    for path in paths:
        try:
            if not is_surely_readable(read_source(path).python):
                doubtful.append(path)
        except SourceError:
            doubtful.append(path)
    return doubtful


class Readers:
    """A quick look at many files, which goes on in other processes while the rules run.

    `jobs` is how many processes may work, this one among them. The answer is the same for every number of them.
    """

    def __init__(self, files: Sequence[Path], jobs: int) -> None:
        self._files = files
        self._pool: Pool | None = None
        self._pending: list[AsyncResult[list[Path]]] = []
        if jobs > 1 and sum(map(_size, files)) >= _BYTES_THAT_PAY:
            import multiprocessing

            with _no_code_from_here():
                self._pool = multiprocessing.get_context().Pool(jobs - 1, _ignore_interrupts)
            for start in range(0, len(files), _FILES_AT_ONCE):
                self._pending.append(self._pool.apply_async(_doubtful, (files[start : start + _FILES_AT_ONCE],)))

    def doubtful(self, known: Callable[[Path], bool]) -> list[Path]:
        """The files that take a closer look, in order; those that are `known` may be left out."""
        if self._pool is None:
            return _doubtful([path for path in self._files if not known(path)])
        return [path for part in self._pending for path in part.get()]

    def close(self) -> None:
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _ignore_interrupts() -> None:
    """The process that the user interrupts ends its helpers itself."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _no_code_from_here() -> Iterator[None]:
    """A process that is spawned, not forked, would look for its modules in the present folder first: in linted code."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before

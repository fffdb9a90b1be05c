"""Where a line of the source is found: on the web at its commit, else as a file beside the page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from torchrepro_lint.source.git_head import GitHead

__all__ = ["SourceLinks"]


@dataclass(frozen=True, slots=True)
class SourceLinks:
    """Addresses of lines, for a page in `folder`."""

    folder: Path
    head: GitHead | None = None

    def line(self, path: Path, row: int) -> str:
        """The address of a row of a file."""
        if self.head is not None and self.head.web is not None and path.is_relative_to(self.head.top):
            name = quote(path.relative_to(self.head.top).as_posix())
            return f"{self.head.web}/blob/{self.head.commit}/{name}#L{row}"
        try:
            name = os.path.relpath(path, self.folder)
        except ValueError:  # on another drive
            return path.as_uri()
        # `./`, so that the name of no file is read as the scheme of an address.
        return f"./{quote(name.replace(os.sep, '/'))}#L{row}"

    def commit(self) -> str | None:
        """The address of the commit, None where it has none."""
        return f"{self.head.web}/commit/{self.head.commit}" if self.head is not None and self.head.web else None

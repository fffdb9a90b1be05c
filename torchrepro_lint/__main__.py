"""`python -m torchrepro_lint`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def _without_current_folder() -> None:
    """Takes the current folder, which `python -m` puts in front, off the search path, as `python -P` does: a module in
    the repository that is checked could have the name of one that the tool imports.
    """
    if getattr(sys.flags, "safe_path", False) or not sys.path:
        return
    with suppress(OSError):  # the folder may be gone
        if sys.path[0] in ("", os.getcwd()):  # noqa: PTH109
            del sys.path[0]


if __name__ == "__main__":
    _without_current_folder()
    from torchrepro_lint.cli import main

    raise SystemExit(main())

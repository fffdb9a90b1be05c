"""`python -m torchrepro_lint`."""

from __future__ import annotations

from torchrepro_lint.cli import main

if __name__ == "__main__":
    raise SystemExit(main())

"""`python -m torchrepro_lint`."""

from __future__ import annotations

from torchrepro_lint.cli import main

raise SystemExit(main())

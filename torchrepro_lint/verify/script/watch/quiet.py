"""Asking torch something without the program's modes, or ours, seeing it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def quietly(torch: Any) -> Iterator[None]:
    """Tensors may be read here: no gradient is recorded, and no mode or subclass is asked."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch._C.DisableTorchFunction())
        stack.enter_context(torch.no_grad())
        if getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)():
            from torch.utils._python_dispatch import _disable_current_modes

            stack.enter_context(_disable_current_modes())
        yield

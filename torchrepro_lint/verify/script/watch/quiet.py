"""Asking torch something without the program's modes, or ours, seeing it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

# As torch had them when it was imported: the program may put others in their place.
_contexts: tuple[Callable[[], Any], ...] = ()


def learn(torch: Any) -> None:
    """To be called when torch has just been imported."""
    global _contexts
    _contexts = (torch._C.DisableTorchFunction, torch.no_grad)


@contextlib.contextmanager
def quietly(torch: Any) -> Iterator[None]:
    """Tensors may be read here: no gradient is recorded, and no mode or subclass is asked."""
    with contextlib.ExitStack() as stack:
        for context in _contexts:
            stack.enter_context(context())
        if getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)():
            from torch.utils._python_dispatch import _disable_current_modes

            stack.enter_context(_disable_current_modes())
        yield

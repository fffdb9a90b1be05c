"""Calls of torch.distributed that all ranks make together, in the order in which this one makes them."""

from __future__ import annotations

import functools
from typing import Any

from torchrepro_lint.verify.script.watch.recorder import Recorder
from torchrepro_lint.verify.script.watch.threads import Nesting

_COLLECTIVES = (
    *("all_reduce", "reduce", "broadcast", "all_gather", "all_gather_into_tensor", "gather", "scatter", "barrier"),
    *("reduce_scatter", "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "all_gather_object"),
    *("broadcast_object_list", "gather_object", "scatter_object_list", "monitored_barrier"),
)
_MOST = 5_000  # calls that are told


class CollectiveWatch:
    """Tells each call; one that another makes inside itself is that one's affair."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._nesting = Nesting()
        self._told = 0

    def watch(self, distributed: Any) -> None:
        """Wrap the functions of `torch.distributed`, and of its module `distributed_c10d`."""
        inner = getattr(distributed, "distributed_c10d", None)
        for name in _COLLECTIVES:
            original = getattr(distributed, name, None)
            if original is not None:
                wrapper = self._wrapped(original, name)
                for holder in (distributed, inner):
                    if getattr(holder, name, None) is original:
                        setattr(holder, name, wrapper)

    def _wrapped(self, original: Any, name: str) -> Any:
        @functools.wraps(original)
        def collective(*args: Any, **kwargs: Any) -> Any:
            if self._nesting.inside or self._told >= _MOST:
                return original(*args, **kwargs)
            self._told += 1
            self._recorder.record("collective", name)
            self._nesting.inside = True
            try:
                return original(*args, **kwargs)
            finally:
                self._nesting.inside = False

        return collective

"""A second stream that keeps a GPU busy. What depends on the timing of its threads then shows in few runs."""

from __future__ import annotations

import threading
import time
from typing import Any

_SIDE = 1024  # of the matrices: long enough for a kernel to overlap with others, short enough to let them in
_COLLIDING = 1 << 16  # additions to a few places


class Contention:
    """Starts when the program has begun to use CUDA, and ends with it."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._started = False

    def follow(self) -> None:
        """Start, if it is time."""
        if not self._started and self._torch.cuda.is_initialized():
            self._started = True
            for device in range(self._torch.cuda.device_count()):
                threading.Thread(target=self._work, args=(device,), daemon=True).start()

    def _work(self, device: int) -> None:
        torch = self._torch
        # Of its own: what the program draws must not change.
        generator = torch.Generator(f"cuda:{device}").manual_seed(0)
        with torch.cuda.device(device), torch.cuda.stream(torch.cuda.Stream(device)), torch.no_grad():
            matrix = torch.rand(_SIDE, _SIDE, device="cuda", generator=generator)
            places = torch.randint(0, 8, (_COLLIDING,), device="cuda", generator=generator)
            values = torch.rand(_COLLIDING, device="cuda", generator=generator)
            while True:
                matrix @ matrix
                # Bursts of uneven length: what runs beside them is disturbed at other moments each time.
                torch.zeros(8, device="cuda").index_add_(0, places, values)
                torch.cuda.current_stream().synchronize()
                time.sleep(0)

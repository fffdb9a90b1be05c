"""A second stream that keeps a GPU busy. What depends on the timing of its threads then shows in few runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

_SIDE = 1024  # of the matrices: long enough for a kernel to overlap with others, short enough to let them in
_COLLIDING = 1 << 16  # additions to a few places
_PATIENCE = 5.0  # seconds that a kernel under way has to finish


class Contention:
    """Starts when the program has begun to use CUDA, and ends with it. `report` is told if it could not be kept up."""

    def __init__(self, torch: Any, report: Callable[[str], None]) -> None:
        self._torch = torch
        self._report = report
        self._threads: list[threading.Thread] = []
        self._troubles: list[str] = []
        self._over = threading.Event()

    def follow(self) -> None:
        """Start, if it is time."""
        if not self._threads and self._torch.cuda.is_initialized():
            for device in range(self._torch.cuda.device_count()):
                # With a name: else the numbers of the program's own threads would be others.
                name = f"contention on cuda:{device}"
                thread = threading.Thread(target=self._work, args=(device,), name=name, daemon=True)
                self._threads.append(thread)
                thread.start()

    def end(self) -> None:
        """Stop: Python must not end with a thread inside CUDA."""
        if not self._threads:
            self._report("the script has not used CUDA, so there was nothing to disturb")
        self._over.set()
        for thread in self._threads:
            thread.join(_PATIENCE)
        for trouble in self._troubles:
            self._report(trouble)

    def _work(self, device: int) -> None:
        try:
            self._disturb(device)
        except Exception as error:  # no memory is left, or the program forbids what is done here
            self._troubles.append(f"cuda:{device} was not kept busy to the end: {type(error).__name__}: {error}")

    def _disturb(self, device: int) -> None:
        torch = self._torch
        # Of its own: what the program draws must not change.
        generator = torch.Generator(f"cuda:{device}").manual_seed(0)
        with torch.cuda.device(device), torch.cuda.stream(torch.cuda.Stream(device)), torch.no_grad():
            matrix = torch.rand(_SIDE, _SIDE, device="cuda", generator=generator)
            places = torch.randint(0, 8, (_COLLIDING,), device="cuda", generator=generator)
            values = torch.rand(_COLLIDING, device="cuda", generator=generator)
            while not self._over.is_set():
                matrix @ matrix
                # Bursts of uneven length: what runs beside them is disturbed at other moments each time.
                torch.zeros(8, device="cuda").index_add_(0, places, values)
                torch.cuda.current_stream().synchronize()
                time.sleep(0)

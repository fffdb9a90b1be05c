"""Where the program meets what a perturbation varies."""

from __future__ import annotations

import os

from torchrepro_lint.verify.script.entries import TOOK_EFFECT, Place
from torchrepro_lint.verify.script.watch.places import caller, within_import
from torchrepro_lint.verify.script.watch.recorder import Recorder

_CLEANS_UP = ("tempfile.py", "shutil.py")  # in which order it goes through folders decides nothing
_MOST = 20  # lines that are told


class Effects:
    """To be called whenever something varied was met: each line is told once. What a library does as it is imported is
    its own affair.
    """

    def __init__(self, recorder: Recorder, varied: str) -> None:
        self._recorder = recorder
        self._varied = varied
        self._told: set[Place | None] = set()

    def __call__(self) -> None:
        """Tell of the user's line that led here, if it was not told before."""
        if len(self._told) >= _MOST or within_import():
            return
        places = caller()
        if places[1] is not None and os.path.basename(places[1].file) in _CLEANS_UP:
            return
        if places[0] not in self._told:
            self._told.add(places[0])
            self._recorder.record("note", TOOK_EFFECT, shown=self._varied, places=places)

"""The weights that are evaluated: they need not be those that an optimizer changes, but an average of them."""

from __future__ import annotations

import functools
from typing import Any
from weakref import WeakKeyDictionary

from torchrepro_lint.verify.script.watch.recorder import Recorder


class EvaluationWatch:
    """Tells the weights of a module that is put into evaluation, once for each step, and an average when it moves."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._told: WeakKeyDictionary[Any, int] = WeakKeyDictionary()

    def watch_modules(self, module: Any) -> None:
        """Put the hook into `torch.nn.modules.module`."""
        original = module.Module.eval

        @functools.wraps(original)
        def eval(evaluated: Any) -> Any:
            result = original(evaluated)
            self._tell(evaluated)
            return result

        module.Module.eval = eval

    def watch_averages(self, swa_utils: Any) -> None:
        """Put the hook into `torch.optim.swa_utils`."""
        original = swa_utils.AveragedModel.update_parameters

        @functools.wraps(original)
        def update_parameters(average: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(average, *args, **kwargs)
            self._tell(average)
            return result

        swa_utils.AveragedModel.update_parameters = update_parameters

    def _tell(self, module: Any) -> None:
        recorder = self._recorder
        step = recorder.here.step
        if recorder.worker is not None or recorder.here.inside or self._told.get(module) == step:
            return
        self._told[module] = step
        weights = [*module.parameters(), *module.buffers()]
        if weights:
            recorder.mark("weights", type(module).__name__, output=recorder.content_of_tensors(weights))

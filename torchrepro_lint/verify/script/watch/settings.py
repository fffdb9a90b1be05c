"""What a step is made with: learning rates, the state of the optimizer, schedulers, the scale of gradients.

Told where a training is resumed: a second half that begins with other ones has not loaded them.
"""

from __future__ import annotations

import functools
from typing import Any
from weakref import ref

from torchrepro_lint.verify.script.watch.places import NOWHERE
from torchrepro_lint.verify.script.watch.recorder import Recorder


class SettingsWatch:
    """Tells, before each step of an optimizer, what it is made with; only where the plan asks for it."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._schedulers: list[ref[Any]] = []
        self._scalers: list[ref[Any]] = []

    def watch_schedulers(self, module: Any) -> None:
        """Put the hook into `torch.optim.lr_scheduler`."""
        self._keep(getattr(module, "LRScheduler", None) or module._LRScheduler, self._schedulers)

    def watch_scalers(self, module: Any) -> None:
        """Put the hook into `torch.amp.grad_scaler`, or into `torch.cuda.amp.grad_scaler` of older releases."""
        self._keep(module.GradScaler, self._scalers)

    def tell(self, optimizer: Any, name: str) -> None:
        """Tell what the next step of an optimizer is made with."""
        if not self._recorder.plan.settings:
            return
        with self._recorder.unrecorded():
            told: dict[str, Any] = {}
            for index, group in enumerate(optimizer.param_groups):
                of = f" of group {index}" if len(optimizer.param_groups) > 1 else ""
                told["the learning rate" + of] = _number(group.get("lr"))
            tensors = [
                value for state in optimizer.state.values() for value in state.values() if hasattr(value, "detach")
            ]
            content = self._recorder.content_of_tensors(tensors) if tensors else None
            told[f"the state of {type(optimizer).__name__}"] = content.digest() if content is not None else "none"
            for scheduler in filter(None, (one() for one in self._schedulers)):
                told[f"the epoch of {type(scheduler).__name__}"] = getattr(scheduler, "last_epoch", None)
            for scaler in filter(None, (one() for one in self._scalers)):
                if scaler.is_enabled():
                    told["the scale of GradScaler"] = _number(scaler.get_scale())
        self._recorder.record("settings", name, detail=told, places=NOWHERE)

    def _keep(self, kind: Any, known: list[ref[Any]]) -> None:
        make = kind.__init__

        @functools.wraps(make)
        def __init__(made: Any, *args: Any, **kwargs: Any) -> None:
            make(made, *args, **kwargs)
            known.append(ref(made))

        kind.__init__ = __init__


def _number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value

"""Losses, gradients and parameters: what every training loop of torch goes through."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from torchrepro_lint.verify.script.entries import BEFORE_TRAINING
from torchrepro_lint.verify.script.watch.limit import RunLimit
from torchrepro_lint.verify.script.watch.parameter_names import ParameterNames
from torchrepro_lint.verify.script.watch.recorder import Recorder
from torchrepro_lint.verify.script.watch.settings import SettingsWatch

_DIGITS = 9  # a float32 comes back from so many


class TrainingWatch:
    """Tells each loss, and the parameters of each optimizer before training and after each step; in stage 2, gradients
    and the parameters by name.
    """

    def __init__(self, recorder: Recorder, names: ParameterNames, limit: RunLimit, settings: SettingsWatch) -> None:
        self._recorder = recorder
        self._names = names
        self._limit = limit
        self._settings = settings
        self._count = itertools.count()
        self._numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._new_optimizers: list[Any] = []

    def watch_backward(self, autograd: Any) -> None:
        """Put the hooks into `torch.autograd`; `Tensor.backward` reaches its `backward` as well."""
        original = autograd.backward

        @functools.wraps(original)
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            self._limit.before_backward()
            self._record_new_optimizers()
            for loss in [tensors] if hasattr(tensors, "detach") else list(tensors):
                self._recorder.mark("loss", "loss", output=self._recorder.content(loss), shown=self._shown(loss))
            return original(tensors, *args, **kwargs)

        autograd.backward = backward

    def watch_optimizers(self, optimizer_module: Any) -> None:
        """Put the hooks into `torch.optim.optimizer`: all optimizers are made and stepped through it."""
        base = optimizer_module.Optimizer
        make = base.__init__

        @functools.wraps(make)
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            make(optimizer, *args, **kwargs)
            self._number(optimizer)

        base.__init__ = __init__
        optimizer_module.register_optimizer_step_pre_hook(self._before)
        optimizer_module.register_optimizer_step_post_hook(self._after)

    def _number(self, optimizer: Any) -> int:
        if optimizer not in self._numbers:
            self._numbers[optimizer] = next(self._count)
            self._limit.has_optimizer = True
            self._new_optimizers.append(optimizer)
        return self._numbers[optimizer]

    def _record_new_optimizers(self) -> None:
        """The parameters before training: not when the optimizer is made, a checkpoint may be loaded after that."""
        while self._new_optimizers:
            self._record_parameters(self._new_optimizers.pop(0), BEFORE_TRAINING)

    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        number = self._number(optimizer)
        self._record_new_optimizers()
        self._settings.tell(optimizer, f"{type(optimizer).__name__} {number}")
        if self._recorder.recording:
            for name, parameter in self._parameters(optimizer):
                if parameter.grad is not None:
                    content = self._recorder.content(parameter.grad)
                    self._recorder.record("gradient", name, output=content, detail={"optimizer": number})

    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._recorder.recording:
            number = self._number(optimizer)
            for name, parameter in self._parameters(optimizer):
                self._recorder.record(
                    "parameter", name, output=self._recorder.content(parameter), detail={"optimizer": number}
                )
        self._record_parameters(optimizer)
        self._recorder.finish_step()
        self._limit.after_step()

    def _record_parameters(self, optimizer: Any, when: str = "") -> None:
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        name = f"{type(optimizer).__name__} {self._number(optimizer)}{when}"
        self._recorder.mark("parameter", name, output=self._recorder.content_of_tensors(parameters))

    def _shown(self, loss: Any) -> Callable[[], str] | None:
        if not hasattr(loss, "numel") or loss.numel() != 1:
            return None
        with self._recorder.unrecorded():
            value = loss.detach()
            # What is on a device is asked for when the entry goes out; by then the program may have changed the tensor.
            value = value.item() if value.device.type == "cpu" else value.clone()
        return lambda: f"{value if isinstance(value, (int, float)) else value.item():.{_DIGITS}g}"

    def _parameters(self, optimizer: Any) -> list[tuple[str, Any]]:
        return [
            (self._names.of(parameter) or f"parameter {index} of group {number}", parameter)
            for number, group in enumerate(optimizer.param_groups)
            for index, parameter in enumerate(group["params"])
        ]

"""The names of modules and parameters, as their outermost module has them. Asked for in stage 2 only."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary, WeakSet


class ParameterNames:
    """Learns names when an outermost module is called, and knows which module is running."""

    def __init__(self) -> None:
        self._modules: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._parameters: dict[int, str] = {}
        self._roots: WeakSet[Any] = WeakSet()
        self._running: list[Any] = []

    def watch(self, module_module: Any) -> None:
        """Put the hooks into `torch.nn.modules.module`."""
        module_module.register_module_forward_pre_hook(self._enter)
        module_module.register_module_forward_hook(self._leave)

    def of(self, parameter: Any) -> str | None:
        """The name of a parameter, where its module has been called."""
        return self._parameters.get(id(parameter))

    @property
    def running(self) -> str | None:
        """The innermost module whose forward runs: its name and its class."""
        if not self._running:
            return None
        module = self._running[-1]
        name = self._modules.get(module)
        return f"{name} ({type(module).__name__})" if name else type(module).__name__

    @property
    def evaluates(self) -> bool:
        """Whether the innermost module whose forward runs has been put into evaluation."""
        return bool(self._running) and not self._running[-1].training

    def _enter(self, module: Any, args: Any) -> None:
        if not self._running and module not in self._roots:
            self._roots.add(module)
            for name, part in module.named_modules():
                self._modules.setdefault(part, name)
            for name, parameter in module.named_parameters():
                self._parameters.setdefault(id(parameter), name)
        self._running.append(module)

    def _leave(self, module: Any, args: Any, output: Any) -> None:
        # A forward that raised has not left: everything above the one that leaves now is gone.
        while self._running and self._running.pop() is not module:
            pass

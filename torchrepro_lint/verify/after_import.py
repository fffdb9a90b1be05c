"""Hooks that are put in when the watched program itself imports a module.

So a program that sets environment variables before `import torch` is seen as it is.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls a hook when a module has just been executed for the first time. It goes first into `sys.meta_path`."""

    def __init__(self, hooks: dict[str, Callable[[ModuleType], None]]) -> None:
        self._hooks = hooks

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if (hook := self._hooks.pop(fullname, None)) is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(fullname, path, target)
            if spec is not None and spec.loader is not None:
                self._wrap(spec.loader, hook)
                return spec  # type: ignore[no-any-return]
        return None

    @staticmethod
    def _wrap(loader: Any, hook: Callable[[ModuleType], None]) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            hook(module)

        loader.exec_module = exec_module

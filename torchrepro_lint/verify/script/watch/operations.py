"""Stage 2: every operation of torch, with those of the backward pass and of the optimizer.

Each tells the hashes of its tensors one by one as well: so a tensor that differs is followed back to what made it.
Views are told too, because a tensor goes from operation to operation by them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from torchrepro_lint.verify.hashing import digest, shown
from torchrepro_lint.verify.script.entries import is_base_seed
from torchrepro_lint.verify.script.watch.parameter_names import ParameterNames
from torchrepro_lint.verify.script.watch.places import Places, caller
from torchrepro_lint.verify.script.watch.recorder import Recorder
from torchrepro_lint.verify.script.watch.states import torch_state

# Memory as it was found is not a result: fresh memory, and with `set_` what another process has written.
_FOUND = (
    *("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_"),
    "set_",
)
_FRESH = ("empty", "new_empty")
# Their fourth result is memory that their backward pass works in, not all of it written; it takes it by these names.
_WITH_SCRATCH = ("mkldnn_rnn_layer", "_cudnn_rnn", "miopen_rnn", "cudnn_batch_norm", "_batch_norm_with_update")
_SCRATCH_RESULT, _SCRATCH_ARGUMENTS = 3, ("workspace", "reserve", "reserveSpace")
# These write all of their first argument and read none of it.
_OVERWRITES = ("copy_", "fill_", "zero_")
# Bookkeeping, and communication that is not finished when the call returns.
_NAMESPACES = ("profiler", "c10d", "_c10d_functional", "prim", "streams")


class OperationWatch:
    """Keeps a dispatch mode active while the recorder's window is open."""

    def __init__(self, recorder: Recorder, names: ParameterNames) -> None:
        self._recorder = recorder
        self._names = names
        self._modes = _ModeOfThread()
        self._make: Callable[[], Any] | None = None

    def watch(self, torch: Any) -> None:
        """Follow the window of this process."""
        operations = _Operations(torch, self._recorder, self._names)
        self._make = lambda: _mode(operations)
        self._recorder.on_window(self.follow)
        self.follow()

    def follow(self) -> None:
        """Enter or leave the mode of this thread, as the window says."""
        wanted, here = self._recorder.within_window, self._modes
        if wanted and here.active is None and self._make is not None:
            here.active = self._make()
            here.active.__enter__()
        elif not wanted and here.active is not None and self._is_innermost():
            here.active.__exit__(None, None, None)
            here.active = None

    def _is_innermost(self) -> bool:
        # Where the program has entered a mode of its own since, leaving would end that one: ours then stays, and tells
        # nothing.
        from torch.utils._python_dispatch import _get_current_dispatch_mode

        return _get_current_dispatch_mode() is self._modes.active


class _ModeOfThread(threading.local):
    """The mode that a thread has entered; None where it has left it, or never entered one."""

    active: Any = None


def _mode(operations: _Operations) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            # Else the first operation would import torch._dynamo, which draws random numbers as it is imported.
            return False

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return operations.call(func, args, kwargs or {})

    return Watch()  # type: ignore[no-untyped-call]


def _takes_base_seed(name: str, places: Places) -> bool:
    """Whether a loader reads what its workers are seeded with. It is told as drawn, and nothing else depends on it."""
    return name == "_local_scalar_dense" and is_base_seed(places[1])


def _is_of_engine(places: Places) -> bool:
    """Whether autograd's engine calls, and not a backward that the program has written itself."""
    place, via = places
    return place is None or (via is not None and "/torch/autograd/" in via.file.replace("\\", "/"))


@dataclass(frozen=True, slots=True)
class _Hashed:
    rest: Any
    tensors: list[str | None]

    def digest(self, state: str | None) -> str | None:
        """One hash for all, with the state of an RNG; None where some tensor has none."""
        return None if None in self.tensors else digest([state, self.rest])


class _Operations:
    def __init__(self, torch: Any, recorder: Recorder, names: ParameterNames) -> None:
        self._torch = torch
        self._recorder = recorder
        self._names = names
        # Where the forward operation of each node of the graph was called, by the node's number.
        self._forward: dict[int, Places] = {}
        self._modules: dict[int, str | None] = {}

    def call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the operation, and tell of it where it computes something."""
        if not self._recorder.recording:
            return func(*args, **kwargs)
        places, module, backward = self._where()
        name = func._schema.name.partition("::")[2]
        if func.namespace in _NAMESPACES or name in _FOUND or _takes_base_seed(name, places):
            result = func(*args, **kwargs)
            if name.startswith(_FRESH) and hasattr(result, "detach"):
                self._tell_memory(f"{func.namespace}.{name}", result, places)
            return result
        generator = self._generator(func, args, kwargs)
        with self._recorder.unrecorded():
            before = None if generator is None else torch_state(generator)
        given = self._hashed(_read(func, name, args, kwargs))
        result = func(*args, **kwargs)
        with self._recorder.unrecorded():
            self._wait_for_copy(args, kwargs, result)
            after = None if generator is None else torch_state(generator)
        made = self._hashed([_written(func, args, kwargs), _without_scratch(name, result)])
        draws = before != after
        detail = {
            "rng": _rng_name(generator, self._torch) if draws else None,
            "state": before if draws else None,
            "module": module,
            "backward": backward or None,
            "grad": False if draws and not self._torch.is_grad_enabled() else None,
            "evaluates": (draws and self._names.evaluates) or None,
            "overload": func._schema.overload_name or None,
            "device": _device(result, args),
            "view": _is_view(func) or None,
            "reads": given.tensors or None,
            "makes": made.tensors or None,
        }
        self._recorder.record(
            "draw" if draws else "op",
            f"{func.namespace}.{name}",
            inputs=given.digest(before if draws else None),
            output=made.digest(after if draws else None),
            shown=shown(result) if isinstance(result, (bool, int, float)) else None,
            places=places,
            detail={key: value for key, value in detail.items() if value is not None},
        )
        return result

    def _tell_memory(self, name: str, made: Any, places: Places) -> None:
        """Tell what fresh memory holds: where that is read, nothing else has made it."""
        if (content := self._recorder.content(made)) is not None:
            self._recorder.record("memory", name, output=content.digest(), places=places)

    def _hashed(self, value: Any) -> _Hashed:
        """The hashes of the tensors in the value, and the rest of it."""
        tensors: list[str | None] = []

        def rest(one: Any) -> Any:
            if isinstance(one, dict):
                return [(key, rest(item)) for key, item in one.items()]
            if isinstance(one, (list, tuple)):
                return [rest(item) for item in one]
            if hasattr(one, "detach"):
                content = self._recorder.content(one)
                tensors.append(content.digest() if content is not None else None)
                return tensors[-1]
            if one is None or isinstance(one, (bool, int, float, complex, str)):
                return one
            # A dtype or a device is what it is called; a generator, or what a library passes, has only its type.
            named = type(one).__module__ == "torch" and not hasattr(one, "get_state")
            return str(one) if named else type(one).__name__

        return _Hashed(rest(value), tensors)

    def _where(self) -> tuple[Places, str | None, bool]:
        """The places, the module, and whether this is of a backward pass: then those of the forward operation."""
        node = getattr(self._torch._C, "_current_autograd_node", lambda: None)()
        if node is not None:
            number, places = node._sequence_nr(), caller()
            if number in self._forward and _is_of_engine(places):
                return self._forward[number], self._modules.get(number), True
            return places, None, True
        places, module = caller(), self._names.running
        # An operation that is recorded for the backward pass has just made its node, whose number is the last given.
        peek = getattr(self._torch._C._autograd, "_get_sequence_nr", None)
        if peek is not None:
            self._forward.setdefault(peek() - 1, places)
            self._modules.setdefault(peek() - 1, module)
        return places, module, False

    def _generator(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The generator that the operation may draw from; None where it draws from none."""
        torch = self._torch
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return None
        for value in (*args, *kwargs.values()):
            if isinstance(value, torch.Generator):
                return value
        device = kwargs.get("device") or next((one.device for one in _tensors((args, kwargs))), None)
        device = torch.device(device) if device is not None else torch.device("cpu")
        if device.type == "cuda":
            index = device.index if device.index is not None else torch.cuda.current_device()
            return torch.cuda.default_generators[index] if torch.cuda.is_initialized() else None
        return torch.default_generator if device.type == "cpu" else None

    def _wait_for_copy(self, args: Any, kwargs: Any, result: Any) -> None:
        """A copy to the computer's memory may be still under way when the call returns."""
        torch = self._torch
        if torch.cuda.is_initialized() and any(one.is_cuda for one in _tensors((args, kwargs))):
            if any(not one.is_cuda for one in _tensors((args, result))):
                torch.cuda.synchronize()


def _read(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments, without the content of those that are written and not read, or that hold nothing."""
    seeded = "nondeterministic_seeded" in {tag.name for tag in func.tags}
    unread = name in _OVERWRITES or (seeded and name.endswith("_") and name != "bernoulli_")
    values = []
    for index, argument in enumerate(func._schema.arguments):
        given = args[index] if index < len(args) else kwargs.get(argument.name)
        writes = argument.alias_info is not None and argument.alias_info.is_write
        if argument.name in _SCRATCH_ARGUMENTS or (writes and (argument.is_out or (unread and index == 0))):
            given = [(str(one.dtype), tuple(one.shape)) for one in _tensors(given)]
        values.append(given)
    return values


def _is_view(func: Any) -> bool:
    """Whether an operation gives what it gets under another shape: it computes nothing, and reads no memory. By `lift`
    and `lift_fresh`, which do so too, values come in from outside of torch.
    """
    if func._schema.name.partition("::")[2].startswith("lift"):
        return False
    returns = [one.alias_info for one in func._schema.returns]
    return bool(returns) and all(alias is not None and not alias.is_write for alias in returns)


def _without_scratch(name: str, result: Any) -> Any:
    """What an operation gives, without memory that holds no result."""
    if name not in _WITH_SCRATCH:
        return result
    return [one for index, one in enumerate(result) if index != _SCRATCH_RESULT]


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments that the operation has written, where it does not return them."""
    arguments = func._schema.arguments
    if func._schema.returns:
        return []
    return [
        args[index] if index < len(args) else kwargs.get(argument.name)
        for index, argument in enumerate(arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]


def _tensors(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return (value,) if hasattr(value, "detach") else ()
    return [tensor for one in value for tensor in _tensors(one)]


def _device(result: Any, args: Any) -> str | None:
    return next((str(one.device) for one in _tensors((result, args))), None)


def _rng_name(generator: Any, torch: Any) -> str:
    if generator is torch.default_generator:
        return "torch"
    if torch.cuda.is_initialized():
        for index, default in enumerate(torch.cuda.default_generators):
            if generator is default:
                return f"torch cuda:{index}"
    return "torch.Generator"

"""Stage 2: numbers drawn from Python's `random` and from NumPy, by whoever draws them.

The functions are wrapped before the program can take hold of them. Classes of NumPy's generators cannot be changed, so
those that the program makes are of a subclass with the same name, which also tells what each is seeded with. A
generator that was pickled is of NumPy's own class again, and counts as one of the subclass where a library asks. What
it draws, and what compiled code draws by itself, is not seen: the states of the RNGs tell of both.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

from torchrepro_lint.verify.hashing import shown
from torchrepro_lint.verify.script.watch.places import caller, is_of_python, within_import
from torchrepro_lint.verify.script.watch.recorder import Recorder
from torchrepro_lint.verify.script.watch.states import numpy_state, random_state
from torchrepro_lint.verify.script.watch.threads import Nesting

_WIDEST = 60
_GLOBAL = {"numpy.random": "numpy"}  # the name that its state has
_FROM_SYSTEM = 1 << 64  # NumPy takes 128 bits from the operating system; a seed that a person gives is smaller
_NO_DRAW = {
    "seed", "get_state", "set_state", "getstate", "setstate", "spawn", "bit_generator", "set_bit_generator",
    "get_bit_generator",
}  # fmt: skip


class _StandIn(type):
    """The class of a class that stands for NumPy's own: what is of that one is of it, too."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, cls.__mro__[1]) if _stands_in(cls) else super().__instancecheck__(one)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.__mro__[1]) if _stands_in(cls) else super().__subclasscheck__(other)


def _stands_in(cls: type) -> bool:
    """Whether it is the class itself, and none that a program derives from it."""
    return not isinstance(cls.__mro__[1], _StandIn)


class DrawWatch:
    """Wraps what draws. A draw inside another is told as the outer one."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._nesting = Nesting()
        self._numbers = itertools.count()

    def watch_random(self, random: Any) -> None:
        """Watch `random`: its functions, which are methods of a hidden `Random`, and every other `Random`."""
        hidden = random._inst
        methods = [
            name
            for name in dir(random.Random)
            if not name.startswith("_") and name not in _NO_DRAW and callable(getattr(random.Random, name))
        ]
        for name in methods:
            setattr(
                random.Random, name, self._wrapped(getattr(random.Random, name), f"random.Random.{name}", random_state)
            )
            if getattr(getattr(random, name, None), "__self__", None) is hidden:
                original = getattr(random, name)
                setattr(random, name, self._wrapped(original, f"random.{name}", random_state, hidden))

    def watch_numpy(self, numpy_random: Any) -> None:
        """Watch `numpy.random`: its functions, and the generators that the program makes from now on."""
        hidden = numpy_random.mtrand._rand
        for name in dir(numpy_random):
            original = getattr(numpy_random, name)
            if getattr(original, "__self__", None) is hidden and name not in _NO_DRAW:
                setattr(numpy_random, name, self._wrapped(original, f"numpy.random.{name}", numpy_state, hidden))
        numpy_random.mtrand._rand = self._shadow(numpy_random, hidden)
        base = numpy_random.Generator
        generator = self._subclass(base)
        make = numpy_random.default_rng

        @functools.wraps(make)
        def default_rng(*args: Any, **kwargs: Any) -> Any:
            made = make(*args, **kwargs)
            if type(made) is not base:
                return made
            told = generator.__new__(generator, made.bit_generator)
            base.__init__(told, made.bit_generator)
            self._tell_seed(told, "numpy.random.default_rng")
            return told

        numpy_random.default_rng = default_rng
        numpy_random.Generator = generator
        numpy_random.RandomState = self._subclass(numpy_random.RandomState)

    def _shadow(self, numpy_random: Any, hidden: Any) -> Any:
        """What libraries find in place of the global generator that they look for under its own name, as scikit-learn
        does: all that it does is done by that one, and told.
        """

        def method(name: str) -> Callable[..., Any]:
            call = getattr(hidden, name)
            if name not in _NO_DRAW and hasattr(getattr(numpy_random, name, None), "__wrapped__"):
                call = getattr(numpy_random, name)
            return lambda shadow, *args, **kwargs: call(*args, **kwargs)

        base = type(hidden)
        names = [name for name in dir(base) if not name.startswith("_") and callable(getattr(hidden, name))]
        own = {"__module__": base.__module__, "__reduce__": lambda shadow: hidden.__reduce__()}
        return type(base.__name__, (base,), {**{name: method(name) for name in names}, **own})(hidden._bit_generator)

    def _subclass(self, base: Any) -> Any:
        methods = {
            name: self._wrapped(method, f"numpy.random.{base.__name__}.{name}", numpy_state)
            for name, method in inspect.getmembers(base, callable)
            if not name.startswith("_") and name not in _NO_DRAW
        }
        name = f"numpy.random.{base.__name__}"

        def __init__(made: Any, *args: Any, **kwargs: Any) -> None:
            base.__init__(made, *args, **kwargs)
            self._tell_seed(made, name, args[0] if args else kwargs.get("seed"))

        def __deepcopy__(made: Any, memo: dict[int, Any]) -> Any:
            cls: Any = type(made)
            other = cls.__new__(cls)
            base.__init__(other, copy.deepcopy(made._bit_generator, memo))
            if hasattr(base, "set_state"):
                base.set_state(other, base.get_state(made, legacy=False))
            other.__dict__.update(copy.deepcopy(made.__dict__, memo))
            return other

        own = {
            "__init__": __init__, "__deepcopy__": __deepcopy__, "__module__": base.__module__, "__doc__": base.__doc__
        }  # fmt: skip
        if hasattr(base, "seed"):

            def seed(made: Any, *args: Any, **kwargs: Any) -> None:
                base.seed(made, *args, **kwargs)
                self._tell_seed(made, name, args[0] if args else kwargs.get("seed"))

            own["seed"] = seed
        return _StandIn(base.__name__, (base,), {**methods, **own})

    def _tell_seed(self, made: Any, name: str, given: Any = None) -> None:
        """Tell what a generator begins with: the number given, or the entropy that its bit generator was made from."""
        if not hasattr(made, "_trl_number"):
            made._trl_number = next(self._numbers)
        bits = getattr(made, "bit_generator", None) or given
        sequence = getattr(bits, "seed_seq", None) or getattr(bits, "_seed_seq", None)
        seed = getattr(sequence, "entropy", None) if given is None or given is bits else given
        of_system = seed is None or (isinstance(seed, int) and seed >= _FROM_SYSTEM)
        self._recorder.record(
            "seed",
            name,
            output=numpy_state(made),
            shown=None if of_system else repr(seed)[:_WIDEST],
            detail={"object": made._trl_number, **({"entropy": True} if of_system else {})},
        )

    def _wrapped(
        self, original: Any, name: str, state: Callable[[Any], str | None], holder: Any = None
    ) -> Callable[..., Any]:
        """The function, telling of what it draws. `holder` is the generator; without it, the first argument is."""
        rng = name.rpartition(".")[0]

        @functools.wraps(original)
        def draw(*args: Any, **kwargs: Any) -> Any:
            if self._nesting.inside or not self._recorder.recording:
                return original(*args, **kwargs)
            generator = args[0] if holder is None else holder
            self._nesting.inside = True
            try:
                before = state(generator)
                result = original(*args, **kwargs)
                after = state(generator)
            finally:
                self._nesting.inside = False
            places = caller()
            if (places[1] is not None and is_of_python(places[1])) or within_import():
                return result  # a name for a temporary file, a pause before the next try, what a library starts with
            value = shown(result)
            self._recorder.record(
                "draw",
                name,
                inputs=before,
                output=after,
                places=places,
                shown=None if value is None else value[:_WIDEST],
                detail={"rng": _GLOBAL.get(rng, rng), "state": before, **_number(generator)},
            )
            return result

        if holder is not None:
            # A bound method has the name of its class's function; pickle looks for a function under its own.
            draw.__qualname__ = draw.__name__ = name.rpartition(".")[2]
            draw.__module__ = rng
        return draw


def _number(generator: Any) -> dict[str, int]:
    """Which of the program's generators it is, where that is known: its number, from 0."""
    number = getattr(generator, "_trl_number", None)
    return {} if number is None else {"object": number}

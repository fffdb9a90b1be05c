"""Another time of day, as if the run had been started later."""

from __future__ import annotations

import datetime
import threading
import time
from collections.abc import Callable
from typing import Any

# Another second, minute, hour, day, month and year, however a program cuts the time.
_START, TICK = 1_700_000_000.0, 0.001  # seconds
SHIFT = 400 * 86_400 + 3 * 3_600 + 7 * 60 + 11


def shift(seed: int, met: Callable[[], None]) -> None:
    """Let the clock show a time `seed` times `SHIFT` seconds ahead, in `time` and in `datetime`.

    Clocks that only measure how long something took (`monotonic`, `perf_counter`, `process_time`) go on as they are:
    time limits keep their meaning. What reads the system's clock without these two modules is not reached: the time
    stamps of files, `numpy.datetime64("now")`, `uuid1`. `met` is called when a program asks for the time.
    """
    ahead = seed * SHIFT
    now, now_ns = time.time, time.time_ns

    def shifted() -> float:
        met()
        return now() + ahead

    def shifted_ns() -> int:
        met()
        return now_ns() + ahead * 1_000_000_000

    time.time, time.time_ns = shifted, shifted_ns
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _of_seconds(getattr(time, name)))
    broken_down = {"strftime": 1, "asctime": 0}  # how many arguments come before the time
    for name, before in broken_down.items():
        setattr(time, name, _of_a_tuple(getattr(time, name), before))
    datetime.datetime = _shifted_datetime()  # type: ignore[misc]
    datetime.date = _shifted_date()  # type: ignore[misc]


def tick() -> None:
    """Let every clock of `time` go on by `TICK` at each call, from the same time in each run.

    What a program makes of the time is then the same in each run, if it asks for it as often. Each thread has clocks of
    its own. What waits until a moment has come still does: the clocks go on.
    """
    clocks = threading.local()

    def asked(name: str) -> int:
        calls = getattr(clocks, name, 0) + 1
        setattr(clocks, name, calls)
        return calls

    def in_seconds(name: str) -> Callable[[], float]:
        return lambda: _START + asked(name) * TICK

    def in_nanoseconds(name: str) -> Callable[[], int]:
        return lambda: int((_START + asked(name) * TICK) * 1e9)

    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, name, in_seconds(name))
        setattr(time, f"{name}_ns", in_nanoseconds(name))
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _of_seconds(getattr(time, name)))
    for name, before in (("strftime", 1), ("asctime", 0)):
        setattr(time, name, _of_a_tuple(getattr(time, name), before))
    datetime.datetime = _shifted_datetime()  # type: ignore[misc]
    datetime.date = _shifted_date()  # type: ignore[misc]


def _of_seconds(function: Callable[[float], Any]) -> Callable[..., Any]:
    """A function of the seconds since the epoch, by default those of now."""
    return lambda seconds=None: function(time.time() if seconds is None else seconds)


def _of_a_tuple(function: Callable[..., Any], before: int) -> Callable[..., Any]:
    """A function of a time tuple, by default that of now, which stands after `before` other arguments."""
    return lambda *arguments: function(*arguments, *([] if len(arguments) > before else [time.localtime()]))


class _StandIn(type):
    """The original's instances are instances of its stand-in, also those that C code makes.

    What a program derives from the stand-in is a class like any other.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        original = vars(cls).get("original")
        return super().__instancecheck__(instance) if original is None else isinstance(instance, original)

    def __subclasscheck__(cls, subclass: type) -> bool:
        original = vars(cls).get("original")
        return super().__subclasscheck__(subclass) if original is None else issubclass(subclass, original)


def _shifted_datetime() -> Any:
    original = datetime.datetime

    class Shifted(original, metaclass=_StandIn):  # type: ignore[valid-type,misc]
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return cls.fromtimestamp(time.time(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    return _in_place_of(original, Shifted)


def _shifted_date() -> Any:
    original = datetime.date

    class Shifted(original, metaclass=_StandIn):  # type: ignore[valid-type,misc]
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(time.time())

    return _in_place_of(original, Shifted)


def _in_place_of(original: Any, stand_in: Any) -> Any:
    """Give the stand-in the original's name, by which it is pickled and found again, and its way to show itself."""

    def shown(self: Any) -> str:
        text = str(original.__repr__(self))
        return f"{original.__module__}.{text}" if type(self) is stand_in else text

    stand_in.__repr__ = shown
    stand_in.original = original
    stand_in.__name__ = stand_in.__qualname__ = original.__name__
    stand_in.__module__ = original.__module__
    return stand_in

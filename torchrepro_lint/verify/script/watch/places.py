"""Where something was called from: the user's innermost line, and the library's line that it went through."""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
from dataclasses import replace
from types import CodeType, FrameType, TracebackType

from torchrepro_lint.verify.script.entries import Place

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_STDLIB = tuple({os.path.abspath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
_INSTALLED = tuple(
    {os.path.abspath(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    | {os.path.abspath(path) for path in (site.getusersitepackages(), *site.getsitepackages())}
)
# What stands between a call and the instruments, and says nothing about it.
_PLUMBING = (
    "_ops.py",
    "_python_dispatch.py",
    "_tensor.py",
    "_jit_internal.py",
    "profiler.py",
    "_decorators.py",
    "_contextlib.py",
)


Places = tuple[Place | None, Place | None]
NOWHERE: Places = (None, None)


def caller() -> Places:
    """The user's line, and the innermost line of a library where that came between; None for what there is not."""
    frame: FrameType | None = sys._getframe(1)
    via: Place | None = None
    while frame is not None:
        kind = _kind(frame.f_code.co_filename)
        if kind == "user":
            return _place(frame), via
        if kind == "library" and via is None:
            via = _place(frame)
        frame = frame.f_back
    return None, via


def within_import() -> bool:
    """Whether the user's line has a library imported just now, and this is the library's own doing."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _kind(frame.f_code.co_filename) != "user":
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def by_way_of(*folders: str) -> bool:
    """Whether the user's line has come here through one of these folders of a library, such as `torch/_inductor`."""
    wanted = [f"{os.sep}{folder.replace('/', os.sep)}{os.sep}" for folder in folders]
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _kind(frame.f_code.co_filename) != "user":
        if any(folder in frame.f_code.co_filename for folder in wanted):
            return True
        frame = frame.f_back
    return False


def is_of_python(place: Place) -> bool:
    """Whether a line is of Python's own library."""
    return not _below(place.file, _INSTALLED) and _below(place.file, _STDLIB)


def is_of_user(file: str) -> bool:
    """Whether a file is of the program itself."""
    return _kind(file) == "user"


def innermost(traceback: TracebackType | None) -> Place | None:
    """The innermost line of the user's code that an exception came through."""
    found: Place | None = None
    while traceback is not None:
        if _kind(traceback.tb_frame.f_code.co_filename) == "user":
            found = replace(_place(traceback.tb_frame), line=traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def _place(frame: FrameType) -> Place:
    return Place(os.path.abspath(frame.f_code.co_filename), frame.f_lineno, _function(frame.f_code))


def _function(code: CodeType) -> str:
    name: str = getattr(code, "co_qualname", code.co_name)  # qualified from Python 3.11 on
    return "" if name == "<module>" else name


@functools.cache
def _kind(filename: str) -> str:
    """`user`, `library`, or `ours` for what is neither's affair."""
    if filename.startswith("<"):
        return "ours"  # frozen, generated: no line to show
    path = os.path.abspath(filename)
    if path.startswith(_PACKAGE + os.sep):
        return "ours"
    if _below(path, _STDLIB) or _below(path, _INSTALLED):
        return "ours" if os.path.basename(path) in _PLUMBING and f"{os.sep}torch{os.sep}" in path else "library"
    return "user"


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(folder + os.sep) for folder in folders)

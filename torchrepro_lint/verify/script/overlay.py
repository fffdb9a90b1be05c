"""A copy-on-write view of a folder, seen by one process and all that it starts (Linux).

`enter_view` is called in the process itself: it gets name spaces of its own for users and mounts, in which an overlay
file system lies over the folder. What the process writes below the folder goes to another one. The view ends with the
process. Only Python's own library is needed, so that it can be tried in a process of its own:
`python overlay.py FOLDER UPPER WORK`.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Sequence

_NEW_MOUNTS, _NEW_USERS = 0x00020000, 0x10000000  # CLONE_NEWNS, CLONE_NEWUSER of <linux/sched.h>
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000  # MS_BIND, MS_REC, MS_PRIVATE of <linux/mount.h>


def enter_view(folder: str, upper: str, work: str, keep: Sequence[str] = ()) -> None:
    """See `folder` through an overlay from now on: what is written below it lands in `upper`.

    `upper` and `work` are empty folders on one file system (`upper` may hold what an earlier process has written), and
    outside of `folder`. Folders in `keep` stay as they are, and so do other file systems that are mounted below.

    Raises:
        OSError: this system, or this process, may not do so. The process must not go on: it may be half done.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def call(name: str, *arguments: object) -> None:
        if getattr(libc, name)(*arguments) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")

    def mount(source: str, target: str, kind: bytes | None, flags: int, options: str | None = None) -> None:
        texts = [os.fsencode(one) if one is not None else None for one in (source, target, options)]
        call("mount", texts[0], texts[1], kind, ctypes.c_ulong(flags), texts[2])

    user, group = os.getuid(), os.getgid()
    try:
        call("unshare", _NEW_MOUNTS)  # who may mount anyway remains who they are
    except PermissionError:
        call("unshare", _NEW_MOUNTS | _NEW_USERS)
        _write("setgroups", "deny")
        _write("uid_map", f"{user} {user} 1")
        _write("gid_map", f"{group} {group} 1")
    mount("none", "/", None, _RECURSIVE | _PRIVATE)
    kept = [os.path.realpath(one) for one in keep if _is_below(os.path.realpath(one), folder)]
    kept += [one for one in _mounts_below(folder) if one not in kept]
    opened = [(os.open(one, os.O_PATH), one) for one in kept]
    options = ",".join(
        f"{name}={_escaped(path)}" for name, path in (("lowerdir", folder), ("upperdir", upper), ("workdir", work))
    )
    mount("overlay", folder, b"overlay", 0, options)
    for descriptor, path in opened:
        mount(f"/proc/self/fd/{descriptor}", path, None, _BIND | _RECURSIVE)
        os.close(descriptor)
    os.chdir(folder)  # the folder of before is the one below the overlay


def _write(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _mounts_below(folder: str) -> Iterator[str]:
    """Where other file systems are mounted below the folder."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            # Blanks and the like stand there as octal numbers.
            path = os.fsdecode(os.fsencode(line.split(" ")[4]).decode("unicode_escape").encode("latin-1"))
            if _is_below(path, folder):
                yield path


def _escaped(path: str) -> str:
    """A path in the options of a mount."""
    return path.replace("\\", "\\\\").replace(",", "\\,").replace(":", "\\:")


if __name__ == "__main__":
    try:
        enter_view(*sys.argv[1:4])
    except Exception as error:
        sys.exit(str(error))

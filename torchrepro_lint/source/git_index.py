"""What git tracks: git leaves out nothing that it tracks, whatever a .gitignore file says."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

from torchrepro_lint.regular_files import note, read_if_there

__all__ = ["tracked_files"]

_HEADER = struct.Struct(">4sLL")
#: Where the flags of an entry are, after ten numbers and the object's name; then the path comes.
_FLAGS = struct.Struct(">H")
_BEFORE_FLAGS = 60
_EXTENDED = 0x4000
_LONGEST_NUMBER = 9  # bytes
_LARGEST = 1_000_000_000


def tracked_files(index: Path) -> list[str]:
    """The paths of the files that are in an index of git, with slashes, from the top of the work tree on.

    Empty where there is no index, or none that can be read, which is noted: git-scm.com/docs/index-format, versions 2
    to 4.
    """
    data = read_if_there(index, _LARGEST)
    if not data:
        return []
    try:
        return list(_paths(data))
    except (ValueError, IndexError, struct.error):
        note(index, "not read: not an index of git")
        return []


def _paths(data: bytes) -> Iterator[str]:
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("another kind of file")
    start = _HEADER.size
    path = b""
    for _ in range(count):
        place = start + _BEFORE_FLAGS + _FLAGS.size
        (flags,) = _FLAGS.unpack_from(data, start + _BEFORE_FLAGS)
        place += 2 if flags & _EXTENDED else 0
        if version == 4:  # what the path has in common with the one before is not written again
            dropped, place = _varint(data, place)
            end = data.index(b"\0", place)
            path = path[: len(path) - dropped] + data[place:end]
            start = end + 1
        else:
            end = data.index(b"\0", place)
            path = data[place:end]
            start += (end - start) // 8 * 8 + 8
        yield os.fsdecode(path)  # git keeps bytes: a name need not be UTF-8


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of seven bits in each byte, and the place after it."""
    byte = data[place]
    number = byte & 0x7F
    end = place + _LONGEST_NUMBER
    while byte & 0x80:
        place += 1
        if place > end:
            raise ValueError("a number that no path is as long as")
        byte = data[place]
        number = ((number + 1) << 7) | (byte & 0x7F)
    return number, place + 1

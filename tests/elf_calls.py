"""The texts with which a compiled library calls one function: read from the machine code, with nothing run.

For ELF libraries of x86-64. A call is `e8` with the distance to the function or to its stub in the linkage table; the
text that it is given was loaded shortly before, by a `lea` relative to the instruction.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["NotReadable", "texts_passed_to"]

_LOOK_BACK = 120  # bytes of code between the text that is loaded and the call


class NotReadable(Exception):
    """The file is no ELF library of x86-64."""


@dataclass(frozen=True)
class _Section:
    offset: int
    address: int
    size: int
    in_file: bool


def texts_passed_to(library: Path, function: str) -> set[str]:
    """The texts that a library passes to the functions whose mangled name contains `function`. NotReadable where the
    library is of another kind."""
    data = np.memmap(library, dtype=np.uint8, mode="r")
    if data[:5].tobytes() != b"\x7fELF\x02" or struct.unpack_from("<H", data[:20].tobytes(), 18)[0] != 62:
        raise NotReadable(f"{library} is no ELF library of x86-64")
    sections = _sections(data)
    targets = _addresses(data, sections, function)
    if not targets:
        return set()
    code = sections[".text"]
    text = data[code.offset : code.offset + code.size]
    return {found for call in _calls(text, code.address, targets) if (found := _text(data, sections, code, call))}


def _sections(data: np.ndarray) -> dict[str, _Section]:
    head = data[:64].tobytes()
    start, count, names_index = *struct.unpack_from("<Q", head, 0x28), *struct.unpack_from("<2H", head, 0x3C)
    rows = [struct.unpack("<IIQQQQIIQQ", data[start + 64 * i : start + 64 * i + 64].tobytes()) for i in range(count)]
    names = data[rows[names_index][4] :][: rows[names_index][5]].tobytes()
    return {
        names[row[0] : names.index(b"\0", row[0])].decode(): _Section(row[4], row[3], row[5], row[1] != 8)
        for row in rows
    }


def _addresses(data: np.ndarray, sections: dict[str, _Section], function: str) -> list[int]:
    """Where the function begins, and the stubs through which other libraries reach it."""
    strings = _bytes(data, sections[".dynstr"]).tobytes()
    offsets, at = [], strings.find(function.encode())
    while at != -1:
        offsets.append(strings.rfind(b"\0", 0, at) + 1)
        at = strings.find(function.encode(), at + 1)
    form = np.dtype(
        [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
    )
    symbols = _bytes(data, sections[".dynsym"]).view(form)
    numbers = np.flatnonzero(np.isin(symbols["name"], offsets))
    found = [int(value) for value in symbols["value"][numbers] if value]
    if ".rela.plt" in sections:
        relocations = _bytes(data, sections[".rela.plt"]).view("<u8").reshape(-1, 3)
        slots = relocations[np.isin(relocations[:, 1] >> np.uint64(32), numbers), 0]
        for name in (".plt", ".plt.sec"):
            if name in sections:
                found.extend(_stubs(_bytes(data, sections[name]), sections[name].address, slots))
    return found


def _stubs(table: np.ndarray, address: int, slots: np.ndarray) -> list[int]:
    """The stubs of 16 bytes that jump to what one of the slots holds: `ff 25` and the distance to the slot."""
    jumps = np.flatnonzero((table[:-5] == 0xFF) & (table[1:-4] == 0x25))
    aims = address + jumps + 6 + _distances(table, jumps + 2)
    return [address + int(jump) // 16 * 16 for jump in jumps[np.isin(aims, slots.astype(np.int64))]]


def _calls(text: np.ndarray, address: int, targets: list[int]) -> list[int]:
    calls = np.flatnonzero(text[:-5] == 0xE8)
    return [int(call) for call in calls[np.isin(address + calls + 5 + _distances(text, calls + 1), targets)]]


def _distances(text: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The signed numbers of four bytes at some places."""
    parts = [text[places + number].astype(np.int64) << (8 * number) for number in range(4)]
    return (sum(parts) + 2**31) % 2**32 - 2**31


def _text(data: np.ndarray, sections: dict[str, _Section], code: _Section, call: int) -> str | None:
    """The last text that is loaded before a call."""
    for place in range(call - 7, max(call - _LOOK_BACK, 0), -1):
        lea = data[code.offset + place : code.offset + place + 7]
        if lea[0] in (0x48, 0x4C) and lea[1] == 0x8D and lea[2] & 0xC7 == 5:
            aim = code.address + place + 7 + int(_distances(lea, np.array([3]))[0])
            found = _text_at(data, sections, aim)
            if found is not None:
                return found
    return None


def _text_at(data: np.ndarray, sections: dict[str, _Section], address: int) -> str | None:
    for section in sections.values():
        if section.in_file and section.address and section.address <= address < section.address + section.size:
            start = section.offset + address - section.address
            raw = data[start : start + 100].tobytes().partition(b"\0")[0]
            is_text = 0 < len(raw) < 100 and all(32 <= byte < 127 for byte in raw)
            return raw.decode() if is_text else None
    return None


def _bytes(data: np.ndarray, section: _Section) -> np.ndarray:
    return data[section.offset : section.offset + section.size]

"""Where libcst nodes stand in the text.

libcst nodes carry no positions. They are computed here by generating the code once while counting characters, which
costs about a third of a parse; it is done only for files that have something to report or to mend.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst
from libcst._nodes.internal import CodegenState

from torchrepro_lint.diagnostics import Position

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LineTable", "node_spans"]


class LineTable:
    """Turns character offsets of a text into rows and columns, and back."""

    def __init__(self, text: str) -> None:
        self.text = text
        starts = [0]
        # Only \n, \r\n and \r end a line for Python and libcst; str.splitlines would also split at form feeds.
        index = 0
        length = len(text)
        while index < length:
            newline = text.find("\n", index)
            carriage = text.find("\r", index, newline if newline != -1 else length)
            if carriage != -1:
                index = carriage + (2 if text.startswith("\r\n", carriage) else 1)
            elif newline != -1:
                index = newline + 1
            else:
                break
            starts.append(index)
        self.starts = starts

    def position(self, offset: int) -> Position:
        row = bisect_right(self.starts, offset)
        return Position(row, offset - self.starts[row - 1] + 1)

    def offset(self, position: Position) -> int:
        return self.starts[position.row - 1] + position.column - 1

    def row(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def line(self, row: int) -> str:
        """The text of a row (from 1) without its line ending."""
        end = self.starts[row] if row < len(self.starts) else len(self.text)
        return self.text[self.starts[row - 1] : end].rstrip("\r\n")


@dataclass(slots=True)
class _SpanRecorder(CodegenState):
    """Counts the characters generated, and notes the syntactic bounds of every node on the way."""

    offset: int = 0
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)

    def add_indent_tokens(self) -> None:
        self.tokens.extend(self.indent_tokens)
        for token in self.indent_tokens:
            self.offset += len(token)

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.offset += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self.starts.pop()
        self.spans.setdefault(id(node), (start, self.offset))

    @contextmanager
    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Iterator[None]:
        start = self.offset
        yield
        end = self.offset
        if start_node is not None:
            start = self.spans[id(start_node)][0]
        if end_node is not None:
            end = self.spans[id(end_node)][1]
        self.spans[id(node)] = (start, end)


def node_spans(module: cst.Module, text: str) -> Mapping[int, tuple[int, int]]:
    """The character range of every node of `module`, by `id(node)`.

    `text` is what `module` was parsed from. Raises ValueError if libcst does not give that text back, for then
    no offset could be trusted. Blank characters that it forgets or adds are allowed for: it drops a form feed before a
    `def`, and a blank line before an indented comment at the end.
    """
    state = _SpanRecorder(default_indent=module.default_indent, default_newline=module.default_newline)
    module._codegen(state)
    generated = "".join(state.tokens)
    if generated == text:
        return state.spans
    places = _aligned(generated, text)
    last = len(generated)  # a newline that is taken back at the end was counted
    return {node: (places[min(start, last)], places[min(end, last)]) for node, (start, end) in state.spans.items()}


def _aligned(generated: str, text: str) -> list[int]:
    """For each offset in `generated`, its end included, the one in `text`, which differs by blank characters only."""
    places: list[int] = []
    at = 0
    for character in generated:
        while at < len(text) and text[at] != character and text[at].isspace():
            at += 1
        places.append(at)
        if at < len(text) and text[at] == character:
            at += 1
        elif not character.isspace():
            raise ValueError("libcst did not reproduce the text of the file")
    if text[at:].strip():
        raise ValueError("libcst did not reproduce the text of the file")
    places.append(at)
    return places

"""Where libcst nodes are in the text.

libcst nodes carry no positions. They are computed here by generating the code once while counting characters, which
costs about a third of a parse; it is done only for files that have something to fix, or to report where
`quick_places.py` knows no place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import libcst as cst
from libcst._nodes.internal import CodegenState

from torchrepro_lint.source.lines import LineTable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["is_reproduced", "node_spans"]

#: A backslash at the end of a line, which goes on in the next.
_JOINED: Final = re.compile(r"\\(?=[\r\n])")


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
    `def`, a backslash that is alone on its line, a blank line before an indented comment at the end, and such comments
    themselves after another one.
    """
    state = _SpanRecorder(default_indent=module.default_indent, default_newline=module.default_newline)
    module._codegen(state)
    generated = "".join(state.tokens)
    if generated == text:
        return state.spans
    places = _aligned(generated, text) or _aligned_without_tail(generated, text)
    if places is None:
        raise ValueError("libcst did not reproduce the text of the file")
    last = len(generated)  # a newline that is taken back at the end was counted
    return {node: (places[min(start, last)], places[min(end, last)]) for node, (start, end) in state.spans.items()}


def is_reproduced(generated: str, text: str) -> bool:
    """Whether what libcst makes of a text says the same: it differs by blanks, or in the comments after the last line
    of code, of which libcst drops some where they are indented.
    """
    if generated == text or _words(generated) == _words(text):
        return True
    return _words(generated[: _end_of_code(generated)]) == _words(text[: _end_of_code(text)])


def _words(text: str) -> list[str]:
    """What is between blanks, a joined line's backslash among these."""
    return _JOINED.sub(" ", text).split()


def _aligned(generated: str, text: str) -> list[int] | None:
    """For each offset in `generated`, its end included, the one in `text`, which differs by blank characters only; None
    where it differs by more.
    """
    places: list[int] = []
    at = 0
    for character in generated:
        while at < len(text) and text[at] != character and (text[at].isspace() or _JOINED.match(text, at)):
            at += 1
        places.append(at)
        if at < len(text) and text[at] == character:
            at += 1
        elif not character.isspace():
            return None
    if text[at:].strip():
        return None
    places.append(at)
    return places


def _aligned_without_tail(generated: str, text: str) -> list[int] | None:
    """The same, where the comments after the last line of code may differ as well."""
    whole, end = _end_of_code(generated), _end_of_code(text)
    places = _aligned(generated[:whole], text[:end])
    return [*places, *(end for _ in generated[whole:])] if places is not None else None


def _end_of_code(text: str) -> int:
    """Where the last line ends that is neither blank nor a comment."""
    end = len(text)
    for start in reversed(LineTable(text).starts):
        line = text[start:end].rstrip()
        if line and not line.lstrip().startswith("#"):
            return start + len(line)
        end = start
    return 0

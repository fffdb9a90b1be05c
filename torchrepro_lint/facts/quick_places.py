"""Where the nodes of a text are, by Python's own parser: for what is reported, and not fixed.

Python's tree knows its places; libcst's does not, takes ten times as long to make and some hundred times the memory.
Most kinds of nodes have the same bounds in both, and the tests hold them against each other; of the others, such as a
tuple, whose brackets libcst counts as none of it, and of what stands in an f-string, nothing is said here.
"""

from __future__ import annotations

import ast
import re
from array import array
from collections.abc import Iterator, Sequence

from torchrepro_lint.facts.logical_lines import LogicalLines
from torchrepro_lint.facts.quick_lower import QuickLowering, quick_module
from torchrepro_lint.source.lines import LineTable

__all__ = ["QuickPlaces"]

#: Kinds of nodes that libcst's tree has with the same bounds.
_ALIKE = frozenset(
    {
        ast.Attribute, ast.Await, ast.BinOp, ast.Call, ast.Compare, ast.Constant, ast.Dict, ast.DictComp, ast.IfExp,
        ast.JoinedStr, ast.Lambda, ast.List, ast.ListComp, ast.Name, ast.NamedExpr, ast.Set, ast.SetComp,
        ast.Subscript, ast.UnaryOp, ast.Yield, ast.YieldFrom, ast.alias, ast.keyword,
        ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Delete, ast.Expr, ast.Global,
        ast.ImportFrom, ast.Nonlocal, ast.Raise, ast.Return,
        ast.AsyncFor, ast.AsyncWith, ast.For, ast.If, ast.Try, ast.While, ast.With,
    }
)  # fmt: skip
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NAME = re.compile(r"(?:async\b(?:\s|\\\r?\n?)+)?(?:def|class)\b(?:\s|\\\r?\n?)+(\w+)")
_HEADED = (*_NAMED, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
_UNKNOWN = -1


class QuickPlaces:
    """The places of the sites of one text, in characters from its start. `text` is Python: of a notebook,
    `Source.python`.
    """

    def __init__(self, text: str, module: ast.Module) -> None:
        self.text = text
        self.lines = LineTable(text)
        lowering = _Noting(self)
        lowering.block(module.body)
        self._starts, self._ends = lowering.starts, lowering.ends
        self.logical_lines = LogicalLines(self.lines, self._logical_lines(module.body))

    @staticmethod
    def of(text: str) -> QuickPlaces | None:
        """The places in a text; None where this Python cannot parse it."""
        module = quick_module(text)
        try:
            return QuickPlaces(text, module) if module is not None else None
        except RecursionError:
            return None

    def span(self, site: int) -> tuple[int, int] | None:
        """The bounds of a node, those of a function or class being its `def` or `class` and its name; None where they
        are not known.
        """
        start = self._starts[site]
        return (start, self._ends[site]) if start != _UNKNOWN else None

    def bounds(self, node: ast.AST) -> tuple[int, int]:
        """The bounds of a node of Python's tree."""
        start = self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        if isinstance(node, _NAMED):
            named = _NAME.match(self.text, start)
            return start, named.end() if named is not None else start
        return start, self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def _offset(self, row: int, column: int) -> int:
        """The place of a row (from 1) and a column, which Python counts in bytes of UTF-8."""
        start = self.lines.starts[row - 1]
        before = self.text[start : start + column]
        if before.isascii():
            return start + column
        return start + len(before.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))

    def _logical_lines(self, block: Sequence[ast.stmt]) -> Iterator[tuple[int, int]]:
        """The bounds of the lines of simple statements, and of the headers of compound ones."""
        pending = [block]
        while pending:
            first: int | None = None
            last = row = 0
            for node in pending.pop():
                inner = list(_blocks(node))
                pending.extend(inner)
                if inner:
                    if isinstance(node, _HEADED):
                        yield self.bounds(node)[0], self.bounds(node.body[0])[0]
                    continue
                start, end = self.bounds(node)
                if first is not None and node.lineno == row:
                    last = end
                else:
                    if first is not None:
                        yield first, last
                    first, last = start, end
                row = node.end_lineno or node.lineno
            if first is not None:
                yield first, last


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks in a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        if block := getattr(node, name, None):
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


class _Noting(QuickLowering):
    """The walk that hands out the sites, and notes where each node is."""

    def __init__(self, places: QuickPlaces) -> None:
        super().__init__()
        self.starts, self.ends = array("l"), array("l")
        self._places = places
        self._last: ast.AST | None = None
        self._in_texts: set[int] = set()  # the nodes in f-strings: older Pythons place them elsewhere

    def site(self, node: ast.AST) -> int:
        """The next site."""
        if node is self._last:  # the site before is that of an argument: with brackets around it, where there are any
            self.starts[-1] = _UNKNOWN
        self._last = node
        start, end = self._places.bounds(node) if self._is_placed(node) else (_UNKNOWN, _UNKNOWN)
        self.starts.append(start)
        self.ends.append(end)
        if isinstance(node, ast.JoinedStr):
            self._in_texts.update(id(inner) for part in node.values for inner in ast.walk(part))
        return super().site(node)

    def _is_placed(self, node: ast.AST) -> bool:
        kind = type(node)
        if kind is ast.BoolOp:  # of three values, two sites
            return len(node.values) == 2 and id(node) not in self._in_texts  # type: ignore[attr-defined]
        return (kind in _ALIKE or kind in _NAMED) and id(node) not in self._in_texts

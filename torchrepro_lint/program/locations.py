"""From sites to places in the text. A file is parsed again, with positions, only when it has something to report or to
fix.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.diagnostics import Location
from torchrepro_lint.facts.logical_lines import LogicalLines
from torchrepro_lint.facts.memory import Recent
from torchrepro_lint.facts.module import parsed_with_places
from torchrepro_lint.facts.quick_places import QuickPlaces
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.modules import Project
from torchrepro_lint.source.cells import Cells
from torchrepro_lint.source.lines import LineTable

if TYPE_CHECKING:
    import libcst as cst

__all__ = ["MOST_PARSED", "ParsedFile", "ParsedOf", "Places"]

#: How many characters the files have, in all, whose trees are kept: those asked for last. A tree takes some 250 bytes
#: for each. What is asked for again is parsed again.
MOST_PARSED: Final = 300_000


class ParsedFile:
    """One file as libcst sees it: the node of every site, and the range of every node. `text` is Python: of a notebook,
    `Source.python`.
    """

    def __init__(self, path: Path, text: str) -> None:
        from torchrepro_lint.facts.lower import lower_module
        from torchrepro_lint.facts.positions import node_spans

        self.path = path
        self.text = text
        self.module = parsed_with_places(path, text)
        _, nodes = lower_module(self.module, keep_nodes=True)
        assert nodes is not None
        self.nodes: list[cst.CSTNode] = nodes
        self.spans = node_spans(self.module, text)

    @cached_property
    def lines(self) -> LineTable:
        return LineTable(self.text)

    def node(self, site: int) -> cst.CSTNode:
        return self.nodes[site]

    def span(self, site: int) -> tuple[int, int]:
        return self.spans[id(self.nodes[site])]

    @cached_property
    def logical_lines(self) -> LogicalLines:
        return LogicalLines(self.lines, self._logical_lines())

    def _logical_lines(self) -> Iterator[tuple[int, int]]:
        import libcst as cst

        for node in self.nodes:
            if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
                yield self.spans[id(node)][0], self.spans[id(node.body)][0]
        pending: list[cst.CSTNode] = [self.module]
        while pending:
            current = pending.pop()
            if isinstance(current, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
                yield self.spans[id(current)]
                continue
            if isinstance(current, (cst.If, cst.For, cst.While, cst.With)):
                yield self.spans[id(current)][0], self.spans[id(current.body)][0]
            pending.extend(child for child in current.children if not isinstance(child, cst.BaseExpression))


ParsedOf: TypeAlias = Callable[[Path, str], ParsedFile]


class Places:
    """Locations of sites, file by file. `parsed_of` may know the tree of a text that was read before.

    They are taken from Python's own tree, where that has them: libcst's is made only of what is fixed, and of the few
    nodes whose places it alone knows.
    """

    def __init__(self, project: Project, parsed_of: ParsedOf = ParsedFile) -> None:
        self.project = project
        self.parsed_of = parsed_of
        self._parsed: Recent[Path, tuple[ParsedFile, dict[Hashable, object]]] = Recent(MOST_PARSED)
        self._quick: dict[Path, QuickPlaces | None] = {}

    def parsed(self, path: Path) -> ParsedFile:
        """The libcst tree of a file."""
        return self._kept(path)[0]

    def made(self, path: Path) -> dict[Hashable, object]:
        """What the planners of fixes have made of a file: it goes when the tree does."""
        return self._kept(path)[1]

    def _kept(self, path: Path) -> tuple[ParsedFile, dict[Hashable, object]]:
        kept = self._parsed.get(path)
        if kept is None:
            text = self._text(path)
            kept = self.parsed_of(path, text), {}
            self._parsed.put(path, kept, len(text))
        return kept

    def _text(self, path: Path) -> str:
        source = self.project.source(path)
        assert source is not None, path
        return source.python

    def _quick_span(self, site: Site) -> tuple[QuickPlaces, tuple[int, int]] | None:
        if site.path not in self._quick:
            self._quick[site.path] = QuickPlaces.of(self._text(site.path))
        places = self._quick[site.path]
        span = places.span(site.number) if places is not None else None
        return (places, span) if places is not None and span is not None else None

    def location(self, site: Site) -> Location:
        """Where the node of `site` is. A function or class is at its `def` or `class` line only."""
        if (found := self._quick_span(site)) is not None:
            places, (start, end) = found
            return Location(site.path, places.lines.position(start), places.lines.position(end))
        return self._parsed_location(site)

    def _parsed_location(self, site: Site) -> Location:
        import libcst as cst

        parsed = self.parsed(site.path)
        node = parsed.node(site.number)
        start, end = parsed.spans[id(node)]
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            end = parsed.spans[id(node.name)][1]
        return Location(site.path, parsed.lines.position(start), parsed.lines.position(end))

    def row(self, site: Site) -> tuple[int | None, int]:
        """The cell of a notebook in which a site is, None in other files, and the row there, as a person counts."""
        row = self.location(site).start.row
        cells = Cells.of(site.path, self._text(site.path))
        return (None, row) if cells is None else (cells.number(row), cells.row_in_cell(row))

    def shown(self, site: Site, name: Callable[[Path], str]) -> str:
        """Where a site is, as a person reads it, `train.py:12`, with the file as `name` calls it."""
        cell, row = self.row(site)
        return f"{name(site.path)}:{row}" if cell is None else f"{name(site.path)}:cell {cell}:{row}"

    def statement_rows(self, site: Site) -> tuple[int, int]:
        """The first and last row of the logical line in which the node of `site` is."""
        if (found := self._quick_span(site)) is not None:
            places, span = found
            return places.logical_lines.rows(*span)
        parsed = self.parsed(site.path)
        return parsed.logical_lines.rows(*parsed.span(site.number))

"""From sites to places in the text. A file is parsed again, with positions, only when it has something to report."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from torchrepro_lint.diagnostics import Location
from torchrepro_lint.facts.module import parsed_with_places
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.modules import Project
from torchrepro_lint.source.cells import Cells
from torchrepro_lint.source.lines import LineTable

if TYPE_CHECKING:
    import libcst as cst

__all__ = ["ParsedFile", "ParsedOf", "Places"]


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
    def statements(self) -> list[tuple[int, int]]:
        """The ranges of all simple statements and of the headers of compound ones, in order."""
        import libcst as cst

        found = []
        for node in self.nodes:
            if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
                start = self.spans[id(node)][0]
                found.append((start, self.spans[id(node.body)][0]))
        pending: list[cst.CSTNode] = [self.module]
        while pending:
            current = pending.pop()
            if isinstance(current, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
                found.append(self.spans[id(current)])
                continue
            if isinstance(current, (cst.If, cst.For, cst.While, cst.With)):
                start = self.spans[id(current)][0]
                found.append((start, self.spans[id(current.body)][0]))
            pending.extend(child for child in current.children if not isinstance(child, cst.BaseExpression))
        return sorted(found)


ParsedOf: TypeAlias = Callable[[Path, str], ParsedFile]


class Places:
    """Locations of sites, file by file. `parsed_of` may know the tree of a text that was read before."""

    def __init__(self, project: Project, parsed_of: ParsedOf = ParsedFile) -> None:
        self.project = project
        self.parsed_of = parsed_of
        self._parsed: dict[Path, ParsedFile] = {}

    def parsed(self, path: Path) -> ParsedFile:
        if path not in self._parsed:
            source = self.project.source(path)
            assert source is not None, path
            self._parsed[path] = self.parsed_of(path, source.python)
        return self._parsed[path]

    def location(self, site: Site) -> Location:
        """Where the node of `site` stands. A function or class stands at its `def` or `class` line only."""
        import libcst as cst

        parsed = self.parsed(site.path)
        node = parsed.node(site.number)
        start, end = parsed.spans[id(node)]
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            end = parsed.spans[id(node.name)][1]
            if isinstance(node, cst.FunctionDef) and node.decorators:
                start = max(start, parsed.spans[id(node.decorators[-1])][1])
                start += len(parsed.text[start:]) - len(parsed.text[start:].lstrip())
        return Location(site.path, parsed.lines.position(start), parsed.lines.position(end))

    def row(self, site: Site) -> tuple[int | None, int]:
        """The cell of a notebook in which a site stands, None in other files, and the row there, as a person counts."""
        row = self.location(site).start.row
        cells = Cells.of(site.path, self.parsed(site.path).text)
        return (None, row) if cells is None else (cells.number(row), cells.row_in_cell(row))

    def shown(self, site: Site, name: Callable[[Path], str]) -> str:
        """Where a site stands, as a person reads it, `train.py:12`, with the file as `name` calls it."""
        cell, row = self.row(site)
        return f"{name(site.path)}:{row}" if cell is None else f"{name(site.path)}:cell {cell}:{row}"

    def statement_rows(self, site: Site) -> tuple[int, int]:
        """The first and last row of the logical line in which the node of `site` stands."""
        parsed = self.parsed(site.path)
        start, end = parsed.span(site.number)
        for place in range(bisect_right(parsed.statements, (start, len(parsed.text))) - 1, -1, -1):
            first, last = parsed.statements[place]
            if start < max(last, first + 1):
                tail = parsed.text[first:last].rstrip()
                return parsed.lines.row(first), parsed.lines.row(first + max(len(tail) - 1, 0))
        return parsed.lines.row(start), parsed.lines.row(max(start, end - 1))

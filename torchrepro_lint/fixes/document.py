"""One file that is being fixed: its text, its syntax tree, and where each node is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.facts.libcst_parser import parse_module
from torchrepro_lint.facts.positions import node_spans
from torchrepro_lint.fixes.binding_forms import analyse
from torchrepro_lint.fixes.node_index import NodeIndex
from torchrepro_lint.fixes.scopes import Scope, children
from torchrepro_lint.source.lines import LineTable

__all__ = ["Document", "comments_in", "dotted_name", "is_cell_marker"]

_Made = TypeVar("_Made")
_Node = TypeVar("_Node", bound=cst.CSTNode)
_CELL_MARKER = re.compile(r"#\s*(%%|In\s?\[)")
_NOT_OF_THE_NEXT = re.compile(rf"{_CELL_MARKER.pattern}|#\s*type:\s*\(")
_INDENTATION = re.compile(r"[ \t\f]*")
_DEFAULT_LINE_LENGTH = 88
_MAXIMUM_GUESS = 120


class Parsed(Protocol):
    """A parse of a text that somebody has made already, and where each node is, by its id."""

    @property
    def module(self) -> cst.Module: ...

    @property
    def spans(self) -> Mapping[int, tuple[int, int]]: ...


class Document:
    """The text of one file and one parse of it. Edits are made as offsets into that text; nothing is regenerated.

    `line_length` is the project's own, if it says one. Raises libcst.ParserSyntaxError for text that does not parse,
    and ValueError for text that libcst does not give back.
    """

    def __init__(self, path: Path, text: str, line_length: int | None = None, parsed: Parsed | None = None) -> None:
        self.path = path
        self.text = text
        self.module = parsed.module if parsed is not None else parse_module(text)
        self._spans = parsed.spans if parsed is not None else node_spans(self.module, text)
        self._line_length = line_length
        self._made: dict[Callable[[Document], object], object] = {}
        self._by_span: dict[type[cst.CSTNode], dict[tuple[int, int], cst.CSTNode]] = {}
        self._comments: dict[int, tuple[cst.Comment, ...]] = {}

    @cached_property
    def lines(self) -> LineTable:
        return LineTable(self.text)

    @cached_property
    def newline(self) -> str:
        """The line ending that most lines of the file have."""
        crlf = self.text.count("\r\n")
        lf = self.text.count("\n") - crlf
        cr = self.text.count("\r") - crlf
        if crlf > max(lf, cr):
            return "\r\n"
        return "\r" if cr > lf else "\n"

    def indent_unit(self, at: cst.CSTNode) -> str:
        """One level of indentation at a node: that of the block around it; at the top of the module, that of the next
        definition, or else of the last one above.
        """
        around = next((outer for outer in self.ancestors(at) if isinstance(outer, cst.IndentedBlock)), None)
        if around is None:
            start = self.start(self.top_level_statement(at))
            tops = [one for one in self.module.body if isinstance(one, cst.FunctionDef | cst.ClassDef)]
            near = sorted(tops, key=lambda one: (self.end(one) < start, abs(self.start(one) - start)))
            bodies = [one.body for one in near if isinstance(one.body, cst.IndentedBlock)]
            around = bodies[0] if bodies else None
        own = around.indent if around is not None else None
        return self.module.default_indent if own is None else own

    @cached_property
    def line_length(self) -> int:
        """The configured limit, else a guess: the longest line of code, between 88 and 120 characters. Where it is a
        text or a comment that is long, it is not a sign: formatters leave them.
        """
        if self._line_length is not None:
            return self._line_length
        lines = [
            (start, end) for start, end in self._lines_of_code() if not self.text[start:end].lstrip().startswith("#")
        ]
        longest = max((end - start for start, end in lines), default=0)
        return min(max(longest, _DEFAULT_LINE_LENGTH), _MAXIMUM_GUESS)

    @property
    def has_limit(self) -> bool:
        """Whether the project states how long its lines may be, or uses a formatter that has a limit."""
        return self._line_length is not None

    @property
    def is_beyond_defaults(self) -> bool:
        """Whether no limit is configured, and lines of code are longer than formatters leave them by default."""
        return self._line_length is None and self.line_length > _DEFAULT_LINE_LENGTH

    @property
    def no_limit(self) -> int:
        """How long a line may be before it says that its author keeps to no limit."""
        return max(self.line_length, _MAXIMUM_GUESS)

    def _lines_of_code(self) -> Iterator[tuple[int, int]]:
        """Where lines begin and their code ends, but for those with a text that goes beyond the usual length."""
        starts = self.lines.starts
        ends = [start + len(self.text[start : self.next_line(start)].rstrip()) for start in starts]
        for comment in self.nodes(cst.Comment):
            row = self.lines.row(self.start(comment)) - 1
            ends[row] = starts[row] + len(self.text[starts[row] : self.start(comment)].rstrip())
        for node in (*self.nodes(cst.SimpleString), *self.nodes(cst.FormattedString)):
            first, last = self.lines.row(self.start(node)) - 1, self.lines.row(self.end(node)) - 1
            for row in range(first, last + 1):
                if row < last or self.end(node) - starts[row] > _DEFAULT_LINE_LENGTH:
                    ends[row] = starts[row]
        yield from zip(starts, ends, strict=True)

    # Where nodes stand.

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of a node. The parentheses around an expression are not part of it."""
        return self._spans[id(node)]

    def start(self, node: cst.CSTNode) -> int:
        return self._spans[id(node)][0]

    def end(self, node: cst.CSTNode) -> int:
        return self._spans[id(node)][1]

    def text_of(self, node: cst.CSTNode) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def node_at(self, start: int, end: int, kind: type[_Node]) -> _Node | None:
        """The outermost node of a kind that covers exactly `start` to `end`."""
        if kind not in self._by_span:
            # Parents come first.
            self._by_span[kind] = {self.span(node): node for node in reversed(self.nodes(kind))}
        return self._by_span[kind].get((start, end))  # type: ignore[return-value]

    def outer_span(self, node: cst.CSTNode) -> tuple[int, int]:
        """The span of a node with its parentheses, a definition's decorators, a parameter's annotation and default."""
        start, end = self.span(node)
        if isinstance(node, cst.Param):
            end = max(end, *(self.outer_span(child)[1] for child in children(node)))
        for decorator in node.decorators if isinstance(node, cst.FunctionDef | cst.ClassDef) else ():
            start = min(start, self.start(decorator))
        if isinstance(node, cst.BaseExpression) and node.lpar:
            return self.start(node.lpar[0]), self.end(node.rpar[-1])
        return start, end

    # Where nodes belong.

    @cached_property
    def _index(self) -> NodeIndex:
        return NodeIndex(self.module)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._index.parents.get(id(node))

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around `node`, from the inside out, ending with the module."""
        parents = self._index.parents
        current = parents.get(id(node))
        while current is not None:
            yield current
            current = parents.get(id(current))

    def walk(self, root: cst.CSTNode | None = None) -> Sequence[cst.CSTNode]:
        """`root` (the module) and all nodes below it, parents first."""
        return self._index.below(self.module if root is None else root)

    def nodes(self, kind: type[_Node], root: cst.CSTNode | None = None) -> list[_Node]:
        """The nodes of a kind among `root` (the module) and all below it, parents first."""
        return self._index.of_kind(kind, self.module if root is None else root)

    def once(self, make: Callable[[Document], _Made]) -> _Made:
        """What `make` says of the document, which it is asked once."""
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]  # type: ignore[return-value]

    def statement(self, node: cst.CSTNode) -> cst.BaseStatement:
        """The innermost statement around a node (itself, if it is one)."""
        if isinstance(node, cst.BaseStatement):
            return node
        return next(outer for outer in self.ancestors(node) if isinstance(outer, cst.BaseStatement))

    def comments(self, statement: cst.BaseStatement) -> tuple[cst.Comment, ...]:
        """The comments of a statement: found once, since many calls may be in one."""
        if id(statement) not in self._comments:
            self._comments[id(statement)] = tuple(comments_in(statement))
        return self._comments[id(statement)]

    def top_level_statement(self, node: cst.CSTNode) -> cst.BaseStatement:
        """The statement of the module's own body in which a node is."""
        current = node
        for outer in self.ancestors(node):
            if outer is self.module:
                break
            current = outer
        assert isinstance(current, cst.BaseStatement)
        return current

    def function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """The innermost function in whose body (not its decorators, defaults or annotations) a node is."""
        return next(
            (outer for inner, outer in self._links(node) if isinstance(outer, cst.FunctionDef) and inner is outer.body),
            None,
        )

    def enclosing_class(self, node: cst.CSTNode) -> cst.ClassDef | None:
        """The innermost class around a node."""
        return next((outer for outer in self.ancestors(node) if isinstance(outer, cst.ClassDef)), None)

    def _links(self, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
        inner = node
        for outer in self.ancestors(node):
            yield inner, outer
            inner = outer

    def loops(self, node: cst.CSTNode) -> list[cst.For | cst.While]:
        """The loops, from the inside out, that repeat a node within its own function."""
        found: list[cst.For | cst.While] = []
        for inner, outer in self._links(node):
            if isinstance(outer, cst.FunctionDef | cst.ClassDef | cst.Lambda):
                break
            if (isinstance(outer, cst.For) and inner is outer.body) or (
                isinstance(outer, cst.While) and inner is not outer.orelse
            ):
                found.append(outer)
        return found

    # Lines.

    def line_start(self, offset: int) -> int:
        return self.lines.starts[self.lines.row(offset) - 1]

    def next_line(self, offset: int) -> int:
        """Where the line after the one at `offset` starts (the end of the text, if there is none)."""
        row = self.lines.row(offset)
        return self.lines.starts[row] if row < len(self.lines.starts) else len(self.text)

    def indentation(self, offset: int) -> str:
        """The white space at the head of the line at `offset`."""
        match = _INDENTATION.match(self.text, self.line_start(offset))
        assert match is not None
        return match.group()

    def lead_start(self, statement: cst.CSTNode) -> int:
        """Where the lines of a statement begin: its decorators and the comment lines right above it included.

        A comment that says the types of the function (`# type: (int) -> str`) belongs to the line of the `def`.
        """
        offset = self.line_start(self.outer_span(statement)[0])
        for line in reversed(getattr(statement, "leading_lines", ())):
            if line.comment is None or _NOT_OF_THE_NEXT.match(line.comment.value):
                break
            offset = self.line_start(offset - 1)
        return offset

    # Names.

    @cached_property
    def scope(self) -> Scope:
        """The module's scope; the others hang below it."""
        return analyse(self.module)

    def scope_of(self, node: cst.CSTNode) -> Scope:
        """The innermost scope in which a node is evaluated."""
        for inner, outer in self._links(node):
            scope = self.scope.by_node.get(id(outer))
            if scope is not None and scope.evaluates(inner):
                return scope
        return self.scope

    # Edits.

    def insertion(self, offset: int, content: str) -> Edit:
        return Edit(self.path, offset, offset, content)

    def replacement(self, start: int, end: int, content: str) -> Edit:
        return Edit(self.path, start, end, content)


def comments_in(node: cst.CSTNode) -> Iterator[cst.Comment]:
    """The comments of a node: above its lines, behind them, and between its parts."""
    if isinstance(node, cst.Comment):
        yield node
    for child in node.children:
        yield from comments_in(child)


def dotted_name(node: cst.CSTNode) -> str | None:
    """`a.b.c` for a chain of names, None for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    return ".".join([node.value, *reversed(parts)])


def is_cell_marker(line: str) -> bool:
    """Whether a comment line opens a cell of a notebook that is kept as a script: `# %%`, `# In[3]:`."""
    return _CELL_MARKER.match(line) is not None

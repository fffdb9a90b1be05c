"""Where a new import line goes: the place that a person would choose, and the file's own order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.fixes.document import Document, dotted_name, is_cell_marker
from torchrepro_lint.fixes.import_sections import STANDARD, THIRD_PARTY, import_section

__all__ = ["ImportLine", "place_imports"]

_ENVIRONMENT = re.compile(r"\benviron\b|\bputenv\b")
_PREAMBLE = re.compile(rf"{_ENVIRONMENT.pattern}|\bsys\.path\b|\baddsitedir\b")
_SECTION_COMMENT = re.compile(
    r"#+\W*(std|standard|stdlib|third|3rd|external|local|first|own|project|pytorch|torch|"
    r"built-?in|python|import|lib|package|depend|util|common|general|system)",
    re.IGNORECASE,
)
_NOQA = re.compile(r"#\s*noqa(:\s*E402)?\s*$", re.IGNORECASE)
# So many statements in a row without an import end the head of a file: imports below are somebody's afterthought.
_LONGEST_PAUSE = 5


@dataclass(frozen=True, slots=True)
class ImportLine:
    """A line to add. `is_from` tells `from module import x` from `import module`."""

    module: str
    is_from: bool
    text: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """An import line that is there. `index` counts the statements of the module."""

    index: int
    statement: cst.SimpleStatementLine
    module: str
    is_from: bool
    section: int


def place_imports(document: Document, lines: list[ImportLine], before: int | None) -> list[Edit]:
    """The insertions that add `lines`, above the offset `before` if one is given.

    New lines stay below the docstring, `from __future__`, the comments that head the file, and statements that set the
    environment or the module path for the imports that follow them, unless imports of their section that do not depend
    on those are above. They join the imports of their own section (standard library, third party, own), in order
    where those are in order, else they make a section of their own.
    """
    return _Layout(document, before).place(lines)


class _Layout:
    def __init__(self, document: Document, before: int | None) -> None:
        self.document = document
        self.newline = document.newline
        body = document.module.body
        limit = len(document.text) if before is None else before
        self.head = _head(document, [statement for statement in body if document.start(statement) < limit])
        entries = [entry for entry in map(self._entry, range(len(self.head)), self.head) if entry is not None]
        barriers = [index for index in range(len(self.head)) if self._is_preamble(self.head[index])]
        self.barriers = barriers
        last = max((entry.index for entry in entries), default=-1)
        above = [index for index in barriers if index < last]
        self.entries = [entry for entry in entries if entry.index > max(above, default=-1)]
        # Nothing that a preamble sets is read by the standard library; and where other packages are imported above a
        # change of the module path, they do not depend on it.
        floor = max((index for index in above if self._sets_environment(self.head[index])), default=-1)
        self.third_party = [entry for entry in entries if entry.index > floor]
        self.standard = entries
        self.first_own = self._first_own(body, limit)

    def place(self, lines: list[ImportLine]) -> list[Edit]:
        own = [line for line in lines if self._section(line.module) > THIRD_PARTY]
        if own and self.first_own is not None and self.first_own.index >= len(self.head):
            edits = [self._beside_first_own(self.first_own, line) for line in own]
            others = [line for line in lines if line not in own]
            return edits + (self._place_in_head(others) if others else [])
        return self._place_in_head(lines)

    def _place_in_head(self, lines: list[ImportLine]) -> list[Edit]:
        by_section: dict[int, list[ImportLine]] = {}
        for line in sorted(lines, key=lambda line: (line.is_from, line.module.lower(), line.text)):
            by_section.setdefault(self._section(line.module), []).append(line)
        if not self.entries:
            blocks = [self.newline.join(line.text for line in by_section[key]) for key in sorted(by_section)]
            return [self._at_the_top((self.newline * 2).join(blocks))]
        edits: list[Edit] = []
        for section, group in sorted(by_section.items()):
            joined = {
                line.text: edit for line in group if (edit := self._into_statement(line, self.entries)) is not None
            }
            edits.extend(joined.values())
            group = [line for line in group if line.text not in joined]
            run = self._run_of(section, group)
            if run:
                edits.extend(self._into_run(run, line) for line in group)
            elif group:
                edits.append(self._new_section(section, group))
        return edits

    # Joining a statement.

    def _into_statement(self, line: ImportLine, entries: list[_Entry]) -> Edit | None:
        """`from module import x` made `from module import x, y`, if that is one line and stays one."""
        if not line.is_from:
            return None
        for entry in entries:
            statement = entry.statement.body[0]
            if entry.module != line.module or not isinstance(statement, cst.ImportFrom) or statement.lpar is not None:
                continue
            start, end = self.document.span(statement)
            name = line.text.partition(" import ")[2]
            row_end = end - self.document.line_start(start)
            if isinstance(statement.names, cst.ImportStar) or "\\" in self.document.text[start:end]:
                continue
            if row_end + len(name) + 2 <= self.document.line_length:
                return self.document.insertion(end, f", {name}")
        return None

    def _beside_first_own(self, entry: _Entry, line: ImportLine) -> Edit:
        joined = self._into_statement(line, [entry])
        start = self.document.line_start(self.document.start(entry.statement))
        return joined or self._insert(start, line.text + self._noqa([entry]) + self.newline)

    # Joining a section.

    def _run_of(self, section: int, group: list[ImportLine]) -> list[_Entry]:
        """The first run of neighbouring imports that has the section; one with the same package goes first."""
        runs: list[list[_Entry]] = []
        entries = self.standard if section == STANDARD else self.third_party if section == THIRD_PARTY else self.entries
        for entry in entries:
            if runs and self._are_neighbours(runs[-1][-1], entry):
                runs[-1].append(entry)
            else:
                runs.append([entry])
        own = [run for run in runs if any(entry.section == section for entry in run)]
        packages = {line.module.partition(".")[0] for line in group}
        same = [run for run in own if any(entry.module.partition(".")[0] in packages for entry in run)]
        chosen = (same or own or [[]])[0]
        return [entry for entry in chosen if entry.section == section]

    def _are_neighbours(self, first: _Entry, second: _Entry) -> bool:
        between = self.document.text[self.document.end(first.statement) : self.document.start(second.statement)]
        return second.index == first.index + 1 and len(between.splitlines()) <= 2

    def _into_run(self, run: list[_Entry], line: ImportLine) -> Edit:
        text = line.text + self._noqa(run) + self.newline
        after = self._place_in_order(run, line)
        if after is None:
            # A comment above the first of a section is the section's title.
            return self._insert(self.document.line_start(self.document.start(run[0].statement)), text)
        offset = self.document.next_line(self.document.end(run[after].statement))
        return self._insert(offset, text)

    def _place_in_order(self, run: list[_Entry], line: ImportLine) -> int | None:
        """The index of the entry after which the line goes; None: before all.

        Where the section is in the order of isort, or of its `force_sort_within_sections`, that order is kept. Else
        the lines of the same form (`import x`, or `from x import y`) are looked at, and the names within one package.
        """
        for key in (_straight_first, _by_module):
            keys = [key(entry) for entry in run]
            if keys == sorted(keys):
                smaller = [index for index, value in enumerate(keys) if value <= key(line)]
                return smaller[-1] if smaller else None
        form = [index for index, entry in enumerate(run) if entry.is_from == line.is_from]
        if not form:
            return len(run) - 1 if line.is_from else None
        packages = [_package(run[index]) for index in form]
        own = _package(line)
        greater = [
            index
            for index, package in zip(form, packages, strict=True)
            if package > own or (package == own and run[index].module >= line.module)
        ]
        if packages == sorted(packages) or own in packages or run[0].section != STANDARD:
            return (greater[0] - 1 if greater[0] else None) if greater else form[-1]
        return form[-1]

    def _noqa(self, run: list[_Entry]) -> str:
        comments = [entry.statement.trailing_whitespace.comment for entry in run]
        found = [comment.value for comment in comments if comment is not None and _NOQA.search(comment.value)]
        return f"  {found[0]}" if len(found) == len(run) else ""

    # Opening a section.

    def _new_section(self, section: int, group: list[ImportLine]) -> Edit:
        text = "".join(line.text + self._noqa(self.entries) + self.newline for line in group)
        later = [entry for entry in self.entries if entry.section > section]
        earlier = [entry for entry in self.entries if entry.section < section]
        if later and not (earlier and earlier[-1].index > later[0].index):
            return self._before_section(later[0], text)
        last = earlier[-1].index
        below = [index for index in self.barriers if index > last]
        statement = self.head[below[-1] if below else last]
        offset = self.document.next_line(self.document.end(statement))
        return self._insert(offset, self.newline + text)

    def _before_section(self, entry: _Entry, text: str) -> Edit:
        offset = self._start_with_title(entry.statement)
        previous = self._line_above(offset)
        if previous is not None and previous.strip() and self._follows_import(entry):
            return self._insert(offset, text)  # sections are not set apart in this file
        if previous is not None and previous.strip() and not is_cell_marker(previous):
            text = self.newline + text
        return self._insert(offset, text + self.newline)

    def _follows_import(self, entry: _Entry) -> bool:
        return any(other.index == entry.index - 1 for other in self.entries)

    def _start_with_title(self, statement: cst.SimpleStatementLine) -> int:
        """Where a statement's lines begin, below comments that head the file and not the section."""
        start = self.document.line_start(self.document.start(statement))
        body = self.document.module.body
        above = next(index for index, one in enumerate(body) if one is statement)
        if any(not _is_fixed(one, index) for index, one in enumerate(body[:above])):
            return self.document.lead_start(statement)
        row = first = self.document.lines.row(start)
        while first > 1 and self.document.lines.line(first - 1).startswith("#"):
            first -= 1
        is_title = first == row - 1 and _SECTION_COMMENT.match(self.document.lines.line(first))
        return self.document.lines.starts[first - 1] if is_title else start

    def _line_above(self, offset: int) -> str | None:
        return self.document.lines.line(self.document.lines.row(offset) - 1) if offset else None

    # A file without imports.

    def _at_the_top(self, text: str) -> Edit:
        body = self.document.module.body
        fixed = [index for index, statement in enumerate(self.head) if _is_fixed(statement, index)]
        fixed += [index for index in self.barriers if index < len(self.head)]
        if fixed:
            offset = self.document.next_line(self.document.end(body[max(fixed)]))
        else:
            offset = _end_of_header(self.document)
        return self._insert_apart(offset, text)

    def _insert_apart(self, offset: int, text: str) -> Edit:
        """Insert lines with a blank line above and below, and two above a definition."""
        source = self.document.text
        above = self._line_above(offset)
        lead = self.newline if above is not None and above.strip() and not is_cell_marker(above) else ""
        if offset == len(source) and source and not source.endswith(("\n", "\r")):
            return self.document.insertion(offset, self.newline * 2 + text + self.newline)
        row = self.document.lines.row(offset)
        below = self.document.lines.line(row)
        tail = self.newline * (2 if self._heads_definition(offset) else 1) if below.strip() else ""
        return self.document.insertion(offset, lead + text + self.newline + tail)

    def _heads_definition(self, offset: int) -> bool:
        body = self.document.module.body
        below = (statement for statement in body if self.document.outer_span(statement)[0] >= offset)
        return isinstance(next(below, None), cst.FunctionDef | cst.ClassDef)

    def _insert(self, offset: int, text: str) -> Edit:
        source = self.document.text
        if offset == len(source) and source and not source.endswith(("\n", "\r")):
            text = self.newline + text
        return self.document.insertion(offset, text)

    # What is there.

    def _section(self, module: str) -> int:
        return import_section(self.document.path, module)

    def _first_own(self, body: Sequence[cst.BaseStatement], limit: int) -> _Entry | None:
        """The first import of a module of the project that stands at the level of the module, above `limit`."""
        for index, statement in enumerate(body):
            if self.document.start(statement) >= limit:
                break
            entry = self._entry(index, statement)
            if entry is not None and entry.section > THIRD_PARTY:
                return entry
        return None

    def _entry(self, index: int, statement: cst.BaseStatement) -> _Entry | None:
        if not isinstance(statement, cst.SimpleStatementLine):
            return None
        first = statement.body[0]
        if not all(isinstance(small, cst.Import | cst.ImportFrom) for small in statement.body):
            return None
        if isinstance(first, cst.ImportFrom):
            module = "." * len(first.relative) + (dotted_name(first.module) or "" if first.module else "")
            if module == "__future__":
                return None
            return _Entry(index, statement, module, True, self._section(module))
        assert isinstance(first, cst.Import)
        module = dotted_name(first.names[0].name) or ""
        return _Entry(index, statement, module, False, self._section(module))

    def _sets_environment(self, statement: cst.BaseStatement) -> bool:
        return bool(_ENVIRONMENT.search(self.document.text_of(statement)))

    def _is_preamble(self, statement: cst.BaseStatement) -> bool:
        if isinstance(statement, cst.SimpleStatementLine) and all(
            isinstance(small, cst.Import | cst.ImportFrom) for small in statement.body
        ):
            return False
        return not isinstance(statement, cst.FunctionDef | cst.ClassDef) and bool(
            _PREAMBLE.search(self.document.text_of(statement))
        )


def _straight_first(item: _Entry | ImportLine) -> tuple[bool, str]:
    return (item.is_from, item.module.lower())


def _by_module(item: _Entry | ImportLine) -> tuple[bool, str]:
    return (False, item.module.lower())


def _package(item: _Entry | ImportLine) -> str:
    return item.module.partition(".")[0].lower()


def _head(document: Document, body: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """The statements among which imports are looked for: up to the first definition or a long pause."""
    head: list[cst.BaseStatement] = []
    pause = 0
    for statement in body:
        if isinstance(statement, cst.FunctionDef | cst.ClassDef) or _is_main_guard(document, statement):
            break
        text = document.text_of(statement)
        pause = 0 if re.search(r"\bimport\b", text) or _PREAMBLE.search(text) else pause + 1
        if pause >= _LONGEST_PAUSE:
            break
        head.append(statement)
    return head


def _is_main_guard(document: Document, statement: cst.BaseStatement) -> bool:
    return isinstance(statement, cst.If) and "__name__" in document.text_of(statement.test)


def _is_fixed(statement: cst.BaseStatement, index: int) -> bool:
    """A docstring or an import from `__future__`: nothing may come above it."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    if isinstance(first, cst.ImportFrom):
        return first.module is not None and dotted_name(first.module) == "__future__"
    return (
        index == 0
        and isinstance(first, cst.Expr)
        and isinstance(first.value, cst.SimpleString | cst.ConcatenatedString)
    )


def _end_of_header(document: Document) -> int:
    """Where the comments end that head a file: those before its first blank line, or before its first statement.

    A single line of comment right above a statement is about that statement, unless it is a `#!` or a coding line.
    """
    rows = len(document.lines.starts)
    row = 1
    while row <= rows and document.lines.line(row).startswith("#"):
        row += 1
    first = document.lines.line(1)
    is_comment_on_code = row == 2 and not re.match(r"#!|#.*(coding[:=]|copyright|licen[sc]e)", first, re.IGNORECASE)
    if is_comment_on_code and rows >= 2 and document.lines.line(2).strip():
        row = 1
    return document.lines.starts[row - 1] if row <= rows else len(document.text)

"""A document of headings, paragraphs and tables, as Markdown or as one page of HTML.

Its texts are plain, but for code between backticks, links that `link` makes, and line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from torchrepro_lint.console import printable

__all__ = ["Document", "Section", "Table", "as_html", "as_markdown", "link"]


# Halves of characters, which no text of a file has: they enclose a link, and stand between its text and its target.
_OPEN, _MIDDLE, _CLOSE = "\ud800", "\ud801", "\ud802"
_KEPT = frozenset(f"\n\t{_OPEN}{_MIDDLE}{_CLOSE}")
_LINK = re.compile(f"{_OPEN}([^{_OPEN}-{_CLOSE}]*){_MIDDLE}([^{_OPEN}-{_CLOSE}]*){_CLOSE}")


def link(text: str, target: str) -> str:
    """A text that leads to an address, as a part of a text of a document."""
    return f"{_OPEN}{printable(text)}{_MIDDLE}{printable(target)}{_CLOSE}"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below a header; each row has as many cells."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what is below it, and a table where `table` has rows."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A title, what is below it, and sections."""

    title: str
    paragraphs: tuple[str, ...]
    sections: tuple[Section, ...]


def as_markdown(document: Document) -> str:
    """The document as Markdown, in the form that GitHub and Pandoc read."""
    parts = [f"# {_marked(document.title)}", *map(_marked, document.paragraphs)]
    for section in document.sections:
        parts += [f"## {_marked(section.heading)}", *map(_marked, section.paragraphs)]
        if section.table is not None and section.table.rows:
            rows: Sequence[tuple[str, ...]] = [
                tuple(map(_marked, section.table.header)),
                tuple("---" for _ in section.table.header),
                *(tuple(map(_marked, row)) for row in section.table.rows),
            ]
            parts.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
    return "\n\n".join(parts) + "\n"


def as_html(document: Document) -> str:
    """The document as one page that loads nothing from elsewhere."""
    title = escape(_without_control(document.title).replace("`", ""))
    body = "\n".join(_html_body(document))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


# Letters that Markdown would read as its own, and what would end a cell of a table. Inside of a word, `_` is a letter.
_SPECIAL = re.compile(r"[\\`*\[\]<>|]|(?<![^\W_])_|_(?![^\W_])")
_CODE = re.compile(r"(`[^`]+`)")


def _without_control(text: str) -> str:
    """The text with escapes in the place of characters that are not shown, such as those that turn its direction."""
    return "".join(one if one in _KEPT else printable(one) for one in text)


def _marked(text: str) -> str:
    return "<br>".join(_marked_line(line) for line in text.split("\n"))


def _marked_line(text: str) -> str:
    # Every third part is the text of a link, and the one behind it its target.
    parts = _LINK.split(text)
    shown = [_marked_text(part) for part in parts[::3]]
    links = [f"[{_marked_text(text)}]({target})" for text, target in zip(parts[1::3], parts[2::3], strict=True)]
    return "".join(part for pair in zip(shown, [*links, ""], strict=True) for part in pair)


def _marked_text(text: str) -> str:
    # Every second part is code, in which only the end of a cell is read as anything.
    parts = _CODE.split(re.sub(r"\s+", " ", _without_control(text)))
    parts[::2] = [_SPECIAL.sub(lambda found: "\\" + found[0], part) for part in parts[::2]]
    parts[1::2] = [part.replace("|", "\\|") for part in parts[1::2]]
    return "".join(parts)


def _html(text: str) -> str:
    escaped = _CODE.sub(lambda found: f"<code>{found[0][1:-1]}</code>", escape(_without_control(text)))
    return _LINK.sub(r'<a href="\2">\1</a>', escaped).replace("\n", "<br>")


def _html_body(document: Document) -> Iterator[str]:
    yield f"<h1>{_html(document.title)}</h1>"
    yield from (f"<p>{_html(text)}</p>" for text in document.paragraphs)
    for section in document.sections:
        yield f"<h2>{_html(section.heading)}</h2>"
        yield from (f"<p>{_html(text)}</p>" for text in section.paragraphs)
        if section.table is not None and section.table.rows:
            header = "".join(f'<th scope="col">{_html(cell)}</th>' for cell in section.table.header)
            yield f'<div class="table"><table>\n<thead><tr>{header}</tr></thead>\n<tbody>'
            for row in section.table.rows:
                cells = zip(section.table.header, row, strict=True)
                yield f"<tr>{''.join(_html_cell(label, cell) for label, cell in cells)}</tr>"
            yield "</tbody></table></div>"


def _html_cell(label: str, cell: str) -> str:
    """A cell; on a narrow screen, where rows stand below each other, its label is shown."""
    return f'<td data-label="{escape(label)}">{_html(cell)}</td>'


_STYLE = """
:root { color-scheme: light dark; --line: #8886; --head: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; font-size: 0.9rem; width: 100%; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
th { background: var(--head); }
td, p { overflow-wrap: anywhere; }
td:first-child { min-width: 12rem; }
code { white-space: pre-wrap; }
@media (max-width: 45rem) {
  table, tbody, tr, td { display: block; } thead { display: none; }
  tr { border-top: 2px solid var(--line); padding: 0.4rem 0; } td { border: 0; padding: 0.1rem 0; }
  td:not(:first-child):not(:empty)::before { content: attr(data-label) ": "; opacity: 0.7; }
  td:first-child { font-weight: 600; min-width: 0; }
}
@media print { body { max-width: none; margin: 0; } }
"""

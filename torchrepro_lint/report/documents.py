"""A document of headings, paragraphs and tables, as Markdown or as one page of HTML.

Its texts are plain, but for code between backticks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Document", "Section", "Table", "as_html", "as_markdown"]


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
    title = escape(document.title.replace("`", ""))
    body = "\n".join(_html_body(document))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


# Letters that Markdown would read as its own, and what would end a cell of a table. Inside of a word, `_` is a letter.
_SPECIAL = re.compile(r"[\\`*\[\]<>|]|(?<![^\W_])_|_(?![^\W_])")
_CODE = re.compile(r"(`[^`]+`)")


def _marked(text: str) -> str:
    # Every second part is code, in which only the end of a cell is read as anything.
    parts = _CODE.split(" ".join(text.split()))
    parts[::2] = [_SPECIAL.sub(lambda found: "\\" + found[0], part) for part in parts[::2]]
    parts[1::2] = [part.replace("|", "\\|") for part in parts[1::2]]
    return "".join(parts)


def _html(text: str) -> str:
    return _CODE.sub(lambda found: f"<code>{found[0][1:-1]}</code>", escape(text))


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
                yield f"<tr>{''.join(f'<td>{_html(cell)}</td>' for cell in row)}</tr>"
            yield "</tbody></table></div>"


_STYLE = """
:root { color-scheme: light dark; --line: #8886; --head: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
th { background: var(--head); }
@media print { body { max-width: none; margin: 0; } }
"""

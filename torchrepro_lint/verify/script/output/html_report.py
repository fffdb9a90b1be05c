"""`--report out.html`: one page that holds all it shows. It asks nothing of any network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Literal, TypeAlias

from torchrepro_lint.console import printable
from torchrepro_lint.verify.script.entries import Place
from torchrepro_lint.verify.script.environment import Difference
from torchrepro_lint.verify.script.output.timeline import timeline
from torchrepro_lint.verify.script.output.timeline_svg import COLUMNS, draw
from torchrepro_lint.verify.script.record import Record

Outcome: TypeAlias = Literal["first", "agreed", "differed", "failed", "other"]
_CODE = re.compile(r"`([^`]+)`")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True)
class PageRun:
    """One run as the page has it. `record` is None where there is none that could be read."""

    name: str
    varied: str
    outcome: Outcome
    verdict: str
    rules: str
    record: Record | None


@dataclass(frozen=True, slots=True)
class FrameLine:
    """A line of code with its number; `here` for the one that is meant."""

    number: int
    text: str
    here: bool


@dataclass(frozen=True, slots=True)
class PageDivergence:
    """Where two runs first differ: in words, the line of code with its neighbours, and what more there is to say.

    `head` stands above it.
    """

    head: str
    words: str
    place: Place | None
    frame: Sequence[FrameLine]
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Page:
    """All that a page shows. `differences` are those of the environments, each with the name of its run; `patch` are
    the lines of a unified diff, and `heads` stand above the columns of the runs. `command` is the one that made it.
    """

    title: str
    outcome: Outcome
    verdict: str
    about: Sequence[tuple[str, str]]
    runs: Sequence[PageRun]
    divergences: Sequence[PageDivergence]
    environment: Mapping[str, str]
    differences: Sequence[tuple[str, Difference]]
    notes: Sequence[str]
    patch: Sequence[str] = ()
    command: str = "verify"
    heads: tuple[str, str, str, str] = ("run", "what was varied", "verdict", "rules")


def render(page: Page) -> str:
    """The page as HTML."""
    style = resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{_text(page.title)}: torchrepro-lint {page.command}</title>
<style>
{style}</style>
</head>
<body>
{"".join(_body(page))}
</body>
</html>
"""


def _body(page: Page) -> Iterator[str]:
    yield f"<h1>{_text(page.title)}</h1>\n"
    yield f'<div class="verdict {page.outcome}"><strong>{_words(page.verdict)}</strong>\n'
    yield "".join(
        f'<p><span class="soft">{_text(name)}</span> <code>{_text(value)}</code></p>' for name, value in page.about
    )
    yield "</div>\n"
    yield from _runs(page.runs, page.heads)
    yield from _patch(page.patch)
    for divergence in page.divergences:
        yield from _divergence(divergence)
    yield from _differences(page.differences)
    yield from _timeline(page.runs)
    yield from _environment(page.environment)
    if page.notes:
        items = "".join(f"<li>{_words(note)}</li>" for note in page.notes)
        yield f"<h2>Notes</h2>\n<ul>{items}</ul>\n"


def _divergence(divergence: PageDivergence) -> Iterator[str]:
    yield f"<h2>{_text(divergence.head)}</h2>\n<p>{_words(divergence.words)}</p>\n"
    if (place := divergence.place) is not None:
        function = f" in {place.function}" if place.function else ""
        yield f"<p><code>{_text(f'{place.file}:{place.line}')}</code>{_text(function)}</p>\n"
    if divergence.frame:
        width = len(str(divergence.frame[-1].number))
        lines = "".join(_frame_line(line, width) for line in divergence.frame)
        yield f'<div class="scroll"><pre class="frame">{lines}</pre></div>\n'
    if divergence.facts:
        yield _table(("", ""), [(None, (name, value)) for name, value in divergence.facts])


def _frame_line(line: FrameLine, width: int) -> str:
    text = f'<span class="number">{line.number:{width}} |</span> {_text(line.text)}'
    # A block ends its line by itself.
    return f'<span class="here">{text}</span>' if line.here else f"{text}\n"


def _timeline(runs: Sequence[PageRun]) -> Iterator[str]:
    recorded = [run for run in runs if run.record is not None]
    lines = timeline([run.record for run in recorded if run.record is not None], COLUMNS)
    if not lines.columns:
        return
    yield "<h2>Hashes of each step</h2>\n"
    yield f'<div class="scroll">{draw(lines, [run.name for run in recorded])}</div>\n'
    steps = "Each column is one step" if lines.width == 1 else f"Each column is {lines.width} steps"
    yield (
        f'<p class="soft">{_key("same")}as in the first run {_key("differed")}another hash {_key("missing")}nothing.'
        f" {steps}; the shade changes with the hash.</p>\n"
    )


def _key(look: str) -> str:
    style = {
        "same": "background: var(--same)",
        "differed": "background: var(--bad)",
        "missing": "border: 1px dashed var(--bad)",
    }[look]
    return f'<span class="key" style="{style}"></span>'


def _patch(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        marks = {"+": "added", "-": "removed"}
        shown = (f'<span class="{marks.get(line[:1], "kept")}">{_text(line)}</span>' for line in lines)
        yield f'<h2>All fixes</h2>\n<div class="scroll"><pre class="patch">{"".join(shown)}</pre></div>\n'


def _runs(runs: Sequence[PageRun], heads: Sequence[str]) -> Iterator[str]:
    yield f"<h2>{'Runs' if heads[0] == 'run' else 'Rounds'}</h2>\n"
    yield _table(
        heads,
        [(run.outcome, (run.name, run.varied, run.verdict, run.rules)) for run in runs],
        marked=2,
    )


def _differences(differences: Sequence[tuple[str, Difference]]) -> Iterator[str]:
    if differences:
        yield "<h2>The environments differ</h2>\n"
        rows = [(None, (run, one.name, one.first, one.second)) for run, one in differences]
        yield _table(("run", "differs in", "first run", "this run"), rows, row_class="differs")


def _environment(environment: Mapping[str, str]) -> Iterator[str]:
    everything = _table(("", ""), [(None, pair) for pair in environment.items()])
    yield f"<h2>Environment</h2>\n<details><summary>of the first run</summary>{everything}</details>\n"


def _table(
    heads: Sequence[str],
    rows: Iterable[tuple[Outcome | None, Sequence[str]]],
    marked: int | None = None,
    row_class: str = "",
) -> str:
    """A table; `marked` is the column that is coloured by the outcome of its row."""

    def cell(column: int, outcome: Outcome | None, text: str) -> str:
        attribute = f' class="{outcome}"' if column == marked and outcome else ""
        return f"<td{attribute}>{_words(text)}</td>"

    head = "".join(f"<th>{_text(name)}</th>" for name in heads) if any(heads) else ""
    body = "".join(
        f'<tr class="{row_class}">' + "".join(cell(at, outcome, text) for at, text in enumerate(texts)) + "</tr>\n"
        for outcome, texts in rows
    )
    return f'<div class="scroll"><table>{f"<tr>{head}</tr>" if head else ""}\n{body}</table></div>\n'


def _words(text: str) -> str:
    """A sentence, with what stands between backticks as code."""
    return _CODE.sub(r"<code>\1</code>", _text(text))


def _text(text: str) -> str:
    """Text for any place in a page, attributes as well."""
    return escape(printable(text), quote=True)

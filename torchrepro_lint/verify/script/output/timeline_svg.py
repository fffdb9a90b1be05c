"""The timeline as a drawing within a page: a row for each run, in it a lane each for batches, losses and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from torchrepro_lint.verify.script.output.timeline import LANES, Timeline

COLUMNS = 320  # more steps than that share columns
_LANE, _GAP, _TOP = 12, 10, 18  # pixels: height of a lane, between two runs, above the first
_DRAWN = 900  # pixels that the columns share where there are many; few are not drawn wider than `_WIDEST`
_WIDEST, _NARROWEST = 22, 4
_LETTER = 7.3  # pixels, the width of a letter of a name


def draw(timeline: Timeline, names: Sequence[str]) -> str:
    """An SVG element. Each cell is one hash: shades change with the hash, what differs from the first run is marked."""
    left = 74 + int(_LETTER * max(map(len, names), default=0))
    cell = min(_WIDEST, max(_NARROWEST, _DRAWN // max(1, timeline.columns)))
    height = _TOP + len(names) * (len(LANES) * _LANE + _GAP)
    width = left + cell * timeline.columns + 4
    parts = [*_ruler(timeline, left, cell)]
    for run, name in enumerate(names):
        top = _TOP + run * (len(LANES) * _LANE + _GAP)
        parts.append(f'<text x="0" y="{top + 22}">{escape(name)}</text>')
        parts.extend(_lanes(timeline, run, left, top, cell))
    if (first := timeline.first_difference()) is not None:
        at = left + first * cell - 1
        parts.append(f'<line class="first" x1="{at}" x2="{at}" y1="0" y2="{height}"/>')
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg {size} role="img" aria-label="hashes of each step of each run">{"".join(parts)}</svg>'


def _ruler(timeline: Timeline, left: int, cell: int) -> Iterator[str]:
    # A number wherever there is room for it, and a little beside it.
    digits = len(str(timeline.columns * timeline.width))
    stride = max(1, -(-int(_LETTER * (digits + 2)) // cell))
    for column in range(0, timeline.columns, stride):
        yield f'<text class="lane" x="{left + column * cell}" y="10">{column * timeline.width}</text>'


def _lanes(timeline: Timeline, run: int, left: int, top: int, cell: int) -> Iterator[str]:
    for row, lane in enumerate(LANES):
        y = top + row * _LANE
        yield f'<text class="lane" x="{left - 62}" y="{y + 9}">{lane}</text>'
        for column in range(timeline.columns):
            mine, first = timeline.hash(run, column, lane), timeline.hash(0, column, lane)
            if mine is None and first is None:
                continue
            words = f"{timeline.steps(column)}, {lane}: {mine or 'nothing'}"
            if mine == first:
                look = f'class="same" opacity="{_shade(mine or "")}"'
            else:
                look = f'class="{"differed" if mine else "missing"}"'
                words += f"; the first run has {first or 'nothing'}"
            place = f'x="{left + column * cell}" y="{y}" width="{cell - 1}" height="{_LANE - 2}"'
            yield f"<rect {place} {look}><title>{escape(words)}</title></rect>"


def _shade(digest: str) -> float:
    """Between 0.3 and 1: neighbours are told apart, and equal hashes look equal."""
    return round(0.3 + 0.7 * int(digest[:2], 16) / 255, 2)

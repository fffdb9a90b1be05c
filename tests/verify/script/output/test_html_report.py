"""The page: it is complete in itself, and shows text as text whatever it is."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from torchrepro_lint.verify.script.entries import Entry, Header, Place
from torchrepro_lint.verify.script.environment import Difference
from torchrepro_lint.verify.script.output.html_report import FrameLine, Page, PageDivergence, PageRun, render
from torchrepro_lint.verify.script.record import Record

NASTY = "a<b>&amp;\"'</title><script>alert(1)</script>\x1b[31m\u202e.py"


class Seen(HTMLParser):
    """Tags, attributes and texts of a page, and whether what is opened is closed."""

    VOID = ("meta", "rect", "line")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page(text: str = "train.py", outcome: str = "differed") -> Page:
    record = Record(Header((text,), text), (Entry("loss", text, step=0, output=text),))
    other = Record(Header((text,), text), (Entry("loss", text, step=0, output="other"),))
    return Page(
        title=text,
        outcome=outcome,  # type: ignore[arg-type]
        verdict=f"differed {text}",
        about=[("command", text)],
        runs=[
            PageRun(text, text, "first", text, "", record),
            PageRun(text, text, "differed", text, "TRL502", other),
            PageRun("lost", text, "failed", text, "", None),
        ],
        divergences=[
            PageDivergence(
                name,
                text,
                Place(text, 3, text),
                [FrameLine(2, "before", False), FrameLine(3, text, True)],
                [("rule", text)],
            )
            for name in ("Where they first differ", "What depends on workers")
        ],
        environment={text: text},
        differences=[(text, Difference(text, text, text))],
        notes=[text],
    )


def test_text_is_text() -> None:
    seen = Seen(render(page(NASTY)))
    assert "script" not in seen.tags and "b" not in seen.tags
    assert seen.tags.count("title") == 1 + seen.tags.count("rect")
    shown = NASTY.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    assert "".join(seen.texts).count(shown) > 15
    plain = Seen(render(page()))
    assert seen.tags == plain.tags


def test_nothing_is_fetched() -> None:
    html = render(page())
    assert "http://" not in html and "https://" not in html and "url(" not in html and "@import" not in html
    seen = Seen(html)
    assert not {"link", "img", "iframe", "object", "embed"} & set(seen.tags)
    assert not {"src", "href", "srcset", "data", "action"} & {name for name, _ in seen.attributes}
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in seen.attributes


def test_what_comes_first() -> None:
    html = render(page())
    order = [
        *("differed train.py", "<h2>Runs", "<h2>Where they first differ", "<h2>What depends on workers"),
        *("<h2>The environments differ", "<h2>Hashes of each step", "<h2>Environment<"),
    ]
    assert sorted(order, key=html.index) == order


@pytest.mark.parametrize("outcome", ["agreed", "failed"])
def test_without_a_divergence(outcome: str) -> None:
    full = page(outcome=outcome)
    bare = Page(full.title, full.outcome, "2 runs", (), [full.runs[2]], (), {}, (), ())
    html = render(bare)
    Seen(html)
    assert f'class="verdict {outcome}"' in html
    assert "Where they first differ" not in html and "<svg" not in html and "differ</h2>" not in html


def test_what_stands_between_backticks_is_code_and_every_divergence_has_its_lines() -> None:
    html = render(page("of `a < b` and"))
    assert "of <code>a &lt; b</code> and" in html
    assert html.count('<pre class="frame">') == 2

"""A bar for a person who waits: on a terminal, after a second, and gone in the end."""

from __future__ import annotations

import io

import pytest

from torchrepro_lint.console import StatusLine
from torchrepro_lint.engine import RunOptions, check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.report.progress import Bar
from torchrepro_lint.toolkit import Toolkit


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal()


def test_nothing_is_shown_within_a_second(terminal: Terminal) -> None:
    clock = Clock()
    with StatusLine.on(terminal) as line:
        bar = Bar(line, clock)
        for clock.seconds in (0.0, 0.5, 0.99):
            bar(0.5, "a rule")
    assert terminal.getvalue() == ""


def test_then_the_bar_grows_and_goes(terminal: Terminal) -> None:
    clock = Clock()
    with StatusLine.on(terminal) as line:
        bar = Bar(line, clock)
        clock.seconds = 1.5
        bar(0.25, "one rule")
        bar(0.5, "too soon after it")
        clock.seconds = 1.7
        bar(0.75, "another rule" + "x" * 100)
    first, second, end = terminal.getvalue().split("\r\x1b[K")[1:]
    assert first == "[======                  ]  25% one rule"
    assert second.startswith("[==================      ]  75% another rule")
    assert len(second) == 79
    assert end == ""


def test_an_error_takes_the_line_away_as_well(terminal: Terminal) -> None:
    with pytest.raises(ValueError, match="broken"), StatusLine.on(terminal) as line:
        line.show("working")
        raise ValueError("broken")
    assert terminal.getvalue() == "\r\x1b[Kworking\r\x1b[K"


@pytest.mark.parametrize("shown", [True, False])
def test_to_anything_else_nothing_is_written(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, shown: bool) -> None:
    file = io.StringIO()
    if shown:
        monkeypatch.setenv("TERM", "dumb")
    for stream in (file, terminal):
        with StatusLine.on(stream, shown=shown if stream is terminal else True) as line:
            assert not line.is_seen
            line.show("working")
        assert stream.getvalue() == ""


def test_a_check_tells_how_far_it_is(write) -> None:  # type: ignore[no-untyped-def]
    root = write({"pyproject.toml": "", "a.py": "import torch\n"})
    told: list[tuple[float, str]] = []
    check([root], run=RunOptions(progress=lambda share, what: told.append((share, what))))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1
    assert {f"1 file: {rule.name}" for rule in Toolkit().rules() if rule.profile == "default"} <= {
        what for _, what in told
    }


def test_a_repair_tells_how_far_it_is(write) -> None:  # type: ignore[no-untyped-def]
    loader = "from torch.utils.data import DataLoader\nloader = DataLoader([1], shuffle=True)\n"
    asked = "[tool.torchrepro-lint]\nextend-select = ['TRL201']"
    root = write({"pyproject.toml": asked, "a.py": f"import torch\ntorch.manual_seed(0)\n{loader}"})
    told: list[tuple[float, str]] = []
    assert fix([root], write=False, run=RunOptions(progress=lambda share, what: told.append((share, what)))).changes
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert 0.5 < shares[-1] <= 1
    assert not told[0][1].startswith("with the fixes")
    assert told[-1][1].startswith("with the fixes: ")

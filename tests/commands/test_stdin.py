from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from fakes import WordRule, toolkit

from torchrepro_lint.commands.check import CheckOptions
from torchrepro_lint.commands.stdin import check_stdin
from torchrepro_lint.diagnostics import TorchReproLintError

BAD = WordRule("TRL101", "wrong-word", "bad", "good")
RISKY = WordRule("TRL102", "risky-word", "risky")
KIT = toolkit(BAD, RISKY)
STDIN = (Path("-"),)


class Streams:
    """Runs the command with bytes on standard input; gives status, bytes of standard output, text of the error."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch

    def run(self, data: bytes, name: str | None = None, **options) -> tuple[int, bytes, str]:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n"), io.StringIO()
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        self.monkeypatch.setattr(sys, "stdout", out)
        self.monkeypatch.setattr(sys, "stderr", err)
        paths = options.pop("paths", STDIN)
        status = check_stdin(CheckOptions(paths, **options), Path(name) if name else None, KIT)
        out.flush()
        return status, out.buffer.getvalue(), err.getvalue()


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch, write) -> Streams:
    root = write({"torchrepro-lint.toml": "", "a.py": "import torch\n", "sub/b.py": "import torch\nbad\n"})
    monkeypatch.chdir(root)
    return Streams(monkeypatch)


def test_it_counts_in_place_of_the_file(streams: Streams) -> None:
    status, out, _ = streams.run(b"import torch\nbad\n", "a.py", output_format="concise")
    assert status == 1
    assert out.decode().splitlines()[0] == "a.py:2:1: TRL101 [*] found bad"
    assert streams.run(b"import torch\n", "sub/b.py")[0] == 0
    assert Path("a.py").read_text() == "import torch\n"


def test_a_file_that_is_not_there_and_none(streams: Streams) -> None:
    assert streams.run(b"import torch\nbad\n", "new/c.py", output_format="concise")[1].startswith(b"new/c.py:2:1:")
    assert streams.run(b"import torch\nbad\n", output_format="concise")[1].startswith(b"stdin.py:2:1:")
    (one,) = json.loads(streams.run(b"import torch\nbad\n", "a.py", output_format="json")[1])
    assert one["filename"].endswith("/a.py")


def test_the_mended_text_goes_to_standard_output(streams: Streams) -> None:
    status, out, err = streams.run(b"import torch\r\nbad = risky\r\n", "a.py", fix=True, output_format="concise")
    assert status == 1
    assert out == b"import torch\r\ngood = risky\r\n"
    assert err.splitlines()[:2] == ["a.py:2:8: TRL102 found risky", "Found 2 errors (1 fixed, 1 remaining)."]
    assert Path("a.py").read_text() == "import torch\n"
    assert streams.run(b"import torch\nx\n", "a.py", fix=True)[:2] == (0, b"import torch\nx\n")
    assert streams.run(b"import torch\nbad = risky\n", "a.py", fix_only=True)[:2] == (
        0,
        b"import torch\ngood = risky\n",
    )


def test_a_difference(streams: Streams) -> None:
    text = b"import torch\nbad\n"
    status, out, err = streams.run(text, "a.py", diff=True)
    assert status == 1
    assert out == b"--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n import torch\n-bad\n+good\n"
    assert err == "Would fix 1 error.\n"
    assert b"\x1b[32m+good" in streams.run(text, "a.py", diff=True, colour="always")[1]
    assert "1 x TRL101 (wrong-word)" in streams.run(text, "a.py", diff=True, show_fixes=True)[2]


@pytest.mark.parametrize("data", [b"import torch\nx = (\n", b"import torch\nx = '\xff'\n"])
def test_a_broken_text_goes_through_as_it_is(streams: Streams, data: bytes) -> None:
    status, out, err = streams.run(data, "a.py", fix=True, output_format="concise")
    assert (status, out) == (1, data)
    assert "TRL900" in err
    assert b"TRL900" in streams.run(data, "a.py", output_format="concise")[1]


def test_it_is_the_only_path(streams: Streams) -> None:
    with pytest.raises(TorchReproLintError, match="cannot be combined with other paths"):
        streams.run(b"", paths=(Path("-"), Path("a.py")))

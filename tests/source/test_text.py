from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.knowledge.old_syntax import BYTES_IN_COMMENTS, ENDS_WITH_NULL
from torchrepro_lint.source.text import SourceError, decode, read_source, split_lines

HERE = Path("a.py")


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0")), st.booleans())
def test_text_and_bytes_give_each_other(text: str, bom: bool) -> None:
    if text.startswith("﻿") or "coding" in text:
        return
    data = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    source = decode(HERE, data)
    assert (source.text, source.bom, source.encode(text)) == (text, bom, data)


@given(st.text(alphabet="a \t\r\n\f\v\x85\u2028"))
def test_lines_are_those_of_python(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [line.rstrip("\r\n") for line in lines] == (expected if expected[-1] else expected[:-1])


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"# -*- coding: latin-1 -*-\r\nx = '\xe9'\r\n", "iso-8859-1", "# -*- coding: latin-1 -*-\r\nx = 'é'\r\n"),
        (b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\n'\x80'", "cp1252", None),
        (b"\xef\xbb\xbf# coding: utf-8\nx = 1\n", "utf-8", "# coding: utf-8\nx = 1\n"),
        (b"x = 1\ny = 2\n# coding: latin-1\n", "utf-8", None),
        (b"", "utf-8", ""),
    ],
)
def test_cookies(data: bytes, encoding: str, text: str | None) -> None:
    source = decode(HERE, data)
    assert source.encoding == encoding
    assert text is None or source.text == text
    assert source.survives


@pytest.mark.parametrize(
    ("data", "row", "column", "reason"),
    [
        (b"x = 1\ny = '\xe9'\n", 2, 6, "not utf-8: invalid continuation byte"),
        (b"x\n\xff", 2, 1, "not utf-8: invalid start byte"),
        (b"x = 1\n# \xff\n", 2, 3, f"not utf-8: invalid start byte, {BYTES_IN_COMMENTS}"),
        (b"x = 1  # \xff\ny = '\xff'\n", 1, 10, "not utf-8: invalid start byte"),
        (b"x = (  # \xff\n", 1, 10, "not utf-8: invalid start byte"),
        (b"# coding: nonsense\n", 1, 1, "unknown encoding: nonsense"),
        (b"# coding: rot13\n", 1, 1, "rot13 is not a text encoding"),
        (b"# coding: undefined\nimport torch\n", 1, 1, "undefined is not a text encoding"),
        (b"\xef\xbb\xbf\xef\xbb\xbfimport torch\n", 1, 1, "begins with two byte order marks"),
        (b"x = 1\nab\0", 2, 3, "contains a null character"),
        (b"x = 1\n\0\ny = 2\n", 2, 1, "contains a null character"),
        (b"x = 1\n\0", 2, 1, ENDS_WITH_NULL),
        (b"x = 1\n\n\0\0\n\0", 3, 1, ENDS_WITH_NULL),
        (b"\xff\xfex\0", 1, 1, "UTF-16, which Python does not read"),
        (b"\xef\xbb\xbf# coding: latin-1\n", 1, 1, None),
    ],
)
def test_what_cannot_be_decoded(data: bytes, row: int, column: int, reason: str | None) -> None:
    with pytest.raises(SourceError) as error:
        decode(HERE, data)
    assert (error.value.row, error.value.column) == (row, column)
    assert reason is None or error.value.reason == reason
    assert "\n" not in str(error.value)


def test_a_character_that_the_encoding_lacks() -> None:
    source = decode(HERE, b"# coding: latin-1\n")
    with pytest.raises(SourceError, match=r"a\.py:2:1: iso-8859-1 has no bytes for"):
        source.encode("# coding: latin-1\nx = '\N{SNOWMAN}'\n")


def test_an_encoding_with_states_does_not_survive() -> None:
    assert not decode(HERE, b"# coding: iso2022_jp\nx = '\x1b(B\x1b(B'\n").survives


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.py")
    errors: list[str] = []

    def read() -> None:
        with pytest.raises(SourceError) as error:
            read_source(tmp_path / "p.py")
        errors.append(error.value.reason)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(60)
    assert errors == ["not a regular file"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"x\.py:1:1: No such file or directory"):
        read_source(tmp_path / "x.py")


def test_a_cookie_of_a_codec_package_stands_for_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "old.py"
    path.write_bytes("# -*- coding: future_fstrings -*-\nname = 'ä'\n".encode())
    assert read_source(path).text.endswith("'ä'\n")


def test_an_encoding_of_other_texts_is_left_alone() -> None:
    source = decode(HERE, b"# coding: idna\nimport torch\n" + b"x" * 80 + b"\n")
    assert not source.survives
    with pytest.raises(SourceError, match="cannot be written as idna"):
        source.encode(source.text)

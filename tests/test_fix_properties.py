"""What holds for the fix of every rule, in whatever clothes its program comes: the fixtures with another head, other
indentation, other line endings, another end.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from fixture_format import SETTINGS_FILE, all_fixtures
from hypothesis import given, settings
from hypothesis import strategies as st

from torchrepro_lint.fix_loop import fix
from torchrepro_lint.source.text import read_source
from torchrepro_lint.verify.fixtures.fixture import Fixture, strip_marks

#: The programs of one file that have a fix, of every rule that has one.
PROGRAMS = [fixture for fixture in all_fixtures() if fixture.twin is not None and fixture.alone]

HEADS = st.lists(
    st.sampled_from([
        "# -*- coding: latin-1 -*-\n", "# Copyright \N{COPYRIGHT SIGN} Somebody\n# All rights reserved.\n", "\n",
        '"""Doc.""" ; answer = 42\n', "'''Doc,\nof two lines.'''\n", "import sys; sys.path.insert(0, '.')\n",
        "import os\nos.environ['OMP_NUM_THREADS'] = '1'\n", "from random import random as uniform\n",
        "try:\n    import yaml\nexcept ImportError:\n    yaml = None\n", "# Standard library\nimport math\n\n# Third party\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy as np\n",
    ]),
    max_size=3, unique=True,
)  # fmt: skip
ENDS = st.sampled_from(["", "\n\n# The end.\n", "\nif False:\n    pass", "\n\n\n"])


def dressed(fixture: Fixture, heads: list[str], end: str, indent: str, newline: str, bom: bool) -> bytes:
    """The program of a fixture under some heads, which come in the order in which Python takes them."""
    body = strip_marks(fixture.path.read_text(encoding="utf-8"))
    order = [head for head in heads if head.startswith("#")] + [head for head in heads if not head.startswith("#")]
    order.sort(key=lambda head: "coding" not in head)
    latin = "coding: latin-1" in "".join(order)
    text = "".join(order) + body + end
    if indent != "    ":
        rows = [(len(line) - len(line.lstrip(" ")), line) for line in text.split("\n")]
        text = "\n".join(indent * (depth // 4) + " " * (depth % 4) + line.lstrip(" ") for depth, line in rows)
    data = text.replace("\n", newline).encode("latin-1" if latin else "utf-8")
    return b"\xef\xbb\xbf" + data if bom and not latin else data


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(PROGRAMS), HEADS, ENDS, st.sampled_from(["    ", "\t", "  "]), st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)  # fmt: skip
def test_whatever_the_program_looks_like(
    fixture: Fixture, heads: list[str], end: str, indent: str, newline: str, bom: bool
) -> None:
    data = dressed(fixture, heads, end, indent, newline, bom)
    try:
        compile(data, "program", "exec")
    except SyntaxError:  # a `from __future__` that is no more at the head
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_bytes(data)
        (Path(folder) / SETTINGS_FILE).write_text("".join(f"{line}\n" for line in fixture.settings), encoding="utf-8")
        old = read_source(path)
        result = fix([path])
        after = path.read_bytes()
        new = read_source(path)
        assert not [one for one in result.report.findings if one.code == fixture.rule and one.fix is not None]
        assert [one.code for one in result.fixed if one.code == fixture.rule], result.rejected
        compile(after, "program", "exec")
        # The form of the file stays.
        assert after.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")
        assert new.encoding == old.encoding
        assert (b"\r\n" in after) == (newline == "\r\n")
        assert after.count(b"\r\n") in (0, after.count(b"\n"))
        assert after.endswith(b"\n") == data.endswith(b"\n")
        # What says how the file is to be read stays above all.
        heading = [head for head in heads if "coding" in head]
        assert after.startswith(heading[0].replace("\n", newline).encode("latin-1") if heading else b"")
        again = fix([path])
        assert (again.changes, path.read_bytes()) == ((), after)

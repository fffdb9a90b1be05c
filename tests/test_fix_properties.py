"""What holds for the fix of every rule, in whatever clothes its program comes: the fixtures with another head, other
indentation, other line endings, another end.
"""

from __future__ import annotations

import ast
import io
import random
import re
import tempfile
import tokenize
from pathlib import Path

import pytest
from fixture_format import SETTINGS_FILE, all_fixtures
from hypothesis import given, settings
from hypothesis import strategies as st

from torchrepro_lint.fix_loop import fix
from torchrepro_lint.source.text import read_source
from torchrepro_lint.verify.fixtures.fixture import Fixture, strip_marks

pytestmark = pytest.mark.exhaustive

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


#: Tokens that say nothing of the program: how it is laid out, and commas, which may be added at the end of a call.
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
REMARKS = st.lists(
    st.sampled_from(["blank", "above", "behind", "comma", "comma behind"]), min_size=1, max_size=12
)  # fmt: skip

REMARKED_IMPORT = re.compile(r"(?:import|from) [^(]*  # remark \d+$")


def tokens_of(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def meaning(text: str) -> list[str]:
    """The tokens of a program without its layout."""
    return [one.string for one in tokens_of(text) if one.type not in LAYOUT and one.string not in ("", ",")]


def comments(text: str) -> list[str]:
    return [one.string for one in tokens_of(text) if one.type == tokenize.COMMENT]


def remarked(text: str, remarks: list[str], chance: random.Random) -> str:
    """The program with blank lines, comments, and commas at the ends of calls, at places that chance chooses."""
    for number, remark in enumerate(remarks):
        lines, tokens = text.split("\n"), tokens_of(text)
        ends = [one for one in tokens if one.type in (tokenize.NEWLINE, tokenize.NL) and one.string]
        if remark in ("behind", "comma behind"):
            # Only behind code: a comment that has one already ends with it.
            free = [one for one in ends if one.start[1] and not lines[one.start[0] - 1].strip().startswith("#")]
            free = [one for one in free if "#" not in lines[one.start[0] - 1]]
            if free:
                row = chance.choice(free).start[0] - 1
                lines[row] += f"  # remark {number}"
        elif remark in ("blank", "above"):
            inside = {row for one in tokens if one.type == tokenize.STRING for row in range(one.start[0], one.end[0])}
            rows = [one.start[0] for one in ends if one.start[0] not in inside and not _goes_on(lines, one.start[0])]
            row = chance.choice(rows)
            below = lines[row] if row < len(lines) else ""
            indent = below[: len(below) - len(below.lstrip())]
            lines.insert(row, "" if remark == "blank" else f"{indent}# remark {number}")
        if remark.startswith("comma"):
            lines = _with_comma("\n".join(lines), chance).split("\n")
        text = "\n".join(lines)
    return text


def _goes_on(lines: list[str], row: int) -> bool:
    return lines[row - 1].rstrip().endswith("\\")


def _with_comma(text: str, chance: random.Random) -> str:
    """The text with a comma behind the last argument of a call that has several."""
    tree = ast.parse(text)
    in_texts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and len(node.args) + len(node.keywords) > 1 and id(node) not in in_texts
    ]
    if not calls:
        return text
    node = chance.choice(calls)
    last = max(
        (*node.args, *(one.value for one in node.keywords)), key=lambda one: (one.end_lineno, one.end_col_offset)
    )
    lines = text.split("\n")
    row, column = last.end_lineno - 1, len(lines[last.end_lineno - 1].encode()[: last.end_col_offset].decode())
    behind = lines[row][column:]
    if behind.startswith(")") or (not behind and lines[row + 1].strip().startswith(")")):
        lines[row] = f"{lines[row][:column]},{behind}"
    return "\n".join(lines)


def without(text: str, imports: set[str]) -> str:
    """The text without these imports."""
    return "\n".join(line for line in text.split("\n") if line.partition("  # remark")[0] not in imports)


def _is_inside_what_changes(text: str, before: str, after: str) -> bool:
    """Whether a remark is inside a function that the fix makes another one, or takes away."""
    lines = text.split("\n")
    old, new = (
        {node.name: ast.dump(node) for node in ast.walk(ast.parse(one)) if isinstance(node, ast.FunctionDef)}
        for one in (before, after)
    )
    return any(
        isinstance(node, ast.FunctionDef)
        and old.get(node.name) != new.get(node.name)
        and any("# remark" in line for line in lines[node.lineno - 1 : node.end_lineno])
        for node in ast.walk(ast.parse(text))
    )


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PROGRAMS), REMARKS, st.randoms(use_true_random=False))
def test_remarks_and_blank_lines_stay_and_change_nothing_of_what_is_fixed(
    fixture: Fixture, remarks: list[str], chance: random.Random
) -> None:
    body = strip_marks(fixture.path.read_text(encoding="utf-8"))
    old = remarked(body, remarks, chance)
    compile(old, "program", "exec")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        (Path(folder) / SETTINGS_FILE).write_text("".join(f"{line}\n" for line in fixture.settings), encoding="utf-8")
        path.write_text(old, encoding="utf-8")
        result = fix([path])
        new = path.read_text(encoding="utf-8")
        compile(new, "program", "exec")
        rest = iter(comments(new))
        assert all(one in rest for one in comments(old)), new
        before, after = (path.read_text(encoding="utf-8") for path in (fixture.path, fixture.twin))
        # A remark may say why something is as it is: then it is the author who decides, of this rule alone.
        if not [one for one in result.report.findings if one.code == fixture.rule]:
            # An import that nothing uses any more stays where a remark says something of it.
            imports = {line.partition("  # remark")[0] for line in new.split("\n") if REMARKED_IMPORT.match(line)}
            # A function that has a remark inside keeps its statements: only the seed in it is another one.
            same = meaning(without(new, imports)) == meaning(without(strip_marks(after), imports))
            assert same or _is_inside_what_changes(old, before, after), new
        else:
            path.write_text(strip_marks(before), encoding="utf-8")
            fix([path], {"ignore": (fixture.rule,)})
            assert meaning(new) == meaning(path.read_text(encoding="utf-8")), new
            path.write_text(new, encoding="utf-8")
        again = fix([path])
        assert (again.changes, path.read_text(encoding="utf-8")) == ((), new)

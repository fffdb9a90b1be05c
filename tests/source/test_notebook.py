from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebooks import code, markdown, notebook

from torchrepro_lint.source.cells import Cell, join
from torchrepro_lint.source.notebook import NotebookError, read_notebook
from torchrepro_lint.source.text import SourceError, decode, read_source

LINES = st.lists(st.text(max_size=8).filter(lambda line: "\0" not in line), max_size=6)


def sources(text: str) -> dict[int, str]:
    return {cell.number: cell.source for cell in read_notebook(text).cells}


def written(text: str, *changes: str) -> str:
    found = read_notebook(text)
    return found.with_sources([Cell(cell.number, new) for cell, new in zip(found.cells, changes, strict=True)])


def test_code_cells_are_numbered_among_all_cells() -> None:
    text = notebook(markdown("# a"), "x = 1\ny = 2", code("# nothing"), markdown("b"), "z")
    assert sources(text) == {2: "x = 1\ny = 2", 3: "# nothing", 5: "z"}


def test_a_source_may_be_one_string() -> None:
    text = '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "a\\nb"}], "metadata": {}}'
    assert sources(text) == {1: "a\nb"}
    assert written(text, "a\nc") == text.replace("\\nb", "\\nc")


def test_cells_of_other_languages_are_passed_over() -> None:
    assert sources(notebook("x = 1", language="R")) == {}
    assert sources(notebook("x = 1", code("SELECT 1", vscode={"languageId": "sql"}))) == {1: "x = 1"}
    assert sources('{"nbformat": 4, "cells": [{"cell_type": "code", "source": "a"}]}') == {1: "a"}


@pytest.mark.parametrize(
    ("text", "reason", "row", "column"),
    [
        ("{\n 'a'", "not valid JSON: Expecting property name enclosed in double quotes", 2, 2),
        ("", "not valid JSON: Expecting value", 1, 1),
        ('{\n<<<<<<< HEAD\n"nbformat": 4,\n=======\n', "an unresolved merge conflict", 2, 1),
        ('{"cells": "torch', "not valid JSON: Unterminated string", 1, 11),
        ("[]", "not a notebook: the JSON has no `nbformat`", 1, 1),
        ('{"nbformat": 3, "worksheets": []}', "notebook format 3: convert it to 4", 1, 1),
        ('{"nbformat": 4}', "not a notebook: `cells` is not a list of objects", 1, 1),
        ('{"nbformat": 4, "cells": [1]}', "not a notebook: `cells` is not a list of objects", 1, 1),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": 1}]}', "the source of cell 1 is neither", 1, 1),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": "\\ud800"}]}', "cell 1 holds a character", 1, 1),
        ("[" * 100_000, "not valid JSON: nested too deeply", 1, 1),
    ],
)
def test_what_is_no_notebook_says_why(text: str, reason: str, row: int, column: int) -> None:
    with pytest.raises(NotebookError) as raised:
        read_notebook(text)
    assert reason in raised.value.reason
    assert (raised.value.row, raised.value.column) == (row, column)
    with pytest.raises(SourceError, match=r"a\.ipynb"):
        decode(Path("a.ipynb"), text.encode())


def test_only_the_changed_lines_change_in_the_file() -> None:
    text = (
        '{ "metadata": {"z": 1, "a": 1e3},\n'
        '  "cells": [\n'
        '     {"outputs": [{"data": {"image/png": "iVBO\\/w=="}}], "cell_type": "code",\n'
        '      "source": ["x = \\"\\u00e9\\"\\n",\n\t\t"y = 2\\n" ,\n  "z = 3"], "id": "abc"},\n'
        '     {"cell_type": "code", "source": "a = \'\\u00e9\'\\nb"}\n'
        ' ], "nbformat" : 4}'
    )
    assert sources(text) == {1: 'x = "é"\ny = 2\nz = 3', 2: "a = 'é'\nb"}
    assert written(text, 'x = "é"\ny = 2\nz = 3', "a = 'é'\nb") == text
    assert written(text, 'x = "é"\nw = "ü"\ny = 2\nz = 4', "a = 'é'\nb") == text.replace(
        '"y = 2\\n" ,\n  "z = 3"', '"w = \\"\\u00fc\\"\\n",\n\t\t"y = 2\\n",\n\t\t"z = 4"'
    ).replace('\\n",\n\t\t"w', '\\n",\n\t\t"w')
    assert written(text, 'x = "é"\ny = 2\nz = 3', "a = 'é'\n\nc") == text.replace("\\nb", "\\n\\nc")


@given(st.lists(LINES, min_size=1, max_size=4), st.data(), st.sampled_from([None, 0, 1, 4]), st.booleans())
def test_a_notebook_comes_back_to_the_byte_and_takes_any_text(
    cells: list[list[str]], data: st.DataObject, indent: int | None, ascii_only: bool
) -> None:
    texts = ["\n".join(lines) for lines in cells]
    document = json.loads(notebook(*texts))
    for cell in document["cells"]:
        if data.draw(st.booleans()):
            cell["source"] = "".join(cell["source"])
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    try:
        found = read_notebook(text)
    except NotebookError:
        return  # a surrogate
    assert [cell.source for cell in found.cells] == texts
    assert found.with_sources(list(found.cells)) == text

    at = data.draw(st.integers(0, len(texts) - 1))
    new = [*texts[:at], "\n".join(data.draw(LINES.filter(lambda x: "\ud800" not in "".join(x)))), *texts[at + 1 :]]
    changed = written(text, *new)
    assert ["".join(cell["source"]) for cell in json.loads(changed)["cells"]] == new
    before, after = json.loads(text), json.loads(changed)
    for one, other in zip(before["cells"], after["cells"], strict=True):
        assert type(one.pop("source")) is type(other.pop("source"))
    assert before == after


def test_rows_in_the_file_whatever_form_the_source_has() -> None:
    text = '{"nbformat": 4, "cells": [\n{"cell_type": "code", "source": [\n"a\\n", "b\\nc\\n",\n"d"]},\n'
    text += '{"cell_type": "code",\n"source":\n"e\\nf"}]}'
    found = read_notebook(text)
    assert [found.row_in_file(1, row) for row in (1, 2, 3, 4, 5)] == [3, 3, 3, 4, 4]
    assert [found.row_in_file(2, 1), found.row_in_file(2, 2), found.row_in_file(3, 1)] == [7, 7, 1]


def test_the_first_cell_that_ran_before_one_above_it_is_named() -> None:
    assert read_notebook(notebook(code("a", 1), markdown(""), code("b", 3), code("c"), code("d", 2))).stale == (5, 3)
    assert read_notebook(notebook(code("a", 1), code("b", 3), code("c", 7))).stale is None


def test_a_notebook_is_read_from_the_disk_and_written_with_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    data = b"\xef\xbb\xbf" + notebook("import torch\n!ls", "x").encode()
    path.write_bytes(data)
    source = read_source(path)
    assert source.text == "# %% cell 1\nimport torch\n!ls\n# %% cell 2\nx\n"
    assert source.python == "# %% cell 1\nimport torch\n0##\n# %% cell 2\nx\n"
    assert source.searched == source.python.encode()
    assert source.survives
    assert source.encode(join([Cell(1, "import torch\n!ls"), Cell(2, "y")])) == data.replace(b'"x"', b'"y"')
    with pytest.raises(SourceError, match="does not begin with a cell"):
        source.encode("import os\n" + source.text)

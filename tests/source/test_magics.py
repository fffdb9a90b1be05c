from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.knowledge.magics import magics
from torchrepro_lint.source.magics import as_python, escapes

PYTHON = [
    "x = 1\n",
    "",
    "\n\n",
    "plt.show();",
    "x = '''\n%matplotlib inline\n!ls\n'''\n",
    "y = (a\n     % b)\n",
    "y = f(a,\n%3)",
    "x %= 3\ny = a != b\nf(x=1)\n",
    "s = 'what?'  # really?\n",
    "print(f'{x!r}', \"?\")\n",
    "# %%time\nx = 1",
    "ls -la\npip = 1\ncat + 1\nrun\ncd if pip else ls",
    "x = a \\\n    % b\n",
    "await f()\n",
]


@pytest.mark.parametrize("cell", PYTHON)
def test_python_stays_as_it_is(cell: str) -> None:
    assert as_python(cell) == cell
    assert escapes(cell) == []


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("!ls\nx = 1", "0##\nx = 1"),
        ("%matplotlib inline", "0#################"),
        ("if x:\n    !ls -l\n    y()\n", "if x:\n    0#####\n    y()\n"),
        ("?f", "0#"),
        ("f?", "0#"),
        ("if x:\n  f.g??  # why", "if x:\n  0###########"),
        ("???", "0##"),
        ("%pylab inline\nx = 1", "import numpy#\nx = 1"),
        ("pylab inline", "import numpy"),
        ("%pylab", "0#####"),
        ("%pylab \\\n  inline", "0#######\n########"),
        ("%time fit(model)", "0;    fit(model)"),
        ("%time x = fit(model)\ny", "0;    x = fit(model)\ny"),
        ("%timeit -n 10 -r3 f(x)", "0;                f(x)"),
        ("%prun -s cumtime f(x)", "0;               f(x)"),
        ("%time for x in y: f(x)", "0#####################"),
        ("%time fit(", "0#########"),
        ("%time", "0####"),
        ("files = !ls", "files = _##"),
        ("a, b = %magic x", "a, b = _#######"),
        ("x = %time f(1)", "x =       f(1)"),
        ("x = %timeit -o f(1)", "x = _##############"),
        ("!pip install \\\n  torch\nx = 1", "0#############\n#######\nx = 1"),
        ("pip install torch\nimport torch", "0################\nimport torch"),
        ("cd ..", "0####"),
        ("ls *.pt", "0######"),
        ("timeit np.ones(3)", "0################"),
        ("%%time\nx = 1\n", "#%%###\nx = 1\n"),
        ("\n\n%%capture out\n!ls\nx = 1", "\n\n#%%##########\n0##\nx = 1"),
        ("%%bash\nls 'x\n\ndone", "#%%###\n#####\n\n####"),
        ("%%writefile a.py\nimport torch", "#%%#############\n############"),
        ("x = 1\n%%time\ny = 2", "x = 1\n0#####\ny = 2"),
        ("/f 1, 2\n,f a b\n;f a b", "0######\n0#####\n0#####"),
        ("!ls\r\nx = 1\r\n", "0##\r\nx = 1\r\n"),
        ("x = {1: 2,\n     3: 4}\n!ls", "x = {1: 2,\n     3: 4}\n0##"),
        ("s = 'it''s'; f?\n!ls", "0##############\n0##"),
    ],
)
def test_what_is_not_python_is_replaced_in_the_same_length(cell: str, python: str) -> None:
    assert as_python(cell) == python
    ast.parse(python)


@given(st.text("%!?=x(f')\"\\\n\r #;,/1", max_size=60) | st.text(max_size=60))
def test_length_and_line_ends_never_change(cell: str) -> None:
    python = as_python(cell)
    assert len(python) == len(cell)
    assert all(
        (a in "\r\n") == (b in "\r\n") and (a not in "\r\n" or a == b) for a, b in zip(cell, python, strict=True)
    )
    assert bool(escapes(cell)) == (python != cell)


def test_the_pieces_that_are_replaced_are_those_that_edits_must_keep() -> None:
    cell = "%time x = f(1)\n!ls\ny = 2"
    assert escapes(cell) == ["%time", "!ls"]
    assert escapes(cell.replace("f(1)", "f(1, g=2)").replace("y = 2", "z")) == escapes(cell)
    assert escapes("import os\n%%time\nx") != escapes("%%time\nx")


def test_the_table_of_magics_is_read() -> None:
    assert "time" in magics().cell
    assert "bash" not in magics().cell

"""The import planner, trap by trap."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixes.helpers import applied, document, lines
from hypothesis import assume, given
from hypothesis import strategies as st

from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.imports import ImportPlanner

MODULES = ("random", "numpy", "torch")


def plan(text: str, path: Path | None = None) -> tuple[list[str], str]:
    parsed = document(text) if path is None else document(text, path)
    planner = ImportPlanner(parsed)
    names = [planner.require(module) for module in MODULES]
    return names, applied(text, planner.edits())


PLACES = {
    "nothing at all": ("x = 1\n", "import random\n\nimport numpy as np\nimport torch\n\nx = 1\n"),
    "a definition": (
        "# Makes it.\n@cache\ndef f():\n    pass\n",
        "import random\n\nimport numpy as np\nimport torch\n\n\n# Makes it.\n@cache\ndef f():\n    pass\n",
    ),
    "docstring with a statement behind it": (
        '"""Doc."""; x = 1\ny = 2\n',
        '"""Doc."""; x = 1\n\nimport random\n\nimport numpy as np\nimport torch\n\ny = 2\n',
    ),
    "shebang, coding cookie, licence": (
        "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# Copyright (c) 2020 Somebody\n# Licensed under MIT\nx = 1\n",
        (
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# Copyright (c) 2020 Somebody\n# Licensed under MIT\n\n"
            "import random\n\nimport numpy as np\nimport torch\n\nx = 1\n"
        ),
    ),
    "licence right above the imports": (
        "# Copyright (c) 2020 Somebody\n# All rights reserved.\nimport torch\n",
        "# Copyright (c) 2020 Somebody\n# All rights reserved.\n\nimport random\n\nimport numpy as np\nimport torch\n",
    ),
    "authors between the docstring and the imports": (
        '"""Doc."""\n\n# Authors: Somebody\n#\n# License: BSD\n#\nimport torch\n',
        (
            '"""Doc."""\n\n# Authors: Somebody\n#\n# License: BSD\n#\n\nimport random\n\nimport numpy as np\n'
            "import torch\n"
        ),
    ),
    "a title between the docstring and the imports": (
        '"""Doc."""\n# Third party\nimport torch\n',
        '"""Doc."""\n\nimport random\n\n# Third party\nimport numpy as np\nimport torch\n',
    ),
    "from __future__": (
        "from __future__ import annotations\nx = 1\n",
        "from __future__ import annotations\n\nimport random\n\nimport numpy as np\nimport torch\n\nx = 1\n",
    ),
    "docstring and from __future__": (
        '"""Doc."""\n\nfrom __future__ import annotations\n\nimport os\n\nx = os\n',
        (
            '"""Doc."""\n\nfrom __future__ import annotations\n\nimport os\nimport random\n\nimport numpy as np\n'
            "import torch\n\nx = os\n"
        ),
    ),
    "environment above the imports": (
        'import os\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\nimport torch.nn as nn\n',
        (
            'import os\nimport random\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\nimport numpy as np\n'
            "import torch\nimport torch.nn as nn\n"
        ),
    ),
    "environment, and no import of the section": (
        'import os\n\nos.environ["OMP_NUM_THREADS"] = "1"\n\nx = 1\n',
        (
            'import os\nimport random\n\nos.environ["OMP_NUM_THREADS"] = "1"\n\n'
            "import numpy as np\nimport torch\n\nx = 1\n"
        ),
    ),
    "module path, with noqa on what follows": (
        "import sys\nsys.path.insert(0, '..')\nfrom common import y  # noqa: E402\n",
        (
            "import random\nimport sys\nsys.path.insert(0, '..')\n"
            "import numpy as np  # noqa: E402\nimport torch  # noqa: E402\nfrom common import y  # noqa: E402\n"
        ),
    ),
    "module path below all but the own imports": (
        "import os\nimport sys\nimport yaml\n\nsys.path.append(os.getcwd())\nfrom common import y\n",
        (
            "import os\nimport random\nimport sys\nimport numpy as np\nimport torch\nimport yaml\n\n"
            "sys.path.append(os.getcwd())\nfrom common import y\n"
        ),
    ),
    "environment between packages": (
        'import yaml\nimport os\nos.environ["OMP_NUM_THREADS"] = "1"\nimport scipy\n',
        (
            'import yaml\nimport os\nimport random\nos.environ["OMP_NUM_THREADS"] = "1"\nimport numpy as np\n'
            "import scipy\nimport torch\n"
        ),
    ),
    "section comments": (
        "# Standard library\nimport os\n\n# Third party\nimport torch.nn as nn\n\n# Local\nfrom .x import y\n",
        (
            "# Standard library\nimport os\nimport random\n\n# Third party\nimport numpy as np\nimport torch\n"
            "import torch.nn as nn\n\n# Local\nfrom .x import y\n"
        ),
    ),
    "a section between two": (
        "import os\n\nfrom .x import y\n",
        "import os\nimport random\n\nimport numpy as np\nimport torch\n\nfrom .x import y\n",
    ),
    "a title stays with its section": (
        "# third party\nimport yaml\n",
        "import random\n\n# third party\nimport numpy as np\nimport torch\nimport yaml\n",
    ),
    "no order to keep, no blank lines": (
        "import torch.nn as nn\nimport argparse\nfrom tqdm import tqdm\nimport os\nimport cv2\nfrom model import Net\n",
        (
            "import numpy as np\nimport torch\nimport torch.nn as nn\nimport argparse\n"
            "from tqdm import tqdm\nimport os\nimport random\nimport cv2\nfrom model import Net\n"
        ),
    ),
    "a list in parentheses": (
        "import os\nimport sys\n\nfrom torch.utils.data import (\n    DataLoader,  # loads\n    Dataset,\n)\n\nx = 1\n",
        (
            "import os\nimport random\nimport sys\n\nimport numpy as np\nimport torch\nfrom torch.utils.data import (\n"
            "    DataLoader,  # loads\n    Dataset,\n)\n\nx = 1\n"
        ),
    ),
    "imports far down": (
        "import torch\n\n\ndef f():\n    pass\n\n\nimport os\n",
        "import random\n\nimport numpy as np\nimport torch\n\n\ndef f():\n    pass\n\n\nimport os\n",
    ),
    "no newline at the end": (
        '"""Doc."""',
        '"""Doc."""\n\nimport random\n\nimport numpy as np\nimport torch\n',
    ),
}


@pytest.mark.parametrize(("text", "expected"), PLACES.values(), ids=PLACES)
def test_places(text: str, expected: str) -> None:
    _, result = plan(text)
    assert result == expected


@pytest.mark.parametrize(("text", "expected"), PLACES.values(), ids=PLACES)
def test_second_plan_adds_nothing(text: str, expected: str) -> None:
    assert plan(expected)[1] == expected


def test_a_submodule_goes_below_its_package() -> None:
    text = "import os\nimport torch\nfrom torch import Tensor\nfrom pathlib import Path\n"
    planner = ImportPlanner(document(text))
    assert planner.require("torch.distributed") == "dist"
    assert applied(text, planner.edits()) == text.replace(
        "torch\nfrom", "torch\nimport torch.distributed as dist\nfrom"
    )


def test_crlf() -> None:
    text, expected = PLACES["section comments"]
    assert plan(text.replace("\n", "\r\n"))[1] == expected.replace("\n", "\r\n")


def test_own_packages_are_a_section(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "mine").mkdir()
    text = "import os\n\nfrom mine.data import X\n"
    _, result = plan(text, tmp_path / "mine" / "train.py")
    assert result == "import os\nimport random\n\nimport numpy as np\nimport torch\n\nfrom mine.data import X\n"


FETCHED = "import os\nimport torch\n\na = 1\nb = 2\nc = 3\nd = 4\ne = 5\n{own}\nuse()\n"


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (
            "from mine.data import (\n    Set,\n)",
            "from mine.workers import seed_worker\nfrom mine.data import (\n    Set,\n)",
        ),
        ("from mine.workers import Pool", "from mine.workers import Pool, seed_worker"),
        ("import mine.data  # noqa", "from mine.workers import seed_worker  # noqa\nimport mine.data  # noqa"),
    ],
)
def test_own_modules_that_are_imported_late_alone(own: str, expected: str, tmp_path: Path) -> None:
    """What comes before may fetch them, or go to their folder."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "mine").mkdir()
    text = FETCHED.format(own=own)
    planner = ImportPlanner(document(text, tmp_path / "train.py"), text.index("use()"))
    planner.require("mine.workers", "seed_worker")
    planner.require("random")
    result = applied(text, planner.edits())
    assert result == FETCHED.format(own=expected).replace("import os\n", "import os\nimport random\n")


def test_own_modules_that_are_imported_below_the_place(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "mine").mkdir()
    text = FETCHED.format(own="from mine.data import Set")
    planner = ImportPlanner(document(text, tmp_path / "train.py"), text.index("d = 4"))
    planner.require("mine.workers", "seed_worker")
    result = applied(text, planner.edits())
    assert result.startswith("import os\nimport torch\n\nfrom mine.workers import seed_worker\n\na = 1\n")


BINDINGS = {
    "aliases": ("import random as rnd\nimport numpy as xp\nimport torch as th\n", ["rnd", "xp", "th"]),
    "submodules bind the package": (
        "import random\nimport numpy.random\nimport torch.utils.data\n",
        ["random", "numpy", "torch"],
    ),
    "submodules under an alias do not": (
        "import random\nimport numpy.random as npr\nimport torch.nn as nn\n",
        ["random", "np", "torch"],
    ),
    "random the function": ("from random import random\n", ["_random", "np", "torch"]),
    "random of NumPy": ("from numpy import random\nimport numpy as np\n", ["_random", "np", "torch"]),
    "random the variable": ("random = 3\n", ["_random", "np", "torch"]),
    "random from an except clause": (
        "try:\n    pass\nexcept ValueError as random:\n    pass\n",
        ["_random", "np", "torch"],
    ),
    "random made global": ("def f():\n    global random\n    random = 3\n", ["_random", "np", "torch"]),
    "a local random is no matter": ("def f():\n    random = 3\n    return random\n", ["random", "np", "torch"]),
    "np is CuPy": ("import cupy as np\n", ["random", "numpy", "torch"]),
    "np and numpy are taken": ("np = numpy = 1\n", ["random", "_numpy", "torch"]),
    "guarded": (
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None\nimport random, torch\n",
        ["random", "np", "torch"],
    ),
    "guarded with another module": (
        "try:\n    import cupy as np\nexcept ImportError:\n    import numpy as np\n",
        ["random", "numpy", "torch"],
    ),
    "for type checkers only": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n",
        ["random", "np", "torch"],
    ),
    "in a function only": ("def f():\n    import torch as th\n    import random\n", ["random", "np", "torch"]),
    "in a branch only": ("if x:\n    import torch as th\n", ["random", "np", "torch"]),
    "rebound": ("import torch as th\nth = None\n", ["random", "np", "torch"]),
    "torch handed on by another module": ("from common import np, random, torch\n", ["_random", "numpy", "torch"]),
    "NumPy of another package": ("from jax import numpy\n", ["random", "np", "torch"]),
    "star import that has random": ("from numpy import *\n", ["_random", "np", "torch"]),
    "star import that may have random": ("from utils import *\nrandom.seed(0)\n", ["_random", "np", "torch"]),
    "star import in a file that does not read random": ("from utils import *\n", ["random", "np", "torch"]),
}


@pytest.mark.parametrize(("text", "names"), BINDINGS.values(), ids=BINDINGS)
def test_names(text: str, names: list[str]) -> None:
    found, result = plan(text)
    assert found == names
    for line, name in zip(result.splitlines(), names, strict=False):
        assert line.count("import") <= 1 or name
    again, unchanged = plan(result)
    assert (again, unchanged) == (names, result)


def at_marker(text: str, module: str, name: str | None = None) -> tuple[str, str]:
    """Plan for the place of the expression MARK."""
    text = lines(text)
    parsed = document(text)
    start = text.index("MARK")
    node = next(node for node in parsed.walk() if parsed.span(node) == (start, start + 4))
    planner = ImportPlanner(parsed)
    expression = planner.require(module, name, at=node)
    return expression, applied(text, planner.edits())


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("def f():\n    import torch as th\n    MARK\n", "th"),
        ("def f():\n    MARK\n    import torch as th\n", "torch"),
        ("def f():\n    if x:\n        import torch as th\n        MARK\n", "th"),
        ("def f():\n    if x:\n        import torch as th\n    MARK\n", "torch"),
        ("def f():\n    import torch as th\n\n    def g():\n        MARK\n", "th"),
        ("def f():\n    MARK\n\n\nimport torch as th\n", "th"),
        ("MARK\nimport torch as th\n", "torch"),
        ("import torch as th\n\n\nclass A:\n    MARK\n", "th"),
        ("class A:\n    import torch as th\n\n    def f(self):\n        MARK\n", "torch"),
        ("import torch\n\n\ndef f(torch):\n    MARK\n", "_torch"),
        ("import torch\n\n\ndef f():\n    torch = 1\n    return [MARK for _ in x]\n", "_torch"),
    ],
)
def test_at_a_place(text: str, expression: str) -> None:
    found, result = at_marker(text, "torch")
    assert found == expression
    if not text.count(f" {expression}\n"):
        assert f"import torch as {expression}\n" in result or "import torch\n" in result


@pytest.mark.parametrize(
    ("text", "expression", "added"),
    [
        ("from torch.utils.data import DataLoader as DL\nMARK\n", "DL", ""),
        ("import torch.utils.data\nMARK\n", "torch.utils.data.DataLoader", ""),
        ("import torch.utils.data as data\nMARK\n", "data.DataLoader", ""),
        ("from torch.utils import data\nMARK\n", "data.DataLoader", ""),
        ("import os\nMARK\n", "DataLoader", "from torch.utils.data import DataLoader\n"),
        ("DataLoader = 1\nMARK\n", "_DataLoader", "from torch.utils.data import DataLoader as _DataLoader\n"),
    ],
)
def test_names_of_modules(text: str, expression: str, added: str) -> None:
    found, result = at_marker(text, "torch.utils.data", "DataLoader")
    assert found == expression
    assert result == text if not added else added in result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from .loop import run\nMARK\n", "from .loop import run, seed_worker\nMARK\n"),
        ("from .loop import run  # noqa\nMARK\n", "from .loop import run, seed_worker  # noqa\nMARK\n"),
        pytest.param(
            f"from .loop import {'r' * 70}\nMARK\n",
            f"from .loop import {'r' * 70}\nfrom .loop import seed_worker\nMARK\n",
            id="the line would get too long",
        ),
        ("from .loop import (run,)\nMARK\n", "from .loop import (run,)\nfrom .loop import seed_worker\nMARK\n"),
        ("from .loop import *\nMARK\n", "from .loop import *\nfrom .loop import seed_worker\nMARK\n"),
        (
            "from .loop import run\nseed_worker = 1\nMARK\n",
            "from .loop import run, seed_worker as _seed_worker\nseed_worker = 1\nMARK\n",
        ),
        (
            "if x:\n    from .loop import run\nMARK\n",
            "from .loop import seed_worker\n\nif x:\n    from .loop import run\nMARK\n",
        ),
    ],
)
def test_a_name_joins_the_import_of_its_module(text: str, expected: str) -> None:
    assert at_marker(text, ".loop", "seed_worker")[1] == expected


HEADS = [
    "#!/usr/bin/env python\n", "# -*- coding: utf-8 -*-\n", "# Copyright\n", '"""Doc."""\n', '"""Doc."""; x = 1\n',
    "\n", "from __future__ import annotations\n",
]  # fmt: skip
BODY = [
    "import os\n", "import sys, re\n", "import numpy as np\n", "from numpy import random\n", "import random\n",
    "from random import *\n", "import torch.nn as nn  # noqa: E402\n",
    "from torch.utils.data import (\n    Dataset,\n)\n",
    "from .x import y\n", "\n", "# Third party\n", "import os; os.environ['A'] = '1'\n", "sys.path.insert(0, '.')\n",
    "try:\n    import torch\nexcept ImportError:\n    torch = None\n", "if x:\n\timport torch\n", "x = 1\n",
    "def f():\n  import numpy\n", "from x import (a,\n               b)  # names\n", "import torch as th\n",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(HEADS), max_size=3, unique=True).map(lambda found: sorted(found, key=HEADS.index)),
    st.lists(st.sampled_from(BODY), max_size=8),
    st.booleans(),
    st.booleans(),
)
def test_any_head(head: list[str], body: list[str], crlf: bool, final: bool) -> None:
    text = "".join(head + body)
    if crlf:
        text = text.replace("\n", "\r\n")
    if not final:
        text = text.rstrip("\r\n")
    try:
        compile(text, "head", "exec")
    except SyntaxError:
        assume(False)
    names, result = plan(text)
    assert len(set(names)) == 3
    assert plan(result) == (names, result)
    if crlf and text.count("\n") > 0:
        assert result.count("\n") == result.count("\r\n")
    # What is there keeps its lines and its order; new lines are imports and blank lines.
    kept = iter(result.splitlines())
    assert all(line in kept for line in text.splitlines())


def test_line_length_and_newline_of_a_document() -> None:
    assert Document(Path("a.py"), "x = 1\r\ny = 2\r\n").newline == "\r\n"
    assert document("x = 1\n").line_length == 88
    assert document("x = " + "a" * 100 + "\n").line_length == 104
    assert document("x = " + "a" * 300 + "\n").line_length == 120
    assert document("x = f('a', " + "b" * 100 + ")  # " + "c" * 9 + "\n").line_length == 112
    texts = ("x = '{0}'\n", "x = f'{0}' + y\n", "x = 1  # {0}\n", "# {0}\n", 'x = """\n{0}\n"""\n')
    for text in texts:
        assert document(text.format("a" * 100)).line_length == 88, text

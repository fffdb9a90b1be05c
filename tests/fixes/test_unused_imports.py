"""An import goes with the last use of its name, and no other does."""

from __future__ import annotations

import libcst as cst
import pytest
from fixes.helpers import applied, document

from torchrepro_lint.fixes.unused_imports import drop_unused_imports, newly_unused_imports


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import os\nimport time\nx = MARK(time.time())\n", "import os\nx = MARK(time.time())\n"),
        ("import time, os\nx = MARK(time.time())\n", "import os\nx = MARK(time.time())\n"),
        ("import os, time\nx = MARK(time.time())\n", "import os\nx = MARK(time.time())\n"),
        ("from time import time\r\nx = MARK(time())\r\n", "x = MARK(time())\r\n"),
        ("import time\n\nimport torch\nx = MARK(time.time())\n", "import torch\nx = MARK(time.time())\n"),
        ("import os\n\nimport time\n\nx = MARK(time.time())\n", "import os\n\nx = MARK(time.time())\n"),
        ("import os\nimport time\n\nx = MARK(time.time())\n", "import os\n\nx = MARK(time.time())\n"),
        ("import time as t\nx = MARK(t.time())\n", "x = MARK(t.time())\n"),
        ("import os, time, re\nx = MARK(time.time())\n", None),
        ("import time\nx = MARK(time.time())\ny = time.time()\n", None),
        ("import time  # noqa\nx = MARK(time.time())\n", None),
        ("import time\n__all__ = ['time']\nx = MARK(time.time())\n", None),
        (
            "import time\nlog('%(asctime)s', 'the time: 3 s')\nx = MARK(time.time())\n",
            "log('%(asctime)s', 'the time: 3 s')\nx = MARK(time.time())\n",
        ),
        ("import time\neval('time.time() - begun')\nx = MARK(time.time())\n", None),
        ("import time\ny: 'list[time]'\nx = MARK(time.time())\n", None),
        ("try:\n    import time\nexcept ImportError:\n    pass\nx = MARK(time.time())\n", None),
        pytest.param("import numpy as np\nx = MARK(np.random.rand())\n", None, id="another fix may rely on it"),
        ("def f():\n    import time\n    return MARK(time.time())\n", None),
    ],
)
def test_imports(text: str, expected: str | None) -> None:
    parsed = document(text)
    call = next(node for node in parsed.walk() if isinstance(node, cst.Call) and parsed.text_of(node.func) == "MARK")
    assert applied(text, drop_unused_imports(parsed, [call])) == (text if expected is None else expected)


READS = "import os\nimport numpy as np\nfrom utils import seed\nx = os.urandom(1), np.pi, seed\n"


@pytest.mark.parametrize(
    ("others", "left"),
    [
        ([], "from utils import seed\nx = seed\n"),
        ([b"from train import main\n", b"import os\n"], "from utils import seed\nx = seed\n"),
        ([b"from train import os\n"], "import os\nfrom utils import seed\nx = seed\n"),
        ([b"from .train import *\n"], "import os\nimport numpy as np\nfrom utils import seed\nx = seed\n"),
    ],
)
def test_what_fixes_have_left_unused(others: list[bytes], left: str) -> None:
    """The module of the project may do something when it is imported; other files may take a name from this one."""
    fixed = READS.replace("os.urandom(1), np.pi, seed", "seed")
    edits = newly_unused_imports(document(READS), document(fixed), lambda: others)
    assert applied(fixed, edits) == left
    assert newly_unused_imports(document(fixed), document(fixed), lambda: others) == []


@pytest.mark.parametrize(
    ("imports", "left"),
    [
        ("from .. import SEED\n", ""),
        ("from . import SIZE, SEED\n", "from . import SIZE\n"),
        ("from .. import seed as SEED\n", ""),
        ("from .config import SEED\n", "from .config import SEED\n"),
        ("from .. import config\n", "from .. import config\n"),
    ],
)
def test_constants_of_the_packages_around(imports: str, left: str) -> None:
    """These are imported before the file itself; another module of the package may do something as it is imported."""
    name = imports.split()[-1]
    rest = f"x = {'SIZE, ' if 'SIZE' in imports else ''}0\n"
    edits = newly_unused_imports(document(f"{imports}y = {name}\n{rest}"), document(imports + rest), list)
    assert applied(imports + rest, edits) == left + rest

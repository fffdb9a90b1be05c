"""An import goes with the last use of its name, and no other does."""

from __future__ import annotations

import libcst as cst
import pytest
from fixes.helpers import applied, document

from torchrepro_lint.fixes.unused_imports import drop_unused_imports


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
        ("try:\n    import time\nexcept ImportError:\n    pass\nx = MARK(time.time())\n", None),
        pytest.param("import numpy as np\nx = MARK(np.random.rand())\n", None, id="another fix may rely on it"),
        ("def f():\n    import time\n    return MARK(time.time())\n", None),
    ],
)
def test_imports(text: str, expected: str | None) -> None:
    parsed = document(text)
    call = next(node for node in parsed.walk() if isinstance(node, cst.Call) and parsed.text_of(node.func) == "MARK")
    assert applied(text, drop_unused_imports(parsed, [call])) == (text if expected is None else expected)

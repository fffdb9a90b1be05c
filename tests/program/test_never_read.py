"""Names of the top level of a file that nothing reads, there or in another file."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.program.running.never_read import is_read_nowhere

MAKES = "import random\nglobal_rng = random.Random()\n"
CASES: dict[str, tuple[bool, dict[str, str]]] = {
    "nothing reads it": (True, {"helpers.py": MAKES}),
    "a copy of the file in another folder reads its own": (
        True,
        {"helpers.py": MAKES, "copy/helpers.py": f"{MAKES}print(global_rng.random())\n"},
    ),
    "a file imports another name": (True, {"helpers.py": MAKES, "use.py": "from helpers import random\n"}),
    "a file reads a variable of its own": (
        True,
        {"helpers.py": MAKES, "use.py": "global_rng = 1\nprint(global_rng)\n"},
    ),
    "it is read in a function": (False, {"helpers.py": f"{MAKES}def draw():\n    return global_rng.random()\n"}),
    "it is read in the file": (False, {"helpers.py": f"{MAKES}print(global_rng.random())\n"}),
    "another file imports it": (
        False,
        {"helpers.py": MAKES, "use.py": "from helpers import global_rng\nprint(global_rng.random())\n"},
    ),
    "another file reads it of the module": (
        False,
        {"helpers.py": MAKES, "use.py": "import helpers\nprint(helpers.global_rng.random())\n"},
    ),
    "another file imports all": (
        False,
        {"helpers.py": MAKES, "use.py": "from helpers import *\nprint(global_rng.random())\n"},
    ),
    "a package hands all of its names on": (
        False,
        {
            "tools/__init__.py": "from tools.helpers import *\n",
            "tools/helpers.py": MAKES,
            "use.py": "from tools import global_rng\nprint(global_rng.random())\n",
        },
    ),
    "it may be looked up in a table": (False, {"helpers.py": f"{MAKES}print(globals()['global_rng'].random())\n"}),
    "it is held by a function": (False, {"helpers.py": "import random\ndef f():\n    rng = random.Random()\n"}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_read_nowhere(tmp_path: Path, case: str) -> None:
    expected, files = CASES[case]
    program = program_of(tmp_path, files)
    facts = program.facts(tmp_path / next(name for name in files if name in ("helpers.py", "tools/helpers.py")))
    assert facts is not None
    made = next(call for scope in facts.walk_scopes() for call, _ in scope.calls if call.func.attr == "Random")  # type: ignore[attr-defined]
    assert is_read_nowhere(program, facts, made) is expected

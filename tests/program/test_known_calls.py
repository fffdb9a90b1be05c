"""Which calls by the name of a module's function may be of it, as they are written."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from program.asking import program_of

from torchrepro_lint.program.running.known_calls import all_calls

HEAD = "import torch\nfrom helpers import draw, try_import_torch\n"
CASES = {
    # name: (whether `torch.save` is called, program)
    "the module": (True, "torch.save(1, 'a')"),
    "the function": (True, "from torch import save\nsave(1, 'a')"),
    "the module by another name": (True, "backend = torch\nbackend.save(1, 'a')"),
    "the module in a function": (True, "def keep(of):\n    of.save(1, 'a')\nkeep(torch)"),
    "a module that a function imports": (
        True,
        "import importlib\nmodule = importlib.import_module('torch')\nmodule.save(1, 'a')",
    ),
    "one of two modules": (True, "for backend in (torch,):\n    backend.save(1, 'a')"),
    "an attribute of an object": (
        True,
        """
        class Trainer:
            backend = torch
            def keep(self):
                self.backend.save(1, 'a')
        Trainer().keep()
        """,
    ),
    "one of two bindings": (
        True,
        """
        backend = draw()
        if backend is None:
            backend = torch
        backend.save(1, 'a')
        """,
    ),
    "what a call gives": (False, "image = draw()\nimage.save('a')"),
    "part of what a call gives": (False, "image = draw().images[0]\nimage.save('a')"),
    "part of it, through names": (False, "images = draw().images\nfor image in images:\n    image.save('a')"),
    "through more names than are looked at": (
        True,
        "a = draw()\nb = a\nc = b\nd = c\ne = d\ne.save('a')",
    ),
    "in a block": (False, "with draw() as image:\n    image.save('a')"),
}


@pytest.mark.parametrize("case", CASES)
def test_which_calls_are_of_a_module(tmp_path: Path, case: str) -> None:
    expected, text = CASES[case]
    helpers = "def draw():\n    return torch\ndef try_import_torch():\n    return None\n"
    program = program_of(tmp_path, {"main.py": HEAD + dedent(text), "helpers.py": f"import torch\n{helpers}"})
    found = [group for group in all_calls(program, frozenset({"torch.save"})) if group]
    assert bool(found) is expected

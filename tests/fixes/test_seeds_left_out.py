"""Where a generator is not seeded beside the others because its author left it out, or did not import what seeds it."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

PROGRAM = """\
{imports}import numpy as np
import torch
{more}

def set_seed(seed):
{lines}

set_seed(3)
print(np.random.rand(), torch.rand(1), draw())
"""
DRAW = {"draw.py": "import random\n\n\ndef draw():\n    return random.random()\n"}
MORE = "from draw import draw\n\n"
FULL = "    np.random.seed(seed)\n    torch.manual_seed(seed)\n"
LEFT = {
    "nothing of it is there": ("", FULL, "safe"),
    "it is commented out": ("", "    np.random.seed(seed)\n    # random.seed(seed)\n    torch.manual_seed(seed)\n", "unsafe"),
    "it is there without the import": ("", "    random.seed(seed)\n" + FULL, None),
}  # fmt: skip


@pytest.mark.parametrize(("imports", "lines", "expected"), LEFT.values(), ids=LEFT)
def test_a_generator_that_is_not_seeded(imports: str, lines: str, expected: str | None, write) -> None:
    root = write({**DRAW, "train.py": PROGRAM.format(imports=imports, more=MORE, lines=lines)})
    found = [one for one in check([root]).findings if one.code == "TRL502"]
    assert len(found) == 1, found
    assert (found[0].fix.applicability.value if found[0].fix is not None else None) == expected

"""Where a generator is not seeded beside the others because its author left it out, or did not import what seeds it."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix

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


WITHOUT = """\
import numpy as np
import torch

{above}


def main({parameter}):
{body}    net = torch.nn.Linear(1, 1)
    net(torch.rand(2, 1) + np.random.rand()).sum().backward()


main({given})
"""
GUARDED = "    if seed is not None:\n        torch.manual_seed(seed)\n"
PLAIN = "    torch.manual_seed(seed)\n"
# What stands above a function, its parameter, its body, what it is given, and what is written below NumPy's seed.
SEEDS_THAT_MAY_BE_NONE = {
    "a parameter with a default": ("", "seed=None", "    np.random.seed(seed)\n", "3", GUARDED),
    "a comment says so": (
        'options = {"seed": 42}  # "seed" may be None: other draws in each run',
        "",
        '    seed = options.get("seed")\n    np.random.seed(seed)\n',
        "",
        GUARDED,
    ),
    "one that is asked for": (
        "",
        "seed=None",
        "    if seed is not None:\n        np.random.seed(seed)\n",
        "3",
        f"    {PLAIN}",
    ),
    "one that is always there": ("", "seed", "    np.random.seed(seed)\n", "3", PLAIN),
}


@pytest.mark.parametrize(
    ("above", "parameter", "body", "given", "written"), SEEDS_THAT_MAY_BE_NONE.values(), ids=SEEDS_THAT_MAY_BE_NONE
)
def test_torch_takes_no_none(above: str, parameter: str, body: str, given: str, written: str, write) -> None:
    """`torch.manual_seed(None)` raises, and `np.random.seed(None)` does not."""
    text = WITHOUT.format(above=above, parameter=parameter, body=body, given=given)
    root = write({"pyproject.toml": "", "train.py": text})
    fix([root], {"select": ("TRL502",)})
    assert f"np.random.seed(seed)\n{written}" in (root / "train.py").read_text()

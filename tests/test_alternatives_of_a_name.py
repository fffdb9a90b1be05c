"""Of alternatives of one name a run takes one: what one runs is not combined with what another one runs."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.program.running.alternatives import MAX_STEPS

_ONE = """\
import numpy as np
import torch


def main(x):
    print(np.random.rand(3))
    torch.backends.cudnn.benchmark = True
    net = torch.nn.Conv1d(3, 3, 1).cuda()
    net(x).sum().backward()
    torch.optim.SGD(net.parameters()).step()


class Work:
    def __init__(self, x):
        main(x)
"""
_TWO = """\
import torch


def main(x):
    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    net = torch.nn.Conv1d(3, 3, 1).cuda()
    net(x).sum().backward()


class Work:
    def __init__(self, x):
        main(x)
"""
_HEAD = "import sys\n\nimport torch\n\n"
_X = "torch.ones(3, 3)"
_APART = {
    "if": f"if sys.argv[1] == 'a':\n    from one import main\nelse:\n    from two import main\nmain({_X})\n",
    "try": f"try:\n    from one import main\nexcept ImportError:\n    from two import main\nmain({_X})\n",
    "elif": f"if sys.argv[1] == 'a':\n    from one import main\nelif sys.argv[1] == 'b':\n    from two import main\n"
    f"main({_X})\n",
    "a module": f"if sys.argv[1] == 'a':\n    import one as it\nelse:\n    import two as it\nit.main({_X})\n",
    "in a function": "def start(x):\n    if sys.argv[1] == 'a':\n        from one import main\n    else:\n"
    f"        from two import main\n    main(x)\n\n\nstart({_X})\n",
    "read in a function": "if sys.argv[1] == 'a':\n    from one import main\nelse:\n    from two import main\n\n\n"
    f"def start(x):\n    main(x)\n\n\nstart({_X})\n",
    "a class": f"if sys.argv[1] == 'a':\n    from one import Work\nelse:\n    from two import Work\nWork({_X})\n",
    "an assignment": "import one\nimport two\n\nif sys.argv[1] == 'a':\n    main = one.main\nelse:\n    main = two.main\n"
    f"main({_X})\n",
    "through another module": f"from chosen import main\n\nmain({_X})\n",
}
_CHOSEN = "import sys\n\nif sys.argv[1] == 'a':\n    from one import main\nelse:\n    from two import main\n"
_TOGETHER = {
    "both": f"import one\nimport two\n\none.main({_X})\ntwo.main({_X})\n",
    "one after the other": f"import one\nimport two\n\nfor work in (two.main, one.main):\n    work({_X})\n",
    "bound again": f"from one import main\n\nmain({_X})\nif sys.argv[1:]:\n    from two import main\nmain({_X})\n",
}


def _codes(write, text: str) -> list[str]:
    files = {"torchrepro-lint.toml": "", "one.py": _ONE, "two.py": _TWO, "chosen.py": _CHOSEN, "run.py": _HEAD + text}
    return sorted({one.code for one in check([write(files)]).findings})


@pytest.mark.parametrize("how", _APART)
def test_what_one_runs_is_not_combined_with_what_the_other_runs(how: str, write) -> None:
    assert _codes(write, _APART[how]) == []


@pytest.mark.parametrize("how", _TOGETHER)
def test_what_one_run_may_do_is(how: str, write) -> None:
    assert _codes(write, _TOGETHER[how])[:2] == ["TRL301", "TRL502"]


def test_past_so_many_modules_nothing_keeps_two_names_apart(write) -> None:
    def files(count: int) -> dict[str, str]:
        passed_on = {f"m{i}.py": f"from m{i + 1} import main\n" for i in range(count)}
        last = {f"m{count}.py": _CHOSEN}
        run = {"run.py": f"{_HEAD}from m0 import main\n\nmain({_X})\n"}
        return {"torchrepro-lint.toml": "", "one.py": _ONE, "two.py": _TWO, **passed_on, **last, **run}

    assert check([write(files(MAX_STEPS - 1))]).findings == ()
    assert "TRL301" in {one.code for one in check([write(files(MAX_STEPS + 1))]).findings}

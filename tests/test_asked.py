"""Findings of a few files among many: the same as in a run over all of them, and found with less work."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest
from fixture_format import all_fixtures, copied

from torchrepro_lint.engine import check
from torchrepro_lint.facts.module import ModuleFacts, facts_of_text
from torchrepro_lint.program.program import Program
from torchrepro_lint.settings import SettingsOverride
from torchrepro_lint.toolkit import Toolkit
from torchrepro_lint.verify.fixtures.fixture import Fixture

STRICT: SettingsOverride = {"profile": "strict"}
_OF_ONE_FILE = 4


def _chosen() -> list[Fixture]:
    """All faulty programs of several files, and for each rule a few of one file."""
    faulty = [fixture for fixture in all_fixtures() if fixture.path.name.startswith("bad_")]
    alone = groupby((fixture for fixture in faulty if fixture.alone), key=lambda fixture: fixture.rule)
    few = [fixture for _, group in alone for fixture in list(group)[:_OF_ONE_FILE]]
    return [*few, *(fixture for fixture in faulty if not fixture.alone)]


def _among_many(root: Path) -> list[Path]:
    """The files of a program, beside which others are put that have nothing to do with it."""
    own = sorted(root.rglob("*.py"))
    (root / "others").mkdir()
    for number in range(10 * len(own)):
        (root / "others" / f"model{number}.py").write_text("import torch\n\nLAYER = torch.nn.Linear(2, 2)\n")
    return own


@pytest.mark.parametrize("fixture", _chosen(), ids=lambda fixture: f"{fixture.rule}-{fixture.path.name}")
def test_one_file_has_the_findings_that_it_has_in_a_run_over_all(fixture: Fixture, tmp_path: Path) -> None:
    root = copied(fixture, tmp_path)
    own = _among_many(root)
    whole = check([root], STRICT).findings
    for path in own:
        assert check([path], STRICT).findings == tuple(one for one in whole if one.location.path == path)
    assert check(own, STRICT).findings == whole


def test_a_split_in_a_file_that_nobody_asked_about_is_a_split(write) -> None:
    """TRL202 speaks of it, in its own file; TRL502 says nothing of it in the file that seeds."""
    split = (
        "from torch.utils.data import random_split\n\n\ndef parts(items):\n    return random_split(items, [80, 20])\n"
    )
    main = "import random\n\nimport numpy as np\n\nfrom data import parts\n\nrandom.seed(0)\nnp.random.seed(0)\nprint(parts([1, 2]))\n"
    root = write({"torchrepro-lint.toml": "", "data.py": split, "main.py": main})
    assert [one.code for one in check([root]).findings] == ["TRL202"]
    assert check([root / "main.py"]).findings == ()


# Each file makes a loader over a data set in a module of its own.
_TRAINING = """
    from torch.utils.data import DataLoader
    from pairs{0} import Pairs

    def train(paths):
        return DataLoader(Pairs(paths), num_workers=2)
"""
_PAIRS = """
    import numpy as np
    from torch.utils.data import Dataset

    class Pairs(Dataset):
        def __init__(self, paths):
            self.paths = paths

        def __getitem__(self, index):
            return self.paths[index], {0}
"""


def test_what_the_loaders_of_other_files_do_is_not_looked_at(write) -> None:
    texts = {f"train{number}.py": _TRAINING.format(number) for number in range(20)}
    texts |= {f"pairs{number}.py": _PAIRS.format("np.random.rand()") for number in range(20)}
    root = write({"torchrepro-lint.toml": "", **texts, "pairs7.py": _PAIRS.format("index")})
    read: list[str] = []

    def noted(path: Path, text: str) -> ModuleFacts:
        read.append(path.name)
        return facts_of_text(path, text)

    def make(*given: object, **named: object) -> Program:
        return Program(*given, facts_of=noted, **named)  # type: ignore[arg-type]

    override: SettingsOverride = {"select": ("TRL101", "TRL201")}
    assert not check([root / "train7.py"], override, toolkit=Toolkit(make_program=make)).findings
    assert [name for name in read if name.startswith("pairs")] == ["pairs7.py"]

"""What surely raises a NameError ends its function: nothing is reported below a name that nothing at all binds.

Names at the top of a file, and in excerpts, are left open: people try the tool on them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from programs_that_stop import HEAD, TARGET, codes, indented

from torchrepro_lint.engine import check
from torchrepro_lint.program.kept.programs import KeptPrograms
from torchrepro_lint.toolkit import Toolkit

_NAMES = """\
{head}

def describe(batch):
    print(len(batch))


def main():
    {statement}
    torch.manual_seed(0)
    for epoch in range(3):
        torch.manual_seed(0)
        for batch in DataLoader(Items(), num_workers=2, shuffle=True):
            describe(batch)


main()
"""


@pytest.mark.parametrize(
    ("statement", "beside", "is_told"),
    [
        ("describe(labels)", "", False),
        ("if labels:\n        print(labels)", "", False),
        ("describe(labels) if len(sys.argv) > 1 else None", "", True),
        ("[describe(labels) for _ in sys.argv]", "", True),
        ("print(lambda: labels)", "", True),
        ("try:\n        describe(labels)\n    except NameError:\n        pass", "", True),
        ("global labels\n    describe(labels)", "", True),
        ("[labels for labels in sys.argv]\n    describe(labels)", "", True),
        ("exec('labels = []')\n    describe(labels)", "", True),
        ("globals()['labels'] = []\n    describe(labels)", "", True),
        ("sys.modules[__name__].labels = []\n    describe(labels)", "", True),
        ("from labels_of import *\n    describe(labels)", "", True),
        ("labels: list\n    describe(labels)", "", False),
        ("describe(profile)", "", True),
        ("describe(unicode)", "", True),
        ("describe(get_ipython)", "", True),
        ("describe(__file__)", "", True),
        ("describe(labels)", "import train\ntrain.labels = []\n", True),
        ("describe(labels)", "import train\nsetattr(train, name, [])\n", True),
        ("describe(labels)", "import builtins\nbuiltins.labels = []\n", True),
        ("describe(labels)", "import builtins\nsetattr(builtins, name, [])\n", True),
        ("describe(labels)", "exec(open('train.py').read(), {'labels': []})\n", True),
        ("describe(labels)", "import src.train\nsrc.train.labels = []\n", True),
        ("describe(labels)", "import train as run\nrun.labels, run.others = [], []\n", True),
        ("describe(labels)", "import train\ntrain.others = []\n", False),
        ("describe(labels)", "def set_up(args):\n    args.labels = []\n", True),  # a module may be given
        (
            "try:\n        from labels_of import *\n    except ImportError:\n        pass\n    describe(labels)",
            "",
            True,
        ),
        ("from labels_of \\\n        import *\n    describe(labels)", "", True),
        ("describe(labels)", "import importlib\nimportlib.import_module('train').labels = []\n", True),
        ("describe(labels)", "import train\nvars(train).update(labels=[])\n", True),
        ("describe(labels)", "import train\nfor train.labels in [[]]:\n    pass\n", True),
        ("describe(labels)", "import train\n(train.others, train.labels) = [], []\n", True),
        ("describe(labels)", "import train\ntrain.main.__globals__['labels'] = []\n", True),
        ("describe(labels)", "import sys\nsys._getframe(1).f_globals[name] = []\n", True),
        ("describe(labels)", "exec(open(sys.argv[1]).read(), {'labels': []})\n", True),
        ("describe(labels)", "from icecream import install\ninstall()\n", True),
        ("describe(labels)", "from unittest import mock\nmock.patch.object(train, 'labels', [], create=True)\n", True),
        ("describe(labels)", "labels = []\n", False),
    ],
)
def test_a_name_that_nothing_binds(statement: str, beside: str, is_told: bool, tmp_path: Path) -> None:
    (tmp_path / "torchrepro-lint.toml").write_text(TARGET)
    (tmp_path / "train.py").write_text(_NAMES.format(head=HEAD, statement=statement))
    (tmp_path / "other.py").write_text(beside)
    found = check([tmp_path / "train.py"]).findings
    assert bool(found) is is_told
    (tmp_path / "train.py").write_text(_NAMES.format(head=f"{HEAD}\nlabels = []", statement=statement))
    assert check([tmp_path / "train.py"]).findings


_EXCERPTS = {
    "at the top": "loader = DataLoader(dataset, num_workers=2, shuffle=True)\n{}",
    "in a __main__ block": "if __name__ == '__main__':\n    loader = DataLoader(dataset, num_workers=2)\n{}",
    "in the only function": "def train():\n    model.train()\n{}train()\n",
}


@pytest.mark.parametrize("excerpt", _EXCERPTS)
def test_names_that_an_excerpt_leaves_open(excerpt: str, write, tmp_path: Path) -> None:
    loop = "torch.manual_seed(0)\nfor epoch in range(3):\n    torch.manual_seed(0)\n    print(torch.rand(1))\n"
    block = loop if excerpt == "at the top" else indented(loop)
    text = f"import torch\nfrom torch.utils.data import DataLoader\n\n{_EXCERPTS[excerpt].format(block)}"
    assert "TRL506" in codes(write, text)
    unsaved = tmp_path / "beside" / "train.py"
    unsaved.parent.mkdir()
    assert "TRL506" in {one.code for one in check([unsaved], overlay={unsaved: text}).findings}


def test_names_that_a_script_of_cells_leaves_open(write) -> None:
    text = _NAMES.format(head=HEAD, statement="describe(labels)")
    assert codes(write, text) == []
    assert codes(write, f"# %%\n{text}") != []


def test_a_name_that_another_file_gives_after_an_edit(tmp_path: Path) -> None:
    train, other = tmp_path / "train.py", tmp_path / "other.py"
    texts = {train: _NAMES.format(head=HEAD, statement="describe(labels)"), other: "import train\n"}
    given = {**texts, other: "import train\ntrain.labels = []\n"}
    for path, text in texts.items():
        path.write_text(text)
    toolkit = Toolkit(make_program=KeptPrograms())

    def count(overlay: dict[Path, str]) -> int:
        return len(check([tmp_path], {"target_torch": ">=1.7"}, overlay=overlay, toolkit=toolkit).findings)

    assert [count(one) > 0 for one in (texts, given, texts, given)] == [False, True, False, True]

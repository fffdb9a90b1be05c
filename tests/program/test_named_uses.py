"""A network counts for the programs that have a name for it, and for those that may find one where no name is."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.named_uses import is_left_over, is_named_by

_NETS = """
    from torch import nn

    class Net(nn.Module):
        def forward(self, x):
            return x

    class Other(nn.Module):
        pass
"""


def _is_named(program: Program, name: str = "Net", file: str = "nets.py") -> bool:
    facts = program.facts(program.root / file)
    assert facts is not None
    scope = next(child for child in facts.scope.children if child.name == name)
    return is_named_by(program, facts, scope, [program.root / "train.py"])


def _program(root: Path, train: str, **others: str) -> Program:
    return program_of(
        root, {"train.py": train, "nets.py": _NETS, **{f"{name}.py": text for name, text in others.items()}}
    )


def test_a_function_of_a_module_that_hundreds_of_files_import(tmp_path: Path) -> None:
    """A program that loads the module counts where it names the function, and not for one of its other functions."""
    users = {f"user{number}": "import nets\nnets.Other()" for number in range(300)}
    program = _program(tmp_path, "import nets\nnets.Other()", **users)
    assert not _is_named(program)
    assert _is_named(program, "Other")


@pytest.mark.parametrize(
    "train",
    [
        "from nets import Net\nNet()",
        "import nets\nnets.Net()",
        "from nets import Net as Network\nnet = Network()",
        "from nets import *\nNet()",
        "import nets\ndef make():\n    return nets.Net()\nmake()",
        "from nets import Net\nclass Larger(Net): ...\nLarger()",
        "from nets import Net\nTABLE = {'net': Net}",
        "from nets import Net\ndef main():\n    Net()\nif __name__ == '__main__':\n    main()",
        "from nets import Net\ndef main():\n    Net()",  # a console script may start it
        "from nets import Net\nregister = print\n@register\ndef make():\n    return Net()",
        "import nets\ngetattr(nets, name)()",
        "import nets\nnets.__dict__[name]()",
        "import nets\ndef make(module):\n    return vars(module)[name]()\nmake(nets)",
        "from nets import *\nglobals()[name]()",
        "from nets import Net\ndef make(name):\n    return eval(name)()\nmake(name)",
        "import nets\nfrom importlib import import_module\ngetattr(import_module(path), name)()",
        "import nets\nmake('nets.Net')",
        "import nets\ntry:\n    import apex\nexcept ImportError:\n    nets.Net()",
        "import nets\ndef make():\n    from nets import Net\n    return Net()\nmake()",
    ],
)  # fmt: skip
def test_named_or_perhaps_found(tmp_path: Path, train: str) -> None:
    assert _is_named(_program(tmp_path, train))


@pytest.mark.parametrize(
    "train",
    [
        "import nets\nnets.Other()",
        "from nets import Net, Other\nOther()",
        "from nets import *\n__all__ = ['Net']\nOther()",
        "import nets\ndef unused():\n    return nets.Net()\nnets.Other()",
        "import functools\nimport nets\n@functools.wraps(print)\ndef unused():\n    return nets.Net()\nnets.Other()",
        "import nets\nimport torch\n@torch.no_grad()\ndef unused():\n    return nets.Net()\nnets.Other()",
        "import nets\nfrom torch import nn\nnn.Net()",
        "import nets\nfrom torchvision.models import Net\nNet()",
        "import nets\nclass Net: ...\nNet()",
        "import nets\nclass Unused(nets.Net): ...",
    ],
)
def test_not_named(tmp_path: Path, train: str) -> None:
    assert not _is_named(_program(tmp_path, train))


def test_what_another_script_names_is_not_of_this_one(tmp_path: Path) -> None:
    assert not _is_named(_program(tmp_path, "import nets", demo="import nets\nnets.Net()"))
    assert not _is_named(_program(tmp_path, "import nets", test_nets="import nets\nnets.Net()"))


def test_the_guard_of_another_file_runs_in_no_program_that_imports_it(tmp_path: Path) -> None:
    common = "import nets\nif __name__ == '__main__':\n    nets.Net()"
    assert not _is_named(_program(tmp_path, "import common", common=common))
    assert _is_named(_program(tmp_path, "import common", common="import nets\nnets.Net()"))


def test_what_nobody_in_sight_starts_has_names_as_well(tmp_path: Path) -> None:
    program = _program(tmp_path, "import nets\nclass Trainer:\n    def fit(self):\n        nets.Net()")
    facts, train = program.facts(tmp_path / "nets.py"), program.facts(tmp_path / "train.py")
    assert facts is not None and train is not None
    net, other = facts.scope.children
    fit = train.scope.children[0].children[0]
    assert is_named_by(program, facts, net, [train.path], (train.path, fit))
    assert not is_named_by(program, facts, other, [train.path], (train.path, fit))


def test_a_name_that_another_module_defines_as_well(tmp_path: Path) -> None:
    theirs = "class Net: ..."
    assert not _is_named(_program(tmp_path, "import nets\nimport theirs\ntheirs.Net()", theirs=theirs))
    assert not _is_named(_program(tmp_path, "import nets\nfrom theirs import Net\nNet()", theirs=theirs))
    hands_on = "from nets import Net"
    assert _is_named(_program(tmp_path, "from theirs import Net\nNet()", theirs=hands_on))


def _is_left_over(program: Program, name: str) -> bool:
    facts = program.facts(program.root / "nets.py")
    assert facts is not None
    return is_left_over(program, facts, next(child for child in facts.scope.children if child.name == name))


@pytest.mark.parametrize(
    ("train", "is_left"),
    [
        ("from nets import Other\nOther()", True),
        ("from nets import Net, Other\nOther()\nNet()", False),
        ("import nets\ngetattr(nets, name)()", False),
        ("import nets\nnets.Other()\nprint('Net')", False),
        ("import torch\ntorch.rand(1)", True),  # no file imports the module
        ("import nets\nimport torch\ntorch.rand(1)", True),
    ],
)
def test_what_nothing_mentions_is_left_over_beside_what_is_used(tmp_path: Path, train: str, is_left: bool) -> None:
    assert _is_left_over(_program(tmp_path, train), "Net") is is_left


@pytest.mark.parametrize(
    ("train", "is_left"),
    [
        ("import nets\nfrom others import *\nnets.Other()\nNet()", True),
        ("import nets\nfrom torch import *\nfrom others import *\nnets.Other()\nNet()", True),
        ("from nets import *\nfrom others import *\nOther()\nNet()", False),
        ("import nets\nfrom others import *\nnets.Other()\nnets.Net()", False),
        ("import nets\nfrom others import *\nfrom elsewhere.nets import *\nnets.Other()\nNet()", False),
        ("import nets\nfrom others import *\nfrom more import *\nnets.Other()\nNet()", False),
        ("import nets\nfrom empty import *\nnets.Other()\nNet()", False),
    ],
)
def test_a_name_that_a_star_brings_from_another_file(tmp_path: Path, train: str, is_left: bool) -> None:
    more = {"more": "from nets import *", "empty": "pass"}
    assert _is_left_over(_program(tmp_path, train, others=_NETS, **more), "Net") is is_left


def test_what_a_configuration_names_is_not_left_over(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text("_target_: nets.Net\n", encoding="utf-8")
    assert not _is_left_over(_program(tmp_path, "from nets import Other\nOther()"), "Net")


_LISTS = """
    import os

    def listed(folder):
        return os.listdir(folder)
"""
_DATA = """
    from lists import listed

    class Images:
        pass

    class Others:
        def __init__(self):
            self.names = listed("images")
"""


@pytest.mark.parametrize(
    ("target", "is_left"), [("data.Images", True), ("data.Others", False), ("lists.listed", False), ("nets.Net", False)]
)
def test_what_only_a_class_uses_that_no_configuration_names_beside_others(
    tmp_path: Path, target: str, is_left: bool
) -> None:
    """The function and the class are left over together; a configuration that names the one or the other uses both."""
    (tmp_path / "data.yaml").write_text(f"_target_: {target}\n", encoding="utf-8")
    program = _program(tmp_path, "import hydra\nhydra.utils.instantiate({})", data=_DATA, lists=_LISTS)
    facts = program.facts(tmp_path / "lists.py")
    assert facts is not None
    assert is_left_over(program, facts, facts.scope.children[0]) is is_left


@pytest.mark.parametrize(
    ("broken", "is_left"),
    [
        ("from nets import Other\nOther()\nprint 'done'", True),
        ("from nets import Net, Other\nOther()\n# Net()\nprint 'done'", True),
        ("from nets import Net, Other\nOther()\nNet()\nprint 'done'", False),
        ("from nets import Net\nprint 'done'", False),  # nothing of that module is used
    ],
)
def test_what_a_file_mentions_that_cannot_be_read(tmp_path: Path, broken: str, is_left: bool) -> None:
    assert _is_left_over(_program(tmp_path, broken), "Net") is is_left

"""A function that sorts if an argument says so gives no order of a set to the calls that say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.engine import check
from torchrepro_lint.program.orders.order_flow import find_sink
from torchrepro_lint.program.running.parents import parents_of

#: Ways to write a function that sorts unless it is told not to; `{body}` of each is that of `names(found, sort=True)`.
SHAPES = {
    "a conditional expression": "return sorted(found) if sort else list(found)",
    "the other way around": "return list(found) if not sort else sorted(found)",
    "an `if` that returns": "if sort:\n        return sorted(found)\n    return list(found)",
    "an `if` with an `else`": "if not sort:\n        return list(found)\n    else:\n        return sorted(found)",
    "a name for the result": "result = sorted(found) if sort else list(found)\n    return result",
}
CALLS = {
    "by default": ("names(words)", []),
    "by keyword": ("names(words, sort=True)", []),
    "by place": ("names(words, True)", []),
    "not by keyword": ("names(words, sort=False)", ["TRL208"]),
    "not by place": ("names(words, False)", ["TRL208"]),
    "as an option says": ("names(words, sort=bool(sys.argv[1:]))", ["TRL208"]),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("shape", SHAPES)
def test_function(tmp_path: Path, shape: str, call: str) -> None:
    written, expected = CALLS[call]
    (tmp_path / "vocabulary.py").write_text(
        "import sys\nimport torch\n\n\ndef names(words, sort=True):\n    found = {word.lower() for word in words}\n"
        f"    {SHAPES[shape]}\n\n\n"
        f'words = open("words.txt").read().split()\nindex = {{name: i for i, name in enumerate({written})}}\n'
        'torch.manual_seed(0)\ntorch.save(index, "index.pt")\n'
    )
    assert [one.code for one in check([tmp_path]).findings] == expected


@pytest.mark.parametrize("call", ["self.names(words)", "Vocabulary.names(words)"])
def test_static_method(tmp_path: Path, call: str) -> None:
    (tmp_path / "vocabulary.py").write_text(
        "import torch\n\n\nclass Vocabulary:\n    @staticmethod\n    def names(words, sort=True):\n"
        "        found = {word.lower() for word in words}\n        return sorted(found) if sort else list(found)\n\n"
        f"    def __init__(self, words):\n        self.index = {{name: i for i, name in enumerate({call})}}\n\n\n"
        'torch.manual_seed(0)\ntorch.save(Vocabulary(open("words.txt").read().split()).index, "index.pt")\n'
    )
    assert [one.code for one in check([tmp_path]).findings] == []


def test_a_choice_in_one_file_says_nothing_of_a_function_in_another(tmp_path: Path) -> None:
    """The names of the choice mean something else there."""
    program = program_of(
        tmp_path,
        {
            "words.py": "def words_of(text, given=None):\n    return given if given is not None else {*text.split()}\n",
            "vocabulary.py": "def names(text, given):\n    print(given, len(text), given.upper())\n"
            "    return list(words_of(text))\n\n\nfrom words import words_of\n\n"
            'index = {name: i for i, name in enumerate(names(open("words.txt").read(), "vocabulary"))}\n',
        },
    )
    facts = program.facts(tmp_path / "words.py")
    assert facts is not None
    (made,) = parents_of(program.ev, facts).sets
    assert find_sink(program, facts, made, of_set=True) is not None

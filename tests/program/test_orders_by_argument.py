"""A function that sorts if an argument says so gives no order of a set to the calls that say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.engine import check

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


def test_a_choice_in_one_file_of_what_another_returns(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(
        "class Words:\n    def __init__(self, text, given=None):\n"
        "        self.found = given if given is not None else {word for word in text.split()}\n"
    )
    (tmp_path / "vocabulary.py").write_text(
        "import torch\nfrom words import Words\n\n\nclass Vocabulary(Words):\n    def names(self):\n"
        "        return list(self.found)\n\n    def index(self):\n"
        "        return {name: i for i, name in enumerate(self.names())}\n\n\n"
        'torch.manual_seed(0)\ntorch.save(Vocabulary(open("words.txt").read()).index(), "index.pt")\n'
    )
    report = check([tmp_path])
    assert [one.code for one in report.findings] == ["TRL208"]
    assert report.errors == ()

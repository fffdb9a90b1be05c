"""A seeded generator of the program's own beside draws from the global one: TRL502 and TRL305 name it."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_HEAD = "import random\nimport numpy as np\nimport torch\nfrom numpy.random import default_rng\n"
_TRAINING = "net = torch.nn.Linear(3, 3)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nnet(torch.rand(3)).sum().backward()\noptimizer.step()\n"
_CLASS = """
class Noise:
    def __init__(self, seed):
        self.rng = {made}

    def __call__(self, x):
        return x + {drawn}

torch.manual_seed(3)
print(Noise(3)(1.0))
"""
_FUNCTION = """
def main(seed):
    torch.manual_seed(seed)
    rng = {made}
    print(rng.random(), {drawn})

main(3)
"""
_NAMED = {
    "at the top": ("torch.manual_seed(0)\nrng = default_rng(0)\nprint(rng.random(), np.random.rand())\n", "rng"),
    "in a function": (_FUNCTION.format(made="np.random.RandomState(seed)", drawn="np.random.rand()"), "rng"),
    "of random": (_FUNCTION.format(made="random.Random(seed)", drawn="random.random()"), "rng"),
    "in the class": (_CLASS.format(made="np.random.default_rng(seed)", drawn="np.random.randn()"), "self.rng"),
    "above a function": (
        "torch.manual_seed(0)\nRNG = default_rng(seed=0)\ndef draw():\n    return np.random.rand()\nprint(RNG.random(), draw())\n",
        "RNG",
    ),
    "an annotated name": ("torch.manual_seed(0)\nrng: object = default_rng(0)\nprint(rng, np.random.rand())\n", "rng"),
}
_UNNAMED = {
    "without a seed": _FUNCTION.format(made="np.random.RandomState()", drawn="np.random.rand()"),
    "None": _FUNCTION.format(made="np.random.default_rng(None)", drawn="np.random.rand()"),
    "of the other kind": _FUNCTION.format(made="random.Random(seed)", drawn="np.random.rand()"),
    "in another function": (
        "def split():\n    rng = default_rng(1)\n    return rng.random()\n"
        "def main():\n    torch.manual_seed(1)\n    print(np.random.rand(), split())\nmain()\n"
    ),
    "in another class": (
        "class Other:\n    def __init__(self):\n        self.rng = default_rng(1)\nprint(Other())\n"
        + _CLASS.format(made="None", drawn="np.random.randn()")
    ),
    "not held": _FUNCTION.format(made="[np.random.RandomState(seed)][0]", drawn="np.random.rand()"),
}
_UNREAD = {
    "in a function": "def main():\n    torch.manual_seed(3)\n    rng = {made}\n    print({drawn})\nmain()\n",
    "in the main block": "if __name__ == '__main__':\n    torch.manual_seed(3)\n    rng = {made}\n    print({drawn})\n",
}


def _findings(write, text: str):
    root = write({"torchrepro-lint.toml": "", "train.py": f"{_HEAD}{text}{_TRAINING}"})
    return [one for one in check([root]).findings if one.code in ("TRL502", "TRL305")]


@pytest.mark.parametrize(("text", "name"), _NAMED.values(), ids=_NAMED)
def test_the_generator_that_is_not_drawn_from_is_named(write, text: str, name: str) -> None:
    (found,) = _findings(write, text)
    assert found.code == "TRL502" and f"not from the seeded `{name}`" in found.message
    assert len(found.message) <= 160


@pytest.mark.parametrize("text", _UNNAMED.values(), ids=_UNNAMED)
def test_one_that_is_not_at_hand_is_not(write, text: str) -> None:
    (found,) = _findings(write, text)
    assert found.code == "TRL502" and "not from" not in found.message


def test_the_message_is_not_longer_than_others(write) -> None:
    name = "generator_of_the_samples_that_are_drawn_for_the_validation_of_this_model"
    (found,) = _findings(
        write,
        f"torch.cuda.manual_seed_all(0)\ntorch.manual_seed(0)\n{name} = default_rng(0)\nprint({name}, np.random.permutation(3))\n",
    )
    assert len(found.message) <= 160 and "numpy.random.permutation" in found.message


@pytest.mark.parametrize("text", _UNREAD.values(), ids=_UNREAD)
@pytest.mark.parametrize(
    ("made", "drawn"), [("np.random.default_rng(3)", "np.random.rand()"), ("random.Random(3)", "random.random()")]
)
def test_one_that_nothing_reads_is_dead(write, text: str, made: str, drawn: str) -> None:
    (found,) = _findings(write, text.format(made=made, drawn=drawn))
    assert found.code == "TRL305" and "`rng`" in found.message and len(found.message) <= 160


@pytest.mark.parametrize(
    "text",
    [
        "def main():\n    np.random.seed(3)\n    torch.manual_seed(3)\n    rng = default_rng(3)\n    print(np.random.rand())\nmain()\n",
        "def main():\n    torch.manual_seed(3)\n    rng = default_rng(3)\n    print(torch.rand(1))\nmain()\n",
        "def main():\n    torch.manual_seed(3)\n    rng = default_rng(3)\n    return rng\nprint(main())\n",
        "def main():\n    torch.manual_seed(3)\n    rng = random.Random(3)\n    print(locals())\nmain()\n",
    ],
    ids=["the global one is seeded", "nothing is drawn", "it is returned", "it is looked up"],
)
def test_nothing_is_missing(write, text: str) -> None:
    assert _findings(write, text) == []

"""TRL508 where the model that is put into evaluation mode is another one than that which is evaluated."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_NET = """\
import copy
import torch
import torchvision
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 2)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.lin(self.drop(x))


class Frozen(nn.Module):
    def __init__(self, inner=None):
        super().__init__()
        self.lin = nn.Linear(8, 2)
        self.inner = inner

    def forward(self, x):
        return self.lin(x)

"""
_TEACHER = """
def evaluate(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean()


def main():
    torch.manual_seed(0)
    teacher = {teacher}
    teacher.eval()
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(64, 8), torch.randint(0, 2, (64,))
    for epoch in range(3):
        with torch.no_grad():
            soft = teacher(x).softmax(1)
        loss = nn.functional.cross_entropy(model(x), soft)
        opt.zero_grad()
        loss.backward()
        opt.step()
        {before}
        print(evaluate(model, x, y))


if __name__ == "__main__":
    main()
"""
_LOADED = """
{decorator}
def load(path):
    model = Net()
    model.load_state_dict(torch.load(path))
    return model


def main():
    a = load("a.pt")
    b = {second}
    {switch}
    x = torch.randn(4, 8)
    with torch.no_grad():
        print(a(x), b(x))


if __name__ == "__main__":
    main()
"""
_OBJECT = """
class Trainer{bases}:
    def __init__(self):
        super().__init__()
        self.teacher = Net()
        self.student = Net()
        {switched}.eval()
        self.opt = torch.optim.SGD(self.student.parameters(), lr=0.1)

    def step(self, x):
        with torch.no_grad():
            soft = self.teacher(x).softmax(1)
        loss = nn.functional.cross_entropy(self.student(x), soft)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    @torch.no_grad()
    def validate(self, x, y):
        {before}
        return (self.student(x).argmax(1) == y).float().mean()

    def fit(self, x, y):
        for epoch in range(3):
            self.step(x)
            print(self.validate(x, y))


if __name__ == "__main__":
    torch.manual_seed(0)
    Trainer().fit(torch.randn(64, 8), torch.randint(0, 2, (64,)))
"""


def _teacher(teacher="Net()", before="pass"):
    return _TEACHER.format(teacher=teacher, before=before)


def _loaded(second='load("b.pt")', switch="a.eval()", decorator=""):
    return _LOADED.format(second=second, switch=switch, decorator=decorator)


def _object(switched="self.teacher", before="pass", bases=""):
    return _OBJECT.format(switched=switched, before=before, bases=bases)


_BAD = {
    "a teacher": (_teacher(), "teacher"),
    "of another class": (_teacher("Frozen()"), "teacher"),
    "of a library": (_teacher("torchvision.models.resnet18()"), "teacher"),
    "two that are loaded": (_loaded(), "a"),
    "attributes of an object": (_object(), "self.teacher"),
}
_GOOD = {
    "the model, where it is called": _teacher(before="model.eval()"),
    "both in a loop": _loaded(switch="for net in (a, b):\n        net.eval()"),
    "a second name": _loaded(second="a"),
    "one that is loaded once": _loaded(decorator="import functools\n@functools.lru_cache"),
    "through a container": _teacher("nn.Sequential()", before="nn.ModuleList([model]).eval()"),
    "through what holds it": _teacher(before="Frozen(model).eval()"),
    "through an attribute that is set": _teacher(before="teacher.inner = model; teacher.eval()").replace(
        "Net()\n    teacher.e", "Frozen()\n    teacher.e"
    ),
    "a copy": _teacher("copy.deepcopy(Net())", before="ema = copy.deepcopy(model)\n        ema.eval()"),
    "one that is not known": _teacher(before="pick().eval()"),
    "a function that is handed over": _teacher(before="list(map(nn.Module.eval, [model]))"),
    "the model, in the object": _object(before="self.student.eval()"),
    "the module around both": _object(bases="(nn.Module)", switched="self"),
    "only the layer": _teacher(before="model.drop.eval()"),
    "a parameter": _teacher().replace(
        "    with torch.no_grad():\n        return (model",
        "    model.eval()\n    with torch.no_grad():\n        return (model",
    ),
}


def _found(write, text: str):
    root = write({"torchrepro-lint.toml": "", "train.py": _NET + text})
    return list(check([root], {"select": ("TRL508",)}).findings)


@pytest.mark.parametrize(("text", "name"), _BAD.values(), ids=_BAD)
def test_another_one_is_switched(write, text: str, name: str) -> None:
    (found,) = _found(write, text)
    assert f"`{name}.eval()`" in found.message and len(found.message) <= 160


@pytest.mark.parametrize("text", _GOOD.values(), ids=_GOOD)
def test_this_one_may_be(write, text: str) -> None:
    assert _found(write, text) == []


def test_a_method_of_the_model_switches_it(write) -> None:
    forward = "    def forward(self, x):\n        return self.lin(self.drop"
    text = _teacher(before="model.rest()")
    method = "    def rest(self):\n        self.eval()\n\n"
    root = write({"torchrepro-lint.toml": "", "train.py": _NET.replace(forward, method + forward) + text})
    assert check([root], {"select": ("TRL508",)}).findings == ()


def test_a_trainer_of_the_project_is_no_framework(write) -> None:
    text = _object().replace("        self.teacher.eval()\n", "")
    (found,) = _found(write, text)
    assert "nothing in the program" in found.message
    outside = text.replace("if __name__", "from somewhere import BaseTrainer\n\nif __name__")
    assert _found(write, outside) == []


SHARED = """\
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 2)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.lin(self.drop(x))

    def act(self, x):
        with torch.no_grad():
            return self(x).argmax(1)
"""
TRAINS = """\
import torch
from policy import Policy


def choose(net, state):
    return net.act(state)


def train(net, target, optimizer):
    target.eval()
    for step in range(3):
        net.train()
        choose(net, torch.rand(2, 4))
        net(torch.rand(2, 4)).sum().backward()
        optimizer.step()
        net.eval()
        print(net.act(torch.rand(2, 4)))


if __name__ == "__main__":
    net, target = Policy().to("cpu"), Policy().to("cpu")
    train(net, target, torch.optim.SGD(net.parameters(), lr=0.1))
    torch.save(net.state_dict(), "net.pt")
"""
EVALUATES = """\
import torch
from policy import Policy

if __name__ == "__main__":
    net = Policy().to("cpu"){switch}
    net.load_state_dict(torch.load("net.pt"))
    {other}
    print(net.act(torch.rand(2, 4)))
"""


@pytest.mark.parametrize(("switch", "other", "is_told"), [(".eval()", "pass", False), ("", "Policy().eval()", True)])
def test_the_models_of_another_program_that_shares_the_class(switch: str, other: str, is_told: bool, write) -> None:
    files = {"policy.py": SHARED, "train.py": TRAINS, "validation.py": EVALUATES.format(switch=switch, other=other)}
    root = write({"torchrepro-lint.toml": "", **files})
    found = [one for one in check([root], {"select": ("TRL508",)}).findings if one.code == "TRL508"]
    assert bool(found) is is_told

"""Places of samples that t-SNE draws: they decide nothing where they are only shown (TRL502)."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_PROGRAM = """\
import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.manifold import TSNE


def plot_places(places, labels=None):
    plt.scatter(places[:, 0], places[:, 1], c=labels)
    plt.savefig("places.png")


def plot_and_keep(places):
    plt.scatter(places[:, 0], places[:, 1])
    np.save("places.npy", places)


def plot_groups(places):
    plt.scatter(places[:, 0], places[:, 1])
    return KMeans(3, random_state=0).fit_predict(places)


class PlotOfPlaces:
    def __init__(self, places):
        self.places = places


torch.manual_seed(0)
model = torch.nn.Linear(4, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.rand(64, 4)).pow(2).mean().backward()
    optimizer.step()
places = TSNE(2).fit_transform(model(torch.rand(64, 4)).detach().numpy())
plt.scatter(places[:, 0], places[:, 1])
"""


@pytest.mark.parametrize(
    ("use", "is_told"),
    [
        ("plt.hist(places[:, 0])", False),
        ("plot_places(places, labels=[0] * 64)", False),
        ("plot_places(places=places)", False),
        ("points = plt.plot(places[:, 0])", False),
        ("plot_and_keep(places)", True),
        ("np.save('labels.npy', plot_groups(places))", True),
        ("plot_groups(places)", True),
        ("kept = PlotOfPlaces(places)", True),
        ("counts, edges, _ = plt.hist(places[:, 0])\nnp.save('weights.npy', 1 / counts)", True),
        ("scale = np.empty(64)\nscale.fill(places.std())\nnp.save('scale.npy', scale)", True),
    ],
)
def test_what_becomes_of_the_places(use: str, is_told: bool, write) -> None:
    findings = check([write({"setup.cfg": "", "main.py": f"{_PROGRAM}{use}\n"})]).findings
    assert [one.code for one in findings] == ["TRL502"] * is_told

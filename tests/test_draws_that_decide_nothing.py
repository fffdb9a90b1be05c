"""Draws on which no result of a program hangs, and draws beside them on which one does (TRL502, TRL504); and orders that
a seed would decide of which another finding speaks (TRL207).
"""

from __future__ import annotations

import json

import pytest

from torchrepro_lint.engine import check

_PLOT = """\
import numpy as np


def first_images(images, n):
    start = np.random.randint(0, len(images) - n)
    return images[start : start + n]
"""
_SHOWS = """\
import torch
from {module} import first_images

torch.manual_seed(0)
first_images(list(range(9)), 2)
torch.nn.Linear(1, 1)(torch.rand(1, 1)).sum().backward()
"""
_LINE = """\
import random
import torch

{seed}
{draw}
torch.nn.Linear(1, 1)(torch.rand(1, 1)).sum().backward()
"""
_LATE = """\
import numpy as np
import torch

{draw}
np.random.seed(0)
torch.manual_seed(0)
print(np.random.rand(), torch.rand(1))
"""
_TRAINS = _LINE.format(seed="torch.manual_seed(0)", draw="x = [random.random()]\nprint(x, x)")
_NAMED = """\
number = str(random.randint(0, 100))
name = "result_" + number + ".pkl"
with open(name, "{mode}") as file:
    print(file)
"""
_KEPT = (
    "random.seed(42)\nfew = {draw}\nmodel = torch.nn.Linear(1, 1)\nmodel(torch.rand(1, 1)).sum().backward()\nprint(few)"
)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"train.py": _LINE.format(seed="torch.manual_seed(0)", draw="bool(random.choice([0, 1]))")}, []),
        (
            {"train.py": _LINE.format(seed="torch.manual_seed(0)", draw="x = bool(random.random())\nprint(x)")},
            ["TRL502"],
        ),
        ({"train.py": _LINE.format(seed="torch.manual_seed(0)", draw="print(random.random())")}, ["TRL502"]),
        ({"train.py": _LATE.format(draw="np.random.rand(2)")}, []),
        ({"train.py": _LATE.format(draw="print(np.random.rand(2))")}, ["TRL504"]),
        ({"train.py": _LATE.format(draw="x = [1, 2]\nnp.random.shuffle(x)\nprint(x)")}, ["TRL504"]),
        ({"plotting.py": _PLOT, "train.py": _SHOWS.format(module="plotting")}, []),
        ({"images.py": _PLOT, "train.py": _SHOWS.format(module="images")}, ["TRL502"]),
        ({"train.py": f"import random\nimport torch\n\n{_KEPT.format(draw='random.sample(range(9), 3)')}\n"}, []),
        ({"train.py": f"import random\nimport torch\n\n{_KEPT.format(draw='random.random()')}\n"}, ["TRL502"]),
        ({"train.py": _LINE.format(seed="torch.manual_seed(0)", draw=_NAMED.format(mode="wb"))}, []),
        ({"train.py": _LINE.format(seed="torch.manual_seed(0)", draw=_NAMED.format(mode="rb"))}, ["TRL502"]),
        ({"train_debug.py": _TRAINS}, []),
        ({"train.py": _TRAINS}, ["TRL502"]),
        ({"debug_shapes.py": _LATE.format(draw="x = np.random.rand(2)\nprint(x)")}, []),
        ({"debugger.py": _LATE.format(draw="x = np.random.rand(2)\nprint(x)")}, ["TRL504"]),
    ],
)
def test_what_a_draw_decides(write, files: dict[str, str], found: list[str]) -> None:
    assert [one.code for one in check([write({"torchrepro-lint.toml": "", **files})]).findings] == found


_LOADS = """\
import {module}
import torch
from torch.utils.data import DataLoader, TensorDataset

{seed}
model = torch.nn.Linear(1, 1)
loader = DataLoader(TensorDataset(torch.arange(16.0)), shuffle=True)
{reads}
"""
_READS = "for (batch,) in loader:\n    model(batch).sum().backward()"
_LISTS = """\
import os
import random
import torch

{seed}
file = random.choice(os.listdir("images"))
model = torch.nn.Linear(1, 1)
model(torch.load(file)).sum().backward()
"""


def _codes(write, text: str, **settings: str) -> list[str]:
    report = check([write({"torchrepro-lint.toml": "", "train.py": text})], settings)  # type: ignore[arg-type]
    return sorted(one.code for one in report.findings)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (_LISTS.format(seed="torch.manual_seed(0)"), ["TRL502"]),
        (_LISTS.format(seed="random.seed(0); torch.manual_seed(0)"), ["TRL207"]),
    ],
)
def test_one_cause_has_one_finding(write, text: str, found: list[str]) -> None:
    assert _codes(write, text) == found
    strict = _codes(write, text, profile="strict")
    assert "TRL207" in strict


@pytest.mark.parametrize(("reads", "found"), [("print(model)", []), (_READS, ["TRL201"])])
def test_a_loader_that_no_cell_reads(write, reads: str, found: list[str]) -> None:
    text = _LOADS.format(module="random", seed="torch.manual_seed(0)", reads=reads)
    cell = {"cell_type": "code", "source": text, "metadata": {}, "outputs": []}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    report = check([write({"torchrepro-lint.toml": "", "train.ipynb": notebook})])
    assert [one.code for one in (*report.findings, *report.untold)] == found


_EMBEDS = """\
import random
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
import torch
import umap
from sklearn.cluster import KMeans
from sklearn.manifold import MDS, TSNE

random.seed(0)
torch.manual_seed(0)
features = torch.nn.Linear(8, 4)(torch.rand(100, 8)).detach().numpy()
{}
"""
_COLUMNS = """\
table = pd.DataFrame(features)
places = TSNE(2).fit_transform(features)
table["x"], table["y"] = places[:, 0], places[:, 1]
{}
"""
_SCALED = """\
places = umap.UMAP().fit_transform(features)
low, high = places.min(0), places.max(0)
places = (places - low) / (high - low)
for number in range(len(places)):
    plt.text(places[number, 0], places[number, 1], str(number))
"""
_GIVES = """\
def embed(rows):
    mds = MDS(n_components=2)
    mds.fit(rows)
    return mds.embedding_


x, y = embed(features).T
print(x.shape)
{}
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tsne = TSNE(2)\nplaces = tsne.fit_transform(features)\nplt.scatter(places[:, 0], places[:, 1])", []),
        ("plt.scatter(*TSNE(2).fit_transform(features).T)", []),
        ("tsne = TSNE(2)\nplaces = tsne.fit_transform(features)\nnp.save('places.npy', places)", ["TRL502"]),
        ("places = TSNE(2).fit_transform(features)\nplt.scatter(*places.T)\nnp.save('p.npy', places)", ["TRL502"]),
        (
            "places = TSNE(2).fit_transform(features)\nplt.scatter(*places.T)\nKMeans(2, random_state=0).fit(places)",
            ["TRL502"],
        ),
        ("places = TSNE(2).fit_transform(features)\nprint(places)", ["TRL502"]),
        ("places = KMeans(2).fit_transform(features)\nplt.scatter(*places.T)", ["TRL502"]),
        (_COLUMNS.format("sns.scatterplot(data=table, x='x', y='y')"), []),
        (_COLUMNS.format("sns.scatterplot(data=table, x='x', y='y')\ntable.to_csv('places.csv')"), ["TRL502"]),
        (_SCALED, []),
        (_SCALED + "torch.save(places, 'places.pt')", ["TRL502"]),
        (_GIVES.format("plt.plot(x, y, 'o')"), []),
        (_GIVES.format("plt.plot(x, y, 'o')\nnearest = np.argsort(x)"), ["TRL502"]),
    ],
)
def test_places_in_a_figure(write, text: str, found: list[str]) -> None:
    assert _codes(write, _EMBEDS.format(text)) == found


_SEEDS_AT_THE_END = """\
import numpy as np
import torch


def train_ridge(rows):
    np.random.seed(0)
    torch.cuda.manual_seed_all(0)
    tried = [row.sum() for row in rows]
    return np.random.permutation(len(tried)), tried


def main():
    {first}
    model = torch.nn.Linear(2, 1)
    rows = torch.rand(40, 2)
    for row in rows:
        model(row).sum().backward()
    {last}


if __name__ == "__main__":
    main()
"""
_RIDGE = "print(train_ridge(torch.ones(4, 2)))"


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        ("pass", _RIDGE, []),
        (_RIDGE, "pass", ["TRL502"]),
        ("pass", f"{_RIDGE}\n    print(torch.rand(2))", ["TRL502"]),
        ("pass", f"{_RIDGE}\n    model(rows[0]).sum().backward()", ["TRL502"]),
    ],
)
def test_a_function_that_seeds_for_itself_at_the_end(write, first: str, last: str, found: list[str]) -> None:
    assert _codes(write, _SEEDS_AT_THE_END.format(first=first, last=last)) == found

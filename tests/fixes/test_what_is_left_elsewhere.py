"""A safe fix is unsafe beside what the project keeps of its kind, in any of its files: no half of a mend is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint import fix_loop
from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check
from torchrepro_lint.fix_attempts import Attempts
from torchrepro_lint.fix_loop import fix

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
SAFE = """\
import os
import random

import torch
from torch.utils.data import DataLoader

torch.manual_seed(3)
random.seed(3)
"""
LISTS = SAFE + "names = [one for one in os.listdir('images')]\nloader = DataLoader(names)\nprint(list(loader))\n"
#: What another file has: a listing that is sorted below only if an option says so, and one that is sorted.
OTHER = """\
import os
import sys

import torch
from torch.utils.data import DataLoader

torch.manual_seed(3)


def frames(folder):
    found = {}
    return DataLoader(found)


print(list(frames(sys.argv[1])))
"""
#: A split of what a loop over a listing has made the keys of a dictionary, or the lines of a file.
KEYS = OTHER.replace("import os\n", "import os\nimport random\n").replace(
    "    found = {}\n",
    """\
    books = {{}}
    for one in os.listdir(folder):
        books.setdefault(one, {{}})
        books[one]["text"] = one
    found = random.sample({}, 4)
""",
)
LINES = OTHER.replace(
    "    found = {}\n",
    """\
    with open("names", "w") as names:
        for one in os.listdir(folder):
            {}
    found = list(open("names"))
""",
)
FILLED = {
    "drawn from the keys": (KEYS.format("list(books)"), False),
    "drawn from the view of the keys": (KEYS.format("books.keys()"), False),
    "drawn from the sorted keys": (KEYS.format("sorted(books)"), True),
    "written to a file": (LINES.format("names.write(one)"), False),
    "printed to a file": (LINES.format("print(one, file=names)"), False),
    "only printed": (LINES.format("print(one)"), True),
}
LISTINGS = {
    "no safe fix": ("[os.path.join(top, one) for top, _, files in os.walk(folder) for one in files]", False),
    "safe as well": ("[one for one in os.listdir(folder)]", True),
    "sorted": ("sorted(os.listdir(folder))", True),
}


def _is_safe(root, rule: str, path: str = "train.py") -> bool:
    report = check([root], {"extend_select": ("TRL510",)})
    (found,) = [one for one in report.found if one.code == rule and one.location.path.name == path]
    return found.fix is not None and found.fix.applicability is Applicability.SAFE


@pytest.mark.parametrize(("listing", "is_safe"), LISTINGS.values(), ids=LISTINGS)
def test_a_listing_beside_another(listing: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": LISTS, "other.py": OTHER.format(listing)})
    assert _is_safe(root, "TRL207") is is_safe


@pytest.mark.parametrize(("other", "is_safe"), FILLED.values(), ids=FILLED)
def test_a_listing_beside_one_that_a_loop_goes_through(other: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": LISTS, "other.py": other})
    assert _is_safe(root, "TRL207") is is_safe


def test_a_listing_in_a_file_that_is_checked_alone(write) -> None:
    root = write({"pyproject.toml": "", "train.py": LISTS, "other.py": OTHER.format(LISTINGS["no safe fix"][0])})
    (found,) = check([root / "train.py"]).findings
    assert found.fix is not None and found.fix.applicability is Applicability.UNSAFE


WALKS = OTHER.format(LISTINGS["no safe fix"][0])
#: Where the two files are, beside what else the repository has.
REPOSITORIES = {
    "two folders, without git": {"ImageNet/train.py": LISTS, "DeiT/main.py": WALKS},
    "two folders with requirements": {
        "ImageNet/train.py": LISTS, "ImageNet/requirements.txt": "", "DeiT/main.py": WALKS, "DeiT/requirements.txt": ""
    },
    "two projects": {
        ".git/HEAD": "", "ImageNet/train.py": LISTS, "ImageNet/setup.py": "", "DeiT/main.py": WALKS, "DeiT/setup.py": ""
    },
    "a project in another": {"pyproject.toml": "", "main.py": WALKS, "ImageNet/train.py": LISTS, "ImageNet/setup.py": ""},
    "the other one further in": {"pyproject.toml": "", "train.py": LISTS, "DeiT/main.py": WALKS, "DeiT/setup.py": ""},
}  # fmt: skip


@pytest.mark.parametrize("files", REPOSITORIES.values(), ids=REPOSITORIES)
def test_a_listing_beside_another_project_of_the_repository(files, write) -> None:
    assert not _is_safe(write(files), "TRL207")


@pytest.mark.parametrize("other", [LISTS, LISTS.replace("os.listdir('images')", "sorted(os.listdir('images'))")])
def test_a_listing_beside_another_project_in_which_none_is_left(other: str, write) -> None:
    projects = {"ImageNet/train.py": LISTS, "ImageNet/setup.py": "", "DeiT/main.py": other, "DeiT/setup.py": ""}
    root = write({".git/HEAD": "", **projects})
    assert _is_safe(root, "TRL207")


def test_a_listing_beside_projects_that_strangers_keep_in_one_folder(write) -> None:
    others = {f"{name}/setup.py": "" for name in ("ImageNet", "DeiT", "ViT")}
    assert _is_safe(write({"ImageNet/train.py": LISTS, "DeiT/main.py": WALKS, **others}), "TRL207")


#: What another file does with a listing that nothing proves to decide anything, and whether the order may decide.
USES = {
    "a helper fills a list": (
        "def images(folder, found):\n    for path in Path(folder).iterdir():\n        found.append(path)\n    return found\n", True
    ),
    "a helper walks": (
        "def images(folder):\n    found = []\n    for top, _, files in os.walk(folder):\n        for one in files:\n"
        "            found.append(os.path.join(top, one))\n    return found\n", True,
    ),
    "a helper walks in order": (
        "def images(folder):\n    found = []\n    for top, folders, files in os.walk(folder):\n        folders.sort()\n"
        "        for one in sorted(files):\n            found.append(os.path.join(top, one))\n    return found\n", False,
    ),
    "entries": ("def images(folder):\n    with os.scandir(folder) as entries:\n        return [one.path for one in entries]\n", True),
    "fastai": ("from fastai.vision.all import *\n\n\ndef images(path):\n    return (path / 'train').ls()\n", True),
    "sorted by fastai": ("from fastai.vision.all import *\n\n\ndef images(path):\n    return path.ls().sorted()\n", False),
    "ls of somebody": ("def images(client):\n    return client.ls()\n", False),
    "a path that nobody knows": (
        "class Images:\n    def __init__(self, root):\n        self.found = list(root.glob('*.png'))\n\n"
        "    def __getitem__(self, at):\n        return self.found[at]\n", True,
    ),
    "gets numbers": (
        "def rename(folder):\n    for at, one in enumerate(os.listdir(folder)):\n        os.rename(one, f'{at}.png')\n", True
    ),
    "is converted": ("def convert(folder):\n    for one in os.listdir(folder):\n        os.rename(one, one + '.png')\n", False),
    "is counted": ("def count(folder):\n    return len(os.listdir(folder))\n", False),
    "is searched": ("def has(folder):\n    names = os.listdir(folder)\n    return 'a' in names or not names\n", False),
    "is sorted below": ("def images(folder):\n    names = os.listdir(folder)\n    names.sort()\n    return names\n", False),
    "is sorted by the caller": (
        "def images(folder):\n    return [one for one in os.listdir(folder)]\n\n\ndef load(x):\n    return sorted(images(x))\n", False
    ),
    "the newest one": ("def last(folder):\n    return max(Path(folder).glob('*.pt'), key=os.path.getctime)\n", False),
    "one of them": ("def last(folder):\n    return os.listdir(folder)[-1]\n", False),
    "by name": ("def sizes(folder):\n    return {one: os.path.getsize(one) for one in os.listdir(folder)}\n", False),
    "a table of it": ("def table(folder):\n    return pd.DataFrame({'names': os.listdir(folder)})\n", True),
    "is split": ("def parts(folder):\n    names = os.listdir(folder)\n    return names[:80], names[80:]\n", True),
    "is written": ("def show(folder):\n    print(os.listdir(folder))\n", False),
    "made longer, and sorted by a length": (
        "def images(folders):\n    found = []\n    for one in folders:\n        part = list(Path(one).rglob('*.flac'))\n"
        "        found += part\n    return sorted(found, key=len)\n", True,
    ),
    "paired, and sorted by the length of a text": (
        "class Speech:\n    def __init__(self, folder):\n        found = list(Path(folder).rglob('*.flac'))\n"
        "        texts = [one.with_suffix('.txt').read_text() for one in found]\n"
        "        self.files, self.texts = zip(*[pair for pair in sorted(zip(found, texts), key=lambda x: len(x[1]))])\n\n"
        "    def __getitem__(self, at):\n        return self.files[at], self.texts[at]\n", True,
    ),
    "sorted by a size": ("def images(folder):\n    return sorted(os.listdir(folder), key=os.path.getsize)\n", True),
    "sorted by a number": (
        "def images(folder):\n    return sorted(os.listdir(folder), key=lambda one: int(one[:-4]))\n", False
    ),
    "made longer, and sorted": (
        "def images(folders):\n    found = []\n    for one in folders:\n        part = list(Path(one).rglob('*.flac'))\n"
        "        found += part\n    return sorted(found)\n", False,
    ),
    "an attribute made longer": (
        "class Images:\n    def __init__(self, folder):\n        self.files = []\n        for one in os.listdir(folder):\n"
        "            self.files += sorted(os.listdir(one))\n\n    def __getitem__(self, at):\n        return self.files[at]\n", True,
    ),
    "added to a list": (
        "def images(folder):\n    found = []\n    for one in os.listdir(folder):\n        found = found + [one]\n"
        "    return found\n", True,
    ),
    "added to a tuple": (
        "def images(folder):\n    found = ()\n    for one in os.listdir(folder):\n        found += (one,)\n    return found\n", True
    ),
    "added to a number": (
        "def size(folder):\n    found = 0\n    for one in os.listdir(folder):\n        found += os.path.getsize(one)\n"
        "    return found\n", False,
    ),
    "a sum of lists": ("def images(folders):\n    return sum([os.listdir(one) for one in folders], [])\n", True),
    "a sum of numbers": ("def count(folders):\n    return sum([len(os.listdir(one)) for one in folders])\n", False),
    "a list of listings": ("def images(folders):\n    return [os.listdir(one) for one in folders]\n", True),
    "an attribute of another object": ("def images(folder, options):\n    options.files = os.listdir(folder)\n", True),
    "a global name": (
        "FILES = []\n\n\ndef images(folder):\n    global FILES\n    FILES = os.listdir(folder)\n\n\ndef one(at):\n"
        "    return FILES[at]\n", True,
    ),
    "a list of the module": (
        "FILES = []\n\n\ndef images(folder):\n    for one in os.listdir(folder):\n        FILES.append(one)\n", True
    ),
    "a list of the module, sorted": (
        "FILES = []\n\n\ndef images(folder):\n    for one in os.listdir(folder):\n        FILES.append(one)\n"
        "    FILES.sort()\n", False,
    ),
    "taken one by one": (
        "def images(folder):\n    names = os.listdir(folder)\n    while names:\n        print(open(names.pop()).read())\n", True
    ),
    "one is put away": ("def images(folder):\n    names = os.listdir(folder)\n    names.pop()\n    print(len(names))\n", False),
    "counted up": (
        "def rename(folder):\n    at = 0\n    for one in os.listdir(folder):\n        os.rename(one, f'{at}.png')\n"
        "        at += 1\n", True,
    ),
    "a lambda": ("images = lambda folder: os.listdir(folder)\n", True),
}  # fmt: skip


@pytest.mark.parametrize(("text", "is_left"), USES.values(), ids=USES)
def test_a_listing_beside_one_of_which_nothing_is_reported(text: str, is_left: bool, write) -> None:
    imports = "import glob\nimport os\nfrom pathlib import Path\n\nimport pandas as pd\n\n\n"
    root = write({"pyproject.toml": "", "train.py": LISTS, "other.py": imports + text})
    assert _is_safe(root, "TRL207") is not is_left


@pytest.mark.parametrize(
    "reader", ["from other import FILES\n", "import other\n\nprint(other.FILES)\n", "import other\n"]
)
def test_a_listing_beside_one_that_another_file_reads(reader: str, write) -> None:
    other = "import os\n\nFILES = os.listdir('images')\n"
    root = write({"pyproject.toml": "", "train.py": LISTS, "other.py": other, "reader.py": reader})
    assert _is_safe(root, "TRL207") is ("FILES" not in reader)


def test_a_listing_beside_one_of_a_test_of_old_code_and_of_an_evaluation(write) -> None:
    text = "import os\n\n\ndef images(folder):\n    return os.listdir(folder)\n"
    others = dict.fromkeys(("tests/test_images.py", "old/images.py", "third_party/images.py"), text)
    assert _is_safe(write({"pyproject.toml": "", "train.py": LISTS, **others}), "TRL207")


SWITCH = """\
import torch

torch.manual_seed(3)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = True
torch.nn.Conv2d(1, 1, 3)(torch.ones(1, 1, 4, 4)).sum().backward()
"""
TRAINER = """\
import torch
from pytorch_lightning import Trainer

torch.manual_seed(3)
torch.backends.cudnn.deterministic = True
options = {"benchmark": True}
Trainer(**options)
"""


EVALUATES = (
    SWITCH.replace(".sum().backward()", "")
    + "with torch.no_grad():\n    print(torch.nn.Conv2d(1, 1, 3).eval()(torch.ones(1, 1, 4, 4)))\n"
)
#: Other files, and whether the switch of this one is still mended alone.
SWITCHES = {
    "an argument of a framework": (TRAINER, False),
    "none": ("import torch\n", True),
    "in what evaluates": (EVALUATES, False),
    "in what evaluates, switched off": (EVALUATES.replace("benchmark = True", "benchmark = False"), True),
    "in what evaluates and only seeds": (EVALUATES.replace("torch.backends.cudnn.deterministic = True\n", ""), True),
    "in what evaluates and seeds nothing": (
        EVALUATES.replace("torch.backends.cudnn.deterministic = True\n", "").replace("torch.manual_seed(3)\n", ""), True
    ),
    "without a convolution": (SWITCH.replace("Conv2d(1, 1, 3)", "Linear(4, 3)"), False),
}  # fmt: skip


@pytest.mark.parametrize(("other", "is_safe"), SWITCHES.values(), ids=SWITCHES)
def test_the_benchmark_mode_beside_one_that_is_left(other: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": SWITCH, "tune.py": other})
    assert _is_safe(root, "TRL301") is is_safe


LOADS = """\
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, at):
        return np.random.rand()


torch.manual_seed(int(sys.argv[1]))
print(list(DataLoader(Noise(), num_workers=2)))
"""


@pytest.mark.parametrize(
    ("rule", "text"),
    [("TRL207", LISTS), ("TRL301", SWITCH), ("TRL101", LOADS)],
    ids=("listings", "the benchmark mode", "workers"),
)
def test_beside_a_place_whose_fix_is_tried_and_rejected(rule: str, text: str, write, tmp_path_factory) -> None:
    root = write({".git/HEAD": "", "pyproject.toml": "", "requirements.txt": "torch<1.9", "train.py": text})
    assert [one.code for one in fix([root], write=False).fixed] == [rule]
    outside = tmp_path_factory.mktemp("outside") / "other.py"
    outside.write_text(f"# another one\n\n{text}\nprint('an end of its own')\n")
    (root / "other.py").symlink_to(outside)
    assert fix([root], write=False).changes == ()


def test_a_listing_that_is_fixed_beside_one_that_is_left_in_the_end(write) -> None:
    other = OTHER.format(LISTINGS["safe as well"][0])
    root = write({"pyproject.toml": "", "train.py": LISTS, "other.py": other})
    (found,) = [one for one in check([root]).findings if one.location.path.name == "train.py"]
    texts = {root / "train.py": LISTS.replace("os.listdir('images')", "sorted(os.listdir('images'))")}
    assert check([root], overlay=texts, fixed=[found]).halves == ()
    texts[root / "other.py"] = WALKS
    (half,) = check([root], overlay=texts, fixed=[found]).halves
    assert half.location == found.location
    assert half.fix is not None and (half.fix.unsafe_because or "").endswith("another one of the project (other.py:11)")


def test_fixes_that_are_halves_in_the_end_are_not_made(write, monkeypatch) -> None:
    """A fix that the first report calls safe, and a later one does not."""
    other = OTHER.format(LISTINGS["safe as well"][0])
    root = write({"pyproject.toml": "", "train.py": LISTS, "other.py": other})

    def chosen(fixes):
        return [one for one in fixes if one.edits[0].path.name == "train.py"]

    monkeypatch.setattr(fix_loop, "select_compatible", chosen)
    monkeypatch.setattr(fix_loop, "MAX_ROUNDS", 1)
    report = fix([root], write=False)
    assert report.changes != ()  # the other one is fixed in the next round
    real = Attempts.check

    def later(attempts, overlay, fixed=()):
        # After the first round the listing of the other file has become a walk.
        return real(attempts, {**overlay, root / "other.py": WALKS} if overlay else overlay, fixed)

    monkeypatch.setattr(Attempts, "check", later)
    report = fix([root], write=False)
    assert report.changes == ()
    assert "no safe fix mends another one of the project (other.py:11)" in {one.reason for one in report.rejected}


STUDY = """\
import optuna
import torch

torch.manual_seed(0)
study = optuna.create_study(direction="minimize")
study.optimize(lambda trial: trial.suggest_float("lr", 1e-4, 1e-1), n_trials=20)
"""
STUDIES = {
    "seeds nothing": (STUDY.replace("torch.manual_seed(0)", "print(torch.__version__)"), False),
    "has no fix": (STUDY.replace("n_trials=20", "n_trials=20, n_jobs=4"), False),
    "several directions": (STUDY.replace('direction="minimize"', 'directions=["minimize", "maximize"]'), False),
    "safe as well": (STUDY, True),
    "has a seed": (STUDY.replace("create_study(", "create_study(sampler=optuna.samplers.TPESampler(seed=0), "), True),
    "is shared": (STUDY.replace("create_study(", "create_study(storage='sqlite:///a.db', "), True),
}


@pytest.mark.parametrize(("other", "is_safe"), STUDIES.values(), ids=STUDIES)
def test_a_search_beside_another(other: str, is_safe: bool, write) -> None:
    assert _is_safe(write({"pyproject.toml": "", "train.py": STUDY, "other.py": other}), "TRL510") is is_safe


def test_a_search_in_a_file_that_is_checked_alone(write) -> None:
    root = write({"pyproject.toml": "", "train.py": STUDY, "other.py": STUDIES["seeds nothing"][0]})
    (found,) = check([root / "train.py"], {"extend_select": ("TRL510",)}).findings
    assert found.fix is not None and found.fix.applicability is Applicability.UNSAFE


SEEDS = """\
import random
import sys

import torch

torch.manual_seed(int(sys.argv[1]))
random.shuffle(names := ["a", "b", "c"])
print(names, torch.rand(1))
"""


@pytest.mark.parametrize(("seed", "is_safe"), [("hash(sys.argv[1]) % 100", False), ("int(sys.argv[2])", True)])
def test_a_generator_that_is_left_out_of_a_seed_beside_another(seed: str, is_safe: bool, write) -> None:
    other = SEEDS.replace("int(sys.argv[1])", seed)
    assert _is_safe(write({"pyproject.toml": "", "train.py": SEEDS, "other.py": other}), "TRL502") is is_safe


#: A loader in another file, and whether the workers of the first one are seeded beside it.
WORKERS = {
    "a data set from a registry": ("DATASETS[name](root), num_workers=4, shuffle=True", False),
    "a data set that is passed": ("data, num_workers=4, shuffle=True", False),
    "without workers": ("data, shuffle=True", True),
    "with a function of its own": ("data, num_workers=4, shuffle=True, worker_init_fn=seed_worker", True),
    "that draws nothing": ("TensorDataset(torch.arange(8)), num_workers=4", True),
}
OF_ANY = """\
import torch
from torch.utils.data import DataLoader, TensorDataset
from somewhere import DATASETS, seed_worker


def load(data, name, root):
    return DataLoader({0})
"""


@pytest.mark.parametrize(("arguments", "is_safe"), WORKERS.values(), ids=WORKERS)
def test_workers_beside_those_of_which_nothing_is_known(arguments: str, is_safe: bool, write) -> None:
    files = {"requirements.txt": "torch<1.9", "train.py": LOADS, "other.py": OF_ANY.format(arguments)}
    assert _is_safe(write({"pyproject.toml": "", **files}), "TRL101") is is_safe


#: Scripts beside one whose loader gets a generator, and whether that is still done.
MANAGED = {
    "accelerate": (
        "from accelerate import Accelerator\n\ntorch.manual_seed(3)\nloader = DataLoader(images, shuffle=True)\n"
        "loader = Accelerator().prepare(loader)\nprint(list(loader))\n", False,
    ),
    "accelerate, with a generator": (
        "from accelerate import Accelerator\n\ntorch.manual_seed(3)\n"
        "loader = DataLoader(images, shuffle=True, generator=torch.Generator().manual_seed(3))\n"
        "loader = Accelerator().prepare(loader)\nprint(list(loader))\n", True,
    ),
    "accelerate, with a random sampler": (
        "from accelerate import Accelerator\nfrom torch.utils.data import RandomSampler\n\ntorch.manual_seed(3)\n"
        "loader = Accelerator().prepare(DataLoader(images, sampler=RandomSampler(images)))\nprint(list(loader))\n", False,
    ),
    "Lightning in several processes": (
        "from pytorch_lightning import Trainer\n\ntorch.manual_seed(3)\n"
        "Trainer(strategy='ddp').fit(None, DataLoader(images, shuffle=True))\n", True,
    ),
}  # fmt: skip
SHUFFLES = "import torch\nfrom torch.utils.data import DataLoader\n\nimages = list(range(8))\n"


@pytest.mark.parametrize(("other", "is_safe"), MANAGED.values(), ids=MANAGED)
def test_a_loader_beside_one_that_a_framework_is_handed(other: str, is_safe: bool, write) -> None:
    train = SHUFFLES + "torch.manual_seed(3)\nprint(list(DataLoader(images, shuffle=True)))\n"
    root = write({"pyproject.toml": "", "train.py": train, "other.py": SHUFFLES + other})
    found = check([root], {"extend_select": ("TRL201",)}).findings
    fixed = [one.location.path.name for one in found if one.code == "TRL201" and one.is_fixed_safely]
    assert fixed == ["train.py"] * is_safe


#: What `__getitem__` of the second data set returns, the torch of the project, the name of its loader, and whether the
#: first loader still gets a generator.
WORKERS = {
    "draws from NumPy before torch 1.9": ("np.random.rand()", "==1.8.0", "valid_loader", False),
    "draws from NumPy, whose fix is safe": ("np.random.rand()", "==1.8.0", "train_loader", True),
    "draws from NumPy, and the torch is unknown": ("np.random.rand()", "", "train_loader", False),
    "draws nothing": ("index", "==1.8.0", "valid_loader", True),
    "draws what torch >= 1.9 seeds": ("np.random.rand()", ">=1.9", "valid_loader", True),
}


@pytest.mark.parametrize(("drawn", "torch", "name", "is_safe"), WORKERS.values(), ids=WORKERS)
def test_an_order_beside_workers_of_its_file(drawn: str, torch: str, name: str, is_safe: bool, write) -> None:
    text = f"""\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return {drawn}


torch.manual_seed(3)
np.random.seed(3)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(list(range(8)), shuffle=True)
{name} = DataLoader(Noisy(), num_workers=2)
for batch in loader:
    model(batch[:, None].float()).mean().backward()
    optimizer.step()
for batch in {name}:
    print(model(batch[:, None].float()))
"""
    files = {"pyproject.toml": "", "train.py": text}
    root = write(files | ({"requirements.txt": f"torch{torch}\n"} if torch else {}))
    assert [one.fix is not None and one.is_fixed_safely for one in check([root]).found if one.code == "TRL201"][:1] == [
        is_safe
    ]


#: A program of which an option moves the order of the samples, which two runs with one seed have in common.
MOVED = """\
import argparse
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from utils import seed_everything

parser = argparse.ArgumentParser()
parser.add_argument("--deep", action="store_true")
args = parser.parse_args()
seed_everything(3)
model = nn.Sequential(nn.Conv1d(1, 4, 1), nn.Conv1d(4, 1, 1)) if args.deep else nn.Conv1d(1, 1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
dataset = TensorDataset(torch.arange(64.0).reshape(64, 1, 1))
loader = DataLoader(dataset, batch_size=8, shuffle=True)
for epoch in range(3):
    for (batch,) in loader:
        optimizer.zero_grad()
        model(batch.cuda()).sum().backward()
        optimizer.step()
"""
HELPER = "import torch\n\n\ndef seed_everything(seed):\n    torch.manual_seed(seed)\n"
DETERMINISTIC = "    torch.backends.cudnn.deterministic = True\n"
BENCHMARK = "    torch.backends.cudnn.benchmark = True  # fast\n"


@pytest.mark.parametrize(
    ("files", "is_safe"),
    [
        ({"train.py": MOVED, "utils.py": HELPER}, True),
        ({"train.py": MOVED, "utils.py": HELPER + DETERMINISTIC + BENCHMARK}, False),
        (
            {"train.py": MOVED, "utils.py": HELPER + DETERMINISTIC + BENCHMARK.partition("  #")[0] + "\n"},
            True,
        ),  # mended
        ({"train.py": MOVED, "utils.py": HELPER + BENCHMARK}, True),  # nobody asks for determinism
        (
            {"train.py": MOVED, "utils.py": HELPER, "other.py": HELPER + DETERMINISTIC + BENCHMARK},
            True,
        ),  # not its program
    ],
)
def test_an_order_that_repeats_in_a_program_whose_runs_differ(files: dict[str, str], is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", **files})
    (found,) = [one for one in check([root], {"profile": "strict"}).findings if one.code == "TRL201"]
    assert found.fix is not None and found.is_fixed_safely is is_safe
    assert is_safe or "two runs with one seed differ as it is (TRL301, utils.py:7)" in (found.fix.unsafe_because or "")


MOVED_BY_EVALUATIONS = (FIXTURES / "TRL201_dataloader_without_generator/bad_evaluated_every_few_epochs.py").read_text()
#: A split that no seed decides, in a program that seeds torch in a module of its own.
SEEDED_ON_IMPORT = """\
import random

import torch

torch.manual_seed(46)


def in_some_order(rows):
    random.shuffle(rows)
    return rows
"""


@pytest.mark.parametrize(("rows", "is_safe"), [("in_some_order(list(range(32)))", False), ("list(range(32))", True)])
def test_an_order_that_an_option_moves_in_a_program_that_leaves_a_generator_unseeded(
    rows: str, is_safe: bool, write
) -> None:
    text = MOVED_BY_EVALUATIONS.replace("    torch.manual_seed(args.seed)\n", "")
    text = text.replace("import torch\n", "import torch\nfrom rows import in_some_order\n", 1)
    text = text.replace("torch.arange(32.0)", f"torch.tensor({rows}).float()")
    root = write({"pyproject.toml": "", "train.py": text, "rows.py": SEEDED_ON_IMPORT})
    (found,) = [one for one in check([root]).findings if one.code == "TRL201"]
    assert found.fix is not None and found.is_fixed_safely is is_safe
    assert is_safe or "differ as it is (TRL502, rows.py:5)" in (found.fix.unsafe_because or "")


#: A program that seeds a part, and takes the numbers of its rows from a generator of the system or of its seed.
ROWS = """\
import random

import numpy as np
import torch

random.seed(3)
rows = np.random.default_rng({seed}).permutation(64)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for row in rows:
    optimizer.zero_grad()
    model(torch.tensor([[float(row) + random.random()]])).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("seed", "is_safe"), [("", False), ("3", True)])
def test_a_seed_that_is_left_out_where_another_differs_in_every_run(seed: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": ROWS.format(seed=seed)})
    (found,) = [one for one in check([root]).findings if one.code == "TRL502"]
    assert found.fix is not None and found.is_fixed_safely is is_safe
    assert is_safe or "two runs differ as it is (TRL503, train.py:7)" in (found.fix.unsafe_because or "")


@pytest.mark.parametrize(
    ("beside", "is_safe"),
    [
        ("labeled = DataLoader(data, batch_size=8, shuffle=True)", False),
        ("labeled = DataLoader(data, batch_size=8)", True),
    ],
)
def test_another_training_loader_of_the_file_of_which_nothing_shows_that_an_option_moves_it(
    beside: str, is_safe: bool, write
) -> None:
    text = MOVED_BY_EVALUATIONS.replace(
        "    held_out = ", f"    {beside}\n    labeled = cycle(labeled)\n    held_out = "
    )
    text = text.replace("def run(", "def cycle(loader):\n    while True:\n        yield from loader\n\n\ndef run(")
    text = text.replace(
        "        seen += train(", "        model(next(labeled)[0]).mean().backward()\n        seen += train("
    )
    root = write({"pyproject.toml": "", "train.py": text})
    (found,) = [one for one in check([root]).findings if one.code == "TRL201"]
    assert found.fix is not None and found.is_fixed_safely is is_safe
    assert is_safe or "another shuffling loader of the file (train.py:" in (found.fix.unsafe_because or "")


@pytest.mark.parametrize(
    ("others", "is_safe"),
    [
        ({"first/common.py": "def build(): ...\n"}, True),
        ({"first/common.py": "def build(): ...\n", "second/common.py": "def build(): ...\n"}, False),
        ({}, True),  # of a package that is not of the project
    ],
)
def test_a_module_of_which_nobody_knows_what_it_sets(others: dict[str, str], is_safe: bool, write) -> None:
    text = MOVED.replace("import random\n", "import os\nimport sys\n").replace(
        "from utils", "sys.path.append(os.environ['CODE'])\nfrom common import build\nfrom utils"
    )
    utils = HELPER + DETERMINISTIC + BENCHMARK.partition("  #")[0] + "\n"
    root = write({"pyproject.toml": "", "train.py": text, "utils.py": utils, **others})
    (found,) = [one for one in check([root]).findings if one.code == "TRL301"]
    assert found.fix is not None and found.is_fixed_safely is is_safe
    assert is_safe or "imports a module from a folder" in (found.fix.unsafe_because or "")


IN_A_HELPER = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(seed):
    torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = True{comment}
    model = nn.Conv1d(1, 1, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for (batch,) in DataLoader(TensorDataset(torch.rand(8, 1, 1)), shuffle=True):
        model(batch.cuda()).sum().backward()
        optimizer.step()
"""
RUNS = "\n\nif __name__ == '__main__':\n    train(3)\n"
WARNS = """\
import random

import torch
from torch import nn

random.seed(3)
torch.manual_seed(3)
torch.backends.cudnn.benchmark = True  # fast
model = nn.Conv1d(1, 1, 1).cuda()
model(torch.rand(8, 1, 1).cuda()).sum().backward()
"""


@pytest.mark.parametrize(
    "others",
    [
        {"other.py": WARNS},  # a program that seeds and does not ask for determinism: the strict profile alone fixes it
        {"other.py": WARNS.replace("import random\n", "").replace("random.seed(3)\n", "")},
        {"unused.py": IN_A_HELPER.format(comment="  # fast")},
        {"tests/test_it.py": IN_A_HELPER.format(comment="")},
        {},
    ],
)
def test_the_strict_profile_fixes_no_less(others: dict[str, str], write) -> None:
    root = write({"pyproject.toml": "", "train.py": IN_A_HELPER.format(comment="") + RUNS, **others})
    by_default, strictly = (check([root], {"profile": profile}).findings for profile in ("default", "strict"))
    safe = {one.location: one.fix for one in strictly if one.is_fixed_safely}
    for one in by_default:
        assert not one.is_fixed_safely or one.location in safe, one


UNSEEDED = """\
import torch

torch.manual_seed(3)
rng = torch.Generator()
print(torch.randperm(8, generator=rng))
"""
IN_A_LOOP = """\
import torch

torch.manual_seed(3)
for turn in range(2):
    rng = torch.Generator()
    print(torch.randperm(16, generator=rng))
"""
OFF = """\
import torch
from torch import nn

torch.manual_seed(3)
torch.backends.cudnn.deterministic = True
print(torch.backends.cudnn.version())
torch.backends.cudnn.deterministic = False{comment}
model = nn.Conv1d(1, 1, 1).cuda()
model(torch.rand(8, 1, 1).cuda()).sum().backward()
"""
LATE = """\
import random

import torch
from torch import nn

{above}
torch.manual_seed(3)
{below}
order = random.sample(range(8), 8)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in order:
    model(torch.rand(1, 1)).sum().backward()
    optimizer.step()
"""
MODEL = "model = nn.Linear(1, 1)"


@pytest.mark.parametrize(
    ("rule", "text", "other", "is_safe"),
    [
        ("TRL203", UNSEEDED, UNSEEDED.replace("8", "16"), True),
        ("TRL203", UNSEEDED, IN_A_LOOP, False),
        ("TRL302", OFF.format(comment=""), OFF.format(comment="").replace("8", "16"), True),
        ("TRL302", OFF.format(comment=""), OFF.format(comment="  # fast").replace("8", "16"), False),
    ],
)
def test_a_place_beside_another_that_is_left(rule: str, text: str, other: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": text, "other.py": other})
    found = {one.location.path.name: one for one in check([root]).findings if one.code == rule}
    assert found["train.py"].is_fixed_safely is is_safe
    if not is_safe:
        assert "another one of the project (other.py:" in (found["train.py"].fix.unsafe_because or "")


@pytest.mark.parametrize(("above", "below"), [(MODEL, ""), ("", MODEL)])
def test_a_generator_that_is_left_out_of_a_seed_that_comes_late(above: str, below: str, write) -> None:
    root = write({"pyproject.toml": "", "train.py": LATE.format(above=above, below=below)})
    codes = {one.code: one for one in check([root]).findings}
    assert ("TRL504" in codes) is bool(above)
    assert codes["TRL502"].is_fixed_safely is bool(below)

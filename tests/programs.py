"""A small training program in three modules, with one fault that only shows across them: NumPy's global RNG is drawn
from in `augment.py`, which the dataset calls, which the loader's workers run, and no worker is seeded.
"""

from __future__ import annotations

DATASET = """\
from torch.utils.data import Dataset

from pkg.augment import jitter


class Images(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return jitter(self.images[index])
"""

AUGMENT = """\
import numpy as np


def jitter(image):
    return image + np.random.rand()
"""

LOADER = """\
from torch.utils.data import DataLoader

from pkg.dataset import Images


def build_loader(images):
    return DataLoader(
        Images(images),
        batch_size=2,
        shuffle=False,
        num_workers=4,
    )
"""

PACKAGE = {
    "pyproject.toml": '[project]\nname = "pkg"\nversion = "1"\n',
    "requirements.txt": "torch>=1.7,<2\n",
    "pkg/__init__.py": "",
    "pkg/dataset.py": DATASET,
    "pkg/augment.py": AUGMENT,
    "pkg/loader.py": LOADER,
    "pkg/plain.py": "def add(a, b):\n    return a + b\n",
}

"""After a change, what is found is what a run without a cache finds, and a change that nobody looks at costs no run."""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchrepro_lint import engine
from torchrepro_lint.cache import record, store
from torchrepro_lint.cli import main
from torchrepro_lint.engine import CacheChoice, Report, RunOptions, check
from torchrepro_lint.report.formats import FORMATS

FIXTURES = Path(__file__).parents[2] / "fixtures"

# Programs whose chains part, so that a step says how far in it stands, and one with fixes over several files.
CHAINED = (
    "TRL101_numpy_rng_in_workers/bad_package",
    "TRL501_unseeded_entry_point/bad_training_script.py",
    "TRL502_partially_seeded/bad_numpy_in_the_training_loop.py",
    "TRL504_seed_after_randomness/bad_in_an_imported_module",
)

FILES = {
    "pyproject.toml": "",
    "train.py": (
        "import torch\nimport numpy as np\nfrom torch.utils.data import DataLoader\nfrom data import Images\n"
        "from seeds import seed_all\n\nseed_all(0)\n"
        "loader = DataLoader(Images(), num_workers=2, shuffle=True)\nfor batch in loader:\n    print(batch, np.random.rand())\n"
    ),
    "data.py": (
        "from torch.utils.data import Dataset\nfrom augment import jitter\n\n\nclass Images(Dataset):\n"
        "    def __len__(self):\n        return 8\n\n    def __getitem__(self, index):\n        return jitter(index)\n"
    ),
    "augment.py": "import numpy as np\n\n\ndef jitter(image):\n    return image + np.random.rand()\n",
    "seeds.py": "import torch\n\n\ndef seed_all(seed):\n    torch.manual_seed(seed)\n",
    "plain.py": "def add(one, other):\n    return one + other\n",
    # A program without a fault: no place in it is told, and yet what it says counts.
    "quiet.py": (
        "import torch\nfrom torch.utils.data import DataLoader\nfrom words import Words\n\ntorch.manual_seed(0)\n"
        "g = torch.Generator()\ng.manual_seed(0)\nloader = DataLoader(Words(), num_workers=2, generator=g)\n"
    ),
    "words.py": (
        "from torch.utils.data import Dataset\nfrom loud import shout\n\n\nclass Words(Dataset):\n"
        "    def __getitem__(self, index):\n        return shout(index)\n"
    ),
    "loud.py": "import torch\n\n\ndef shout(index):\n    return torch.ones(index)\n",
    "tensors.py": "import torch\n\n\ndef ones():\n    return torch.ones(3)\n",
}  # fmt: skip

EDITS = (
    ("comment at the end", lambda text: text + "# a word\n"),
    ("comment at the top", lambda text: "# a word\n" + text),
    ("blank lines", lambda text: text.replace("\n\n", "\n\n\n", 1)),
    ("a comment that silences", lambda text: text.replace("\n", "  # noqa\n", 1)),
    ("no first line", lambda text: text.partition("\n")[2]),
    ("no last line", lambda text: text.rstrip("\n").rpartition("\n")[0] + "\n"),
    ("another seed", lambda text: text.replace("(0)", "(1)").replace("(seed)", "(seed + 1)")),
    ("a seed more", lambda text: text + "import numpy as np\nnp.random.seed(0)\n"),
    ("a draw more", lambda text: text + "import numpy as np\nprint(np.random.rand())\n"),
    ("a function that nobody calls", lambda text: text + "def nobody():\n    return 1\n"),
    ("a function of a known name", lambda text: text + "def jitter(image):\n    return image\n"),
    ("an import", lambda text: "import seeds\n" + text),
    ("an import of torch", lambda text: "import torch\n" + text),
    ("a word in a text", lambda text: text + 'x = "jitter seed_all Images"\n'),
    ("an assignment from outside", lambda text: text + "import data\ndata.jitter = int\n"),
    ("a draw inside", lambda text: "import numpy as np\n" + text.replace("torch.ones(", "np.random.rand(")),
    ("an entropy seed", lambda text: text.replace("manual_seed(0)", "seed()")),
    ("no NumPy", lambda text: text.replace("np.random.rand()", "0")),
    ("a syntax error", lambda text: text + "def (\n"),
    ("undone", None),
)  # fmt: skip


# Chains of the first program go through them: each change of such a file is looked at anew.
PLACED = {"train.py", "data.py", "augment.py", "pyproject.toml"}


def write(root: Path, files: dict[str, str]) -> None:
    root.mkdir(exist_ok=True)
    for name, text in files.items():
        (root / name).write_text(text)


@pytest.mark.parametrize("output_format", FORMATS)
def test_a_warm_run_prints_what_a_cold_one_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], output_format: str
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    for name in CHAINED:
        copied = tmp_path / name.replace("/", "_")
        (shutil.copytree if (FIXTURES / name).is_dir() else shutil.copy)(FIXTURES / name, copied)
    said = []
    for extra in (["--no-cache"], [], [], ["--no-cache"]):
        status = main([str(tmp_path), "--output-format", output_format, "--profile", "strict", *extra])
        said.append((status, *capsys.readouterr()))
    assert said[0] == said[1] == said[2] == said[3]
    assert all(code in said[0][1] for code in ("TRL101", "TRL501", "TRL502", "TRL504"))


class Runs:
    """How often the engine has run in earnest."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        made = engine._report

        def counted(*args: object, **options: object) -> object:
            self.count += 1
            return made(*args, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(engine, "_report", counted)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(monkeypatch)


def cached(root: Path) -> Report:
    return check([root], {"profile": "strict"}, run=RunOptions(cache=CacheChoice()))


@pytest.mark.parametrize(
    ("file", "edit", "again"),
    [
        ("plain.py", "comment at the end", 0),
        ("plain.py", "a function that nobody calls", 0),
        ("plain.py", "an import of torch", 1),
        ("plain.py", "an import", 1),
        ("plain.py", "a word in a text", 1),
        ("tensors.py", "comment at the top", 0),
        ("tensors.py", "blank lines", 0),
        ("tensors.py", "a comment that silences", 1),
        ("tensors.py", "a draw more", 1),
        ("tensors.py", "a syntax error", 1),
        ("data.py", "comment at the end", 1),  # a chain goes through it: where it stands counts
    ],
)
def test_only_a_change_that_is_looked_at_costs_a_run(
    tmp_path: Path, runs: Runs, file: str, edit: str, again: int
) -> None:
    write(tmp_path, FILES)
    cached(tmp_path)
    text = dict(EDITS)[edit](FILES[file])  # type: ignore[no-untyped-call, misc]
    assert text != FILES[file]
    (tmp_path / file).write_text(text)
    before = runs.count
    warm = cached(tmp_path)
    assert runs.count == before + again
    assert warm == check([tmp_path], {"profile": "strict"})
    cached(tmp_path)
    assert runs.count == before + again + 1  # and the answer is kept for the new texts


@pytest.mark.exhaustive
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    edits=st.lists(
        st.tuples(st.sampled_from(sorted(FILES.keys() - PLACED)), st.sampled_from(EDITS)), min_size=1, max_size=5
    )
)
def test_any_edits_leave_it_true(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, tuple[str, object]]]
) -> None:
    root = tmp_path_factory.mktemp("edited")
    write(root, FILES)
    cached(root)
    for file, (_, edit) in edits:
        text = (root / file).read_text()
        (root / file).write_text(edit(text) if callable(edit) else FILES[file])
        assert cached(root) == check([root], {"profile": "strict"})


def test_many_changes_are_looked_at_anew(tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "MAX_CHANGED", 1)
    write(tmp_path, FILES)
    cached(tmp_path)
    for file in ("plain.py", "tensors.py"):
        (tmp_path / file).write_text("# a word\n" + FILES[file])
    cached(tmp_path)
    assert runs.count == 2


def test_the_record_outlives_many_changes(tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_ENTRIES", 5)
    write(tmp_path, FILES)
    cached(tmp_path)
    for number in range(8):
        (tmp_path / "tensors.py").write_text(FILES["tensors.py"] + f"# {number}\n")
        cached(tmp_path)
    assert runs.count == 1


def altered(**changes: object) -> object:
    """Gives a record of which the head says something else."""
    return lambda head, texts: (json.dumps(json.loads(head) | changes).encode(), texts)


@pytest.mark.parametrize(
    "damage",
    [
        lambda head, texts: (b"", texts),
        lambda head, texts: (b"[]", texts),
        lambda head, texts: (b"{}", texts),
        lambda head, texts: (b"[" * 9999, texts),
        lambda head, texts: (head[:-1], texts),
        lambda head, texts: (head, b""),
        lambda head, texts: (head, texts[:20]),
        lambda head, texts: (head, texts[::-1]),
        lambda head, texts: (head, b"".join(zlib.compress(text.encode()) for text in FILES.values())),
        altered(report="another"),
        altered(report=None),
        altered(digests="00" * 16),
        altered(digests="0"),
        altered(digests=1),
        altered(sizes=[]),
        altered(sizes=[-1] * (len(FILES) - 1)),
        altered(sizes=[1e9] * (len(FILES) - 1)),
        altered(sizes=["1"] * (len(FILES) - 1)),
        altered(words=1),
        altered(words=[1]),
        altered(patterns=["torch"]),
        altered(patterns=[["(", 0, None]]),
        altered(patterns=[["torch", 1 << 99, None]]),
        altered(called=[None]),
        altered(parsed=None),
        altered(read=None),
    ],
)
def test_a_record_that_is_not_in_order_is_laid_aside(
    tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch, damage: object
) -> None:
    made = record.record_of
    monkeypatch.setattr(record, "record_of", lambda *args: damage(*made(*args)))  # type: ignore[operator]
    write(tmp_path, FILES)
    cached(tmp_path)
    (tmp_path / "tensors.py").write_text("# a word\n" + FILES["tensors.py"])
    assert cached(tmp_path) == check([tmp_path], {"profile": "strict"})
    assert runs.count == 3

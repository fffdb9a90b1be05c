"""What the seeds of worker init functions depend on: the source of a function, and the terms found for each seed."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from torchrepro_lint.program.program import Program
from torchrepro_lint.program.worker_seeds.worker_init import InitRun, init_runs
from torchrepro_lint.program.workers.init_faults import Fault, fault_of
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch

HEAD = """\
import hashlib
import os
import random
import time
import uuid
from functools import partial

import numpy as np
import torch
from elsewhere import saved
from torch.utils.data import DataLoader, Dataset, get_worker_info

SEED = 7


class Data(Dataset):
    def __init__(self):
        self.offset = 3
        self.turn = 0
        self.rng = None

    def set_turn(self, turn):
        self.turn = turn

    def reseed(self, seed):
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand() + random.random()


def load(file):
    global lookup
    lookup = file.read()


def set_seed(seed=None):
    random.seed(seed)
    np.random.seed(seed)


"""


def runs(tmp_path: Path, source: str, given: str = "init") -> list[InitRun]:
    file = tmp_path / "train.py"
    file.write_text(f"{HEAD}{dedent(source)}\n\nloader = DataLoader(Data(), num_workers=2, worker_init_fn={given})\n")
    program = Program(tmp_path, [file], Settings(), TargetTorch())
    return [run for loader in program.loaders for run in init_runs(program.ev, loader)]


def seeds(run: InitRun) -> list[str]:
    """One text for each seeding call: its terms in order, `!` for a number that is too large for NumPy."""
    return [
        " ".join(sorted(term.value for term in seeding.seed.terms)) + ("!" if seeding.seed.wide else "")
        for seeding in run.seedings
    ]


# The body of `def init(worker_id):`, and the terms of its seeds.
BODIES = {
    # constants
    "np.random.seed(0)": [""],
    "np.random.seed(SEED)": [""],
    "seed = SEED * 2\nnp.random.seed(seed % 100)": [""],
    # the worker
    "np.random.seed(worker_id)": ["worker"],
    "np.random.seed(SEED + worker_id)": ["worker"],
    "np.random.seed(get_worker_info().id)": ["worker"],
    "info = get_worker_info()\nwid = info.id if info is not None else 0\nnp.random.seed(wid)": ["worker"],
    "info = torch.utils.data.get_worker_info()\nrandom.seed(info.id * info.num_workers)": ["worker"],
    "seed = SEED\nseed += worker_id\nnp.random.seed(seed)": ["worker"],
    "np.random.seed([SEED, worker_id])": ["worker"],
    "np.random.seed(int(f'{worker_id}1'))": ["worker"],
    "np.random.seed(hash((SEED, worker_id)) % 2**32)": ["worker"],
    "digest = hashlib.md5()\ndigest.update(str(worker_id).encode())\nnp.random.seed(int(digest.hexdigest()[:8], 16))": [
        "worker"
    ],
    # torch's seed
    "np.random.seed(torch.initial_seed())": ["torch-seed!"],
    "np.random.seed(get_worker_info().seed)": ["torch-seed!"],
    "np.random.seed(torch.initial_seed() % 2**32)": ["torch-seed"],
    "np.random.seed(torch.initial_seed() % (2**32 - 1))": ["torch-seed"],
    "np.random.seed(torch.initial_seed() % 2**40)": ["torch-seed!"],
    "np.random.seed(torch.initial_seed() & 0xFFFFFFFF)": ["torch-seed"],
    "np.random.seed((torch.initial_seed() + worker_id) % 2**32)": ["torch-seed worker"],
    "np.random.seed(int(torch.initial_seed()) % 2**32)": ["torch-seed"],
    "np.random.seed(np.uint32(torch.initial_seed()))": ["torch-seed"],
    "seed = torch.initial_seed()\nif seed >= 2**30:\n    seed %= 2**30\nnp.random.seed(seed)": ["torch-seed"],
    "random.seed(torch.initial_seed())": ["torch-seed!"],
    # its upper bits
    "np.random.seed(torch.initial_seed() // 2**32)": ["shared-seed"],
    "np.random.seed(torch.initial_seed() >> 32)": ["shared-seed"],
    "np.random.seed(torch.initial_seed() // 2**32 + worker_id)": ["shared-seed worker"],
    "np.random.seed((torch.initial_seed() + worker_id) // 2**32)": ["shared-seed"],
    "np.random.seed((torch.initial_seed() - worker_id) % 2**32)": ["shared-seed"],
    "np.random.seed([torch.initial_seed() >> 32, torch.initial_seed() & 0xFFFFFFFF])": ["shared-seed torch-seed"],
    "np.random.seed(int(str(torch.initial_seed())[0:8]))": ["shared-seed"],
    "np.random.seed(int(str(torch.initial_seed())[-8:]))": ["torch-seed"],
    # draws in the worker
    "np.random.seed(torch.randint(0, 2**31, (1,)).item())": ["draw"],
    "np.random.seed(torch.empty((), dtype=torch.int64).random_(0, 2**31).item())": ["draw"],
    "np.random.seed(random.randint(0, 1000))": ["draw"],
    "np.random.seed(random.randint(0, 1000) // 2**16)": ["draw"],
    "g = torch.Generator()\ng.manual_seed(worker_id)\nnp.random.seed(torch.randint(0, 9, (1,), generator=g).item())": [
        "worker"
    ],
    # a generator that is only a means
    "rng = np.random.default_rng(torch.initial_seed())\nnp.random.seed(rng.integers(2**32))": ["torch-seed"],
    "ss = np.random.SeedSequence([torch.initial_seed(), worker_id])\nnp.random.seed(ss.generate_state(4))": [
        "torch-seed worker"
    ],
    "ss = np.random.SeedSequence(SEED).spawn(9)[worker_id]\nnp.random.seed(ss.generate_state(1))": ["worker"],
    "base = torch.initial_seed() - worker_id\nss = np.random.SeedSequence([worker_id, base])\n"
    "np.random.seed(ss.generate_state(4))": ["shared-seed worker"],
    "np.random.seed(np.random.default_rng().integers(9))": ["entropy"],
    # the order of the statements
    "torch.manual_seed(worker_id)\nnp.random.seed(torch.initial_seed())": ["worker", "worker"],
    "random.seed(worker_id)\nnp.random.seed(random.randint(0, 9))": ["worker", "worker"],
    "seed = torch.initial_seed() % 2**32\ntorch.manual_seed(0)\nnp.random.seed(seed)": ["", "torch-seed"],
    # NumPy's state
    "np.random.seed(np.random.get_state()[1][0] + worker_id)": ["numpy-word worker"],
    "state = np.random.get_state()\nnp.random.seed(state[1][0])": ["numpy-word"],
    "np.random.seed(np.random.get_state()[1][3] + worker_id)": ["numpy-state worker"],
    "np.random.seed(np.random.randint(9))": ["numpy-state"],
    # entropy
    "np.random.seed()": ["entropy"],
    "np.random.seed(None)": ["entropy"],
    "set_seed()": ["entropy", "entropy"],
    "np.random.seed(int(time.time()) + worker_id)": ["entropy worker"],
    "np.random.seed(int.from_bytes(os.urandom(4), 'big'))": ["entropy"],
    "np.random.seed(uuid.uuid4().int % 2**32)": ["entropy"],
    "np.random.seed(os.getpid())": ["entropy"],
    "np.random.seed(worker_id if SEED else int(time.time()))": ["worker"],
    "np.random.seed(worker_id or int(time.time()))": ["unknown worker"],
    "torch.manual_seed(torch.seed())": ["entropy", "entropy"],
    # helpers
    "set_seed(SEED + worker_id)": ["worker", "worker"],
    "set_seed(seed=torch.initial_seed() % 2**32)": ["torch-seed", "torch-seed"],
    "set_seed(torch.initial_seed())": ["torch-seed!", "torch-seed!"],
    "[seed(worker_id) for seed in (np.random.seed, random.seed)]": ["worker", "worker"],
    # the dataset
    "get_worker_info().dataset.reseed(worker_id)": ["worker"],
    "get_worker_info().dataset.rng = np.random.default_rng(get_worker_info().seed)": ["torch-seed!"],
    "np.random.seed(get_worker_info().dataset.offset + worker_id)": ["worker"],
    "np.random.seed(get_worker_info().dataset.turn + worker_id)": ["epoch worker"],
    # nobody knows
    "np.random.seed(worker_id + lookup(SEED))": ["unknown worker"],
    "np.random.seed(*worker_id)": ["unknown"],
    "np.random.set_state(saved)": ["unknown"],
}


@pytest.mark.parametrize("body", BODIES)
def test_what_a_seed_depends_on(body: str, tmp_path: Path) -> None:
    (run,) = runs(tmp_path, "def init(worker_id):\n" + indent(body, "    "))
    assert seeds(run) == BODIES[body]


FORMS = {
    "lambda": ("", "lambda x: np.random.seed(SEED + x)", ["worker"]),
    "lambda-ignores": ("", "lambda _: np.random.seed()", ["entropy"]),
    "two-in-a-lambda": ("", "lambda x: (random.seed(x), np.random.seed(SEED))", ["worker", ""]),
    "default-argument": ("def init(worker_id, seed=SEED):\n    np.random.seed(seed + worker_id)", "init", ["worker"]),
    "partial-keyword": (
        "def init(worker_id, rank, seed):\n    np.random.seed(rank * 8 + worker_id + seed)",
        "partial(init, rank=0, seed=SEED)",
        ["worker"],
    ),
    "partial-seed-is-not-the-worker": (
        "def init(worker_id, rank, seed):\n    np.random.seed(rank + seed)",
        "partial(init, rank=0, seed=SEED)",
        [""],
    ),
    "partial-takes-the-first": ("def init(seed, worker_id):\n    np.random.seed(seed)", "partial(init, 3)", [""]),
    "worker-comes-last": ("def init(seed, worker):\n    np.random.seed(worker)", "partial(init, 3)", ["worker"]),
    "factory": (
        "def make(seed):\n    def init(worker_id):\n        np.random.seed(seed + worker_id)\n    return init",
        "make(SEED)",
        ["worker"],
    ),
    "factory-of-lambdas": ("def make(seed):\n    return lambda w: np.random.seed(seed)", "make(SEED)", [""]),
    "seed-of-the-main-process": (
        "base = torch.initial_seed() % 2**32\ndef init(worker_id):\n    np.random.seed(base + worker_id)",
        "init",
        ["worker"],
    ),
    "clock-of-the-main-process": (
        "base = int(time.time())\ndef init(worker_id):\n    np.random.seed(base + worker_id)",
        "init",
        ["worker"],
    ),
    "global-counter": (
        "epoch = 0\ndef init(worker_id):\n    np.random.seed(epoch * 100 + worker_id)",
        "init",
        ["epoch worker"],
    ),
    "counter-under-another-name": (
        "turn = 0\nfor turn in range(3):\n    pass\ndef init(worker_id):\n    np.random.seed(turn * 100 + worker_id)",
        "init",
        ["epoch worker"],
    ),
    "constant-set-again-in-a-loop": (
        "for fold in range(3):\n    FIRST = 2021\ndef init(worker_id):\n    np.random.seed(FIRST + worker_id)",
        "init",
        ["worker"],
    ),
    "number-of-epochs-is-no-epoch": (
        "num_epochs = 3\ndef init(worker_id):\n    np.random.seed(num_epochs + worker_id)",
        "init",
        ["worker"],
    ),
    "object": (
        "class Init:\n    def __init__(self, seed):\n        self.seed = seed\n"
        "    def __call__(self, worker_id):\n        np.random.seed(self.seed + worker_id)",
        "Init(SEED)",
        ["worker"],
    ),
    "object-that-changes": (
        "class Init:\n    def __init__(self):\n        self.turn = 0\n    def next(self):\n        self.turn += 1\n"
        "    def __call__(self, worker_id):\n        np.random.seed(self.turn + worker_id)",
        "Init()",
        ["epoch worker"],
    ),
    "bound-method": (
        "class Init:\n    def seed(self, worker_id):\n        np.random.seed(worker_id)",
        "Init().seed",
        ["worker"],
    ),
    "class-that-seeds-when-made": (
        "class Init:\n    def __init__(self, worker_id):\n        np.random.seed(worker_id)",
        "Init",
        ["worker"],
    ),
    "helper-gives-the-seed": (
        "def seed_of(worker_id):\n    return (torch.initial_seed() + worker_id) % 2**32\n"
        "def init(worker_id):\n    np.random.seed(seed_of(worker_id))",
        "init",
        ["torch-seed worker"],
    ),
    "arm-that-is-proven-not-to-run": (
        "def init(worker_id, fixed=False):\n    if fixed:\n        np.random.seed(0)\n"
        "    else:\n        np.random.seed(worker_id)",
        "init",
        ["worker"],
    ),
    "behind-a-return": (
        "def init(worker_id, seed=None):\n    if seed is None:\n        return\n    np.random.seed(seed)",
        "init",
        [],
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_init_functions(form: str, tmp_path: Path) -> None:
    source, given, wanted = FORMS[form]
    (run,) = runs(tmp_path, source, given)
    assert seeds(run) == wanted


def test_a_conditional_init_function_gives_both(tmp_path: Path) -> None:
    source = "def one(w):\n    np.random.seed(w)\n\ndef two(w):\n    np.random.seed(0)"
    found = runs(tmp_path, source, "one if os.environ.get('A') else two")
    assert [(run.name, seeds(run)) for run in found] == [("one", ["worker"]), ("two", [""])]


def test_what_is_not_known_has_no_run(tmp_path: Path) -> None:
    assert runs(tmp_path, "", "somewhere.init") == []


@pytest.mark.parametrize(
    ("body", "complete"),
    [("np.random.seed(0)\nprint(worker_id)", True), ("np.random.seed(0)\nimported(worker_id)", False)],
)
def test_a_run_says_whether_all_of_it_was_followed(body: str, complete: bool, tmp_path: Path) -> None:
    (run,) = runs(tmp_path, "from elsewhere import imported\ndef init(worker_id):\n" + indent(body, "    "))
    assert run.is_complete is complete
    assert run.seeds("numpy")
    assert run.seeds("imgaug") is not complete


@pytest.mark.parametrize(
    ("body", "old", "fault"),
    [
        ("np.random.seed(torch.initial_seed())", True, Fault.RANGE),
        ("random.seed(torch.initial_seed())", True, None),
        ("np.random.seed(torch.initial_seed() % 2**32)", True, None),
        ("np.random.seed(SEED)", False, Fault.SAME),
        ("np.random.seed(torch.initial_seed() // 2**32)", False, Fault.SAME),
        ("np.random.seed(SEED + worker_id)", False, Fault.REPEATS),
        ("np.random.seed(np.random.get_state()[1][0] + worker_id)", True, Fault.REPEATS),
        ("np.random.seed(np.random.get_state()[1][0] + worker_id)", False, Fault.REPEATS),
        ("np.random.seed(np.random.get_state()[1][0])", False, Fault.SAME),
        ("np.random.seed(np.random.randint(9))", True, Fault.SAME),
        ("np.random.seed(np.random.randint(9))", False, None),
        ("np.random.seed(np.random.randint(9) + worker_id)", True, None),
        ("np.random.seed()", False, Fault.ENTROPY),
        ("np.random.seed(lookup(worker_id))", False, None),
    ],
)
def test_the_fault_of_a_seed(body: str, old: bool, fault: Fault | None, tmp_path: Path) -> None:
    (run,) = runs(tmp_path, "def init(worker_id):\n" + indent(body, "    "))
    assert fault_of(run.seedings[-1], old_torch=old) is fault

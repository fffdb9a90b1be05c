"""Which seeds and switches a program shows, in which modules they hold, and which of them hold at one place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import (
    holds_for_all_runs,
    intent_at,
    is_chosen_against,
    is_chosen_for_speed,
    is_opposed,
    is_taken_back,
    ways_of,
)
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.ways import Way, ways

HEAD = "import torch\nfrom torch.backends import cudnn\n"
SETUP = """\
from detectron2.config import get_cfg
from detectron2.engine import default_argument_parser, default_setup
args = default_argument_parser().parse_args()
cfg = get_cfg()
"""
RUNNER = "from mmengine.runner import Runner\n"
BOTH = ["algorithms deterministic", "seed seeded"]
ON = "torch.use_deterministic_algorithms(True)\n"
DECORATOR = """\
import functools
def seeded(function):
    @functools.wraps(function)
    def inner(*args):
        torch.manual_seed(0)
        return function(*args)
    return inner
"""


def place_of(program: Program, name: str = "here") -> tuple[Path, tuple[Way, ...]]:
    """The file and the ways of the one call of `here()` in the program."""
    for path in program.project.files:
        facts = program.facts(path)
        assert facts is not None
        for scope in facts.walk_scopes():
            for call, _ in scope.calls:
                if getattr(call.func, "id", None) == name:
                    return path, ways(program.ev, facts, scope, call.site)
    raise AssertionError(f"nothing calls {name}()")


def words(found: list[Evidence]) -> list[str]:
    return [f"{one.effect} {one.level}" for one in found]


def shown(root: Path, files: Mapping[str, str] | str) -> list[str]:
    """What holds at the place `here()`, the strongest first."""
    program = program_of(root, files)
    return words(intent_at(program, *place_of(program)))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("torch.manual_seed(0)\nhere()", ["seed seeded"]),
        ("cudnn.deterministic = True\nhere()", ["cudnn deterministic"]),
        (f"{ON}here()", ["algorithms deterministic"]),
        ("torch.use_deterministic_algorithms(True, warn_only=True)\nhere()", ["algorithms-warn deterministic"]),
        ("torch.use_deterministic_algorithms(False)\nhere()", []),
        # Both in one dictionary, written out, under a name, or spread.
        (f"{RUNNER}Runner(randomness=dict(seed=0))\nhere()", ["seed seeded"]),
        (f"{RUNNER}Runner(randomness={{'seed': 0, 'deterministic': True}})\nhere()", BOTH),
        (f"{RUNNER}how = dict(seed=0, deterministic=True)\nRunner(randomness=how)\nhere()", BOTH),
        (f"{RUNNER}how = dict(seed=0)\nhow['deterministic'] = True\nRunner(randomness=how)\nhere()", BOTH),
        (f"{RUNNER}how = dict(seed=0)\nRunner(randomness=dict(deterministic=True, **how))\nhere()", BOTH),
        (f"{RUNNER}Runner(randomness=dict(seed=0, deterministic=False))\nhere()", ["seed seeded"]),
        (f"{RUNNER}Runner(randomness=dict(seed=None))\nhere()", []),
        # In a configuration that is handed over.
        (f"{SETUP}cfg.SEED = 42\ndefault_setup(cfg, args)\nhere()", ["seed seeded"]),
        (f"{SETUP}cfg.SEED = args.seed\ndefault_setup(cfg, args)\nhere()", ["seed seeded"]),
        (f"{SETUP}cfg.SEED = 0\ncfg.train.seed = -1\ncfg.SEED = 7\ndefault_setup(cfg, args)\nhere()", ["seed seeded"]),
        (f"{SETUP}cfg.train.seed = 7\ndefault_setup(cfg, args)\nhere()", ["seed seeded"]),
        (f"{SETUP}def adjust(cfg):\n    cfg.SEED = 7\nadjust(cfg)\ndefault_setup(cfg, args)\nhere()", ["seed seeded"]),
        (f"{SETUP}cfg.SEED = -1\ndefault_setup(cfg, args)\nhere()", []),
        (f"{SETUP}cfg.SEED = 42\ncfg.SEED = -1\ndefault_setup(cfg, args)\nhere()", []),
        (f"{SETUP}default_setup(cfg, args)\ncfg.SEED = 42\nhere()", []),
        (f"{SETUP}default_setup(cfg, args)\nhere()", []),
        (f"{SETUP}cfg.MIXER_SEED = 42\ndefault_setup(cfg, args)\nhere()", []),
        (f"{RUNNER}Runner()\nhere()", []),
        (f"{RUNNER}Runner(seed=0, deterministic=True)\nhere()", []),
        ("torch.seed()\nhere()", []),
        # A helper that returns before it seeds, for each call there is, does not seed.
        ("def f(s):\n    if s is None: return\n    torch.manual_seed(s)\nf(1)\nhere()", ["seed seeded"]),
        ("def f(s):\n    if s is None: return\n    torch.manual_seed(s)\nf(None)\nhere()", []),
        ("def f(s):\n    if s is None: return\n    torch.manual_seed(s)\nf(args.seed)\nhere()", ["seed seeded"]),
        ("def f(on):\n    if not on: return\n    cudnn.deterministic = True\nf(False)\nhere()", []),
        ("torch.set_deterministic_debug_mode('error')\nhere()", ["algorithms deterministic"]),
        ("torch.set_deterministic_debug_mode(0)\nhere()", []),
        ("torch.backends.cudnn.deterministic, x = True, 1\nhere()", ["cudnn deterministic"]),
        ("torch.backends.cudnn.deterministic = x\nhere()", []),
        # An option that says so, given or not, is an `if` about it; what torch is set to is none, nor what says nothing.
        ("torch.use_deterministic_algorithms(args.deterministic)\nhere()", ["algorithms deterministic"]),
        (
            "torch.use_deterministic_algorithms(args.deterministic, warn_only=True)\nhere()",
            ["algorithms-warn deterministic"],
        ),
        ("cudnn.deterministic = config['reproducible']\nhere()", ["cudnn deterministic"]),
        ("cudnn.deterministic = args.seed is not None\nhere()", ["cudnn deterministic"]),
        ("torch.use_deterministic_algorithms(args.strict)\nhere()", []),
        ("torch.use_deterministic_algorithms(not args.nondeterministic)\nhere()", []),
        ("torch.use_deterministic_algorithms(True, warn_only=args.deterministic_warning)\nhere()", []),
        (
            "deterministic = torch.are_deterministic_algorithms_enabled()\n"
            "torch.use_deterministic_algorithms(deterministic)\nhere()",
            [],
        ),
        ("deterministic = cudnn.deterministic\ncudnn.deterministic = deterministic\nhere()", []),
        ("def seed(deterministic=False):\n    cudnn.deterministic = deterministic\nseed()\nhere()", []),
        ("def seed(deterministic):\n    cudnn.deterministic = deterministic\nhere()", []),
        (
            "def seed(deterministic):\n    cudnn.deterministic = deterministic\nseed(args.slow)\nhere()",
            ["cudnn deterministic"],
        ),
        (
            "from lightning.pytorch import Trainer\nTrainer(deterministic=cfg.deterministic)\nhere()",
            ["algorithms deterministic"],
        ),
        ("WANTED = True\ncudnn.deterministic = WANTED\nhere()", ["cudnn deterministic"]),
        ("import random\nrandom.seed(0)\nhere()", []),
        ("here()\ntorch.manual_seed(0)", ["seed seeded"]),
        ("def helper():\n    torch.manual_seed(0)\nhere()", []),
        ("def helper():\n    torch.manual_seed(0)\nhelper()\nhere()", ["seed seeded"]),
        ("def main():\n    torch.manual_seed(0)\nhere()", ["seed seeded"]),
        (f"{DECORATOR}here()", []),
        (f"{DECORATOR}@seeded\ndef test():\n    here()", ["seed seeded"]),
        ("def work(rank):\n    torch.manual_seed(rank)\n    here()\ntorch.spawn(work, nprocs=2)", ["seed seeded"]),
        ("if flag:\n    torch.manual_seed(0)\nhere()", ["seed seeded"]),
        ("if False:\n    torch.manual_seed(0)\nhere()", []),
        ("if flag:\n    torch.manual_seed(0)\nelse:\n    here()", []),
        ("def f():\n    if flag:\n        torch.manual_seed(0)\n        return\n    here()\nf()", []),
        ("def fast():\n    here()\ndef safe():\n    torch.manual_seed(0)\nif f:\n    safe()\nelse:\n    fast()", []),
        (f"torch.manual_seed(0)\n{ON}here()", ["algorithms deterministic", "seed seeded"]),
        ("def init(worker_id):\n    torch.manual_seed(worker_id)\nLoader(worker_init_fn=init)\nhere()", []),
        ("class T:\n    def __init__(self):\n        torch.manual_seed(0)\nT()\nhere()", ["seed seeded"]),
    ],
)
def test_in_one_file(tmp_path: Path, code: str, expected: list[str]) -> None:
    assert shown(tmp_path, HEAD + code + "\n") == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("import lightning as L\nL.Trainer(deterministic=True)", ["algorithms deterministic"]),
        ("import lightning as L\nL.Trainer(deterministic='warn')", ["algorithms-warn deterministic"]),
        ("import pytorch_lightning as pl\npl.seed_everything(1)", ["seed seeded"]),
        (
            "from transformers import TrainingArguments\nTrainingArguments('out', full_determinism=True)",
            ["algorithms deterministic", "seed seeded"],
        ),
        ("from monai.utils import set_determinism\nset_determinism(0)", ["cudnn deterministic", "seed seeded"]),
    ],
)
def test_frameworks(tmp_path: Path, call: str, expected: list[str]) -> None:
    assert shown(tmp_path, f"{call}\nhere()\n") == expected


DEFAULTS = (
    "from yacs.config import CfgNode as CN\n_C = CN()\n_C.CUDNN = CN()\n_C.CUDNN.DETERMINISTIC = False\nconfig = _C\n"
)
READING = f"{HEAD}from defaults import config\n"
SWITCHED = f"{READING}cudnn.deterministic = config.CUDNN.DETERMINISTIC\nhere()\n"
ASKED = ["cudnn deterministic"]


@pytest.mark.parametrize(
    ("defaults", "program", "expected"),
    [
        (DEFAULTS, SWITCHED, []),
        (DEFAULTS.replace("False", "True"), SWITCHED, ASKED),
        (DEFAULTS.replace("False", "wanted"), SWITCHED, ASKED),
        (f"{DEFAULTS}_C.CUDNN.DETERMINISTIC = True\n", SWITCHED, ASKED),
        (DEFAULTS, f"{READING}if config.CUDNN.DETERMINISTIC:\n    cudnn.deterministic = True\nhere()\n", []),
        (DEFAULTS, f"{READING}if not config.CUDNN.DETERMINISTIC:\n    cudnn.deterministic = True\nhere()\n", ASKED),
        (DEFAULTS, f"{READING}torch.use_deterministic_algorithms(bool(config.CUDNN.DETERMINISTIC))\nhere()\n", []),
        (
            DEFAULTS,
            f"{READING}def prepare(deterministic):\n    cudnn.deterministic = deterministic\n"
            "prepare(config.CUDNN.DETERMINISTIC)\nhere()\n",
            [],
        ),
        (
            DEFAULTS,
            f"{READING}class T:\n    def __init__(self, c):\n        self.deterministic = c.CUDNN.DETERMINISTIC\n"
            "    def run(self):\n        cudnn.deterministic = self.deterministic\nT(config).run()\nhere()\n",
            [],
        ),
        # An option of the command line is there to be given, also one that is written over a default.
        (
            "config = load({'deterministic': False})\n",
            f"{READING}parser.add_argument('--deterministic', action='store_true')\n"
            "cudnn.deterministic = config['deterministic']\nhere()\n",
            ASKED,
        ),
        (
            "config = {'run': {'deterministic': False}}\n",
            f"{READING}cudnn.deterministic = config['run']['deterministic']\nhere()\n",
            [],
        ),
        (
            "config = load({'deterministic': False})\n",
            f"{READING}cudnn.deterministic = config['deterministic']\nhere()\n",
            [],
        ),
        ("config = load()\n", f"{READING}cudnn.deterministic = config.get('deterministic', False)\nhere()\n", []),
        ("config = load()\n", f"{READING}cudnn.deterministic = config.get('deterministic', True)\nhere()\n", ASKED),
        ("config = load()\n", f"{READING}cudnn.deterministic = config.deterministic\nhere()\n", ASKED),
    ],
)
def test_a_setting_that_is_off_by_default(tmp_path: Path, defaults: str, program: str, expected: list[str]) -> None:
    assert shown(tmp_path, {"defaults.py": defaults, "train.py": program}) == expected


MODEL = "def build():\n    here()\n"
SEEDING = f"{HEAD}def seed_all(seed):\n    torch.manual_seed(seed)\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"train.py": f"{HEAD}import model\ntorch.manual_seed(0)\nmodel.build()", "model.py": MODEL}, ["seed seeded"]),
        ({"train.py": f"{HEAD}torch.manual_seed(0)\n", "model.py": f"{MODEL}build()\n"}, []),
        (
            {
                "train.py": "import model, seeding\nseeding.seed_all(0)\nmodel.build()\n",
                "model.py": MODEL,
                "seeding.py": SEEDING,
            },
            ["seed seeded"],
        ),
        ({"train.py": "import model, seeding\nmodel.build()\n", "model.py": MODEL, "seeding.py": SEEDING}, []),
        # What a module imports does not speak for it.
        ({"train.py": "import part\nhere()\n", "part.py": f"{HEAD}torch.manual_seed(0)\n"}, []),
        # A script is not what other scripts that import it run.
        (
            {
                "train.py": 'def main():\n    here()\nif __name__ == "__main__":\n    main()\n',
                "other.py": f"{HEAD}import train\ntorch.manual_seed(0)\n",
            },
            [],
        ),
        # The tests of a module do not say what its users want.
        ({"model.py": MODEL, "tests/test_model.py": f"{HEAD}import model\ntorch.manual_seed(0)\nmodel.build()\n"}, []),
        ({"tests/test_model.py": f"{HEAD}torch.manual_seed(0)\nhere()\n"}, ["seed seeded"]),
    ],
)
def test_in_several_files(tmp_path: Path, files: Mapping[str, str], expected: list[str]) -> None:
    assert shown(tmp_path, files) == expected


@pytest.mark.parametrize(
    ("code", "opposed"),
    [
        ("if args.deterministic:\n    cudnn.deterministic = True\nelse:\n    here()", True),
        ("if flag:\n    torch.manual_seed(0)\nelse:\n    here()", False),
        ("if not args.deterministic:\n    here()", True),
        ("if args.deterministic:\n    here()", False),
        ("if args.seed is None:\n    here()", True),
        ("if args.seed is not None:\n    here()", False),
        ("if args.seed < 0:\n    here()", True),
        ("if args.seed == 0:\n    pass\nelse:\n    here()", False),
        ("if args.reproducible and not quick:\n    pass\nelse:\n    here()", False),
        ("if not (args.reproducible or quick):\n    here()", True),
        ("if torch.are_deterministic_algorithms_enabled():\n    pass\nelse:\n    here()", True),
        ("cudnn.deterministic = True\nhere()", False),
        ("def fast():\n    here()\nif args.deterministic:\n    pass\nelse:\n    fast()", True),
        ("def fast():\n    here()\nif args.deterministic:\n    fast()\nelse:\n    fast()", False),
    ],
)
def test_the_arm_for_other_runs(tmp_path: Path, code: str, opposed: bool) -> None:
    program = program_of(tmp_path, f"{HEAD}{code}\n")
    _, places = place_of(program)
    assert is_opposed(program, places) is opposed
    assert opposed or not is_chosen_for_speed(places)


@pytest.mark.parametrize(
    ("code", "taken_back"),
    [
        ("cudnn.benchmark = True\ncudnn.benchmark = False", True),
        ("cudnn.benchmark = False\ncudnn.benchmark = True", False),
        ("cudnn.benchmark = True\nif flag:\n    cudnn.benchmark = False", False),
        ("if flag:\n    cudnn.benchmark = True\ncudnn.benchmark = False", True),
        ("def off():\n    cudnn.benchmark = False\ncudnn.benchmark = True\noff()", True),
        ("def off():\n    cudnn.benchmark = False\ncudnn.benchmark = True", False),
        ("cudnn.benchmark = True\nif __name__ == '__main__':\n    cudnn.benchmark = False", True),
        ("try:\n    cudnn.benchmark = True\nfinally:\n    cudnn.benchmark = False", True),
    ],
)
def test_taken_back(tmp_path: Path, code: str, taken_back: bool) -> None:
    program = program_of(tmp_path, f"{HEAD}{code}\n")
    (one,) = [one for one in program.evidence if one.effect == "benchmark"]
    assert is_taken_back(program, one, "benchmark-off", lambda *_: False) is taken_back


@pytest.mark.parametrize(
    ("code", "chosen"),
    [
        ("if args.benchmark:\n    cudnn.benchmark = True", True),
        ("if args.cudnn_benchmark and torch.cuda.is_available():\n    cudnn.benchmark = True", True),
        ("if args.fast:\n    cudnn.benchmark = True", False),
        ("BENCHMARK = True\nif BENCHMARK:\n    cudnn.benchmark = True", False),
        ("cudnn.benchmark = True", False),
    ],
)
def test_an_option_of_its_own(tmp_path: Path, code: str, chosen: bool) -> None:
    program = program_of(tmp_path, f"{HEAD}{code}\n")
    (one,) = [one for one in program.evidence if one.effect == "benchmark"]
    assert is_chosen_against(program, one, re.compile("benchmark", re.IGNORECASE)) is chosen


@pytest.mark.parametrize(
    ("calls", "always"), [("f(True)", True), ("f(True)\nf(False)", False), ("f(True, go=False)\nf(True)", True)]
)
def test_a_value_that_only_some_calls_give(tmp_path: Path, calls: str, always: bool) -> None:
    body = "def f(value, go=True):\n    if go:\n        cudnn.benchmark = value\n"
    program = program_of(tmp_path, f"{HEAD}{body}{calls}\n")
    assert [one.always for one in program.evidence if one.effect == "benchmark"] == [always]


PREPARE = "import torch\ndef prepare(flag):\n    if flag:\n        torch.backends.cudnn.deterministic = True\n"
SPEED = "import torch\ndef speed(flag):\n    if flag:\n        torch.backends.cudnn.benchmark = True\n"


@pytest.mark.parametrize(
    ("files", "always"),
    [
        ({"main.py": f"{HEAD}cudnn.deterministic = True\ncudnn.benchmark = True\n"}, True),
        ({"main.py": f"{HEAD}if args.seed:\n    cudnn.deterministic = True\ncudnn.benchmark = True\n"}, False),
        ({"main.py": f"{HEAD}if args.seed:\n    cudnn.deterministic = True\n    cudnn.benchmark = True\n"}, True),
        ({"main.py": f"{HEAD}ON = True\nif ON:\n    cudnn.deterministic = True\ncudnn.benchmark = True\n"}, True),
        (
            {
                "main.py": "import sys\nfrom fast import speed\nfrom same import prepare\n"
                "prepare(len(sys.argv) > 1)\nspeed(len(sys.argv) > 2)\n",
                "same.py": PREPARE,
                "fast.py": SPEED,
            },
            False,  # the `if` of the one file is not that of the other, though both are written alike
        ),
    ],
)
def test_determinism_in_all_runs_or_in_some(tmp_path: Path, files: Mapping[str, str], always: bool) -> None:
    program = program_of(tmp_path, files)
    (one,) = [one for one in program.evidence if one.effect == "benchmark"]
    (shown,) = [one for one in program.evidence if one.level == "deterministic"]
    assert holds_for_all_runs(program, shown, ways_of(program, one)) is always

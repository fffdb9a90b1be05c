"""`program_seed` and `seed_around`, asked directly: the seed as it can be written before one statement."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from program.asking import program_of

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.placement import Declined
from torchrepro_lint.fixes.program_seed import program_seed, seed_around
from torchrepro_lint.fixes.seed_expression import PassedSeed, Seed
from torchrepro_lint.fixes.seeding_request import Surroundings
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.seeds.torch_seeds import TorchSeed

OPTIONS = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--seed', type=int{})\n"
PARSED = OPTIONS + "args = parser.parse_args()\n"
RANK = "import os\nrank = int(os.environ['RANK'])\n"


def _last(text: str, tmp_path: Path) -> tuple[Program, Document, cst.BaseStatement]:
    program = program_of(tmp_path, text)
    document = document_of(program, tmp_path / "main.py")
    at = document.module.body[-1]
    assert isinstance(at, cst.BaseStatement)
    return program, document, at


def around(tmp_path: Path, text: str, **asked: bool) -> Seed | Declined:
    """The seed before the last statement of a program."""
    program, document, at = _last(text, tmp_path)
    return seed_around(program, document.path, at, ImportPlanner(document), **asked)


def said(found: Seed | Declined) -> str:
    return f"no: {found.reason}" if isinstance(found, Declined) else f"{found.applicability.value}: {found.text}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("import torch\ntorch.manual_seed(3)\nhere()\n", "safe: torch.initial_seed()", id="seeded before"),
        pytest.param("import torch\nhere()\n", "unsafe: 0", id="seeded nowhere"),
        pytest.param(
            PARSED.format(", default=3") + "import random\nrandom.seed(args.seed)\nhere()\n", "safe: args.seed",
            id="another generator by an option",
        ),
        pytest.param(
            PARSED.format("") + "import random\nrandom.seed(args.seed)\nhere()\n", "unsafe: args.seed or 0",
            id="an option that need not be given",
        ),
        pytest.param(
            PARSED.format("") + "import random\nrandom.seed(args.seed or 7)\nhere()\n", "safe: args.seed or 7",
            id="with the program's own default",
        ),
        pytest.param(
            PARSED.format("") + "import random\nrandom.seed(7 if args.seed is None else args.seed)\nhere()\n",
            "safe: 7 if args.seed is None else args.seed",
            id="with a test for None",
        ),
        pytest.param(
            PARSED.format("") + "import random\nrandom.seed(getattr(args, 'seed', 7))\nhere()\n",
            "safe: getattr(args, 'seed', 7)",
            id="looked up with a default",
        ),
        pytest.param(
            "import random\nimport sys\nrandom.seed(int(sys.argv[1]))\nhere()\n",
            "no: torch may not be seeded yet at this place, and the program's seed has no name here: seed torch before, "
            "or pass the seed to this place",
            id="a seed without a name",
        ),
    ],
)  # fmt: skip
def test_the_seed_around_a_statement(tmp_path: Path, text: str, expected: str) -> None:
    assert said(around(tmp_path, text)) == expected


def test_a_seed_of_all_ranks_leaves_the_rank_out(tmp_path: Path) -> None:
    seeded = f"import torch\n{PARSED.format(', default=3')}{RANK}torch.manual_seed(args.seed + rank)\nhere()\n"
    own = around(tmp_path / "own", seeded)
    assert isinstance(own, Seed) and own.text == "torch.initial_seed()" and own.by_rank
    shared = around(tmp_path / "shared", seeded, of_all_ranks=True)
    assert isinstance(shared, Seed) and shared.text == "args.seed"


def test_a_seed_of_32_bits_is_cut_or_the_expression_above(tmp_path: Path) -> None:
    cut = around(tmp_path / "cut", "import torch\ntorch.manual_seed(3)\nhere()\n", of_32_bits=True)
    assert isinstance(cut, Seed) and cut.text in ("torch.initial_seed() % 2**32", "3")
    above = f"{PARSED.format(', default=3')}import torch\ntorch.manual_seed(args.seed)\nhere()\n"
    written = around(tmp_path / "above", above, of_32_bits=True)
    assert isinstance(written, Seed) and written.text == "args.seed"


def _known(*, always: bool = False, seeded: bool = False, by_rank: bool = False) -> Surroundings:
    known = TorchSeed(always, by_rank, seeded)
    return Surroundings(seed=11, torch_seed=lambda at: known)


@pytest.mark.parametrize(
    ("surroundings", "expected"),
    [
        pytest.param(_known(always=True, seeded=True), "safe: torch.initial_seed()", id="always"),
        pytest.param(_known(), "unsafe: 11", id="seeds nothing"),
        pytest.param(Surroundings(seed=11), "unsafe: 11", id="nothing known"),
        pytest.param(_known(seeded=True), "no: torch may not be seeded yet", id="seeds somewhere"),
    ],
)
def test_what_is_known_of_torchs_seed_decides(tmp_path: Path, surroundings: Surroundings, expected: str) -> None:
    _, document, at = _last("here()\n", tmp_path)
    found = program_seed(document, at, surroundings, lambda: "torch")
    assert said(found).startswith(expected)


def test_no_seed_of_torch_where_torch_has_no_name(tmp_path: Path) -> None:
    _, document, at = _last("here()\n", tmp_path)
    reason = Declined("torch has no name")
    assert program_seed(document, at, _known(always=True, seeded=True), lambda: reason) is reason


@pytest.mark.parametrize("optional", [False, True])
def test_a_seed_that_callers_pass(tmp_path: Path, optional: bool) -> None:
    _, document, _ = _last("def build(config):\n    here()\n", tmp_path)
    at = document.nodes(cst.SimpleStatementLine)[0]
    passed = Surroundings(seed=11, passed=(PassedSeed("config", ".start", optional),))
    found = program_seed(document, at, passed, lambda: "torch")
    assert isinstance(found, Seed) and not found.is_default
    assert (found.text, found.applicability) == (
        ("config.start or 11", Applicability.UNSAFE) if optional else ("config.start", Applicability.SAFE)
    )

"""The canonical code as it comes out in programs: where it is put, how it is seeded, when it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixes.helpers import PATH, TORCH_IS_SEEDED, document, lines, loaders, seed_all, seed_loader

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.fixes.apply import apply_edits, merge_edits, select_compatible
from torchrepro_lint.fixes.seeding import Declined, plan_worker_seeding
from torchrepro_lint.fixes.seeding_request import LoaderNeeds, Ranks, Surroundings
from torchrepro_lint.fixes.worker_init import ExistingInit

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.txt"))
DISTRIBUTED = ("imagenet_example", "hydra_distributed")
#: Programs of which it is known that torch is seeded before the loaders are made.
SEEDED = ("loaders_in_a_dictionary",)


def read(path: Path) -> tuple[str, str]:
    before, after = path.read_text(encoding="utf-8").split("=== fixed ===\n")
    return before, after


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path: Path) -> None:
    before, after = read(path)
    assert seed_all(before, in_distributed=path.stem in DISTRIBUTED, seeded=path.stem in SEEDED) == after


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program_with_crlf(path: Path) -> None:
    before, after = (text.replace("\n", "\r\n") for text in read(path))
    assert seed_all(before, in_distributed=path.stem in DISTRIBUTED, seeded=path.stem in SEEDED) == after


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_one_round_gives_the_same(path: Path) -> None:
    """Fixes of one round are computed on one text; the loop then goes on with those that had to wait."""
    text, after = read(path)
    for _ in range(4):
        parsed = document(text)
        plans = [
            plan_worker_seeding(
                parsed,
                call,
                LoaderNeeds(init=True, generator=True),
                Surroundings(torch_seed=(lambda at: TORCH_IS_SEEDED) if path.stem in SEEDED else None),
                ranks=Ranks(mentioned=path.stem in DISTRIBUTED),
            )
            for call in loaders(parsed)
        ]
        fixes = [Fix(Applicability.SAFE, "", plan.edits) for plan in plans if not isinstance(plan, Declined)]
        edits = merge_edits(select_compatible(fixes)).get(PATH, [])
        if not edits:
            break
        text = apply_edits(text, edits)
    assert text == after


HEAD = """
import random

import numpy as np
import torch
from torch.utils.data import DataLoader

"""


def made(program: str, which: int = 0, **options: object) -> str:
    """What is put into a program that needs no import and no worker init function."""
    text = lines(HEAD) + lines(program)
    result = seed_loader(text, which, init=False, **options)  # type: ignore[arg-type]
    if result.startswith("declined: "):
        return result
    old = text.splitlines()
    return "\n".join(line.strip() for line in result.splitlines() if line not in old and "DataLoader" not in line)


def seeded_with(program: str, which: int = 0, **options: object) -> str:
    result = made(program, which, **options)
    return result.partition("manual_seed(")[2].splitlines()[0][:-1]


SEEDS = [
    pytest.param("loader = DataLoader(ds, shuffle=True)\n", "0", id="none"),
    pytest.param("torch.manual_seed(42)\nloader = DataLoader(ds, shuffle=True)\n", "42", id="constant"),
    pytest.param("SEED = 1\nloader = DataLoader(ds, shuffle=True)\n", "SEED", id="a constant's name"),
    pytest.param("loader = DataLoader(ds, shuffle=True)\nSEED = 1\n", "0", id="not bound yet"),
    pytest.param("def f(ds, seed):\n    return DataLoader(ds, shuffle=True)\n", "seed", id="parameter"),
    pytest.param("def f(ds, seed=None):\n    return DataLoader(ds, shuffle=True)\n", "seed or 0", id="maybe None"),
    pytest.param(
        "def f(ds, seed: int | None):\n    return DataLoader(ds, shuffle=True)\n", "seed or 0", id="annotated with None"
    ),
    pytest.param(
        "def f(args):\n    set_seed(args.seed)\n    return DataLoader(ds, shuffle=True)\n", "args.seed", id="helper"
    ),
    pytest.param(
        "def f(args):\n    set_seed(args)\n    return DataLoader(ds, shuffle=True)\n", "0", id="whole configuration"
    ),
    pytest.param(
        "def f(buffer):\n    buffer.seed += 1\n    return DataLoader(ds, shuffle=True)\n", "0", id="no configuration"
    ),
    pytest.param(
        "def f(args):\n    if args.seed is not None:\n        seed_everything(args.seed)\n"
        "    return DataLoader(ds, shuffle=True)\n",
        "args.seed or 0",
        id="guarded",
    ),
    pytest.param(
        "def f(seed):\n    if seed is not None:\n        start(seed)\n    else:\n        return DataLoader(ds, shuffle=True)\n",
        "0",
        id="where it is None",
    ),
    pytest.param(
        "def f(seed):\n    if not seed:\n        return DataLoader(ds, shuffle=True)\n",
        "0",
        id="where nothing is given",
    ),
    pytest.param(
        "def f(seed):\n    if seed is None:\n        seed = 3\n        return DataLoader(ds, shuffle=True)\n",
        "seed",
        id="given above, where it is None",
    ),
    pytest.param(
        "if x:\n    seed = 1\nelse:\n    seed = 2\nloader = DataLoader(ds, shuffle=True)\n", "seed", id="in both arms"
    ),
    pytest.param("if x:\n    seed = 1\nloader = DataLoader(ds, shuffle=True)\n", "0", id="in one arm"),
    pytest.param(
        "args = parse()\nif args.seed is None:\n    args.seed = 3\ntorch.manual_seed(args.seed)\n"
        "loader = DataLoader(ds, shuffle=True)\n",
        "args.seed",
        id="given where it is None",
    ),
    pytest.param(
        "args = parse()\nif args.seed is None:\n    args.benchmark = 3\ntorch.manual_seed(args.seed)\n"
        "loader = DataLoader(ds, shuffle=True)\n",
        "args.seed or 0",
        id="another is given where it is None",
    ),
    pytest.param(
        'def f(cfg):\n    torch.manual_seed(cfg.get("seed", 1337))\n    return DataLoader(ds, shuffle=True)\n',
        'cfg.get("seed", 1337)',
        id="looked up with a default",
    ),
    pytest.param(
        'def f(cfg):\n    torch.manual_seed(cfg.get("seed"))\n    return DataLoader(ds, shuffle=True)\n',
        "0",
        id="looked up without a default",
    ),
    pytest.param(
        'def f(cfg):\n    if cfg.get("seed"):\n        torch.manual_seed(cfg.seed)\n'
        "    return DataLoader(ds, shuffle=True)\n",
        'cfg.get("seed") or 0',
        id="asked for before",
    ),
    pytest.param(
        "def f(cfg):\n    if cfg[\"run\"].get('seed', None) is not None:\n"
        '        torch.manual_seed(cfg["run"]["seed"])\n    return DataLoader(ds, shuffle=True)\n',
        "cfg[\"run\"].get('seed', None) or 0",
        id="asked for by its key",
    ),
    pytest.param(
        "def f(args):\n    if hasattr(args, 'seed'):\n        torch.manual_seed(args.seed)\n"
        "    return DataLoader(ds, shuffle=True)\n",
        "getattr(args, 'seed', None) or 0",
        id="asked for as an attribute",
    ),
    pytest.param(
        "def f(args):\n    if hasattr(args, 'seed'):\n        torch.manual_seed(args.seed)\n"
        "        return DataLoader(ds, shuffle=True)\n",
        "args.seed",
        id="asked for above",
    ),
    pytest.param(
        'def f(cfg):\n    if "seed" in cfg:\n        torch.manual_seed(cfg["seed"])\n'
        "    return DataLoader(ds, shuffle=True)\n",
        'cfg.get("seed") or 0',
        id="asked for as a key",
    ),
    pytest.param(
        "def f(cfg):\n    try:\n        torch.manual_seed(cfg.seed)\n    except AttributeError:\n        pass\n"
        "    return DataLoader(ds, shuffle=True)\n",
        "0",
        id="tried",
    ),
    pytest.param("SEED = '12'\nloader = DataLoader(ds, shuffle=True)\n", "0", id="a text"),
    pytest.param("def f(ds, seed: str):\n    return DataLoader(ds, shuffle=True)\n", "0", id="a text as parameter"),
    pytest.param(
        "def f(cfg):\n    torch.manual_seed(cfg['train']['seed'])\n    return DataLoader(ds, shuffle=True)\n",
        "cfg['train']['seed']",
        id="key",
    ),
    pytest.param(
        "def f(args):\n    return DataLoader(1, shuffle=True)\n\n\ndef main(args):\n    torch.manual_seed(args.seed)\n",
        "args.seed",
        id="the same config in another function",
    ),
    pytest.param(
        "def f(options):\n    return DataLoader(1, shuffle=True)\n\n\ndef main(args):\n    torch.manual_seed(args.s)\n",
        "0",
        id="out of scope",
    ),
    pytest.param(
        "def f():\n    return DataLoader(ds, shuffle=True)\n\n\nif __name__ == '__main__':\n    set_seed(7)\n    f()\n",
        "7",
        id="constant of the program",
    ),
    pytest.param(
        "def f():\n    return DataLoader(ds, shuffle=True)\n\n\ndef init(worker_id):\n    np.random.seed(5)\n",
        "0",
        id="not the constant of a worker",
    ),
    pytest.param(
        "class A:\n    def __init__(self, seed):\n        self.seed = seed\n\n    def f(self):\n"
        "        return DataLoader(ds, shuffle=True)\n",
        "self.seed",
        id="attribute",
    ),
    pytest.param(
        "class A:\n    def __init__(self, seed):\n        self.seed = seed\n\n    @classmethod\n"
        "    def f(cls):\n        return DataLoader(ds, shuffle=True)\n",
        "0",
        id="attribute where there is no self",
    ),
    pytest.param(
        "class A:\n    def __init__(self, x):\n        self.loader = DataLoader(ds, shuffle=True)\n"
        "        self.seed = x\n",
        "0",
        id="attribute that is not set yet",
    ),
    pytest.param(
        "def f(args):\n    seed = args.seed + rank()\n    torch.manual_seed(seed)\n"
        "    return DataLoader(ds, shuffle=True)\n",
        "seed",
        id="variable",
    ),
    pytest.param(
        "def f(args):\n    gen.manual_seed(9)\n    return DataLoader(ds, shuffle=True)\n", "0", id="another generator's"
    ),
    pytest.param(
        "parser.add_argument('--seed', type=int)\n\n\ndef f(args):\n    fix_seed(args.seed)\n"
        "    return DataLoader(ds, shuffle=True)\n",
        "args.seed or 0",
        id="option without default",
    ),
]


@pytest.mark.parametrize(("program", "seed"), SEEDS)
def test_seed(program: str, seed: str) -> None:
    assert seeded_with(program) == seed


def test_configured_seed() -> None:
    assert seeded_with("loader = DataLoader(ds, shuffle=True)\n", seed=3407) == "3407"


@pytest.mark.parametrize(
    ("program", "init", "seed"),
    [
        ("def f(seed, rank):\n    return DataLoader(ds, num_workers=2)\n", True, "seed + rank"),
        ("def f(seed, rank):\n    if rank == 0:\n        return DataLoader(ds, num_workers=2)\n", True, "seed"),
        (
            "def f(seed, rank):\n    if rank == 0:\n        pass\n    DataLoader(ds, num_workers=2)\n",
            True,
            "seed + rank",
        ),
        ("def f(seed, rank):\n    return DataLoader(ds, num_workers=2)\n", False, "seed"),
        ("def f(seed):\n    return DataLoader(ds, num_workers=2)\n", True, "seed"),
        ("def f(seed=None, rank=0):\n    return DataLoader(ds, num_workers=2)\n", True, "(seed or 0) + rank"),
        ("def f(rank=None):\n    return DataLoader(ds, num_workers=2)\n", True, "rank or 0"),
        ("def f(seed, rank=None):\n    return DataLoader(ds, num_workers=2)\n", True, "seed + (rank or 0)"),
        ("def f(opt):\n    setup(opt['rank'])\n    x = DataLoader(ds, num_workers=2)\n", True, "opt['rank']"),
        ("def f(args):\n    setup(args.rank)\n    x = DataLoader(ds, num_workers=2)\n", True, "args.rank"),
        (
            (
                "import torch.distributed as dist\n\n\ndef f(seed):\n    if dist.get_rank() == 0:\n        pass\n"
                "    return DataLoader(ds, num_workers=2)\n"
            ),
            True,
            "seed + dist.get_rank()",
        ),
        (
            "def f(seed, rank):\n    torch.manual_seed(seed + rank)\n    return DataLoader(ds, num_workers=2)\n",
            True,
            "seed + rank",
        ),
    ],
)
def test_rank_takes_part_where_workers_draw(program: str, init: bool, seed: str) -> None:
    text = lines(HEAD) + program
    result = seed_loader(text, init=init, in_distributed=True)
    line = next(line for line in result.splitlines() if "g.manual_seed" in line)
    assert line.strip() == f"g.manual_seed({seed})"


def test_the_rank_is_asked_for_where_a_program_has_several() -> None:
    text = lines(HEAD) + "def f(seed):\n    return DataLoader(ds, num_workers=2)\n"
    result = seed_loader(text, init=True, in_distributed=True, starts_ranks=True)
    rank = "dist.get_rank() if dist.is_available() and dist.is_initialized() else 0"
    assert "import torch.distributed as dist\n" in result
    assert f"    rank = {rank}\n    g = torch.Generator()\n    g.manual_seed(seed + rank)\n" in result


def test_a_rank_of_many_words_is_parted_as_black_does() -> None:
    asks = "def is_main():\n    return torch.distributed.get_rank() == 0\n\n\n"
    text = lines(HEAD) + asks + "def f(seed):\n    return DataLoader(ds, num_workers=2)\n"
    result = seed_loader(text, init=True, in_distributed=True, starts_ranks=True)
    assert (
        """
    rank = (
        torch.distributed.get_rank()
        if torch.distributed.is_available() and torch.distributed.is_initialized()
        else 0
    )
    g = torch.Generator()
    g.manual_seed(seed + rank)
"""
        in result
    )


PLACES = {
    "outside of the epoch loop": """
        for epoch in range(3):
            for batch in DataLoader(ds, shuffle=True):
                pass
        ---
        g = torch.Generator()
        g.manual_seed(0)
        for epoch in range(3):
            for batch in DataLoader(ds, shuffle=True, generator=g):
                pass
        """,
    "outside of a while loop's test": """
        def f():
            x = 1
            while any(DataLoader(ds, shuffle=True)):
                pass
        ---
        def f():
            x = 1
            g = torch.Generator()
            g.manual_seed(0)
            while any(DataLoader(ds, shuffle=True, generator=g)):
                pass
        """,
    "in the branch that needs it": """
        if train:
            x = 1
            loader = DataLoader(ds, shuffle=True)
        ---
        if train:
            x = 1
            g = torch.Generator()
            g.manual_seed(0)
            loader = DataLoader(ds, shuffle=True, generator=g)
        """,
    "before an elif": """
        if a:
            pass
        elif DataLoader(ds, shuffle=True):
            pass
        ---
        g = torch.Generator()
        g.manual_seed(0)
        if a:
            pass
        elif DataLoader(ds, shuffle=True, generator=g):
            pass
        """,
    "before a class": """
        class A:
            loader = DataLoader(ds, shuffle=True)
        ---
        g = torch.Generator()
        g.manual_seed(0)


        class A:
            loader = DataLoader(ds, shuffle=True, generator=g)
        """,
    "behind a docstring, below a comment": '''
        def f(xs):
            """Doc."""
            # All of it.
            return DataLoader(xs, shuffle=True)
        ---
        def f(xs):
            """Doc."""
            # All of it.
            g = torch.Generator()
            g.manual_seed(0)
            return DataLoader(xs, shuffle=True, generator=g)
        ''',
    "above a comment that a tool reads": """
        def f(xs):
            # pylint: disable-next=x
            return DataLoader(xs, shuffle=True)
        ---
        def f(xs):
            g = torch.Generator()
            g.manual_seed(0)
            # pylint: disable-next=x
            return DataLoader(xs, shuffle=True, generator=g)
        """,
    "below the types of the function": """
        def f(xs):
            # type: (list) -> DataLoader
            # All of it.
            for x in xs:
                return DataLoader(x, shuffle=True)
        ---
        def f(xs):
            # type: (list) -> DataLoader
            g = torch.Generator()
            g.manual_seed(0)
            # All of it.
            for x in xs:
                return DataLoader(x, shuffle=True, generator=g)
        """,
    "above the comment of a loop": """
        # The epochs.
        for epoch in range(3):
            for batch in DataLoader(ds, shuffle=True):
                pass
        ---
        g = torch.Generator()
        g.manual_seed(0)
        # The epochs.
        for epoch in range(3):
            for batch in DataLoader(ds, shuffle=True, generator=g):
                pass
        """,
    "a statement on the line of its if": """
        if x: loader = DataLoader(ds, shuffle=True)
        ---
        g = torch.Generator()
        g.manual_seed(0)
        if x: loader = DataLoader(ds, shuffle=True, generator=g)
        """,
    "the name g is taken": """
        def f(g):
            generator = 1
            return DataLoader(g, shuffle=True)
        ---
        def f(g):
            generator = 1
            loader_generator = torch.Generator()
            loader_generator.manual_seed(0)
            return DataLoader(g, shuffle=True, generator=loader_generator)
        """,
    "None is replaced": """
        loader = DataLoader(ds, shuffle=True, generator=None)
        ---
        g = torch.Generator()
        g.manual_seed(0)
        loader = DataLoader(ds, shuffle=True, generator=g)
        """,
    "positions up to the generator": """
        loader = DataLoader(ds, 4, True, None, None, 0, None, False, False, 0, None, None, None)
        ---
        g = torch.Generator()
        g.manual_seed(0)
        loader = DataLoader(ds, 4, True, None, None, 0, None, False, False, 0, None, None, g)
        """,
    "a generator that is there is reused": """
        def f(ds):
            rng = torch.Generator()
            rng.manual_seed(1)
            return DataLoader(ds, shuffle=True)
        ---
        def f(ds):
            rng = torch.Generator()
            rng.manual_seed(1)
            return DataLoader(ds, shuffle=True, generator=rng)
        """,
    "not one that is made in every epoch": """
        for epoch in range(3):
            rng = torch.Generator()
            rng.manual_seed(1)
            loader = DataLoader(ds, shuffle=True)
        ---
        g = torch.Generator()
        g.manual_seed(0)
        for epoch in range(3):
            rng = torch.Generator()
            rng.manual_seed(1)
            loader = DataLoader(ds, shuffle=True, generator=g)
        """,
    "not one that is never seeded, nor one on a GPU": """
        a = torch.Generator()
        b = torch.Generator(device="cuda").manual_seed(0)
        loader = DataLoader(ds, shuffle=True)
        ---
        a = torch.Generator()
        b = torch.Generator(device="cuda").manual_seed(0)
        g = torch.Generator()
        g.manual_seed(0)
        loader = DataLoader(ds, shuffle=True, generator=g)
        """,
}


@pytest.mark.parametrize("program", PLACES.values(), ids=PLACES)
def test_place(program: str) -> None:
    before, after = lines(program).split("---\n")
    assert seed_loader(lines(HEAD) + before, init=False) == lines(HEAD) + after


def test_each_loader_of_a_comprehension_gets_a_seed_of_its_own() -> None:
    program = lines(HEAD) + "def f(xs):\n    return {x: DataLoader(x, shuffle=True) for x in xs}\n"
    seeded = seed_loader(program, init=False, seeded=True)
    assert "generator=torch.Generator().manual_seed(torch.randint(2**32, ()).item())" in seeded
    assert seed_loader(program, init=False).startswith("declined: this call makes several loaders")


def test_the_generator_of_a_function_that_runs_again_is_one_of_the_module() -> None:
    text = lines(HEAD) + "\n# ====\n# Make\n# ====\n\ndef make(ds):\n    return DataLoader(ds, shuffle=True)\n"
    result = seed_loader(text, init=False, again="a loop calls `make` again")
    assert "\ng = torch.Generator()\ng.manual_seed(0)\n\n\n# ====\n# Make\n# ====\n\ndef make" in result


def test_a_method_that_runs_again_needs_a_constructor_that_keeps_its_generator() -> None:
    text = lines(HEAD) + "class A:\n    def make(self, ds):\n        return DataLoader(ds, shuffle=True)\n"
    result = seed_loader(text, init=False, again="a loop calls `make` again")
    assert result == "declined: a loop calls `make` again, and its class has no `__init__`"


LATE = """\
import argparse


def make(ds):
    import torch
    from torch.utils.data import DataLoader

    return DataLoader(ds, shuffle=True)
"""


def test_a_file_that_imports_torch_late_gets_no_import_at_its_top() -> None:
    assert "\n\n\ndef seed_worker(worker_id):\n    import random\n\n    import numpy as np\n    import torch\n\n" in (
        result := seed_loader(LATE)
    )
    assert "    g = torch.Generator()" in result
    assert "functions alone" in seed_loader(LATE, again="a loop calls `make` again")


def test_a_function_that_is_handed_torch_gets_no_import_at_the_top() -> None:
    handed = LATE.replace("def make(ds):\n    import torch\n", "def make(ds):\n    torch = load()\n")
    handed += "\n\ndef load():\n    import torch\n\n    return torch\n"
    assert "not in this one" in seed_loader(handed, init=False)


@pytest.mark.parametrize(
    "early",
    [
        "import torch",
        "from torch import nn",
        "from torch.nn import *",
        "try:\n    import torch\nexcept ImportError:\n    pass",
    ],
)
def test_torch_is_imported_at_the_top_where_something_of_it_is(early: str) -> None:
    assert "def seed_worker(worker_id):\n    worker_seed" in seed_loader(LATE.replace("import argparse", early))


def test_what_is_for_type_checkers_is_not_imported() -> None:
    head = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import torch\n"
    assert "    import torch\n\n    worker_seed" in seed_loader(LATE.replace("import argparse\n", head))


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("def f(x=DataLoader(ds, shuffle=True)):\n    pass\n", "default value"),
        ("@use(DataLoader(ds, shuffle=True))\ndef f():\n    pass\n", "decorator"),
        ("def f(): return DataLoader(ds, shuffle=True)\n", "line of its def"),
        ('print(f"{len(DataLoader(ds, shuffle=True))}")\n', "f-string"),
        ("DataLoader(ds, generator=other)\n", "generator is given already"),
        ("DataLoader(ds, worker_init_fn=other, generator=None)\n", "worker_init_fn is given already"),
    ],
)
def test_declined(program: str, reason: str) -> None:
    result = seed_loader(lines(HEAD) + program)
    assert result.startswith("declined: ")
    assert reason in result


def test_keywords_that_may_be_in_kwargs() -> None:
    text = "loader = DataLoader(ds, **kwargs)\n"
    held = frozenset({"generator", "shuffle"})
    assert seed_loader(text, may_hold=held) == "declined: the `**` argument of the call may already hold generator"
    assert "generator=g" not in seed_loader(text, generator=False, may_hold=held)


INIT = "def {name}({worker}):\n    {body}\n\n\nloader = DataLoader(ds, num_workers=2)\n"


@pytest.mark.parametrize(
    ("body", "reused"),
    [
        ("np.random.seed(torch.initial_seed() % 2**32)", True),
        ("np.random.seed(torch.initial_seed() & 0xFFFFFFFF)", True),
        ("np.random.seed(torch.initial_seed() % (2**32 - 1))", True),
        ("np.random.seed(int(torch.initial_seed()) % 4294967296)", False),
        ("seed = torch.utils.data.get_worker_info().seed % 2**32; np.random.seed(seed)", True),
        ("info = torch.utils.data.get_worker_info(); np.random.seed(info.seed % 2**32)", True),
        ("np.random.seed(worker_id)", False),
        ("np.random.seed(torch.initial_seed())", False),
        ("np.random.seed(torch.initial_seed() % 2**33)", False),
        ("np.random.seed(torch.initial_seed() // 2**32)", False),
        ("random.seed(torch.initial_seed())", False),
        ("np.random.seed(torch.initial_seed() % 2**32); open_files()", False),
        ("np.random.seed(torch.initial_seed() % 2**32); np.random.seed(0)", False),
    ],
)
def test_existing_init_in_the_file(body: str, reused: bool) -> None:
    text = lines(HEAD) + INIT.format(name="init", worker="worker_id", body=body)
    result = seed_loader(text, generator=False)
    assert ("worker_init_fn=init)" in result) is reused
    assert ("def seed_worker" in result) is not reused


def test_existing_init_below_the_loader() -> None:
    program = "loader = DataLoader(ds)\n\n\ndef init(i):\n    np.random.seed(torch.initial_seed() % 2**32)\n"
    assert seed_loader(lines(HEAD) + program) == "declined: `init` is defined below the loader"


def test_existing_init_of_another_module() -> None:
    text = "import torch\nfrom torch.utils.data import DataLoader\n\nfrom .net import Net\n\nloader = DataLoader(ds)\n"
    existing = ExistingInit("init_worker", ".seeding")
    expected = text.replace("(ds)", "(ds, worker_init_fn=init_worker)").replace(
        "Net\n", "Net\nfrom .seeding import init_worker\n"
    )
    assert seed_loader(text, generator=False, existing_init=existing) == expected


@pytest.mark.parametrize(
    ("taken", "name"),
    [("seed_worker = 1\n", "_seed_worker"), ("def f():\n    seed_worker = _seed_worker = 1\n", "seed_loader_worker")],
)
def test_name_of_the_init_function_is_taken(taken: str, name: str) -> None:
    result = seed_loader(lines(HEAD) + taken + "loader = DataLoader(ds, num_workers=2)\n", generator=False)
    assert f"def {name}(worker_id):" in result
    assert f"worker_init_fn={name})" in result


def test_init_function_stands_above_all_that_need_it() -> None:
    program = (
        "def a():\n    return DataLoader(1, num_workers=2)\n\n\ndef b():\n    return DataLoader(2, num_workers=2)\n"
    )
    text = lines(HEAD) + "\n" + program
    first = seed_loader(text, 0, generator=False)
    second = seed_loader(text, 1, generator=False)
    head = first.partition("def a")[0]
    assert second.startswith(head + "def a")
    assert seed_loader(first, 1, generator=False) == seed_loader(second, 0, generator=False)


@pytest.mark.parametrize(
    ("above", "below"),
    [("", "# loads\n"), ("", "# Loaders\n\n"), ("# one\n\n\n", ""), ("x = '''\n# text\n\n'''\n", "")],
)
def test_titles_stay_with_their_definition(above: str, below: str) -> None:
    program = "def f():\n    return DataLoader(ds, num_workers=2)\n"
    result = seed_loader(f"{lines(HEAD)}{above}{below}{program}", generator=False)
    assert f"random.seed(worker_seed)\n\n\n{below}def f():" in result
    assert above in result.partition("def seed_worker")[0]


def test_aliases_are_followed() -> None:
    text = (
        "import random as rnd\n\nimport numpy\nimport torch as th\n\nx = th.utils.data.DataLoader(ds, num_workers=2)\n"
    )
    result = seed_loader(text)
    assert result.startswith(text.partition("x =")[0])
    for line in ("th.initial_seed()", "numpy.random.seed(", "rnd.seed(", "g = th.Generator()"):
        assert line in result

from __future__ import annotations

import pytest
from fixes.helpers import document

from torchrepro_lint.fixes.rank_free import seed_of_all_ranks

CASES = [
    ("MARK\n", "seed", "seed"),
    ("MARK\n", "seed + rank", "seed"),
    ("MARK\n", "args.seed + dist.get_rank()", "args.seed"),
    ("MARK\n", "rank", None),
    ("MARK\n", "rank * 10 + seed", None),
    ("seed = 3\nMARK\n", "seed", "seed"),
    ("def f(args):\n    seed = args.seed + get_rank()\n    MARK\n", "seed", "args.seed"),
    ("def f(args):\n    seed = args.seed + get_rank()\n    MARK\n", "seed or 0", "args.seed or 0"),
    ("seed: int = SEED + RANK\nMARK\n", "seed", None),
    ("SEED = 3\nseed: int = SEED + RANK\nMARK\n", "seed", "SEED"),
    ("def f(args, rank):\n    args.seed = args.seed + rank\n    MARK\n", "args.seed", None),
    ("def f(args, rank):\n    args.seed += rank\n    MARK\n", "args.seed", None),
    ("def f(args, step):\n    args.seed += step\n    MARK\n", "args.seed", "args.seed"),
    ("seed = rank_seed(1)\nMARK\n", "seed", None),
    ("offset = 10 * rank\nseed = 3 + offset\nMARK\n", "seed", None),
    ("offset = 10 * step\nseed = 3 + offset\nMARK\n", "seed", "seed"),
    ("base = 3 + rank\nseed = base * 2\nMARK\n", "seed + local_rank", None),
    ("shift = rank\nseed = 3\nseed += shift\nMARK\n", "seed", None),
    ('SEED = 3\nseed, place = SEED + rank, "cpu"\nMARK\n', "seed", "SEED"),
    ("seed, place = 3, rank\nMARK\n", "seed", "seed"),
    ("seed, place = setup(rank)\nMARK\n", "seed", None),
    ("torch.manual_seed(seed := 3 + rank)\nMARK\n", "seed", "3"),
    ("def f():\n    other = 1\n    seed = other + rank\n\n\nMARK\n", "seed", None),
]


@pytest.mark.parametrize(("program", "text", "expected"), CASES)
def test_the_rank_is_taken_out(program: str, text: str, expected: str | None) -> None:
    parsed = document(program)
    start = program.index("MARK")
    at = next(parsed.statement(node) for node in parsed.walk() if parsed.span(node) == (start, start + 4))
    assert seed_of_all_ranks(parsed, text, at) == expected

"""What is proven of options of the command line: those that have a default are never None."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import named, program_of

PARSED = """
import argparse

parser = argparse.ArgumentParser()
{declared}
args = parser.parse_args()
{later}
chosen = "given" if args.seed is not None else "none"
"""


def chosen(root: Path, declared: str, later: str = "") -> str:
    return named(program_of(root, PARSED.format(declared=declared, later=later)), "chosen")


@pytest.mark.parametrize(
    "declared",
    [
        'parser.add_argument("--seed", type=int, default=1)',
        'parser.add_argument("--seed", "-s", default="1")',
        'parser.add_argument("--seed", type=int, required=True)',
        'parser.add_argument("seed", type=int)',
        'parser.add_argument("--seed", action="store_true")',
        'parser.add_argument("--seed", nargs="+", default=(1, 2)[0])',
        'parser.add_argument("-s", dest="seed", type=int, default=0)',
    ],
)
def test_is_never_none(tmp_path: Path, declared: str) -> None:
    assert chosen(tmp_path, declared) == "'given'"


@pytest.mark.parametrize(
    ("declared", "later"),
    [
        ('parser.add_argument("--seed", type=int)', ""),
        ('parser.add_argument("--seed", type=int, default=None)', ""),
        ('parser.add_argument("--seed", type=int, default=unknown)', ""),
        ('parser.add_argument("--seed", type=int, required=False)', ""),
        ('parser.add_argument("--seed", type=lambda text: None, default=1)', ""),
        ('parser.add_argument("--seed", type=int, nargs="?", default=1)', ""),
        ('parser.add_argument("--seed", type=int, default=1, **others)', ""),
        ('parser.add_argument("--seed", action=Mine, default=1)', ""),
        ('parser.add_argument("--seed", type=int, default=argparse.SUPPRESS)', ""),
        ('parser.add_argument("--seed", type=int, default=1)\nparser.set_defaults(**read())', ""),
        ('parser.add_argument("--seed", type=int, default=1)', "args.seed = read()"),
        ('parser.add_argument("--seed", type=int, default=1)', "setattr(args, read(), None)"),
        ('parser.add_argument("--seed", type=int, default=1)', "vars(args).update(read())"),
        ('parser.add_argument("--seed", type=int, default=1)', "args.__dict__.update(read())"),
        ('parser.add_argument("--other", type=int, default=1)', ""),
    ],
)
def test_may_be_none(tmp_path: Path, declared: str, later: str) -> None:
    assert chosen(tmp_path, declared, later) == "'given' | 'none'"


def test_options_of_another_file(tmp_path: Path) -> None:
    options = """
    import argparse

    def make_parser():
        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--workers", type=int)
        return parser
    """
    main = """
    from options import make_parser

    args = make_parser().parse_args()
    seed = "given" if args.seed is not None else "none"
    workers = "given" if args.workers is not None else "none"
    """
    program = program_of(tmp_path, {"main.py": main, "options.py": options})
    assert named(program, "seed") == "'given'"
    assert named(program, "workers") == "'given' | 'none'"

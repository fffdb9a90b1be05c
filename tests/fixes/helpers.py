"""What the tests of fixes share."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.fixes.apply import apply_edits
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.seeding import Declined, plan_worker_seeding
from torchrepro_lint.fixes.seeding_request import LoaderNeeds, Ranks, Surroundings
from torchrepro_lint.fixes.verified import verify_edit
from torchrepro_lint.fixes.worker_init import ExistingInit
from torchrepro_lint.program.seeds.torch_seeds import TorchSeed

PATH = Path("/nowhere/train.py")
TORCH_IS_SEEDED = TorchSeed(always=True, by_rank=False, seeded=True)


def document(text: str, path: Path = PATH) -> Document:
    return Document(path, text)


def loaders(parsed: Document) -> list[cst.Call]:
    """The calls of a DataLoader, in the order of the text."""
    calls = [
        node
        for node in parsed.walk()
        if isinstance(node, cst.Call) and parsed.text_of(node.func).rpartition(".")[2] == "DataLoader"
    ]
    return sorted(calls, key=parsed.start)


def applied(text: str, edits: list[Edit]) -> str:
    """The text after the edits, which has to be sound."""
    result = apply_edits(text, edits)
    assert verify_edit(text, result, edits) is None, result
    return result


def seed_loader(
    text: str,
    which: int = 0,
    *,
    init: bool = True,
    generator: bool = True,
    seed: int = 0,
    existing_init: ExistingInit | None = None,
    in_distributed: bool = False,
    starts_ranks: bool = False,
    again: str = "",
    seeded: bool = False,
    may_hold: frozenset[str] = frozenset(),
    path: Path = PATH,
) -> str:
    """The text after one loader was seeded, or `declined: <why>`."""
    parsed = document(text, path)
    plan = plan_worker_seeding(
        parsed,
        loaders(parsed)[which],
        LoaderNeeds(init=init, generator=generator, existing_init=existing_init, may_hold=may_hold),
        Surroundings(seed=seed, again=again, torch_seed=(lambda at: TORCH_IS_SEEDED) if seeded else None),
        Ranks(mentioned=in_distributed, started=starts_ranks),
    )
    return f"declined: {plan.reason}" if isinstance(plan, Declined) else applied(text, list(plan.edits))


def seed_all(text: str, *, in_distributed: bool = False, seeded: bool = False) -> str:
    """The text after every loader that can be seeded was, one after the other, as the fix loop does."""
    for which in range(len(loaders(document(text)))):
        result = seed_loader(text, which, in_distributed=in_distributed, seeded=seeded)
        if not result.startswith("declined: "):
            text = result
    return text


def lines(text: str) -> str:
    return dedent(text).lstrip("\n")

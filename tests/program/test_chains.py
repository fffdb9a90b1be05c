"""Chains that part, told as a tree, and the message of a seed that comes too late."""

from __future__ import annotations

from pathlib import Path

from conftest import Write

from torchrepro_lint.engine import check
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.chains import branches
from torchrepro_lint.program.running.events import Link


def _link(number: int, note: str, depth: int | None = None) -> Link:
    return Link(Site(Path("train.py"), number), note, depth)


def test_a_second_chain_is_told_from_where_it_leaves_the_first() -> None:
    start, call, main = _link(1, "the program starts"), _link(2, "calls main"), _link(3, "main")
    draw, seed = _link(4, "draws"), _link(5, "seeds")
    told = branches((start, call, main, draw), (start, call, main, seed))
    assert told == [start, call, main, draw, _link(5, "seeds", 3)]


def test_a_chain_alone_and_chains_that_share_nothing() -> None:
    first, second = _link(1, "seeds"), _link(2, "draws")
    assert branches((first, second)) == [first, second]
    assert branches((first,), (second,)) == [first, _link(2, "draws", 0)]


def test_a_late_seed_is_told_by_both_ways(write: Write) -> None:
    root = write(
        {
            "train.py": """
                import torch
                from seeding import seed_everything
                from torch import nn

                def build_model():
                    return nn.Linear(4, 2)

                def main():
                    model = build_model()
                    seed_everything(0)
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                    model(torch.rand(2, 4)).sum().backward()
                    optimizer.step()

                if __name__ == "__main__":
                    main()
                """,
            "seeding.py": """
                import torch

                def seed_everything(seed):
                    torch.manual_seed(seed)
                """,
        }
    )
    (finding,) = [one for one in check([root]).findings if one.code == "TRL504"]
    assert finding.message == (
        "`nn.Linear` is created (line 7) before `seed_everything` (line 11) calls `torch.manual_seed`, "
        "so its initial weights are not seeded"
    )
    assert [step.note for step in finding.trace if step.depth is not None] == ["calls seed_everything"]

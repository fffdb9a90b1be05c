"""The linter's fix for a cause that was not run: what is tried, and what is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from verify_runs import record, script

from torchrepro_lint.verify.repair.fixer import Candidate, Fixer
from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.compare import Comparison, Divergence
from torchrepro_lint.verify.script.entries import Entry, Place
from torchrepro_lint.verify.script.result import Outcome, Result

PROGRAM = """
    import torch

    print(torch.rand(2))
    """


def unseeded(path: Path) -> Result:
    """Two runs that differ in what the third line of a file draws."""
    one, other = (
        Entry("draw", "aten.rand", output=value, place=Place(str(path), 3), detail={"rng": "torch"}) for value in "ab"
    )
    cause = Cause("unseeded", (one, other), "torch", nothing_seeds=True)
    comparison = Comparison(Divergence("main", one, other, "result"), compared=None, unread=0)  # type: ignore[arg-type]
    return Result(
        Outcome.DIFFERED, ("train.py",), (), pair=(record([one]), record([other])), comparison=comparison, cause=cause
    )


def candidate(fixer: Fixer, path: Path) -> Candidate:
    found = next(iter(fixer.candidates(unseeded(path))))
    assert isinstance(found, Candidate)
    return found


def test_a_fix_is_tried_in_memory_and_written_when_it_is_asked_for(tmp_path: Path) -> None:
    path = script(tmp_path, PROGRAM)
    fixer = Fixer(str(tmp_path), path)
    found = candidate(fixer, path)
    assert found.link is not None and found.link.finding.code == "TRL501"
    assert fixer.files(found.texts) == {"train.py": b"import torch\n\ntorch.manual_seed(0)\n\nprint(torch.rand(2))\n"}
    assert fixer.changes == ()
    fixer.accept(found)
    assert [change.source.path for change in fixer.changes] == [path]
    assert "manual_seed" not in path.read_text()
    assert fixer.write() == ()
    assert "torch.manual_seed(0)" in path.read_text()


def test_a_file_that_was_saved_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = script(tmp_path, PROGRAM)
    fixer = Fixer(str(tmp_path), path)
    fixer.accept(candidate(fixer, path))
    path.write_text("print(1)\n")
    (refusal,) = fixer.write()
    assert "has changed since it was read" in refusal
    assert path.read_text() == "print(1)\n"


def test_what_lies_outside_of_the_folder_is_not_changed(tmp_path: Path) -> None:
    path = script(tmp_path, PROGRAM, "other/train.py")
    (tmp_path / "here").mkdir()
    fixer = Fixer(str(tmp_path / "here"), path)
    refused = next(iter(fixer.candidates(unseeded(path))))
    assert not isinstance(refused, Candidate)
    assert refused.why == f"it would change {path}, which lies outside of the working folder"


DROPPED = """
    import random

    import torch

    torch.manual_seed(0)
    random.Random(0)
    weight = torch.randn(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    (weight * random.random()).sum().backward()
    optimizer.step()
    """


def test_a_seed_for_a_generator_that_nothing_keeps(tmp_path: Path) -> None:
    path = script(tmp_path, DROPPED)
    result = unseeded(path)
    one, other = (
        Entry("draw", "random.random", output=value, place=Place(str(path), 9), detail={"rng": "random"})
        for value in "ab"
    )
    result = replace(result, cause=Cause("unseeded", (one, other), "random"))
    found = next(iter(Fixer(str(tmp_path), path).candidates(result)))
    assert isinstance(found, Candidate) and found.link is not None
    assert found.link.finding.code == "TRL305"
    assert "random.seed(0)" in found.texts[path]


DRAWN = """
    import numpy as np
    import torch

    torch.manual_seed(np.random.randint(1000))
    weight = torch.randn(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    (weight * weight).sum().backward()
    optimizer.step()
    """


def test_a_seed_that_is_drawn(tmp_path: Path) -> None:
    """From what is not seen: the one or the other generator is seeded, and running tells whether that was it."""
    path = script(tmp_path, DRAWN)
    place = Place(str(path), 4)
    draws = [
        Entry("draw", "aten.randn", output=one, place=Place(str(path), 5), detail={"rng": "torch"}) for one in "ab"
    ]
    drawn = [Entry("seed", "torch.manual_seed", output=one, shown=one, place=place) for one in ("12", "34")]
    cause = Cause("seed", (draws[0], draws[1]), "torch", seed=(drawn[0], drawn[1]))
    found = list(Fixer(str(tmp_path), path).candidates(replace(unseeded(path), cause=cause)))
    texts = [one.texts[path] for one in found if isinstance(one, Candidate) and one.link is None]
    assert [text.count("np.random.seed(0)") for text in texts] == [1, 0]
    assert texts[1].count("random.seed(0)") == 1 and "import random" in texts[1]

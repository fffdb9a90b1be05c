"""Two halves of a training, laid end to end and held against one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify import cli
from torchrepro_lint.verify.script.compare import compare
from torchrepro_lint.verify.script.entries import BEFORE_TRAINING, Entry, Header
from torchrepro_lint.verify.script.perturbations import RESUME, named
from torchrepro_lint.verify.script.record import Record
from torchrepro_lint.verify.script.resume import in_one_go, joined, lost_settings, lost_states, repeated


def record(epochs: Sequence[int], torch_states: Sequence[str] = ()) -> Record:
    """A training of these epochs, of two steps each, with an evaluation after each; the process counts from 0."""
    entries = [Entry("parameter", f"Adam 0{BEFORE_TRAINING}", step=0, epoch=0, output="at first")]
    step = 0
    for number, epoch in enumerate(epochs):
        for position in range(2):
            said = f"{epoch} {position}"
            batch = {"loader": 0, "position": position}
            entries += [
                Entry("batch", f"batch {position} of loader 0", step=step, epoch=number, output=said, detail=batch),
                Entry("loss", "loss", step=step, epoch=number, output=said),
                Entry("parameter", "Adam 0", step=step, epoch=number, output=said),
            ]
            step += 1
            state = torch_states[step - 1] if torch_states else said
            entries.append(Entry("rng", step=step, detail={"torch": state, "numpy": said}))
        batch = {"loader": 1, "position": 0}
        entries.append(Entry("batch", "batch 0 of loader 1", step=step, epoch=number, output="test", detail=batch))
    return Record(Header(("train.py",), "/"), tuple(entries))


def test_halves_that_go_on_are_one_training() -> None:
    both = joined(record([0]), record([1, 2]))
    comparison = compare(in_one_go(record([0, 1, 2])), both)
    assert comparison.divergence is None
    assert comparison.compared == {"batch": 9, "loss": 6, "parameter": 7}


def test_a_second_half_that_begins_again_parts() -> None:
    comparison = compare(in_one_go(record([0, 1])), joined(record([0]), record([0])))
    assert comparison.divergence is not None
    assert (comparison.divergence.entry.kind, comparison.divergence.entry.step) == ("batch", 2)


def test_a_second_half_that_goes_on_too_long_parts() -> None:
    comparison = compare(in_one_go(record([0, 1])), joined(record([0]), record([1, 2])))
    assert comparison.divergence is not None and comparison.divergence.how == "length"


def test_the_states_that_were_lost() -> None:
    whole = record([0, 1], ["a", "b", "c", "d"])
    first = record([0], ["a", "b"])
    assert lost_states(whole, first, record([1], ["c", "d"])) == ()
    assert lost_states(whole, first, record([1], ["x", "y"])) == ("torch",)
    assert lost_states(whole, first, record([])) == ("torch", "numpy")
    unseeded = record([0], ["a", "z"])
    assert lost_states(whole, unseeded, record([1], ["x", "y"])) == ()


def test_resume_is_among_all_where_it_can_be() -> None:
    assert RESUME not in named("all")
    assert RESUME in named("all", can_resume=True)
    assert named("resume", can_resume=True) == ("resume",)
    with pytest.raises(TorchReproLintError, match="resume needs --resume-first and --resume-with"):
        named("resume")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--perturb", "resume"], "resume needs --resume-first and --resume-with"),
        (["--resume-first", "-n 1"], "--resume-with is missing"),
        (["--resume-with", "-n 1"], "--resume-first is missing"),
        (["--resume-first", "'", "--resume-with", "-n 1"], "No closing quotation"),
    ],
)
def test_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str) -> None:
    (tmp_path / "train.py").write_text("")
    assert cli.main([*options, str(tmp_path / "train.py")]) == cli.COULD_NOT_RUN
    captured = capsys.readouterr()
    assert words in captured.err and captured.err.count("\n") == 1


def test_what_the_first_step_after_resuming_is_made_with() -> None:
    def settings(step: int, epoch: int, state: str) -> Entry:
        told = {"the learning rate": 0.1, "the epoch of StepLR": epoch, "the state of Adam": state}
        return Entry("settings", "Adam 0", step=step, detail=told)

    whole, first, second = record([0, 1]), record([0]), record([1])
    whole = replace(whole, entries=(*whole.entries, settings(0, 0, "none"), settings(2, 1, "a")))
    second = replace(second, entries=(*second.entries, settings(0, 0, "none")))
    assert lost_settings(whole, first, second) == (
        "the epoch of StepLR is 1 in one go and 0 after resuming",
        "the state of Adam is empty after resuming",
    )
    assert lost_settings(record([0, 1]), first, record([1])) == ()


def test_weights_that_the_second_half_begins_with_are_not_compared() -> None:
    def weights(step: int, output: str) -> Entry:
        return Entry("weights", "Net", step=step, output=output)

    whole, first, second = record([0, 1]), record([0]), record([1])
    whole = replace(whole, entries=(weights(0, "a"), *whole.entries, weights(4, "b")))
    first = replace(first, entries=(weights(0, "a"), *first.entries))
    for output in "bc":
        going_on = replace(second, entries=(weights(0, "x"), *second.entries, weights(2, output)))
        divergence = compare(in_one_go(whole), joined(first, going_on)).divergence
        assert (divergence is None) == (output == "b")


def test_a_second_half_that_goes_on_from_a_checkpoint_before_the_end_of_the_first() -> None:
    """The steps after the checkpoint are made again: they are held against the training in one go once."""
    first, second = record([0, 1]), record([1, 2])
    second = replace(
        second, entries=(replace(second.entries[0], output="0 1"), *second.entries[1:])
    )  # the parameters after the second step of epoch 0
    assert repeated(first, second) == (2, 4)
    assert compare(in_one_go(record([0, 1, 2])), joined(first, second)).divergence is None


def test_a_loader_that_begins_its_pass_again() -> None:
    """A checkpoint in the middle of an epoch, from which the whole epoch is gone through again."""
    whole, half = record([0, 1]), record([0])
    first = replace(half, entries=half.entries[:5])  # one step of two
    assert lost_settings(whole, first, record([0])) == ("the loader's next batch is 1 in one go and 0 after resuming",)
    assert lost_settings(whole, half, record([1])) == ()

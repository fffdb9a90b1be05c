"""What messages call the random number generators, and of which there is one in each process."""

from __future__ import annotations

from torchrepro_lint.knowledge.generators import generators, library_generators, process_generators


def test_what_a_message_may_name_has_a_name_there() -> None:
    # What is drawn from entropy is told in other words.
    named = process_generators() | library_generators() - {"fresh"} | {"receiver"}
    assert {name for name, one in generators().items() if one.called} == named


def test_a_copied_generator_is_that_of_a_library_in_the_whole_process() -> None:
    copied = {name for name, one in generators().items() if one.copied}
    assert copied
    assert copied <= process_generators() & library_generators()


def test_torch_seeds_all_others_of_the_process() -> None:
    assert process_generators() - library_generators() == {"numpy", "python", "torch"}

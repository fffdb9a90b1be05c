"""Each fixture says what is found in it, and what its fix makes of it: held to it here."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from fixture_format import (
    FOLDER,
    all_fixtures,
    as_places,
    expected,
    findings_left,
    fixed_again,
    fixed_texts,
    found,
    known_codes,
    named,
    plain_texts,
    reported,
)
from test_fix_proofs import FIXABLE
from test_fix_safety import WORDS, told
from wording import LONGEST, PRIVATE, texts_of

from torchrepro_lint.engine import check
from torchrepro_lint.rules import all_rules
from torchrepro_lint.toolkit import Toolkit
from torchrepro_lint.verify.fixtures.fixture import Fixture, expectations, find_fixtures

EVERY = find_fixtures([FOLDER])
CHECKED = all_fixtures()
UNFIXED = [fixture for fixture in CHECKED if fixture.kind == "bad" and fixture.twin is None]
TWINS = [fixture for fixture in CHECKED if fixture.twin is not None]

each_checked = pytest.mark.parametrize("fixture", named(CHECKED))
each_twin = pytest.mark.parametrize("fixture", named(TWINS))


@each_checked
def test_exactly_what_is_expected_is_found(fixture: Fixture) -> None:
    assert found(fixture) == expected(fixture)


@pytest.mark.parametrize("fixture", named([one for one in CHECKED if one.kind == "bad"]))
def test_what_is_said_is_short_and_plain(fixture: Fixture) -> None:
    findings, _ = reported(fixture)
    assert not [one.message for one in findings if len(one.message) > LONGEST]
    assert not [text for one in findings for text in texts_of(one) if PRIVATE.search(text)]


@pytest.mark.parametrize("fixture", named([one for one in CHECKED if one.kind == "bad"]))
def test_an_unsafe_fix_says_what_could_change(fixture: Fixture) -> None:
    findings, _ = reported(fixture)
    fixes = [(one.code, one.fix) for one in findings if one.fix is not None and not one.is_fixed_safely]
    assert [code for code, fix in fixes if fix.unsafe_because is None] == []
    assert [one.code for one in findings if one.is_fixed_safely and one.fix and one.fix.unsafe_because] == []


@each_twin
def test_the_fix_gives_the_twin(fixture: Fixture) -> None:
    assert fixture.twin is not None
    (twin,) = find_fixtures([fixture.twin])
    assert fixed_texts(fixture) == plain_texts(twin)


@pytest.mark.exhaustive
@pytest.mark.parametrize("fixture", named(UNFIXED))
def test_what_is_mended_whole_has_a_twin(fixture: Fixture) -> None:
    """Where there is no twin, `--fix` writes nothing, or leaves something to be found."""
    assert fixed_texts(fixture) == plain_texts(fixture) or findings_left(fixture)


@pytest.mark.exhaustive
@each_twin
def test_a_second_fix_changes_nothing(fixture: Fixture) -> None:
    assert fixed_again(fixture) == fixed_texts(fixture)


@pytest.mark.parametrize("code", FIXABLE)
def test_each_kind_of_fix_is_explained(code: str) -> None:
    twins = [one for one in TWINS if one.rule == code]
    found = [finding for fixture in twins for finding in reported(fixture)[0] if finding.code == code]
    made = {finding.fix.applicability for finding in found if finding.fix is not None}
    assert made
    for applicability in made:
        assert re.search(WORDS[applicability], told(code)), f"{code} has a fix that is {applicability.value}"
    # A reason, not the word alone.
    assert len(told(code).split()) > 12


#: What a configuration makes, any program of the project may make: there, the seeds of programs beside it do count.
MADE_BY_ANY_PROGRAM = {
    "TRL101_numpy_rng_in_workers/bad_loader_named_by_a_configuration",
    "TRL104_worker_init_fn_repeats_every_epoch/good_data_set_of_another_program",
    "TRL104_worker_init_fn_repeats_every_epoch/good_data_sets_that_draw_from_torch_alone",
    "TRL104_worker_init_fn_repeats_every_epoch/good_steps_that_draw_from_torch_alone",
    "TRL201_dataloader_without_generator/bad_form_made_by_a_configuration_file",
    "TRL201_dataloader_without_generator/bad_class_named_by_a_configuration",
}


#: Whose data set is chosen out of sight: there, those of the programs beside it count.
CHOSEN_OUT_OF_SIGHT = {
    "TRL104_worker_init_fn_repeats_every_epoch/good_data_set_of_another_program",
    "TRL104_worker_init_fn_repeats_every_epoch/good_data_sets_that_draw_from_torch_alone",
    "TRL104_worker_init_fn_repeats_every_epoch/good_step_that_takes_a_batch",
    "TRL104_worker_init_fn_repeats_every_epoch/good_steps_that_draw_from_torch_alone",
}
#: Programs that define a data set and mention no model, or make the tensors themselves that a network gets once: beside
#: others that train, they are a look at some samples, or try out what their file defines.
LOOKED_AT = {
    "TRL101_numpy_rng_in_workers/bad_form_options_made_in_a_loop",
    "TRL101_numpy_rng_in_workers/bad_form_options_of_each_phase",
    "TRL207_unsorted_directory_listing/bad_unsorted_for_one_caller",
    "TRL502_partially_seeded/bad_processes_that_begin_anew",
    "TRL502_partially_seeded/bad_torch_left_out",
}


@pytest.mark.exhaustive
def test_the_whole_folder_as_one_project() -> None:
    """Programs that stand beside each other do not lend each other their seeds or their worker functions."""
    left_out = {*MADE_BY_ANY_PROGRAM, *LOOKED_AT}
    plain = [fixture for fixture in CHECKED if not fixture.settings and fixture.name not in left_out]
    files = [file for fixture in plain for file in fixture.files]
    wanted = Counter(
        {
            (file.relative_to(FOLDER).as_posix(), row, code): count
            for file in files
            for (row, code), count in expectations(file.read_text(encoding="utf-8")).items()
            if code in known_codes()
        }
    )
    # What one program leaves as it is would keep the fixes of all others from being safe.
    each_by_itself = Toolkit(rules=lambda: list(all_rules()))
    found = as_places(check(files, toolkit=each_by_itself).findings, FOLDER)
    assert found - wanted == Counter()
    # An order that repeats is reported with a safe fix alone, and many programs may call one function of Lightning.
    lost = {FOLDER / name for name, _, _ in wanted - found}
    by_order = check(files, {"select": ("TRL201",)}, toolkit=each_by_itself, only=lost) if lost else None
    orders = as_places(by_order.findings, FOLDER) if by_order is not None else Counter()
    assert wanted - found - orders == Counter()
    assert {code for _, _, code in wanted - found} <= {"TRL201"}


@pytest.mark.exhaustive
def test_a_run_over_the_folder_reports_no_program_without_a_fault() -> None:
    """The folder's settings say what the headers of its programs say: no good or fixed one is reported."""
    right = [one for one in CHECKED if one.settings and one.kind != "bad" and one.name not in CHOSEN_OUT_OF_SIGHT]
    files = [file for fixture in right for file in fixture.files]
    assert as_places(check(files).findings, FOLDER) == Counter()


def test_a_bad_program_expects_a_finding_and_the_others_none() -> None:
    for fixture in EVERY:
        codes = {code for file in fixture.files for _, code in expectations(file.read_text(encoding="utf-8"))}
        assert (fixture.rule in codes) is (fixture.kind == "bad"), fixture.name
        assert fixture.kind == "bad" or not codes, fixture.name


def test_a_fixed_program_has_its_bad_one() -> None:
    twins = {fixture.twin for fixture in EVERY}
    assert [fixture.name for fixture in EVERY if fixture.kind == "fixed" and fixture.path not in twins] == []


def test_each_rule_with_fixtures_has_a_bad_and_a_good_one() -> None:
    for code in {fixture.rule for fixture in CHECKED} - {"TRL900"}:
        assert {"bad", "good"} <= {fixture.kind for fixture in CHECKED if fixture.rule == code}, code


def test_programs_are_independent_of_the_tool() -> None:
    for fixture in EVERY:
        for file in fixture.files:
            assert "torchrepro" not in file.read_text(encoding="utf-8"), file

"""Each rule that mends has a proof by execution: the bad program shows a fault, and what `--fix` makes of it does not.

`test_fixtures.py` holds the fixed twins to be what the tool writes, to the byte, and runs the claims of both. Here it is
held that their claims are about the same thing, and say the opposite.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from functools import cache

import pytest
from fixture_format import FOLDER

from torchrepro_lint.rules import all_rules
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.verify.fixtures.claims import (
    Alerts,
    Claim,
    DrawsFollow,
    EpochsRepeat,
    NotShown,
    Observation,
    Prints,
    Raises,
    RunsAgree,
    SamplesCome,
    SwitchIs,
    WorkerRepeatsItself,
    WorkersRepeat,
)
from torchrepro_lint.verify.fixtures.fixture import Fixture, find_fixtures

#: Rules whose fix no run on a CPU can show, and why.
NOT_SHOWN = {
    "TRL102": "torch before 1.9 leaves NumPy alone, and later versions seed it; for libraries, the library is needed",
    "TRL109": "the libraries are not among what the tests install",
    "TRL303": "cuBLAS is not used on the CPU, and no later torch checks the variable",
    "TRL402": "the operations are deterministic on the CPU",
    "TRL507": "Lightning is needed, and a torch before 1.9",
}
#: Pairs whose claims do not part, and why.
NO_CHANGE = {
    "bad_numpy_seed_has_no_effect": "torch's seed still decides the draws of workers; the fix says so in the code",
    "bad_pipeline_of_transforms": "the same, in the strict profile",
    "bad_unseeded_with_an_old_torch": "later torch seeds NumPy in the workers, which differ before and after",
    "bad_item_that_draws_below_a_name": "the same",
    "bad_trained_before_a_second_seeding": "the mode is off at the end of both runs; on a CPU it changes nothing",
    "bad_called": "later torch seeds NumPy by itself where the function is not passed",
    "bad_called_without_a_parameter": "the same",
    "bad_articles_worker_init_class": "the program repeats as it is; another draw of the main process would move it",
    "bad_parts_in_each_step": "the same; that the parts still differ from step to step is what its twin claims",
    "bad_sampler_of_each_rank": "the same; that the ranks still draw otherwise is what both claim",
    "bad_sampler_of_each_rank_seeded_by_helper": "the same; that the ranks still draw otherwise is what both claim",
    "bad_seed_that_has_the_rank": "torch's seed decides before and after; another draw of the process would move it",
    "bad_articles_torch_seed_one_worker": "the same for the draws of the worker",
    "bad_drawn_beside_an_unused_seed": "the same for the draws of the workers",
    "bad_loaders_under_keys": "the program repeats as it is; another draw of the main process would move the order",
    "bad_evaluated_and_optimized": "the same",
    "bad_returned_twice_and_trained_with": "the same",
    "bad_seeded_anew_below": "the seed of each run still decides its order, which is what both claim",
    "bad_steps_of_a_learner": "the same",
    "bad_model_built_before_the_data": "the same for the split: a model with another layer has another one",
    "bad_argument_that_torch_refuses": "cuBLAS is not used on the CPU: both claim that the switch is on",
    "bad_form_left_before": "nothing seeds torch, whose seed the workers now follow; they no longer repeat each other",
    "bad_name_beside_another_draw": "torch's seed decides before and after; another dropout would move the second draw",
    "bad_three_kinds_of_files": "one file system lists its files in one order: on another machine it is another",
}


def mends(rule: Rule) -> bool:
    """Whether the module of a rule, or that of a class it is derived from, plans fixes."""
    modules = {kind.__module__ for kind in type(rule).__mro__ if issubclass(kind, Rule)}
    return any(
        value.__module__.startswith("torchrepro_lint.fixes.")
        for module in modules
        for value in vars(importlib.import_module(module)).values()
        if inspect.isfunction(value)
    )


FIXABLE = [rule.code for rule in all_rules() if mends(rule)]


@cache
def pairs(code: str) -> list[tuple[Fixture, Fixture]]:
    """The bad programs of a rule that have a fixed twin, with it."""
    found = []
    for bad in find_fixtures([FOLDER]):
        if bad.rule == code and bad.twin is not None:
            (twin,) = find_fixtures([bad.twin])
            found.append((bad, twin))
    return found


def opposites(one: Observation, other: Observation) -> bool:
    """Whether two claims part a run of one program from a run of the other: they are about the same thing."""
    match one, other:
        case RunsAgree(stream, agree), RunsAgree(other_stream, other_agree):
            return stream == other_stream and agree != other_agree
        case WorkersRepeat(a), WorkersRepeat(b):
            return a != b
        case EpochsRepeat(a), EpochsRepeat(b):
            return a != b
        case WorkerRepeatsItself(a), WorkerRepeatsItself(b):
            return a != b
        case SamplesCome(a), SamplesCome(b):
            return a != b
        case SwitchIs(switch, value), SwitchIs(other_switch, other_value):
            return switch == other_switch and value != other_value
        case DrawsFollow(seeder, follow), DrawsFollow(other_seeder, other_follow):
            return seeder == other_seeder and follow != other_follow
        case Prints(text), Prints(other_text):
            return text not in other_text and other_text not in text
        case Alerts(text), Alerts(other_text):
            return (text is None) != (other_text is None)
        case Raises(), (Raises() | NotShown()):
            return False
        case Raises(), _:
            return True  # a program that ends with an exception fails every claim that does not name it
    return False


def shown(bad: Fixture, twin: Fixture) -> Iterator[tuple[Claim, Claim]]:
    """What the two programs claim against each other, on the CPU."""
    for one in bad.claims:
        for other in twin.claims:
            same_place = one.start_method == other.start_method or None in (one.start_method, other.start_method)
            if "cuda" not in (one.device, other.device) and same_place:
                if opposites(one.observation, other.observation):
                    yield one, other


@pytest.mark.parametrize("code", FIXABLE)
def test_what_a_fix_changes_is_shown_by_a_run(code: str) -> None:
    proofs = [proof for bad, twin in pairs(code) for proof in shown(bad, twin)]
    if code not in NOT_SHOWN:
        assert proofs, f"no pair of {code} claims a fault, and without it after the fix"
        return
    assert not proofs, f"{code} has a proof: it is no more to be listed as not shown"
    reasons = [claim.observation for bad, _ in pairs(code) for claim in bad.claims]
    assert any(isinstance(reason, NotShown) or claim_is_of_cuda(bad) for bad, _ in pairs(code) for reason in reasons)


def claim_is_of_cuda(fixture: Fixture) -> bool:
    return any(claim.device == "cuda" for claim in fixture.claims)


@pytest.mark.parametrize("code", FIXABLE)
def test_each_pair_shows_the_repair_or_says_why_not(code: str) -> None:
    for bad, twin in pairs(code):
        told = [*bad.claims, *twin.claims]
        assert (
            list(shown(bad, twin))
            or any(isinstance(claim.observation, NotShown) for claim in told)
            or any(claim.device == "cuda" for claim in told)
            or bad.path.stem in NO_CHANGE
        ), bad.name


def test_every_fixable_rule_has_a_pair() -> None:
    assert [code for code in FIXABLE if not pairs(code)] == []

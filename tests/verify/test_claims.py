"""The vocabulary of claims: what is in it, and that nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.verify.claims import (
    SWITCHES,
    Alerts,
    ClaimError,
    DrawsFollow,
    EpochsRepeat,
    NotShown,
    Observation,
    Prints,
    Raises,
    RunsAgree,
    SamplesCome,
    SwitchIs,
    SyntaxFault,
    WorkerRepeatsItself,
    WorkersRepeat,
    parse_claims,
)

KNOWN: list[tuple[str, Observation]] = [
    ("batches agree between runs", RunsAgree("batches", True)),
    ("order differs between runs", RunsAgree("order", False)),
    ("output differs between runs", RunsAgree("output", False)),
    ("workers repeat each other", WorkersRepeat(True)),
    ("workers differ", WorkersRepeat(False)),
    ("epochs repeat", EpochsRepeat(True)),
    ("batches differ within a worker", WorkerRepeatsItself(False)),
    ("samples come once", SamplesCome(1)),
    ("samples come 3 times", SamplesCome(3)),
    ("raises ValueError", Raises("ValueError", "")),
    ("raises ValueError: Seed must be", Raises("ValueError", "Seed must be")),
    ("syntax error", SyntaxFault("")),
    ("syntax error: comma", SyntaxFault("comma")),
    ("switch torch.backends.cudnn.benchmark is True", SwitchIs("torch.backends.cudnn.benchmark", True)),
    ("prints loss 0.5", Prints("loss 0.5")),
    ("draws follow torch.manual_seed", DrawsFollow("torch.manual_seed", True)),
    ("draws ignore np.random.seed", DrawsFollow("np.random.seed", False)),
    ("alerts under determinism: put_", Alerts("put_")),
    ("no alerts under determinism", Alerts(None)),
    ("not shown: needs scipy", NotShown("needs scipy")),
]


@pytest.mark.parametrize(("text", "observation"), KNOWN, ids=[text for text, _ in KNOWN])
def test_a_known_claim(text: str, observation: Observation) -> None:
    (claim,) = parse_claims(text)
    assert claim.observation == observation
    assert (claim.text, claim.device, claim.start_method) == (text, None, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "batches agree",
        "batches agree between run",
        "the output is nice",
        "raises",
        "raises 3: x",
        "switch torch.backends.cudnn.benchmark is on",
        "switch torch.backends.cudnn.benchmarks is True",
        "draws follow numpy.random.seed",
        "samples come twice",
        "alerts under determinism:",
        "not shown",
        "[gpu] workers differ",
        "[cpu] [cuda] workers differ",
        "[spawn] [spawn] workers differ",
        "[spawn] [fork] [thread] workers differ",
        "[cpu]",
    ],
)
def test_what_is_not_in_the_vocabulary(text: str) -> None:
    with pytest.raises(ClaimError):
        parse_claims(text)


def test_labels_come_in_either_order() -> None:
    (claim,) = parse_claims("[spawn] [cpu] epochs repeat")
    assert (claim,) == parse_claims("[cpu] [spawn] epochs repeat")
    assert (claim.text, claim.device, claim.start_method) == ("epochs repeat", "cpu", "spawn")


def test_a_claim_under_several_start_methods() -> None:
    claims = parse_claims("[fork] [cpu] [spawn] [forkserver] epochs repeat")
    assert [claim.start_method for claim in claims] == ["fork", "spawn", "forkserver"]
    assert {(claim.text, claim.device, claim.observation) for claim in claims} == {
        ("epochs repeat", "cpu", EpochsRepeat(True))
    }


@given(st.sampled_from(KNOWN), st.sampled_from(["", " ", "  "]), st.sampled_from(["[cuda]", "[cpu]", "[forkserver]"]))
def test_white_space_and_a_label_change_nothing(known: tuple[str, Observation], space: str, label: str) -> None:
    (claim,) = parse_claims(f"{space}{label}{space}{known[0]}{space}")
    assert claim.observation == known[1]


@given(st.text(max_size=60))
def test_any_line_parses_or_is_refused_by_name(text: str) -> None:
    try:
        parse_claims(text)
    except ClaimError as error:
        assert text.strip().rpartition("]")[2].strip() in str(error) or "label" in str(error)


def test_every_switch_can_be_claimed() -> None:
    for switch in SWITCHES:
        (claim,) = parse_claims(f"switch {switch} is False")
        assert claim.observation == SwitchIs(switch, False)

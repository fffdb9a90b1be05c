"""Claims against records that were made by hand: no process is started and no torch imported."""

from __future__ import annotations

import pytest

from torchrepro_lint.verify.claims import Claim, parse_claims
from torchrepro_lint.verify.judge import Outcome, judge, perturbation
from torchrepro_lint.verify.record import Batch, Failure, Indices, Record
from torchrepro_lint.verify.runner import Condition, Run

PLAIN = Condition("cpu")


def run(
    *batches: tuple[int, int | None, str | None], trouble: str | None = None, output: bytes = b"", **more: object
) -> Run:
    """A run of one loader; each batch is (epoch, worker, digest)."""
    positions: dict[int, int] = {}
    record = Record(ended=True)
    for epoch, worker, digest in batches:
        positions[epoch] = positions.get(epoch, -1) + 1
        record.batches.append(Batch(0, epoch, positions[epoch], worker, digest, digest))
    for name, value in more.items():
        setattr(record, name, value)
    return Run(PLAIN, record, output, trouble, "")


def one(text: str) -> Claim:
    (claim,) = parse_claims(text)
    return claim


def outcome(claim: str, *runs: Run, perturbed: Run | None = None) -> Outcome:
    return judge(one(claim), runs, perturbed).outcome


ONE_TWO = run((0, None, "a"), (0, None, "b"))
ONE_THREE = run((0, None, "a"), (0, None, "c"))
SHORT = run((0, None, "a"))
NOTHING = run()
OPAQUE = run((0, None, None))


@pytest.mark.parametrize(
    ("first", "second", "agree"),
    [(ONE_TWO, ONE_TWO, True), (ONE_TWO, ONE_THREE, False), (ONE_TWO, SHORT, False), (SHORT, ONE_TWO, False)],
)
def test_batches_between_runs(first: Run, second: Run, agree: bool) -> None:
    passed, failed = (Outcome.PASSED, Outcome.FAILED) if agree else (Outcome.FAILED, Outcome.PASSED)
    assert outcome("batches agree between runs", first, second) is passed
    assert outcome("batches differ between runs", first, second) is failed


def test_a_third_run_that_differs_is_seen() -> None:
    assert outcome("batches agree between runs", ONE_TWO, ONE_TWO, ONE_THREE) is Outcome.FAILED


@pytest.mark.parametrize(
    "claim",
    [
        "batches agree between runs",
        "batches differ between runs",
        "order agrees between runs",
        "output agrees between runs",
        "output differs between runs",
        "workers differ",
        "workers repeat each other",
        "epochs differ",
        "epochs repeat",
        "batches differ within a worker",
        "samples come once",
        "switch torch.backends.cudnn.enabled is True",
    ],
)
@pytest.mark.parametrize("nothing", [NOTHING, OPAQUE], ids=["no batches", "batches without content"])
def test_nothing_recorded_bears_nothing_out(claim: str, nothing: Run) -> None:
    verdict = judge(one(claim), [nothing, nothing])
    assert verdict.outcome is Outcome.FAILED
    assert "nothing to compare" in verdict.observed


@pytest.mark.parametrize("claim", ["draws follow random.seed", "draws ignore random.seed"])
def test_a_seeding_function_that_is_never_called(claim: str) -> None:
    assert outcome(claim, ONE_TWO, ONE_TWO, perturbed=ONE_TWO) is Outcome.FAILED


def test_one_run_cannot_be_compared_with_itself() -> None:
    assert outcome("batches agree between runs", ONE_TWO) is Outcome.FAILED


def test_the_order_between_runs() -> None:
    first, second = (run(order=[Indices(0, 0, text)]) for text in ("[0, 1]", "[1, 0]"))
    assert outcome("order agrees between runs", first, first) is Outcome.PASSED
    assert outcome("order agrees between runs", first, second) is Outcome.FAILED
    assert outcome("order differs between runs", first, second) is Outcome.PASSED


def test_the_output_between_runs() -> None:
    assert outcome("output agrees between runs", run(output=b"\xff"), run(output=b"\xff")) is Outcome.PASSED
    assert outcome("output differs between runs", run(output=b"1"), run(output=b"2")) is Outcome.PASSED
    assert outcome("prints loss 2", run(output=b"epoch 1\nloss 2.5\n")) is Outcome.PASSED
    assert outcome("prints loss 2", run(output=b"loss 2"), run(output=b"loss 3")) is Outcome.FAILED


REPEATING = run((0, 0, "a"), (0, 1, "a"), (0, 0, "b"), (0, 1, "b"))
SHIFTED = run((0, 0, "a"), (0, 1, "b"), (0, 0, "b"), (0, 1, "a"))
ONE_WORKER = run((0, 0, "a"), (0, 0, "b"))


def test_workers() -> None:
    assert outcome("workers repeat each other", REPEATING) is Outcome.PASSED
    assert outcome("workers differ", REPEATING) is Outcome.FAILED
    assert outcome("workers differ", SHIFTED) is Outcome.PASSED
    assert outcome("workers differ", ONE_WORKER) is Outcome.FAILED
    assert outcome("workers repeat each other", REPEATING, SHIFTED) is Outcome.FAILED


def test_epochs() -> None:
    repeating = run((0, None, "a"), (0, None, "b"), (1, None, "a"), (1, None, "b"))
    differing = run((0, None, "a"), (0, None, "b"), (1, None, "b"), (1, None, "a"))
    assert outcome("epochs repeat", repeating) is Outcome.PASSED
    assert outcome("epochs differ", repeating) is Outcome.FAILED
    assert outcome("epochs differ", differing) is Outcome.PASSED


def test_batches_of_one_worker() -> None:
    same = run((0, 0, "a"), (0, 1, "b"), (0, 0, "a"), (0, 1, "b"))
    assert outcome("batches repeat within a worker", same) is Outcome.PASSED
    assert outcome("workers differ", same) is Outcome.PASSED
    assert outcome("batches differ within a worker", SHIFTED) is Outcome.PASSED


def test_how_often_samples_come() -> None:
    assert outcome("samples come 2 times", SHIFTED) is Outcome.PASSED
    assert outcome("samples come once", SHIFTED) is Outcome.FAILED
    assert outcome("samples come once", ONE_TWO) is Outcome.PASSED
    assert outcome("samples come 2 times", run((0, 0, "a"), (0, 1, "a"), (0, 1, "b"))) is Outcome.FAILED


FAILED = run(failure=Failure(("ValueError", "Exception"), "Caught ValueError in worker 0.\nSeed must be x", False))
BROKEN = run(failure=Failure(("SyntaxError", "Exception"), "Perhaps you forgot a comma", True))


def test_exceptions() -> None:
    assert outcome("raises ValueError: Seed must", FAILED, FAILED) is Outcome.PASSED
    assert outcome("raises Exception", FAILED) is Outcome.PASSED
    assert outcome("raises ValueError: other", FAILED) is Outcome.FAILED
    assert outcome("raises TypeError", FAILED) is Outcome.FAILED
    assert outcome("raises ValueError", FAILED, ONE_TWO) is Outcome.FAILED
    assert outcome("syntax error: comma", BROKEN) is Outcome.PASSED
    assert outcome("raises SyntaxError", BROKEN) is Outcome.FAILED
    assert outcome("syntax error", FAILED) is Outcome.FAILED


def test_an_exception_that_is_not_claimed_fails_every_claim() -> None:
    broken = run((0, None, "a"), failure=Failure(("KeyError",), "x", False))
    verdict = judge(one("batches agree between runs"), [broken, broken])
    assert verdict.outcome is Outcome.FAILED and "KeyError" in verdict.observed
    assert outcome("batches agree between runs", ONE_TWO, run((0, None, "a"), exit_status=3)) is Outcome.FAILED


def test_a_run_in_trouble_is_not_compared() -> None:
    verdict = judge(one("batches differ between runs"), [ONE_TWO, run(trouble="did not end within 1 s")])
    assert (verdict.outcome, verdict.observed) == (Outcome.COULD_NOT_RUN, "did not end within 1 s")


def test_draws_and_seeds() -> None:
    same = run((0, None, "a"), (0, None, "b"), shifted_seeds=1)
    other = run((0, None, "a"), (0, None, "c"), shifted_seeds=1)
    assert outcome("draws ignore random.seed", ONE_TWO, ONE_TWO, perturbed=same) is Outcome.PASSED
    assert outcome("draws follow random.seed", ONE_TWO, ONE_TWO, perturbed=other) is Outcome.PASSED
    assert outcome("draws ignore random.seed", ONE_TWO, ONE_TWO, perturbed=other) is Outcome.FAILED
    # Runs that differ anyway show nothing about the seed.
    assert outcome("draws follow random.seed", ONE_TWO, ONE_THREE, perturbed=other) is Outcome.FAILED


def test_a_start_method_that_was_asked_for_is_the_one_that_was_seen() -> None:
    claim = "[spawn] batches agree between runs"
    spawned = run((0, 0, "a"), start_methods=["spawn"])
    assert outcome(claim, spawned, spawned) is Outcome.PASSED
    forked = run((0, 0, "a"), start_methods=["fork"])
    assert judge(one(claim), [forked, forked]).observed == "workers were started by fork"
    assert outcome(claim, forked, forked) is Outcome.FAILED
    assert outcome("[spawn] raises RuntimeError", forked, forked) is Outcome.FAILED
    assert outcome(claim, ONE_TWO, ONE_TWO) is Outcome.FAILED
    assert outcome("batches agree between runs", forked, spawned) is Outcome.PASSED


def test_alerts() -> None:
    alert = run(warnings=["put_ does not have a deterministic implementation, but ...", "something else"])
    assert outcome("alerts under determinism: put_", ONE_TWO, perturbed=alert) is Outcome.PASSED
    assert outcome("alerts under determinism: take", ONE_TWO, perturbed=alert) is Outcome.FAILED
    assert outcome("no alerts under determinism", ONE_TWO, perturbed=alert) is Outcome.FAILED
    assert outcome("no alerts under determinism", ONE_TWO, perturbed=run(warnings=["other"])) is Outcome.PASSED


def test_switches() -> None:
    on, off = (run(switches={"torch.backends.cudnn.benchmark": value}) for value in (True, False))
    assert outcome("switch torch.backends.cudnn.benchmark is True", on, on) is Outcome.PASSED
    assert outcome("switch torch.backends.cudnn.benchmark is True", on, off) is Outcome.FAILED


def test_what_is_not_shown_is_not_passed() -> None:
    assert outcome("not shown: needs scipy") is Outcome.NOT_SHOWN


@pytest.mark.parametrize(
    ("claim", "wanted"),
    [
        ("draws ignore np.random.seed", "np.random.seed"),
        ("alerts under determinism: x", "determinism"),
        ("epochs repeat", None),
    ],
)
def test_which_perturbed_run_is_needed(claim: str, wanted: str | None) -> None:
    assert perturbation(one(claim).observation) == wanted

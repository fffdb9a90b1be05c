"""What a fix may not change, on recordings that were not run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verify_runs import record

from torchrepro_lint.verify.repair.contract import Contract
from torchrepro_lint.verify.script.entries import Entry, Place
from torchrepro_lint.verify.script.record import Record

LINE = Place("train.py", 3)


def batches(*orders: str, loader: int = 0) -> list[Entry]:
    """One batch in each epoch, each with its order."""
    return [
        Entry(
            "batch", f"batch 0 of loader {loader}", epoch=epoch, inputs=order, output=order, detail={"loader": loader}
        )
        for epoch, order in enumerate(orders)
    ]


def seeded(number: int) -> Entry:
    return Entry("seed", "torch.manual_seed", shown=str(number), output=str(number), place=LINE)


def worker(state: str, epoch: int = 0) -> Entry:
    return Entry("rng", process="worker 0 of loader 0", epoch=epoch, detail={"numpy": state})


def contract(*runs: Sequence[Entry]) -> Contract:
    return Contract([record(run) for run in runs])


def test_all_as_before() -> None:
    before = contract([seeded(1), *batches("a", "b")], [seeded(1), *batches("c", "d")])
    assert before.broken_by(record([seeded(1), *batches("e", "f")])) is None
    assert before.checks == [
        "the script does as much work as before",
        "no epoch, loader or worker repeats another one where none did",
        "the seeds that it sets are those of before",
    ]


def test_an_epoch_that_repeats() -> None:
    before = contract(batches("a", "b"), batches("c", "d"))
    assert before.broken_by(record(batches("e", "e"))) == ("the order of loader 0 in epoch 1 would be that of epoch 0")
    # As it was before.
    assert contract(batches("a", "a"), batches("c", "c")).broken_by(record(batches("e", "e"))) is None
    before = contract([worker("a"), worker("b", 1)], [worker("c"), worker("d", 1)])
    said = "what worker 0 of loader 0 draws from numpy in epoch 1 would be that of epoch 0"
    assert before.broken_by(record([worker("e"), worker("e", 1)])) == said


def test_loaders_and_workers_that_repeat_each_other() -> None:
    before = contract([*batches("a"), *batches("b", loader=1)], [*batches("c"), *batches("d", loader=1)])
    said = "the order of loader 1 in epoch 0 would be the order of loader 0 in epoch 0"
    assert before.broken_by(record([*batches("e"), *batches("e", loader=1)])) == said

    def workers(*states: str) -> list[Entry]:
        return [
            Entry("rng", process=f"worker {number} of loader 0", epoch=0, detail={"numpy": state})
            for number, state in enumerate(states)
        ]

    before = contract(workers("a", "b"), workers("c", "d"))
    said = "what worker 1 of loader 0 draws from numpy in epoch 0 would be what worker 0 of loader 0 draws from numpy"
    assert before.broken_by(record(workers("e", "e"))) == f"{said} in epoch 0"
    assert before.broken_by(record(workers("e", "f"))) is None


def test_loaders_that_share_a_generator() -> None:
    """How often one is gone through must not change the other; one loader that is made anew may keep its generator."""

    def held(*generators: int, lines: tuple[int, ...]) -> list[Entry]:
        made = zip(generators, lines, strict=True)
        return [
            replace(entry, place=Place("train.py", line), detail={**entry.detail, "generator": generator})
            for number, (generator, line) in enumerate(made)
            for entry in batches("abcdef"[number], loader=number)
        ]

    plain = [batches("abcdef"[number], loader=number) for number in (0, 1)]
    before = contract([*plain[0], *plain[1]], [*plain[1], *plain[0]])
    assert "no loader takes its order from the generator of another one" in before.checks
    said = "loader 0 and loader 1 would draw from one generator: how often one is gone through changes the other"
    assert before.broken_by(record(held(0, 0, lines=(8, 12)))) == said
    assert before.broken_by(record(held(0, 1, lines=(8, 12)))) is None
    assert before.broken_by(record(held(0, 0, lines=(8, 8)))) is None
    shares = contract(held(0, 0, lines=(8, 12)), held(0, 0, lines=(8, 12)))
    assert shares.broken_by(record(held(0, 0, lines=(9, 13)))) is None


def test_a_seed_that_goes() -> None:
    before = contract([seeded(1)], [seeded(1)])
    said = "torch.manual_seed would no longer be called with 1, as it is in the script"
    assert before.broken_by(record([seeded(2)])) == said
    # A generator of its own may be replaced, which the draws from it tell.
    own = replace(seeded(1), name="random.Random.seed")
    assert contract([own], [own]).broken_by(record([])) is None
    # One that was another in each run was no seed.
    assert contract([seeded(1)], [seeded(2)]).broken_by(record([seeded(3)])) is None


def test_other_work() -> None:
    before = contract(batches("a", "b"), batches("c", "d"))
    said = "the script would do other work: 1 of kind batch in place of 2"
    assert before.broken_by(record(batches("e"))) == said
    assert contract(batches("a"), batches("c", "d")).broken_by(record(batches("e", "f", "g"))) is None


def test_a_seed_that_no_longer_decides() -> None:
    def deaf(before: Contract, was: Sequence[Entry], now: tuple[Sequence[Entry], Sequence[Entry]], drawn: bool) -> bool:
        runs: list[Record] = [record(was), *map(record, now)]
        return before.deaf_to_the_seed(*runs, drawn=drawn) is not None

    varied = contract(batches("a"), batches("b"))
    assert deaf(varied, batches("c"), (batches("d"), batches("d")), drawn=True)
    assert not deaf(varied, batches("c"), (batches("d"), batches("e")), drawn=True)
    # The order of a set need not depend on a seed.
    assert not deaf(varied, batches("c"), (batches("d"), batches("d")), drawn=False)
    decided = contract(batches("a"), batches("a"))
    assert deaf(decided, batches("c"), (batches("d"), batches("d")), drawn=False)
    assert not deaf(decided, batches("a"), (batches("d"), batches("d")), drawn=True)
    before = contract([worker("a")], [worker("b")])
    said = "what worker 0 of loader 0 draws from numpy would be the same for every seed that the script is given"
    runs = [record([worker(state)]) for state in "cdd"]
    assert before.deaf_to_the_seed(runs[0], runs[1], runs[2], drawn=True) == said

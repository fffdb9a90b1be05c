"""From two close records to a cause: by inputs, by the content of tensors, by draws and how their RNG was seeded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from verify_runs import record

from torchrepro_lint.verify.script.cause import Cause, find_cause, with_hash
from torchrepro_lint.verify.script.compare import compare
from torchrepro_lint.verify.script.entries import Entry, Kind, Place
from torchrepro_lint.verify.script.record import Record

WORKER = "worker 0 of loader 0"
LOOP = Place("/usr/lib/python3/site-packages/torch/utils/data/_utils/worker.py", 275, "_worker_loop")

LOADER = Place("/usr/lib/python3/site-packages/torch/utils/data/dataloader.py", 692, "_BaseDataLoaderIter.__init__")


def cause(first: list[Entry], second: list[Entry]) -> Cause:
    records = record(first, 2), record(second, 2)
    divergence = compare(*records).divergence
    assert divergence is not None
    found = find_cause(*records, divergence)
    assert found is not None
    return found


def op(name: str, inputs: str, output: str, reads: tuple[str, ...] = (), kind: Kind = "op", **fields: Any) -> Entry:
    detail = {"reads": list(reads), "makes": [output], **fields.pop("detail", {})}
    return Entry(kind, name, step=0, inputs=inputs, output=output, detail=detail, **fields)


def drawn(name: str, before: str, after: str, rng: str, **fields: Any) -> Entry:
    return Entry("draw", name, step=0, inputs=before, output=after, detail={"rng": rng, "state": before}, **fields)


def seeded(name: str, value: str, **fields: Any) -> Entry:
    return Entry("seed", name, step=0, output=value, shown=value, **fields)


def batch(output: str, inputs: str = "indices", worker: int | None = None) -> Entry:
    detail = {"loader": 0, "position": 0, "mark": 0}
    return Entry("batch", "batch 0 of loader 0", "main", 0, 0, worker, inputs=inputs, output=output, detail=detail)


def base_seed(state: str) -> Entry:
    detail = {"rng": "torch", "state": "b" + state}
    return op("aten.random_", "b" + state, "c" + state, kind="draw", via=LOADER, detail=detail)


def test_the_same_inputs_and_another_result() -> None:
    found = cause(
        [op("aten.mm", "a", "b"), op("aten.index_add_", "c", "d"), op("aten.mm", "d", "e", ("d",))],
        [op("aten.mm", "a", "b"), op("aten.index_add_", "c", "X"), op("aten.mm", "X", "Y", ("X",))],
    )
    assert (found.why, found.at[0].name) == ("operation", "aten.index_add_")


def test_a_tensor_is_followed_back_to_the_draw_that_made_it() -> None:
    def run(weight: str, state: str) -> list[Entry]:
        detail = {"rng": "torch", "state": state}
        return [
            op("aten.uniform_", state, weight, kind="draw", detail=detail, place=Place("train.py", 3)),
            op("aten.randperm", state + "'", weight + "'", kind="draw", detail=detail, place=Place("train.py", 9)),
            op("aten.mm", weight, weight + "*", ("x", weight)),
        ]

    found = cause(run("1", "s"), run("2", "t"))
    assert (found.why, found.rng) == ("unseeded", "torch")
    assert found.at[0].place == Place("train.py", 3)


def test_a_number_is_followed_to_the_nearest_draw() -> None:
    def run(state: str) -> list[Entry]:
        return [
            seeded("random.seed", "0"),
            drawn("numpy.random.rand", "n", "m", "numpy"),
            drawn("random.random", state, state + "'", "random"),
            op("aten.mul", "x" + state, "y" + state, ("x",)),
        ]

    found = cause(run("1"), run("2"))
    assert (found.why, found.rng, found.at[0].name) == ("draws", "random", "random.random")


def test_the_seed_that_differs_is_named() -> None:
    def run(seed: str) -> list[Entry]:
        return [
            seeded("torch.manual_seed", "0"),
            seeded("random.seed", seed),
            drawn("random.shuffle", seed, seed + "'", "random"),
            batch(seed, inputs=seed),
        ]

    found = cause(run("17"), run("18"))
    assert found.why == "seed"
    assert found.seed is not None and [one.shown for one in found.seed] == ["17", "18"]


def test_a_seed_that_comes_after_the_draw() -> None:
    def run(state: str) -> list[Entry]:
        return [
            drawn("numpy.random.rand", state, state + "'", "numpy"),
            batch(state),
            seeded("numpy.random.seed", "0", place=Place("train.py", 9)),
        ]

    found = cause(run("1"), run("2"))
    assert found.why == "late" and found.seed is not None and found.seed[0].place == Place("train.py", 9)


def test_a_fork_begins_with_the_seed_of_its_parent() -> None:
    def run(seed: str) -> list[Entry]:
        fork: dict[str, Any] = {"process": "process 1"}
        return [
            seeded("random.seed", seed),
            Entry("process", "fork", **fork),
            drawn("random.random", seed, seed + "'", "random", **fork),
            op("aten.mul", "x" + seed, "y" + seed, ("x",), **fork),
        ]

    found = cause(run("1"), run("2"))
    assert (found.why, found.process) == ("seed", "process 1")


def test_a_seed_from_the_operating_system_differs_though_it_reads_alike() -> None:
    def run(state: str) -> list[Entry]:
        entropy = Entry("seed", "numpy.random.seed", step=0, output="e", detail={"entropy": True})
        return [entropy, drawn("numpy.random.rand", state, state + "'", "numpy"), batch(state)]

    assert cause(run("1"), run("2")).why == "seed"


def test_a_worker_is_followed_to_its_draw_and_that_to_the_main_process() -> None:
    def run(state: str) -> list[Entry]:
        within = {"process": WORKER, "epoch": 0, "worker": 0}
        return [
            base_seed(state),
            seeded("random.seed", "base" + state, via=LOOP, **within),
            drawn("random.random", "w" + state, "v" + state, "random", **within),
            batch(state, worker=0),
        ]

    found = cause(run("1"), run("2"))
    assert found.in_worker and found.at[0].name == "random.random"
    assert (found.why, found.rng) == ("unseeded", "torch")


def test_what_workers_are_seeded_with_is_no_cause_in_the_main_process() -> None:
    def run(state: str) -> list[Entry]:
        return [
            drawn("random.random", state, state + "'", "random"),
            base_seed(state),
            op("aten.mul", "x" + state, "y" + state, ("n" + state,)),
        ]

    found = cause(run("1"), run("2"))
    assert (found.why, found.at[0].name) == ("unseeded", "random.random")


def test_the_threads_of_a_process_have_its_rngs() -> None:
    def run(seed: str) -> list[Entry]:
        thread = {"process": "main, thread Thread-1"}
        return [
            seeded("random.seed", seed),
            drawn("random.random", seed, seed + "'", "random", **thread),
            op("aten.mul", "x" + seed, "y" + seed, ("n" + seed,), **thread),
        ]

    found = cause(run("1"), run("2"))
    assert (found.why, found.process) == ("seed", "main, thread Thread-1")


def test_a_worker_of_another_epoch_is_not_looked_at() -> None:
    def run(state: str) -> list[Entry]:
        within = {"process": WORKER, "epoch": 7, "worker": 0}
        return [drawn("random.random", state, state + "'", "random", **within), batch(state, worker=0)]

    assert cause(run("1"), run("2")).why == "data"


def test_the_same_indices_and_no_draw() -> None:
    assert cause([batch("1")], [batch("2")]).why == "data"


def test_other_indices_and_no_draw() -> None:
    assert cause([batch("1", inputs="a")], [batch("2", inputs="b")]).why == "order"


def test_inputs_that_nothing_watched_has_made() -> None:
    assert cause([op("aten.mm", "1", "1*", ("1",))], [op("aten.mm", "2", "2*", ("2",))]).why == "outside"


def test_another_way_taken() -> None:
    assert cause([op("aten.sin", "a", "b")], [op("aten.cos", "a", "c")]).why == "flow"


def test_a_generator_whose_seeding_is_not_seen() -> None:
    def run(state: str) -> list[Entry]:
        detail = {"rng": "torch.Generator", "state": state}
        return [op("aten.randperm", state, "r" + state, kind="draw", detail=detail), batch(state, inputs=state)]

    assert cause(run("1"), run("2")).why == "state"


def test_a_draw_that_nothing_depends_on_is_no_cause() -> None:
    def run(state: str, result: str) -> list[Entry]:
        return [drawn("random.random", state, state + "'", "random"), op("aten.index_add_", "same", result)]

    assert cause(run("1", "x"), run("2", "y")).why == "operation"


def in_worker(number: int, *entries: Entry) -> list[Entry]:
    within: dict[str, Any] = {"process": f"worker {number} of loader 0", "epoch": 0, "worker": number}
    return [replace(entry, **within) for entry in entries]


def test_a_batch_that_another_worker_made_has_that_workers_draws() -> None:
    def run(worker: int, state: str) -> list[Entry]:
        before = in_worker(worker, Entry("rng"), drawn("random.gauss", "g", "h", "random"), Entry("rng"))
        made = in_worker(worker, Entry("rng"), drawn("random.random", state, state + "'", "random"), Entry("rng"))
        return [*(before if worker == 0 else []), *made, batch(state, worker=worker)]

    found = cause(run(0, "1"), run(2, "2"))
    assert (found.why, found.rng, found.at[0].name) == ("worker", "random", "random.random")
    assert [one.worker for one in found.chain[0]] == [0, 2]


def test_a_batch_that_another_worker_made_from_other_data() -> None:
    def run(worker: int, content: str) -> list[Entry]:
        made = in_worker(worker, Entry("rng"), drawn("random.random", "1", "2", "random"), Entry("rng"))
        return [*made, batch(content, worker=worker)]

    assert cause(run(0, "1"), run(2, "2")).why == "data"


def arrival(output: str) -> Entry:
    return Entry("arrival", "imap_unordered", step=0, output=output, place=Place("/project/train.py", 5))


def test_results_that_come_in_another_order() -> None:
    rest = [op("aten.stack", "a", "b", ("a",))], [op("aten.stack", "x", "y", ("x",))]
    found = cause([arrival("1"), arrival("2"), *rest[0]], [arrival("2"), arrival("1"), *rest[1]])
    assert (found.why, found.at[0].output) == ("completion", "1")
    # Other results are not the same ones in another order.
    assert cause([arrival("1"), *rest[0]], [arrival("3"), *rest[1]]).why == "outside"


def test_batches_of_a_loader_that_keeps_no_order() -> None:
    one, other = batch("x", worker=0), batch("y", worker=1)
    detail = {**one.detail, "in_order": False}
    found = cause([replace(one, detail=detail)], [replace(other, detail=detail)])
    assert found.why == "completion"
    assert cause([one], [other]).why == "data"


def test_a_draw_in_a_process_that_was_started() -> None:
    def child(number: int, state: str) -> list[Entry]:
        draw = drawn("numpy.random.rand", state, state + "+", "numpy", place=Place("/project/train.py", 9))
        return [Entry("process", "spawn", f"process {number}"), replace(draw, process=f"process {number}")]

    # Another process of the pool was given the task.
    found = cause(
        [op("aten.stack", "a", "b"), *child(1, "s")],
        [op("aten.stack", "x", "y"), *child(2, "t")],
    )
    assert (found.why, found.process, found.nothing_seeds) == ("unseeded", "process 1", True)


def test_the_call_of_hash_that_gave_another_number() -> None:
    def run(number: str) -> Record:
        hashed = Entry("hash", "hash", step=0, output=number, shown="'a'", place=Place("/project/train.py", 3))
        return record([hashed, op("aten.full", number, number)], 2)

    first, second = run("1"), run("2")
    divergence = compare(first, second).divergence
    assert divergence is not None
    unexplained = find_cause(first, second, divergence)
    assert unexplained is not None and unexplained.why == "outside"
    found = with_hash(unexplained, first, second)
    assert (found.why, found.at[0].kind, found.place) == ("hash", "hash", Place("/project/train.py", 3))
    assert with_hash(unexplained, first, first).at == unexplained.at


def test_an_rng_in_the_same_state_is_not_at_fault_for_what_is_drawn_from_it() -> None:
    """How much is drawn from torch was drawn from another generator, which is followed."""

    def run(seed: str, width: str) -> list[Entry]:
        own = {"object": 1}
        return [
            seeded("torch.manual_seed", "0"),
            seeded("numpy.random.RandomState", "other", detail={"object": 0}),
            seeded("numpy.random.RandomState", seed, detail={**own, "entropy": True}),
            replace(
                drawn("numpy.random.RandomState.randint", seed, width, "numpy.random.RandomState"),
                detail={"rng": "numpy.random.RandomState", "state": seed, **own},
            ),
            drawn("aten.uniform_", "zero", f"zero, {width} later", "torch"),
            drawn("aten.uniform_", f"zero, {width} later", f"later by {width}", "torch"),
            op("aten.mm", f"later by {width}", f"product {width}", (f"later by {width}",)),
        ]

    found = cause(run("a", "4"), run("b", "9"))
    assert (found.why, found.rng) == ("seed", "numpy.random.RandomState")
    assert found.seed is not None and found.seed[0].output == "a"


def test_an_rng_in_the_same_state_and_nothing_else() -> None:
    def run(width: str) -> list[Entry]:
        draw = drawn("aten.uniform_", "zero", f"zero, {width} later", "torch")
        return [seeded("torch.manual_seed", "0"), draw, op("aten.mm", width, f"product {width}", (width,))]

    found = cause(run("4"), run("9"))
    assert (found.why, found.at[0].name) == ("arguments", "aten.uniform_")


def test_memory_that_nothing_has_written() -> None:
    def run(found: str) -> list[Entry]:
        at = Place("/train.py", 4)
        return [
            Entry("memory", "aten.empty", step=0, output=found, place=at),
            Entry("memory", "aten.empty", step=0, output=f"unread {found}", place=at),
            op("aten.cat", found, f"both {found}", (found,)),
            op("aten.mm", f"both {found}", f"product {found}", (f"both {found}",)),
        ]

    found = cause(run("junk"), run("scrap"))
    assert (found.why, found.at[0].name, found.place) == ("memory", "aten.empty", Place("/train.py", 4))
    assert found.chain[-1][0].name == "aten.cat"

"""Why two runs differed: the first operation that gave another result for the same inputs, or the draw that did.

Works on records of the second stage. An operation whose inputs agree and whose result differs is the cause by itself.
Where the inputs differ already, they are followed back by their content to what made them; a number that was drawn is
not a tensor, so there the nearest draw that differs is taken, and its RNG is followed back to how it was seeded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from torchrepro_lint.verify.script.compare import RESULTS, Divergence, differs, inputs_agree, is_worker, pairs
from torchrepro_lint.verify.script.entries import COMPARED, MAIN, Entry, Kind, Place, is_base_seed
from torchrepro_lint.verify.script.other_ways import Pair, arrived_otherwise, drawn_in_children, hashed_otherwise
from torchrepro_lint.verify.script.record import Record
from torchrepro_lint.verify.script.window import worker_name

Why: TypeAlias = Literal[
    "operation",  # the same inputs, another result
    "unseeded",  # an RNG that nothing seeds
    "late",  # an RNG that is seeded only after the draw
    "seed",  # an RNG that was seeded with another value
    "state",  # an RNG whose state had differed before; how it was seeded is not seen
    "worker",  # the RNG of another worker: each run has had the batch made by another one
    "draws",  # an RNG that was seeded alike, and had been drawn from differently before
    "arguments",  # an RNG in the same state that another number was drawn from, or in another way
    "order",  # the sampler asked for other indices, and no draw explains it
    "data",  # the same indices, another batch, and no draw explains it
    "flow",  # the runs did different things, and no draw explains it
    "outside",  # the difference came from what is not watched
    "completion",  # results are taken in the order in which they are finished
    "hash",  # the order of a set, or a number of `hash`: with one PYTHONHASHSEED the runs agree
    "memory",  # memory is read that nothing has written
    "varied",  # what a perturbation varies
]
Content: TypeAlias = tuple[str, str]  # of a tensor, in both runs
UNEXPLAINED: frozenset[Why] = frozenset(
    {"order", "data", "flow", "outside", "arguments"}
)  # it is seen where, and not why

_THREAD = re.compile(r", thread [^,]+$")
_SEEDED_BY = {
    "random": ("random.seed",),
    "random.Random": ("random.Random.seed",),
    "numpy": ("numpy.random.seed",),
    "numpy.random.Generator": ("numpy.random.default_rng", "numpy.random.Generator"),
    "numpy.random.RandomState": ("numpy.random.RandomState",),
    "torch": ("torch.manual_seed", "torch.seed"),
    "torch cuda": (
        "torch.manual_seed",
        "torch.seed",
        "torch.cuda.manual_seed",
        "torch.cuda.manual_seed_all",
        "torch.cuda.seed",
        "torch.cuda.seed_all",
    ),
}

_OF_OBJECTS = ("random.Random", "numpy.random.Generator", "numpy.random.RandomState")
_GLOBAL_SEEDS = frozenset(name for rng, names in _SEEDED_BY.items() if rng not in _OF_OBJECTS for name in names)


@dataclass(frozen=True, slots=True)
class Cause:
    """`at`: the entries of both runs at which they differ. `rng`: the name of the RNG, if the cause is a draw. `seed`:
    the calls that seeded it differently in the two runs. `chain`: the way from where the difference was seen to `at`.
    `nothing_seeds`: the main process seeds no global RNG at all. `varied`: the perturbation, where that is the cause,
    and `met` the lines that met what it varies.
    """

    why: Why
    at: Pair
    rng: str | None = None
    seed: Pair | None = None
    chain: tuple[Pair, ...] = ()
    nothing_seeds: bool = False
    varied: str | None = None
    met: tuple[Place, ...] = ()

    @property
    def place(self) -> Place | None:
        """The line that the cause is at."""
        return self.met[0] if self.met else self.at[0].place

    @property
    def process(self) -> str:
        """The process that it happened in."""
        return self.at[0].process

    @property
    def in_worker(self) -> bool:
        """Whether that is a worker of a DataLoader."""
        return is_worker(self.process)


def find_cause(first: Record, second: Record, divergence: Divergence) -> Cause | None:
    """The cause of a divergence between two records of the second stage; None where one of the runs just ended."""
    if divergence.first is None or divergence.second is None:
        return None
    found = _find(first, second, divergence)
    if found.why in UNEXPLAINED:
        found = _other_way(first, second, divergence.process, found)
    seeds = (entry for entry in first.of_process(MAIN) if entry.kind == "seed")
    return replace(found, nothing_seeds=not any(entry.name in _GLOBAL_SEEDS for entry in seeds))


def _other_way(first: Record, second: Record, process: str, found: Cause) -> Cause:
    """A cause beside operations and draws of the process, where there is one."""
    if (arrived := arrived_otherwise(first, second, process)) is not None:
        return Cause("completion", arrived, chain=(found.at,))
    entry = found.at[0]
    if entry.kind == "batch" and entry.detail.get("in_order") is False:
        return replace(found, why="completion")
    for drawn in drawn_in_children(first, second):
        by = _of_draw(first, second, drawn, (found.at,))
        # A seed of a task's own is another one where another task came first.
        if by.why == "unseeded" or (by.seed is not None and by.seed[0].detail.get("entropy")):
            return by
    return found


def is_dropout_in_evaluation(entry: Entry) -> bool:
    """Whether a draw is that of a dropout while gradients are off, as they are in an evaluation."""
    via = entry.via
    within = via is not None and "dropout" in via.function
    return entry.detail.get("grad") is False and ("dropout" in entry.name or within)


def with_hash(cause: Cause, first: Record, second: Record) -> Cause:
    """The cause where PYTHONHASHSEED is known to be: the call of `hash` that gave another number, if there is one."""
    hashed = hashed_otherwise(first, second, cause.at[0].process)
    if hashed is None:
        return replace(cause, why="hash")
    return replace(cause, why="hash", at=hashed, chain=(*cause.chain, cause.at))


def _find(first: Record, second: Record, divergence: Divergence) -> Cause:
    assert divergence.first is not None and divergence.second is not None
    seen: Pair = (divergence.first, divergence.second)
    if divergence.how == "result" and divergence.entry.kind == "batch":
        return _of_batch(first, second, divergence.process, seen)
    if inputs_agree(divergence) and divergence.entry.kind == "op":
        return Cause("operation", seen)
    return _of_process(first, second, divergence.process, seen)


def _of_batch(first: Record, second: Record, process: str, seen: Pair) -> Cause:
    asked_alike = seen[0].inputs == seen[1].inputs
    if not asked_alike:
        # The sampler runs in the process itself.
        found = _nearest(first, second, process, seen)
        return found or Cause("order", seen)
    if seen[0].worker is None:
        return _nearest(first, second, process, seen) or Cause("data", seen)
    worker = worker_name(process, seen[0].worker, seen[0].detail["loader"])
    if seen[1].worker is not None and seen[1].worker != seen[0].worker:
        other = worker_name(process, seen[1].worker, seen[1].detail["loader"])
        return _of_two_workers((first, worker), (second, other), seen) or Cause("data", seen)
    return _of_worker(first, second, worker, seen) or Cause("data", seen)


def _of_worker(first: Record, second: Record, worker: str, seen: Pair) -> Cause | None:
    """What a worker did differently in the epoch of a batch."""
    here = [_of_epoch(record, worker, seen[0].epoch) for record in (first, second)]
    walked = _walk(here[0], here[1], worker)
    if walked.differed is not None and _is_operation(walked.differed):
        return Cause("operation", walked.differed, chain=(seen,))
    made = _maker(walked, walked.differed) if walked.differed else None
    drawn = made if made is not None and made[0].kind == "draw" else walked.last_draw
    return None if drawn is None else _of_draw(first, second, drawn, (seen,), walked.draws)


def _of_two_workers(first: tuple[Record, str], second: tuple[Record, str], seen: Pair) -> Cause | None:
    """What two workers drew otherwise for the same batch."""
    drawn = (_of_last_fetch(_of_epoch(*run, seen[0].epoch), "draw") for run in (first, second))
    for pair in zip(*drawn, strict=False):
        if pair[0].name == pair[1].name and pair[0].output != pair[1].output:
            return Cause("worker", pair, str(pair[0].detail.get("rng", "")), chain=(seen,))
    return None


def _of_process(first: Record, second: Record, process: str, seen: Pair) -> Cause:
    """What a process did differently before, and at, an entry that is not a cause by itself."""
    walked = _walk(first, second, process, seen)
    differed = walked.differed or seen
    chain = () if differed == seen else (seen,)
    if _is_operation(differed):
        return Cause("operation", differed, chain=chain)
    if differed[0].kind == "batch" and differed != seen:
        return _of_batch(first, second, process, differed)
    made = _maker(walked, differed)
    if made is not None and made[0].kind == "draw":
        return _of_draw(first, second, made, (*chain, differed), walked.draws)
    if walked.last_draw is not None:
        return _of_draw(first, second, walked.last_draw, (*chain, differed), walked.draws)
    if differed[0].identity != differed[1].identity:
        return Cause("flow", differed, chain=chain)
    came_in = _first_met(walked, differed)
    if (found := _never_written(first, second, process, came_in)) is not None:
        return Cause("memory", found, chain=(*chain, came_in))
    return Cause("outside", came_in, chain=chain if came_in == differed else (*chain, differed))


def _nearest(first: Record, second: Record, process: str, seen: Pair) -> Cause | None:
    walked = _walk(first, second, process, seen)
    if walked.differed is not None and walked.differed != seen and _is_operation(walked.differed):
        return Cause("operation", walked.differed, chain=(seen,))
    return None if walked.last_draw is None else _of_draw(first, second, walked.last_draw, (seen,), walked.draws)


@dataclass(frozen=True, slots=True)
class _Walk:
    """What a process did up to the first result that differs: `differed`, with the draws that differ before it.

    The draws of what workers are seeded with stand by themselves: nothing in the process depends on them.
    """

    steps: tuple[Pair, ...]
    draws: tuple[Pair, ...]
    base_seeds: tuple[Pair, ...]
    differed: Pair | None

    @property
    def last_draw(self) -> Pair | None:
        return self.draws[-1] if self.draws else None


def _walk(first: Record, second: Record, process: str, until: Pair | None = None) -> _Walk:
    steps: list[Pair] = []
    draws: list[Pair] = []
    base_seeds: list[Pair] = []
    kinds = COMPARED if until is None else COMPARED | {until[0].kind}
    for one, other in pairs(first, second, process, kinds):
        if one is None or other is None:
            break
        pair = (one, other)
        divergence = differs(process, one, other)
        if divergence is None:
            steps.append(pair)
        elif divergence.how == "result" and one.kind == "draw":
            (base_seeds if is_base_seed(one.via) else draws).append(pair)
            steps.append(pair)
        elif one.kind in RESULTS or divergence.how != "result":
            return _Walk(tuple(steps), tuple(draws), tuple(base_seeds), pair)
        if pair == until:
            break
    return _Walk(tuple(steps), tuple(draws), tuple(base_seeds), None)


def _is_operation(pair: Pair) -> bool:
    one, other = pair
    return one.kind == "op" and one.identity == other.identity and one.inputs is not None and one.inputs == other.inputs


def _maker(walked: _Walk, pair: Pair) -> Pair | None:
    """What made a tensor that differs among those that an operation reads, by the tensor's content. Views are passed
    through to what made the tensor that they are of.
    """
    steps = walked.steps
    while True:
        index = next((index for read in _differing(pair, "reads") if (index := _makes(steps, read)) is not None), None)
        if index is None or not steps[index][0].detail.get("view"):
            return None if index is None else steps[index]
        pair, steps = steps[index], steps[:index]


def _makes(steps: Sequence[Pair], content: Content) -> int | None:
    """The last of the steps that makes this content."""
    return next((at for at in reversed(range(len(steps))) if content in _differing(steps[at], "makes")), None)


def _differing(pair: Pair, name: str) -> list[Content]:
    """The contents of the tensors that an operation reads, or makes, as far as they differ between the runs."""
    both = zip(*(one.detail.get(name, ()) for one in pair), strict=False)
    return [content for content in both if content[0] != content[1] and None not in content]


def _first_met(walked: _Walk, differed: Pair) -> Pair:
    """The first step that has the content which an operation reads, and no operation has made: there it came in."""
    for content in _differing(differed, "reads"):
        for step in walked.steps:
            if content in _differing(step, "reads") or content in _differing(step, "makes"):
                return step
    return differed


def _never_written(first: Record, second: Record, process: str, met: Pair) -> Pair | None:
    """What made the memory that is met with the content which it was found with."""
    made = [[one for one in record.of_process(process) if one.kind == "memory"] for record in (first, second)]
    for content in (*_differing(met, "reads"), (met[0].output, met[1].output)):
        found = [next((one for one in reversed(made[n]) if one.output == content[n]), None) for n in (0, 1)]
        if found[0] is not None and found[1] is not None and found[0].place == found[1].place:
            return found[0], found[1]
    return None


def _of_draw(
    first: Record, second: Record, drawn: Pair, chain: tuple[Pair, ...], differing: Sequence[Pair] = ()
) -> Cause:
    """Why a draw differs; `differing` are those of its process that do."""
    rng = str(drawn[0].detail.get("rng", ""))
    if not _begins_alike(drawn):
        cause = _root(first, second, drawn, rng, chain)
        if cause.why != "draws":
            return cause
        # An earlier draw from it was another one.
        parted = next((one for one in differing if _generator(one) == _generator(drawn)), drawn)
        if parted == drawn or not _begins_alike(parted):
            return cause
        drawn, chain = parted, (*chain, drawn)
    # The RNG was in the same state: the draw itself was another one, by its arguments. What was drawn before may decide
    # them.
    at = next((index for index, one in enumerate(differing) if one == drawn), 0)
    before = [index for index, one in enumerate(differing[:at]) if _generator(one) != _generator(drawn)]
    if before:
        return _of_draw(first, second, differing[before[-1]], (*chain, drawn), differing[: before[-1] + 1])
    return Cause("arguments", drawn, rng, chain=chain)


def _begins_alike(drawn: Pair) -> bool:
    states = [one.detail.get("state") for one in drawn]
    return states[0] == states[1] and states[0] is not None


def _generator(drawn: Pair) -> tuple[object, object]:
    detail = drawn[0].detail
    return (detail.get("rng"), detail.get("object"))


def _root(first: Record, second: Record, drawn: Pair, rng: str, chain: tuple[Pair, ...]) -> Cause:
    """How the RNG of a draw came to differ."""
    names = _SEEDED_BY.get(rng.partition(":")[0], ())
    if not names:
        # It is not seen how such an RNG is seeded.
        return Cause("state", drawn, rng, chain=chain)
    before, after = zip(*(_seeds(*one, names) for one in zip((first, second), drawn, strict=True)), strict=True)
    for pair in zip(*before, strict=False):
        if pair[0].output != pair[1].output or pair[0].detail.get("entropy"):
            if is_worker(drawn[0].process) and _by_loader(pair[0]):
                return _of_base_seed(first, second, drawn, rng, pair, chain)
            return Cause("seed", drawn, rng, seed=pair, chain=chain)
    if any(before):
        return Cause("draws", drawn, rng, chain=chain)
    late = next(zip(*after, strict=False), None)
    return Cause("late" if late else "unseeded", drawn, rng, seed=late, chain=chain)


def _seeds(record: Record, drawn: Entry, names: Collection[str]) -> tuple[list[Entry], list[Entry]]:
    """The calls that seeded the RNG of a draw before it, and those that came after."""
    # The threads of a process have its RNGs in common.
    process = _THREAD.sub("", drawn.process)
    here = [
        one
        for one in record.entries
        if _THREAD.sub("", one.process) == process and (one.epoch == drawn.epoch or not is_worker(one.process))
    ]
    at = next(index for index, one in enumerate(here) if one is drawn)
    before, after = (
        [one for one in part if one.kind == "seed" and one.name in names] for part in (here[:at], here[at:])
    )
    own = drawn.detail.get("object")
    if own is not None and any(one.detail.get("object") == own for one in (*before, *after)):
        before, after = ([one for one in part if one.detail.get("object") == own] for part in (before, after))
    if not before and any(one.kind == "process" and one.name == "fork" for one in here[:at]):
        # A fork begins with the RNGs of its parent.
        parent = drawn.process.rpartition(", ")[0] or MAIN
        before = [one for one in record.of_process(parent) if one.kind == "seed" and one.name in names]
    return before, after


def _by_loader(seed: Entry) -> bool:
    """Whether it is torch's own loop that seeds its worker."""
    return seed.via is not None and seed.via.file.replace("\\", "/").endswith("torch/utils/data/_utils/worker.py")


def _of_base_seed(first: Record, second: Record, drawn: Pair, rng: str, seed: Pair, chain: tuple[Pair, ...]) -> Cause:
    """Workers are seeded by what the main process drew: its RNG is what differs."""
    parent = drawn[0].process.rpartition(", ")[0] or MAIN
    walked = _walk(first, second, parent)
    if not walked.base_seeds:
        return Cause("seed", drawn, rng, seed=seed, chain=chain)
    base = walked.base_seeds[-1]
    found = _of_draw(first, second, base, chain, (*walked.draws, base))
    return replace(found, at=drawn, chain=(*chain, base))


def _of_epoch(record: Record, worker: str, epoch: int | None) -> Record:
    return replace(record, entries=tuple(one for one in record.of_process(worker) if one.epoch == epoch))


def _of_last_fetch(record: Record, kind: Kind) -> list[Entry]:
    """What a worker did in the last fetch that was recorded closely: the states of its RNGs stand around each."""
    at = [index for index, one in enumerate(record.entries) if one.kind == "rng"]
    return [one for one in record.entries[at[-2] if len(at) > 1 else 0 :] if one.kind == kind]

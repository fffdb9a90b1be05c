"""The sentences: what came of the runs, where they differed, and why. Never more than was seen."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePath

from torchrepro_lint.verify.script.cause import Cause, is_dropout_in_evaluation
from torchrepro_lint.verify.script.compare import Comparison, Divergence
from torchrepro_lint.verify.script.entries import BEFORE_TRAINING, MAIN, OUTPUTS, STOPPED, Entry, Place
from torchrepro_lint.verify.script.perturbations import CAUSE_WHERE_NOTHING_IS_DRAWN, ITSELF_THE_CAUSE, RESUME
from torchrepro_lint.verify.script.result import Outcome, Result

_PLURALS = {
    "batch": ("batch", "batches"),
    "loss": ("loss", "losses"),
    "parameter": ("state of the parameters", "states of the parameters"),
    "gradient": ("gradient", "gradients"),
    "op": ("operation", "operations"),
    "draw": ("random number drawn", "random numbers drawn"),
    "print": ("printed line", "printed lines"),
    "file": ("written file", "written files"),
    "weights": ("state of evaluated weights", "states of evaluated weights"),
}
_MET = 5  # at most this many lines are named
_RNGS = {
    "random": "Python's `random`",
    "numpy": "NumPy's global RNG",
    "torch": "torch's global RNG",
    "torch.Generator": "a torch.Generator",
    "random.Random": "a random.Random object",
    "numpy.random.Generator": "a NumPy Generator",
    "numpy.random.RandomState": "a NumPy RandomState",
}


def command(words: tuple[str, ...]) -> str:
    """The script and its arguments as one would type them."""
    return shlex.join(words)


def verdict(result: Result) -> str:
    """One sentence on what was observed."""
    ranks = next((run.record.header.ranks for run in result.runs if run.record is not None), 0)
    runs = f"{len(result.runs)} {'recordings' if result.from_files else 'runs'}"
    what = command(result.command) + (f" in {ranks} processes" if ranks > 1 else "")
    varied = _varied(result) + stopped(result)
    if result.outcome is Outcome.COULD_NOT_RUN:
        failed = "could not compare" if result.from_files else "could not run"
        return f"{failed}: {what}{varied}: {result.reason}"
    comparison = result.comparison
    assert comparison is not None
    if result.outcome is Outcome.NOTHING_TO_VARY:
        return f"nothing to vary: {what} does not use what {result.perturbation} varies"
    if result.outcome is Outcome.AGREED:
        return f"no difference observed in {runs} of {what}{varied}: {counts(comparison)} agreed"
    if result.depends:
        depends = f"the result depends on {result.perturbation}: {what}{varied}"
        if comparison.divergence is None:
            return f"{depends} did not end as it does otherwise: {result.reason}"
        how = "did not agree" if result.perturbation == RESUME else "did not give what it gives otherwise"
        return f"{depends} {how}; {where(comparison.divergence)}"
    if comparison.divergence is None:
        return f"difference observed: {runs} of {what}{varied} did not end in the same way: {result.reason}"
    return f"difference observed: {runs} of {what}{varied} did not agree; {where(comparison.divergence)}"


def _varied(result: Result) -> str:
    if result.perturbation == RESUME:
        return ", in one go and in two halves,"
    return f" with {result.perturbation} varied" if result.perturbation else ""


def stopped(result: Result) -> str:
    """Where the runs were ended by the limit on steps."""
    records = [run.record for run in result.runs if run.record is not None]
    notes = [
        next((note.shown or "" for note in record.of_kind("note") if note.name == STOPPED), None) for record in records
    ]
    told = list(dict.fromkeys(words for words in notes if words is not None))
    if not told:
        return ""
    some = "each" if None not in notes else "some"
    return f", {some} stopped after {' or '.join(told)}{'' if result.outcome is Outcome.AGREED else ','}"


def counts(comparison: Comparison) -> str:
    """How much was compared."""
    parts = [
        f"{number} {_PLURALS[kind][number != 1]}" for kind, number in comparison.compared.items() if kind in _PLURALS
    ]
    return ", ".join(parts) or "nothing"


def where(divergence: Divergence) -> str:
    """Where two runs first differ."""
    entry = divergence.entry
    process = "" if divergence.process == MAIN else f", in {divergence.process}"
    if divergence.how == "length":
        return f"one of them ends where the other goes on, with {what(entry)}{process}"
    if divergence.how == "order":
        second = divergence.second
        assert second is not None
        return f"they first differ in {when(entry)}, where one does {what(entry)} and the other {what(second)}{process}"
    return f"they first differ in {when(entry)}, at {what(entry)}{process}"


def when(entry: Entry) -> str:
    """The step and the epoch."""
    epoch = "" if entry.epoch is None else f" (epoch {entry.epoch})"
    return f"step {entry.step or 0}{epoch}"


def what(entry: Entry) -> str:
    """What an entry is about."""
    if entry.kind == "batch":
        made = "" if entry.worker is None else f", made by worker {entry.worker}"
        return f"{entry.name}{made}"
    if entry.kind == "loss":
        return "the loss"
    if entry.kind == "parameter":
        by = "before training" if entry.name.endswith(BEFORE_TRAINING) else f"after the step of {entry.name}"
        return f"parameter {entry.name}" if "optimizer" in entry.detail else f"the parameters {by}"
    if entry.kind == "gradient":
        return f"the gradient of {entry.name}"
    if entry.kind == "weights":
        return f"the weights of {entry.name} in evaluation"
    if entry.kind == "print":
        return "what is printed"
    if entry.kind == "file":
        return f"the file {entry.shown}"
    backward = " of the backward pass" if entry.detail.get("backward") else ""
    device = entry.detail.get("device")
    on = f" on {device}" if device and device != "cpu" else ""
    return f"{entry.name}{backward}{on}"


def place(at: Place, folder: str) -> str:
    """`file:line (function)`, the file relative to the folder that the run was started in."""
    return at.below(folder) + (f" ({at.function})" if at.function else "")


def reason(cause: Cause) -> str:
    """One or two sentences on why the runs differed."""
    entry = cause.at[0]
    name = f"{what(entry)}"
    if cause.why == "operation":
        return f"{name} gave a different result for the same inputs."
    if cause.why == "order":
        return f"not known. The sampler asked for different indices ({_asked(cause)}), and no recorded draw differs."
    if cause.why == "data":
        return (
            f"not known. {name} has different content for the same indices, and no recorded draw differs: it may be "
            "the order of a listing, the content of files, the clock, or an RNG that is not watched."
        )
    if cause.why == "flow":
        other = what(cause.at[1])
        return f"not known. One of the runs does {name}, the other {other}, and no recorded draw differs."
    if cause.why == "outside" and entry.kind in OUTPUTS:
        return f"not known. All batches, losses and parameters agree, and {name} differs."
    if cause.why == "outside":
        return (
            f"not known. The inputs of {name} differ already, and were computed by nothing that is watched: it may be "
            "arithmetic outside torch, the order of a listing or of a set of objects, the content of files, the clock, "
            "or another RNG."
        )
    if cause.why == "completion":
        if entry.kind == "batch":
            return f"the loader has in_order=False: {entry.name} is whichever a worker has finished first."
        return f"{name} gives results in the order in which they are finished, and in one run another was first."
    if cause.why == "hash":
        if entry.kind == "hash":
            how = f"hash({entry.shown}) gives another number in each run"
        else:
            how = "the order of a set of strings, or a hash of one, is another in each run"
        return f"{how}, unless PYTHONHASHSEED is set before Python starts: with one for all runs, they agree."
    if cause.why == "memory":
        return (
            f"{name} gives memory as it is found, and nothing has written it when {what(cause.chain[-1][0])} "
            f"reads it{_at(cause.chain[-1][0])}."
        )
    if cause.why == "varied":
        lines = ", ".join(f"{PurePath(one.file).name}:{one.line}" for one in cause.met[:_MET])
        at = f", which is asked for at {lines}" if lines else ""
        itself = {**ITSELF_THE_CAUSE, **CAUSE_WHERE_NOTHING_IS_DRAWN}[cause.varied or ""]
        return f"{itself}{at}; it shows first in {name}."
    if cause.why == "worker":
        made, otherwise = cause.chain[0]
        return (
            f"{entry.name} draws from the worker's own state of {rng_name(cause.rng or '')}, and {made.name} was made "
            f"by worker {made.worker} in one run and by worker {otherwise.worker} in the other. Only draws that are "
            "seeded by the index of the sample do not depend on who makes the batch."
        )
    words = " ".join(_of_draw(cause))
    if cause.why == "arguments":
        return f"not known. {words}"
    if is_dropout_in_evaluation(entry):
        words += " It is dropout that runs while gradients are off, as in an evaluation: "
        # A layer of dropout does nothing then: this one is called as a function.
        called = "its module is in evaluation, and it is called without `training=self.training`."
        words += called if entry.detail.get("evaluates") else "is `model.eval()` missing?"
    return words


def _of_draw(cause: Cause) -> Iterator[str]:
    entry = cause.at[0]
    rng = rng_name(cause.rng or "")
    own = str(entry.detail.get("rng", ""))
    yield f"{entry.name} draws from {rng_name(own)}" + (
        f", and the workers' RNGs are seeded from {rng}," if own != cause.rng or _seeded_by_parent(cause) else ","
    )
    if cause.why == "unseeded":
        yield "which nothing seeds: it starts from the operating system's entropy in every run."
    elif cause.why == "late":
        assert cause.seed is not None
        yield f"which is seeded only later, by {cause.seed[0].name}{_at(cause.seed[0])}."
    elif cause.why == "state":
        yield "whose state already differed; how it was seeded was not recorded."
    elif cause.why == "arguments":
        yield "which was in the same state in both runs: how much is drawn from it differs, or in which way."
    elif cause.why == "seed":
        assert cause.seed is not None
        yield f"which {_seed(cause.seed)}."
    else:
        yield "which was seeded with the same number, but earlier draws from it differ."


def _seeded_by_parent(cause: Cause) -> bool:
    return cause.in_worker and any(pair[0].name == "aten.random_" for pair in cause.chain)


def _seed(seed: tuple[Entry, Entry]) -> str:
    first, second = seed
    at = _at(first)
    if first.detail.get("entropy"):
        if first.via is not None and first.via.package not in (None, "torch", "numpy"):
            return f"{first.via.package} makes{at} and seeds from the operating system"
        return f"{first.name}(){at} seeds from the operating system"
    return f"{first.name}{at} seeds with {first.shown} in one run and {second.shown} in the other"


def _at(entry: Entry) -> str:
    return f" at line {entry.place.line}" if entry.place else ""


def rng_name(rng: str) -> str:
    """What an RNG is called."""
    if rng.startswith("torch cuda"):
        return f"torch's RNG of {rng.removeprefix('torch ')}"
    return _RNGS.get(rng, rng)


def _asked(cause: Cause) -> str:
    return f"for {cause.at[0].name}"

"""The invariants of the contract, asked of what runs of a program printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from contract.programs import Shape
from contract.runs import Printed

__all__ = ["INVARIANTS", "OF_DRAWS", "Runs"]


@dataclass(frozen=True)
class Runs:
    """What the ranks printed in a run, in one with the same seed that goes through the validation data twice and lists
    folders in reverse, and in one with another seed.
    """

    shape: Shape
    once: list[Printed]
    more: list[Printed]
    other: list[Printed]


def _runs_repeat(runs: Runs) -> bool:
    """Two runs with one seed agree, up to where the one goes through the validation data again."""

    return [_start(one, 1) for one in runs.once] == [_start(one, 2) for one in runs.more]


def _start(one: Printed, val_passes: int) -> object:
    train, val = _first(one, "train"), _first(one, "val")
    of_one_pass = len(one.order["val"][val]) // val_passes
    return (
        one.weights,
        one.split,
        one.order["train"][train],
        one.draws["train"][train],
        one.order["val"][val][:of_one_pass],
        one.draws["val"][val][:of_one_pass],
    )


def _first(one: Printed, name: str) -> int:
    return min(one.order[name], default=0)


def _order_is_apart(runs: Runs) -> bool:
    """How often the validation data is gone through does not change the order of the training data."""
    return all(one.order["train"] == more.order["train"] for one, more in zip(runs.once, runs.more, strict=True))


def _draws_are_apart(runs: Runs) -> bool:
    """Nor what its workers draw."""
    return all(one.draws["train"] == more.draws["train"] for one, more in zip(runs.once, runs.more, strict=True))


def _runs_differ(runs: Runs) -> bool:
    """A program without a seed is not made to repeat itself."""
    return all(one.order["train"] != more.order["train"] for one, more in zip(runs.once, runs.more, strict=True))


def _order_follows(runs: Runs) -> bool:
    return all(one.order["train"] != other.order["train"] for one, other in _with_another_seed(runs))


def _draws_follow(runs: Runs) -> bool:
    return all(not _draws(one) & _draws(other) for one, other in _with_another_seed(runs))


def _weights_follow(runs: Runs) -> bool:
    return all(one.weights != other.weights for one, other in _with_another_seed(runs))


def _split_follows(runs: Runs) -> bool:
    return all(one.split != other.split for one, other in _with_another_seed(runs))


def _with_another_seed(runs: Runs) -> Iterable[tuple[Printed, Printed]]:
    return zip(runs.once, runs.other, strict=True)


def _draws(one: Printed) -> set[float]:
    return {draw for draws in one.draws["train"].values() for draw in draws}


def _epochs_differ(runs: Runs) -> bool:
    """No epoch or update of a training has the order of the one before."""
    of_one = runs.shape.epochs_of_one_training
    return all(
        one.order["train"][before] != one.order["train"][after]
        for one in (*runs.once, *runs.other)
        for before, after in pairwise(sorted(one.order["train"]))
        if not of_one or before // of_one == after // of_one
    )


def _no_draw_comes_twice(runs: Runs) -> bool:
    """In a training, no worker draws what it or another has drawn."""
    of_one = runs.shape.epochs_of_one_training
    for one in (*runs.once, *runs.other):
        trainings: dict[int, list[float]] = {}
        for unit, draws in one.draws["train"].items():
            trainings.setdefault(unit // of_one if of_one else 0, []).extend(draws)
        if any(len(set(draws)) < len(draws) for draws in trainings.values()):
            return False
    return True


def _ranks_draw_apart(runs: Runs) -> bool:
    sets = [_draws(one) for one in runs.once]
    return len(set().union(*sets)) == sum(map(len, sets))


def _ranks_share_the_split(runs: Runs) -> bool:
    return all(one.split == runs.once[0].split for one in runs.once)


INVARIANTS: dict[str, Callable[[Runs], bool]] = {
    "runs repeat": _runs_repeat,
    "runs differ without a seed": _runs_differ,
    "order follows the seed": _order_follows,
    "draws follow the seed": _draws_follow,
    "weights follow the seed": _weights_follow,
    "split follows the seed": _split_follows,
    "epochs differ": _epochs_differ,
    "no draw comes twice": _no_draw_comes_twice,
    "order is apart": _order_is_apart,
    "draws are apart": _draws_are_apart,
    "ranks draw apart": _ranks_draw_apart,
    "ranks share the split": _ranks_share_the_split,
}
OF_DRAWS = frozenset(name for name in INVARIANTS if "draw" in name)

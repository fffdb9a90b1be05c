"""What a seed depends on: the abstract values of the analysis of worker init functions.

A `Dependence` names what takes part in a number that is computed in a worker process. What is not named was fixed
before the worker started, and is the same in every worker and every epoch: constants, settings, anything of the main
process.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from torchrepro_lint.program.evaluation.values import Constant, ExternalObject, MemberOf, SequenceValue, Value, Values

__all__ = ["CONSTANT", "ENTROPY", "NONE", "UNKNOWN_SEED", "Dependence", "Term", "as_value", "joined", "of_values", "on"]


class Term(str, Enum):
    """One thing that a number can depend on."""

    #: The worker id: the argument of the init function, `get_worker_info().id`.
    WORKER = "worker"
    #: `torch.initial_seed()`, `get_worker_info().seed`: the base seed of the epoch plus the worker id.
    TORCH_SEED = "torch-seed"
    #: What all workers share of that seed, its upper bits or the base seed: another value in each epoch.
    SHARED_SEED = "shared-seed"
    #: A draw from a generator that torch seeds in each worker (its own, and Python's `random`).
    DRAW = "draw"
    #: The first word of NumPy's state: 0x80000000 in every worker since torch 1.9, the main process's before.
    NUMPY_WORD = "numpy-word"
    #: Another word of NumPy's state, or a draw: since torch 1.9 one of the worker's own, before the main process's.
    NUMPY_STATE = "numpy-state"
    #: The operating system, the clock, a process number.
    ENTROPY = "entropy"
    #: An epoch, a step, or another value of the main process that changes while it runs.
    EPOCH = "epoch"
    #: Something that could not be followed.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Dependence:
    """What a value depends on. `wide`: it is an integer that is nearly always above 2**32 - 1. `none`: it is None."""

    terms: frozenset[Term] = frozenset()
    wide: bool = False
    none: bool = False

    def __or__(self, other: Dependence) -> Dependence:
        """What a value depends on that is computed from both."""
        return Dependence(self.terms | other.terms, self.wide or other.wide)

    @property
    def narrow(self) -> Dependence:
        """The same, of a value whose size is not known."""
        return replace(self, wide=False, none=False)

    def has(self, *terms: Term) -> bool:
        """Whether any of `terms` takes part."""
        return not self.terms.isdisjoint(terms)

    def read_on(self, *, old_torch: bool) -> Dependence:
        """NumPy's state as what it is worth: with `old_torch`, torch before 1.9 counts too, which does not seed it."""
        if not self.has(Term.NUMPY_STATE, Term.NUMPY_WORD):
            return self
        terms = set(self.terms) - {Term.NUMPY_WORD, Term.NUMPY_STATE}
        if Term.NUMPY_STATE in self.terms:
            # Before 1.9 it changes between epochs only if the main process draws; nobody can tell.
            terms.add(Term.EPOCH if old_torch else Term.DRAW)
        return Dependence(frozenset(terms), self.wide)

    @property
    def differs_between_workers(self) -> bool:
        return self.has(Term.WORKER, Term.TORCH_SEED, Term.DRAW, Term.ENTROPY, Term.UNKNOWN)

    @property
    def differs_between_epochs(self) -> bool:
        return self.has(Term.TORCH_SEED, Term.SHARED_SEED, Term.DRAW, Term.EPOCH, Term.ENTROPY, Term.UNKNOWN)


CONSTANT = Dependence()
NONE = Dependence(none=True)
UNKNOWN_SEED = Dependence(frozenset({Term.UNKNOWN}))
ENTROPY = Dependence(frozenset({Term.ENTROPY}))


def on(term: Term, *, wide: bool = False) -> Dependence:
    """A value that depends on one thing."""
    return Dependence(frozenset({term}), wide)


def joined(options: Iterable[Dependence]) -> Dependence:
    """What a value depends on that is one of `options`, nobody knows which.

    Only what all options agree on counts as proof against the value: it is wide, None or from entropy if each is.
    """
    found = list(dict.fromkeys(options))
    if not found:
        return UNKNOWN_SEED
    terms = frozenset().union(*(option.terms for option in found))
    if Term.ENTROPY in terms and not all(Term.ENTROPY in option.terms for option in found):
        terms = terms - {Term.ENTROPY} | {Term.UNKNOWN}
    return Dependence(terms, all(option.wide for option in found), all(option.none for option in found))


# --- dependences as values ------------------------------------------------------------------------------------

# A dependence travels through frames and calls as an object of an outside class that only this module knows.
_PREFIX = "worker.Seed:"


def as_value(dependence: Dependence) -> ExternalObject:
    """A value that stands for anything with this dependence."""
    terms = "+".join(sorted(term.value for term in dependence.terms))
    return ExternalObject(f"{_PREFIX}{terms}{'!' if dependence.wide else ''}")


def of_values(values: Values) -> Dependence:
    """The dependence of something that may be any of `values`; what is not marked comes from the main process."""
    return joined(_of_value(value) for value in values) if values else CONSTANT


def _of_value(value: Value) -> Dependence:
    match value:
        case Constant(value=None):
            return NONE
        case ExternalObject(name=name) if name.startswith(_PREFIX):
            text = name.removeprefix(_PREFIX)
            terms = frozenset(Term(term) for term in text.rstrip("!").split("+") if term)
            return Dependence(terms, text.endswith("!"))
        case MemberOf(receiver=receiver):
            return _of_value(receiver).narrow
        case SequenceValue(items=items) if items is not None:
            found = CONSTANT
            for item in items:
                found = found | of_values(item)
            return found
        case SequenceValue(element=element):
            return of_values(element).narrow
    return CONSTANT

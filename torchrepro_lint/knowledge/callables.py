"""Callables of libraries that run code of the program: datasets over datasets, transforms, collate functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import DataFileError, NameIndex, expand_names, read_table, read_words

__all__ = [
    "CallableKind",
    "ExternalCallable",
    "Moment",
    "Protocol",
    "Runs",
    "called_methods",
    "described_packages",
    "external_callable",
    "starters",
]

#: What is done with the argument. `dataset`: items are fetched from it; `datasets`: from each of them;
#: `callable`: it is called; `callables`: each is called (a list, a tuple, or the values of a mapping);
#: `iterable`: it is iterated; `collate`: called with the list of items; `sampler`: iterated in the main process;
#: `getter`, `augmentation`, `transformation`, `subject_transform`, `waveform_transform`: methods of it are called,
#: those of `called_methods`; `components`: it, what it holds, or the file that calls is offered on the command line:
#: functions, and classes with their methods.
Protocol = Literal[
    "dataset", "datasets", "callable", "callables", "iterable", "collate", "sampler", "getter", "augmentation",
    "transformation", "subject_transform", "waveform_transform", "components",
]  # fmt: skip
#: Those that stand for methods of an argument, which subclasses of the library's class define.
MethodProtocol = Literal["getter", "augmentation", "transformation", "subject_transform", "waveform_transform"]

#: When that is done. `now`: during the call, in the process that calls; `item`: whenever an item is fetched from
#: what the call returns; `call`: whenever what the call returns is called.
Moment = Literal["now", "item", "call"]

CallableKind = Literal["function", "dataset", "iterable-dataset", "transform", "sampler"]

_MOMENTS: dict[str, Moment] = {
    "function": "now",
    "dataset": "item",
    "iterable-dataset": "item",
    "transform": "call",
    "sampler": "now",
}
_COLUMNS = ("names", "kind", "parameters", "runs", "returns", "source")


@dataclass(frozen=True, slots=True)
class Runs:
    """One argument that is run. `position` is that among the positional arguments, without a method's receiver;
    None for a keyword. The parameter `*` stands for every positional argument, `**` for every keyword argument,
    and `self` for the receiver of a method.
    """

    parameter: str
    position: int | None
    protocol: Protocol
    moment: Moment


@dataclass(frozen=True, slots=True)
class ExternalCallable:
    """A class or function of a library.

    `parameters` are those that can be given by position, in order, without a method's receiver; `keyword_only`
    the others that matter. `returns` is the qualified name of the type of what a call gives, where that is not
    the class itself: `param:0` hands its first argument on, `params` all of them as a tuple (one: itself),
    `receiver` the object that the method is called on, `sequence-of:T` a list of `T`,
    `T if p else U` one of two types by whether the parameter `p` is true,
    `made-of:p` what the configuration in the parameter `p` names as its `_target_`,
    `called:p` what a call of the parameter `p` gives, whose arguments are read from the command line or a file.
    """

    kind: CallableKind
    parameters: tuple[str, ...]
    keyword_only: tuple[str, ...]
    runs: tuple[Runs, ...]
    returns: str | None
    source: str

    @property
    def is_dataset(self) -> bool:
        """Whether a call makes a dataset: its items are fetched in the workers of a loader that gets it."""
        return self.kind in ("dataset", "iterable-dataset")

    @property
    def gives_receiver(self) -> bool:
        """Whether a call of this method gives the object that it is called on, or a part that does the same."""
        return self.returns == "receiver"


@cache
def external_callable(qualname: str) -> ExternalCallable | None:
    """What is known about the class, function or method `qualname`; None where nothing is."""
    known = _index().get(canonical(qualname))
    return known[0] if known else None


@cache
def called_methods(protocol: MethodProtocol) -> tuple[str, ...]:
    """The methods of an argument that a library calls which takes it as `protocol`."""
    return tuple(read_words("protocols.toml", protocol))


@cache
def described_packages() -> frozenset[str]:
    """The packages of which callables are described."""
    return frozenset(name.partition(".")[0] for name, _ in _rows())


@cache
def starters() -> frozenset[str]:
    """The canonical names of what calls a function with the arguments that its parameter `args` holds: a process, a
    thread.
    """
    return frozenset(canonical(name) for name, known in _rows() if known.runs and "args" in known.parameters)


@cache
def _index() -> NameIndex[ExternalCallable]:
    index: NameIndex[ExternalCallable] = NameIndex()
    for name, known in _rows():
        index.add(name, known)
    return index


def _rows() -> Iterator[tuple[str, ExternalCallable]]:
    for row in read_table("callables.tsv", _COLUMNS):
        known = _callable(row)
        for name in expand_names(row["names"]):
            yield name, known


def _callable(row: dict[str, str]) -> ExternalCallable:
    kind = row["kind"] or "function"
    if kind not in get_args(CallableKind) or not row["source"]:
        raise DataFileError(f"a row on callables is not of the form: {row}")
    positional, _, keywords = row["parameters"].partition("*,")
    parameters = tuple(filter(None, (name.strip() for name in positional.split(","))))
    return ExternalCallable(
        kind=kind,  # type: ignore[arg-type]
        parameters=parameters,
        keyword_only=tuple(filter(None, (name.strip() for name in keywords.split(",")))),
        runs=tuple(_runs(part.strip(), parameters, _MOMENTS[kind]) for part in row["runs"].split(",") if part.strip()),
        returns=row["returns"] or None,
        source=row["source"],
    )


def _runs(text: str, parameters: tuple[str, ...], usual: Moment) -> Runs:
    """Read `parameter:protocol` or `parameter:protocol@moment`."""
    parameter, _, rest = text.partition(":")
    protocol, _, moment = rest.partition("@")
    if protocol not in get_args(Protocol) or (moment and moment not in get_args(Moment)):
        raise DataFileError(f"not an argument that is run: {text!r}")
    position = parameters.index(parameter) if parameter in parameters else None
    return Runs(parameter, position, protocol, moment or usual)  # type: ignore[arg-type]

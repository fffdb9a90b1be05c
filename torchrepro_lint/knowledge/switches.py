"""Determinism switches and seeding calls: what says that a program means to be reproducible, and what seeds what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.knowledge.conditions import Condition, Parameter, parse_conditions
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import DataFileError, expand_names, read_toml

__all__ = [
    "Requirement",
    "SeedingCall",
    "Switch",
    "assignment_switch",
    "call_switches",
    "seeding_call",
    "switch_call_names",
]

Level = Literal["deterministic", "seeded"]

#: What a switch does. `algorithms`: `use_deterministic_algorithms(True)`, ops raise or are made deterministic;
#: `algorithms-warn`: the same with a warning in place of the error; `cudnn`: cuDNN's deterministic algorithms
#: only; `benchmark`: cuDNN's autotuner is on, which is against every intent; `cudnn-off`: cuDNN's switch is
#: taken back; `benchmark-off` and `algorithms-off` likewise. `precision`: products of matrices may be less precise
#: on some devices; `autotune`: kernels are chosen by timing.
Effect = Literal[
    "algorithms",
    "algorithms-warn",
    "algorithms-off",
    "cudnn",
    "cudnn-off",
    "benchmark",
    "benchmark-off",
    "precision",
    "autotune",
]
_EFFECTS = frozenset(Effect.__args__)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Requirement:
    """A library and versions of it, as in `pytorch-lightning<1.5`."""

    package: str
    versions: str

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read the name of the package, and what follows it. Raises `DataFileError` where there is none."""
        match = re.fullmatch(r"([\w.-]+?)([<>=!].*)", text)
        if match is None:
            raise DataFileError(f"not a package with its versions: {text!r}")
        return cls(match[1], match[2])


@dataclass(frozen=True, slots=True)
class Switch:
    """One thing that an assignment or a call switches.

    An assignment switches where the assigned value fulfils `when` (its parameter is called `value`), a call where
    its arguments do. `level` is the intent that this is evidence of; None for a switch that is against it, or
    that takes it back. `parameter` is the argument to repair, None for an assignment; `since` is the first torch that
    takes it, where the function itself is older. `within`: the parameter that a mapping is given for, whose keys are
    then what `when` and `parameter` name: `Runner(randomness=dict(deterministic=True))`. `only_for` and `not_for` name
    a library and its versions, `pytorch-lightning<1.5`: it switches only where the project surely asks for these, or
    not where it does.
    """

    qualname: str
    effect: Effect
    level: Level | None
    when: tuple[Condition, ...]
    parameter: Parameter | None
    since: str | None
    source: str
    within: str | None = None
    only_for: Requirement | None = None
    not_for: Requirement | None = None


@dataclass(frozen=True, slots=True)
class SeedingCall:
    """A call that seeds: `seeds` names generators of `generators.toml`.

    `seed_parameter` is the argument with the seed; where it is left out or None, the seed is `default` if that is
    an integer, and drawn from entropy where `default` is None. `when` and `within` as in `Switch`. `handed_to` are the
    names of what seeds with that seed when it is made, if the program makes it; else the call itself is taken to seed.
    `fresh`: every release of the library draws a seed where none is given. `configured_by`: the attributes of the
    configuration that it is given, one of which holds the seed; below 0 is none.
    """

    qualname: str
    seeds: frozenset[str]
    seed_parameter: Parameter | None
    default: int | None
    when: tuple[Condition, ...]
    source: str
    handed_to: frozenset[str] = frozenset()
    fresh: bool = False
    within: str | None = None
    configured_by: tuple[str, ...] = ()


def assignment_switch(qualname: str) -> tuple[Switch, ...]:
    """What an assignment to the attribute `qualname` can switch, such as `torch.backends.cudnn.benchmark`."""
    return _switches("assignment").get(canonical(qualname), ())


def call_switches(qualname: str) -> tuple[Switch, ...]:
    """What a call of `qualname` can switch. Methods and classes alike: `lightning.pytorch.Trainer`."""
    return _switches("call").get(canonical(qualname), ())


def seeding_call(qualname: str) -> SeedingCall | None:
    """What a call of `qualname` seeds; None where it seeds nothing of the program's."""
    return _seeding().get(canonical(qualname))


@cache
def switch_call_names() -> frozenset[str]:
    """The last parts of the names of all calls that switch or seed: what a quick look at a call compares with."""
    return last_parts((*_switches("call"), *_seeding()))


@cache
def _data() -> Mapping[str, Any]:
    return read_toml("switches.toml")


@cache
def _switches(kind: str) -> Mapping[str, tuple[Switch, ...]]:
    found: dict[str, tuple[Switch, ...]] = {}
    for row in _data()[kind]:
        if row["effect"] not in _EFFECTS:
            raise DataFileError(f"not an effect of a switch: {row['effect']!r}")
        for name in expand_names(row["name"]):
            switch = Switch(
                qualname=name,
                effect=row["effect"],
                level=row.get("level"),
                when=parse_conditions(row["when"]),
                parameter=Parameter.parse(row["parameter"]) if "parameter" in row else None,
                since=row.get("since"),
                source=row["source"],
                within=row.get("within"),
                only_for=Requirement.parse(row["only_for"]) if "only_for" in row else None,
                not_for=Requirement.parse(row["not_for"]) if "not_for" in row else None,
            )
            found[name] = (*found.get(name, ()), switch)
    return found


@cache
def _seeding() -> Mapping[str, SeedingCall]:
    found: dict[str, SeedingCall] = {}
    for row in _data()["seeding"]:
        for name in expand_names(row["name"]):
            if name in found:
                raise DataFileError(f"two rows say what {name} seeds")
            found[name] = SeedingCall(
                qualname=name,
                seeds=frozenset(row["seeds"]),
                seed_parameter=Parameter.parse(row["parameter"]) if "parameter" in row else None,
                default=row.get("default"),
                when=parse_conditions(row.get("when", "")),
                source=row["source"],
                handed_to=frozenset(one for text in row.get("handed_to", ()) for one in expand_names(text)),
                fresh=row.get("fresh", False),
                within=row.get("within"),
                configured_by=tuple(row.get("configured_by", ())),
            )
    return found

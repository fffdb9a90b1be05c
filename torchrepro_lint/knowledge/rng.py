"""Random number generators: which call draws from which, seeds it, makes one, saves or restores its state."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, get_args

from torchrepro_lint.knowledge.conditions import Condition, Parameter, parse_conditions
from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import DataFileError, NameIndex, expand_names, read_table
from torchrepro_lint.knowledge.versions import admits

__all__ = [
    "SEEDED_TWINS",
    "WRITTEN_SEEDS",
    "Kind",
    "RngEffect",
    "entropy_words",
    "object_seedings",
    "rng_effects",
    "seeding_themselves",
    "switched_to_entropy",
]

#: Another distribution of the same modules, in which torch's worker seed decides.
SEEDED_TWINS: Final = {"albumentations": "albumentationsx"}

#: The calls that seed the generators of the main process, as they are usually written.
WRITTEN_SEEDS: Final = {
    "python": re.compile(r"(?<![\w.])random\.seed\("),
    "numpy": re.compile(r"(?<![\w.])(?:np|numpy)\.random\.seed\("),
    "torch": re.compile(r"(?<![\w.])(?:torch|th)\.manual_seed\("),
}

Kind = Literal["draw", "seed", "make", "read-state", "restore-state"]

_COLUMNS = ("names", "rng", "kind", "when", "makes", "seed", "generator", "moment", "package", "versions", "source")


@dataclass(frozen=True, slots=True)
class RngEffect:
    """What a call does to a random number generator.

    `rng` is the name of one of `generators`. The effect takes place where all of `when` hold (empty: always).
    `makes` names the type of a generator that is made; `seed_parameter` is the argument that seeds it, or that a
    seeding call seeds with (left out or None: entropy). `generator_parameter` is the argument through which the
    caller can hand over a generator: it is then that object that is drawn from, and not `rng`; an integer there
    makes a constant stream. `moment` is `call`, or where the object that the call makes draws later on, `fit` for
    an estimator, which draws when it is fitted, and `use` for others.
    `versions` is a specifier of `package` (None: all); `source` says where the fact was read.
    """

    rng: str
    kind: Kind
    when: tuple[Condition, ...]
    package: str
    versions: str | None
    source: str
    makes: str | None = None
    seed_parameter: Parameter | None = None
    generator_parameter: Parameter | None = None
    moment: Literal["call", "use", "fit"] = "call"

    @property
    def entropy_option(self) -> Parameter | None:
        """The option that makes the call take a seed from the system, if no argument brings another one."""
        if self.kind != "draw" or self.rng != "entropy" or self.generator_parameter is not None:
            return None
        options = (Parameter(one.parameter, one.position) for one in self.when if one.test == "is-true")
        return next(options, None)

    def holds_at(self, version: str) -> bool:
        """Whether the effect is there in the release `version` of its package."""
        return admits(self.versions, version)


@cache
def rng_effects(qualname: str) -> tuple[RngEffect, ...]:
    """All effects of calling `qualname`, over every version of its package; empty where none is known.

    A method is spelled with its type: `numpy.random.Generator.integers`, `albumentations.Compose.__call__`.
    Newer versions come first.
    """
    return tuple(effect for effect in _index().get(canonical(qualname)) if effect.rng != "none")


@cache
def object_seedings() -> frozenset[str]:
    """The calls that make a generator of Python, NumPy or torch from a seed, and the methods that seed one."""
    return frozenset(
        name
        for name in _index().names()
        for effect in rng_effects(name)
        if effect.rng == "receiver" and effect.kind in ("make", "seed") and effect.seed_parameter is not None
        if effect.package in ("python", "numpy", "torch")
    )


@cache
def seeding_themselves() -> frozenset[str]:
    """The calls that draw from a generator of their own, which takes its seed from the system unless they have one."""
    return frozenset(
        canonical(name)
        for name in _index().names()
        if "*" not in name and (effects := [one for one in rng_effects(name) if one.kind == "draw"])
        if all(one.rng in ("fresh", "entropy") and one.generator_parameter is not None for one in effects)
    )


@cache
def switched_to_entropy() -> frozenset[str]:
    """The calls that draw by a seed from the system where an option is on, whatever else they are given."""
    return frozenset(
        canonical(name)
        for name in _index().names()
        if "*" not in name and any(one.entropy_option is not None for one in rng_effects(name))
    )


@cache
def entropy_words() -> frozenset[str]:
    """What comes last in the names of the calls that give another number in every run, and of no other draw."""
    drawn: dict[bool, set[str]] = {True: set(), False: set()}
    for name in _index().names():
        for effect in rng_effects(name):
            if effect.kind == "draw" and effect.package in ("python", "numpy", "torch"):
                drawn[effect.rng in ("entropy", "hash")].add(name.rpartition(".")[2])
    return frozenset(drawn[True] - drawn[False])


@cache
def _index() -> NameIndex[RngEffect]:
    index: NameIndex[RngEffect] = NameIndex()
    for file in ("rng.tsv", "rng_libraries.tsv"):
        for row in read_table(file, _COLUMNS):
            effect = _effect(row)
            for name in expand_names(row["names"]):
                index.add(name, effect)
    return index


def _effect(row: dict[str, str]) -> RngEffect:
    kind, moment = row["kind"], row["moment"] or "call"
    if (
        row["rng"] not in generators()
        or kind not in get_args(Kind)
        or moment not in ("call", "use", "fit")
        or not row["source"]
    ):
        raise DataFileError(f"a row on random numbers is not of the form: {row}")
    return RngEffect(
        rng=row["rng"],
        kind=kind,  # type: ignore[arg-type]
        when=parse_conditions(row["when"]),
        package=row["package"],
        versions=row["versions"] or None,
        source=row["source"],
        makes=row["makes"] or None,
        seed_parameter=Parameter.parse(row["seed"]) if row["seed"] else None,
        generator_parameter=Parameter.parse(row["generator"]) if row["generator"] else None,
        moment=moment,  # type: ignore[arg-type]
    )

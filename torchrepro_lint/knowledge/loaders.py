"""Loaders: PyTorch's DataLoader, the subclasses and factories of libraries, and the frameworks that seed workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.knowledge.conditions import Condition, parse_conditions
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import DataFileError, read_toml
from torchrepro_lint.knowledge.versions import admits

__all__ = [
    "GENERATOR_SINCE",
    "ROLES",
    "SAMPLER_GENERATOR_SINCE",
    "InitFunction",
    "LoaderClass",
    "Manager",
    "Role",
    "loader_class",
    "loader_names",
    "manager",
    "manager_names",
    "managers",
    "torch_position",
]

Role = Literal[
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "worker_init_fn",
    "generator",
    "multiprocessing_context",
    "persistent_workers",
]
#: The first torch whose DataLoader and random_split take a `generator` (torch/utils/data/dataloader.py@v1.6.0), and the
#: first whose samplers do (torch/utils/data/sampler.py@v1.7.0).
GENERATOR_SINCE = "1.6"
SAMPLER_GENERATOR_SINCE = "1.7"

#: The parameters of torch's DataLoader that matter here. A loader may call them otherwise, or not have them.
ROLES: tuple[Role, ...] = Role.__args__  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class LoaderClass:
    """A class or factory whose call makes a loader.

    `parameters` are the positional ones in order. `keywords` maps each role to the parameter that has it; a role
    that is absent cannot be given. `defaults` holds the value of parameters that are not given. `fixed` holds
    roles that the loader sets itself, whatever the caller says.

    `worker_seeding` says what is seeded in each worker beyond what torch itself does: `torch` nothing;
    `numpy` NumPy's and Python's global generators, from torch's worker seed; `dataset` the random objects that the
    dataset holds, no global one; `repeats` the globals, from a seed that is the same in every epoch. It holds where
    all of `seeding_when` hold.
    `order`: who decides the order where `generator` is not given: `torch` its default generator; `python` the
    random module; `numpy` NumPy's global generator; `seeded` the loader's own sampler, from a seed; `shards` nobody:
    the stream's own order.
    """

    qualname: str
    kind: Literal["class", "factory"]
    parameters: tuple[str, ...]
    keywords: Mapping[Role, str]
    defaults: Mapping[str, object]
    fixed: frozenset[str]
    worker_seeding: Literal["torch", "numpy", "dataset", "repeats"]
    seeding_when: tuple[Condition, ...]
    order: Literal["torch", "python", "numpy", "seeded", "shards"]
    package: str
    versions: str | None
    source: str

    @property
    def takes_generator(self) -> bool:
        """Whether a `generator` can be handed over, so that a fix may insert one."""
        return "generator" in self.keywords

    @property
    def takes_worker_init_fn(self) -> bool:
        """Whether a `worker_init_fn` can be handed over."""
        return "worker_init_fn" in self.keywords

    def position(self, role: Role) -> int | None:
        """Position of the argument with this role; None where it is a keyword only, or cannot be given."""
        name = self.keywords.get(role)
        return self.parameters.index(name) if name in self.parameters else None


@dataclass(frozen=True, slots=True)
class Manager:
    """A call after which a framework seeds the workers, or the order, of loaders that it is given.

    It holds where all of `when` hold. `reaches`: `program` every loader that the framework runs; `argument` the
    loaders that are arguments of the call; `own` those that the framework builds itself. `workers`: the global
    generators that it seeds in each worker. `order`: whether it gives the sampler a seed of its own; `order_varies`: in
    some releases, or with one process or several, it does not.
    """

    qualname: str
    when: tuple[Condition, ...]
    reaches: Literal["program", "argument", "own"]
    workers: frozenset[str]
    order: bool
    order_varies: bool
    package: str
    versions: str | None
    source: str

    def holds_at(self, version: str) -> bool:
        """Whether this is so in the release `version` of the package."""
        return admits(self.versions, version)


@dataclass(frozen=True, slots=True)
class InitFunction:
    """A worker init function that a library offers.

    `seeds` names the generators that it seeds in the worker; `own`: those that the dataset's objects hold.
    `parameter` is the argument that the worker id is handed to.
    """

    qualname: str
    seeds: frozenset[str]
    parameter: str
    package: str
    source: str


def init_function(qualname: str) -> InitFunction | None:
    """What the library's function `qualname` does as a worker init function; None where it is none."""
    return _init_functions().get(canonical(qualname))


def loader_class(qualname: str) -> LoaderClass | None:
    """The loader that a call of `qualname` makes; None where it is not known as one."""
    return _loaders().get(canonical(qualname))


def torch_position(role: Role) -> int | None:
    """Position of a parameter of torch's own DataLoader, counted from 0; None where it is a keyword only."""
    return _loaders()["torch.utils.data.DataLoader"].position(role)


@cache
def loader_names() -> tuple[str, ...]:
    """The last parts of all loaders' names: a file that holds none of them makes no loader under its own name."""
    return tuple(sorted(last_parts(_loaders())))


@cache
def manager_names() -> frozenset[str]:
    """The last parts of all managers' names."""
    return last_parts(_managers())


def manager(qualname: str) -> Manager | None:
    """What a call of `qualname` manages; the newest versions' row where there are several."""
    rows = managers(qualname)
    return rows[0] if rows else None


def managers(qualname: str) -> tuple[Manager, ...]:
    """Every row on `qualname`, newest versions first."""
    return _managers().get(canonical(qualname), ())


@cache
def _loaders() -> Mapping[str, LoaderClass]:
    data = read_toml("loaders.toml")
    torch_defaults: Mapping[str, object] = data["torch_defaults"]
    found: dict[str, LoaderClass] = {}
    for row in data["loader"]:
        for name in row["names"]:
            if name in found:
                raise DataFileError(f"two loaders are called {name}")
            found[name] = _loader(name, row, torch_defaults)
    return found


def _loader(name: str, row: Mapping[str, Any], torch_defaults: Mapping[str, object]) -> LoaderClass:
    parameters = tuple(row["parameters"])
    forwards = row.get("forwards", False)
    fixed = frozenset(row.get("fixed", ()))
    taken = {*parameters, *row.get("keyword_only", ())}
    keywords: dict[Role, str] = {role: role for role in ROLES if (role in taken or forwards) and role not in fixed}
    keywords.update(row.get("keywords", {}))
    defaults = {key: value for key, value in torch_defaults.items() if key in keywords.values()}
    return LoaderClass(
        qualname=name,
        kind=row["kind"],
        parameters=parameters,
        keywords=MappingProxyType(keywords),
        defaults=MappingProxyType({**defaults, **row.get("defaults", {})}),
        fixed=fixed,
        worker_seeding=row.get("worker_seeding", "torch"),
        seeding_when=parse_conditions(row.get("seeding_when", "")),
        order=row.get("order", "torch"),
        package=row["package"],
        versions=row.get("versions"),
        source=row["source"],
    )


@cache
def _managers() -> Mapping[str, tuple[Manager, ...]]:
    found: dict[str, tuple[Manager, ...]] = {}
    for row in read_toml("loaders.toml")["manager"]:
        for name in row["names"]:
            known = Manager(
                qualname=name,
                when=parse_conditions(row.get("when", "")),
                reaches=row["reaches"],
                workers=frozenset(row.get("workers", ())),
                order=row.get("order", False),
                order_varies=row.get("order_varies", False),
                package=row["package"],
                versions=row.get("versions"),
                source=row["source"],
            )
            found[name] = (*found.get(name, ()), known)
    return found


@cache
def _init_functions() -> Mapping[str, InitFunction]:
    return {
        name: InitFunction(
            qualname=name,
            seeds=frozenset(row["seeds"]),
            parameter=row["parameter"],
            package=row["package"],
            source=row["source"],
        )
        for row in read_toml("loaders.toml")["init_function"]
        for name in row["names"]
    }

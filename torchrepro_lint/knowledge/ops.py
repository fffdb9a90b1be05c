"""Nondeterministic operations of torch: what each does under the determinism flag, by release and by arguments."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from torchrepro_lint.knowledge.conditions import Condition, Value, parse_conditions
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import DataFileError, NameIndex, expand_names, read_table
from torchrepro_lint.knowledge.torch_releases import torch_releases
from torchrepro_lint.knowledge.versions import admits, release

__all__ = ["OpEffect", "OpRow", "newest_release", "op_names", "op_rows", "op_table"]

#: `throws`: RuntimeError under `torch.use_deterministic_algorithms(True)`, nondeterministic without it;
#: `made_deterministic`: nondeterministic without the flag, deterministic with it;
#: `silent`: nondeterministic, whatever the flag says;
#: `fills_memory`: the flag fills memory that is not initialised.
OpEffect = Literal["throws", "made_deterministic", "silent", "fills_memory"]
Phase = Literal["forward", "backward", "both"]
Device = Literal["cuda", "cpu", "mps", "any"]

#: `cudnn`: cuDNN's own switch covers it; `cublas`: the workspace variable decides; `attention`; `memory`: it only
#: fills memory; `mps`; `compiled`: only under torch.compile; `indexing`: an indexed read or assignment. Some operations
#: have no order to lose, although they alert: `windows`, where windows do not overlap; `padding`, where the kernel has
#: size 1; `indices`, where no index comes twice; `pooled`, where the indices come from the pooling before it; `counts`,
#: since every addend is one, unless there are weights; `bins`, where each element is in one window, as with an output
#: size of 1; `pairs`, since at most two gradients meet in an element, whose sum is the same in either order; `ties`,
#: where nobody looks at the indices. `plain`: an assignment by index, where only an index that comes twice leaves open
#: which value stays; `third-party`: of another package than torch; `spectrum`: a module of it mostly is before a
#: network, where no gradient comes back to the recording.
_FLAGS = frozenset(
    {
        *("cudnn", "cublas", "attention", "memory", "mps", "compiled", "indexing", "windows", "indices", "pooled"),
        *("counts", "bins", "pairs", "ties", "plain", "third-party", "padding", "spectrum"),
    }
)

_COLUMNS = (
    "op",
    "spellings",
    "effect",
    "phase",
    "device",
    "since",
    "until",
    "when",
    "requires",
    "flags",
    "condition",
    "alert",
    "alternative",
    "source",
)
_SIGNATURE_COLUMNS = ("names", "parameters", "fixed")


@dataclass(frozen=True, slots=True)
class OpRow:
    """One effect of one operation, for one spelling of it.

    `op` is the name under which the documentation has it. The effect holds from the release `since` on, up to and
    without `until` (None: no bound), where all of `when` hold; their positions are those of this spelling, and what
    the spelling itself decides is left out of them. A row of phase `backward` needs an input that requires grad.
    `requires` is a specifier of another package, such as `torchvision<0.16`. `condition` says in prose what `when`
    says, and more; `alert` is the name in torch's error, `alternative` what to do instead.
    """

    op: str
    effect: OpEffect
    phase: Phase
    device: Device
    since: str | None
    until: str | None
    when: tuple[Condition, ...]
    requires: str | None
    flags: frozenset[str]
    condition: str
    alert: str | None
    alternative: str
    source: str

    def holds_at(self, version: str) -> bool:
        """Whether the effect is there in the release `version` of torch."""
        return admits(f">={self.since}" if self.since else None, version) and admits(
            f"<{self.until}" if self.until else None, version
        )

    @property
    def decided_by_arguments(self) -> bool:
        """Whether the call's argument list decides all conditions."""
        return all(condition.decided_by_arguments for condition in self.when)


@cache
def op_rows(qualname: str) -> tuple[OpRow, ...]:
    """All rows on the function, method or module class `qualname`; methods are spelled `torch.Tensor.scatter_add_`."""
    name = canonical(qualname)
    signature = _signatures().get(name)
    specialised = (_specialised(row, signature) for row in _index().get(name))
    return tuple(row for row in specialised if row is not None)


@cache
def op_names() -> frozenset[str]:
    """Every spelling that has rows. A pattern stands as it is written."""
    return frozenset(_index().names())


@cache
def op_table() -> tuple[OpRow, ...]:
    """The rows as they are in the table, for all of their spellings."""
    return tuple(_row(row) for row in read_table("ops.tsv", _COLUMNS))


@cache
def newest_release() -> str:
    """The newest release of torch that the tool knows: what an unknown target stands for."""
    return max(torch_releases(), key=release)


@dataclass(frozen=True, slots=True)
class _Signature:
    parameters: tuple[str, ...]
    fixed: Mapping[str, Value]


def _specialised(row: OpRow, signature: _Signature | None) -> OpRow | None:
    """The row for a spelling with this signature; None where the spelling rules it out."""
    if signature is None:
        return row
    when = []
    for condition in row.when:
        if not condition.decided_by_arguments:
            when.append(condition)
            continue
        if condition.parameter in signature.parameters:
            when.append(condition.at(signature.parameters.index(condition.parameter)))
            continue
        given = condition.parameter in signature.fixed
        verdict = condition.holds(given, signature.fixed.get(condition.parameter))
        if verdict is False:
            return None
    return OpRow(**{**{name: getattr(row, name) for name in row.__slots__}, "when": tuple(when)})


@cache
def _signatures() -> Mapping[str, _Signature]:
    found: dict[str, _Signature] = {}
    for row in read_table("op_signatures.tsv", _SIGNATURE_COLUMNS):
        fixed = (part.split("=", 1) for part in row["fixed"].split(",") if part)
        signature = _Signature(
            parameters=tuple(row["parameters"].split(",")),
            fixed={name: literal_eval(value) for name, value in fixed},
        )
        for name in expand_names(row["names"]):
            if name in found:
                raise DataFileError(f"two signatures of {name}")
            found[name] = signature
    return found


@cache
def _index() -> NameIndex[OpRow]:
    index: NameIndex[OpRow] = NameIndex()
    for row in read_table("ops.tsv", _COLUMNS):
        op_row = _row(row)
        for name in expand_names(row["spellings"]):
            index.add(name, op_row)
    return index


def _row(row: dict[str, str]) -> OpRow:
    flags = frozenset(filter(None, row["flags"].split(",")))
    known = row["effect"] in get_args(OpEffect) and row["phase"] in get_args(Phase)
    if not known or row["device"] not in get_args(Device) or not flags <= _FLAGS or not row["source"]:
        raise DataFileError(f"a row on an operation is not of the form: {row}")
    return OpRow(
        op=row["op"],
        effect=row["effect"],  # type: ignore[arg-type]
        phase=row["phase"],  # type: ignore[arg-type]
        device=row["device"],  # type: ignore[arg-type]
        since=row["since"] or None,
        until=row["until"] or None,
        when=parse_conditions(row["when"]),
        requires=row["requires"] or None,
        flags=flags,
        condition=row["condition"],
        alert=row["alert"] or None,
        alternative=row["alternative"],
        source=row["source"],
    )

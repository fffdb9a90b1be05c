"""What was measured of the table of operations: what each did, on which device, with which torch, and when."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from functools import cache

from torchrepro_lint.knowledge.tables import read_table

__all__ = ["OpMeasurement", "op_measurements"]


@dataclass(frozen=True, slots=True)
class OpMeasurement:
    """What was seen of the call for one row of the table (`op` and `when`).

    `kind` is `cpu` or `cuda`, `device` the name of the device, `cuda` the CUDA version that torch was built for (empty:
    none), `runs` how often the call was run, `date` when (ISO 8601). `result` is one of: `raises under
    use_deterministic_algorithms(True)`, `cannot be run under use_deterministic_algorithms(True)` (another error than
    an alert), `made deterministic by the switch`, `differs between runs`, `bitwise stable in N runs`; `detail` says
    more, such as the name of the alert.
    """

    op: str
    when: str
    kind: str
    device: str
    torch: str
    cuda: str
    runs: str
    date: str
    result: str
    detail: str

    def __str__(self) -> str:
        """The line of the data file."""
        return "\t".join(astuple(self)).rstrip("\t")


@cache
def op_measurements() -> tuple[OpMeasurement, ...]:
    """All measurements. A later line on the same call, device and torch stands for the earlier one."""
    columns = [field.name for field in fields(OpMeasurement)]
    found: dict[tuple[str, ...], OpMeasurement] = {}
    for row in read_table("op_measurements.tsv", columns):
        one = OpMeasurement(**row)
        found[one.op, one.when, one.device, one.torch] = one
    return tuple(found.values())

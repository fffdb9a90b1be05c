"""What was seen on a GPU of whole programs: the claims of the fixtures that hold there, and what small trainings gave.

Measured by `benchmarks/gpu_evidence.py`; what single operations do is in `op_measurements`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache

from torchrepro_lint.knowledge.tables import read_table

__all__ = ["GpuClaim", "GpuTraining", "gpu_claims", "gpu_trainings"]


@dataclass(frozen=True, slots=True)
class GpuClaim:
    """A claim of a fixture (its folder and name) that held, with what was `observed`.

    `device` is the name of the GPU, `cuda` the CUDA version that torch was built for, `date` when (ISO 8601).
    """

    fixture: str
    claim: str
    observed: str
    device: str
    torch: str
    cuda: str
    date: str

    @property
    def rule(self) -> str:
        """The code of the rule that the fixture is for."""
        return self.fixture.partition("_")[0]


@dataclass(frozen=True, slots=True)
class GpuTraining:
    """What several fresh processes of one training gave.

    `rules` are the codes of the rules that it is about, separated by spaces; `variant` is what it sets; `result` says
    how many different results there were; `beside`, whether they are those of the training with seeds alone (`the same
    as`, `other than`; empty where that is this one, or nothing was trained); `alert` is the name in torch's error
    where it cannot be run. The rest as in `GpuClaim`.
    """

    rules: str
    network: str
    variant: str
    result: str
    beside: str
    alert: str
    device: str
    torch: str
    cuda: str
    date: str


@cache
def gpu_claims() -> tuple[GpuClaim, ...]:
    """All claims that were shown on a GPU."""
    columns = [field.name for field in fields(GpuClaim)]
    return tuple(GpuClaim(**row) for row in read_table("gpu_claims.tsv", columns))


@cache
def gpu_trainings() -> tuple[GpuTraining, ...]:
    """All trainings that were run on a GPU, in the order of the file."""
    columns = [field.name for field in fields(GpuTraining)]
    return tuple(GpuTraining(**row) for row in read_table("gpu_networks.tsv", columns))

"""What a call switches in the releases of its library that the project asks for."""

from __future__ import annotations

from pathlib import Path

from torchrepro_lint.knowledge.switches import Requirement, Switch, call_switches
from torchrepro_lint.source.package_versions import surely_in

__all__ = ["switches_of"]


def switches_of(root: Path, qualname: str) -> tuple[Switch, ...]:
    """What a call of `qualname` switches in a project. What depends on the release is taken as in the newest ones,
    where the project does not surely ask for others: Lightning's `Trainer(deterministic=True)` calls
    `torch.use_deterministic_algorithms` since 1.5.
    """
    return tuple(
        switch
        for switch in call_switches(qualname)
        if (switch.only_for is None or _asks_for(root, switch.only_for))
        and (switch.not_for is None or not _asks_for(root, switch.not_for))
    )


def _asks_for(root: Path, required: Requirement) -> bool:
    return surely_in(root, required.package, required.versions)

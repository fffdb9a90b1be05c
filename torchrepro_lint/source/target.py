"""Which versions of torch a project is written for: a question to its settings and metadata, never to the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from torchrepro_lint.knowledge.torch_releases import torch_releases
from torchrepro_lint.settings import Settings

__all__ = ["TargetTorch", "described", "find_target"]


@dataclass(frozen=True)
class TargetTorch:
    """The versions of torch that count. `alternatives` are version specifiers of which one or another holds; empty
    means that nothing is known, and every release counts. `origin` is the file that says so, relative to the project,
    or `target-torch` for the settings, or what it was `inferred` from; None where nothing is known. `tried` are the
    specifiers that name versions with which the project was run: pins, and what a README or the settings say.
    """

    alternatives: tuple[str, ...] = ()
    origin: str | None = None
    inferred: bool = False
    tried: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether anything is known."""
        return bool(self.alternatives)

    @property
    def specifier(self) -> str | None:
        """The specifier as a person reads it, None where nothing is known."""
        return " or ".join(self.alternatives) or None

    @cached_property
    def admitted(self) -> tuple[str, ...]:
        """The released versions that count, oldest first. All of them where nothing is known.

        A pin on a version that the list does not have, a later one or a pre-release, stands for itself.
        """
        if not self.alternatives:
            return torch_releases()
        return _admitted(self.alternatives)

    def admits_below(self, version: str) -> bool:
        """Whether a released version below `version` counts: `admits_below("1.9")` is about 1.8.2 and before."""
        from packaging.version import Version

        bound = Version(version)
        return any(Version(release) < bound for release in self.admitted)

    def supports_below(self, version: str) -> bool:
        """Whether code has to run with a release below `version`: the project says so, or means no later one. A lower
        bound that was inferred is no promise.
        """
        return self.known and self.admits_below(version) and not (self.inferred and self.admits_from(version))

    def is_run_below(self, version: str) -> bool:
        """Whether the project is run with a release below `version`, as far as its files say: they admit no later one,
        have an upper bound, or name an older one in a pin or a README. A lower bound alone (`torch>=1.4`) installs the
        newest release, and says as little as one that was inferred.
        """
        from packaging.version import Version

        if not self.supports_below(version):
            return False
        if not self.admits_from(version) or self.newest() != torch_releases()[-1]:
            return True
        bound = Version(version)
        return any(Version(one) < bound for specifier in self.tried for one in _admitted((specifier,))[:1])

    def admits_from(self, version: str) -> bool:
        """Whether `version` or a later release counts."""
        from packaging.version import Version

        bound = Version(version)
        return any(Version(release) >= bound for release in self.admitted)

    def newest(self) -> str:
        """The newest released version that counts; the newest known one where the specifier admits none."""
        return self.admitted[-1] if self.admitted else torch_releases()[-1]


@lru_cache(maxsize=64)
def _admitted(alternatives: tuple[str, ...]) -> tuple[str, ...]:
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion, Version

    specifiers = [SpecifierSet(text) for text in alternatives]
    candidates = {Version(release) for release in torch_releases()}
    for specifier in specifiers:
        for clause in specifier:
            try:
                candidates.add(Version(clause.version.removesuffix(".*")))
            except InvalidVersion:
                continue
    known = {Version(release) for release in torch_releases()}
    admitted = {one for one in candidates if any(spec.contains(one, prereleases=True) for spec in specifiers)}
    # A version that is only named, such as the 3 of `>=1.9,<=3`, was not released: it counts where nothing else does.
    return tuple(str(one) for one in sorted(admitted & known or admitted))


def find_target(root: Path, settings: Settings, files: Callable[[], Iterable[Path]] = tuple) -> TargetTorch:
    """The target of the project at `root`: from the settings, else from what its metadata says of torch, else inferred
    from the rest of its metadata and from its code, the `files`.
    """
    if settings.target_torch is not None:
        return TargetTorch((settings.target_torch,), "target-torch", tried=(settings.target_torch,))
    from torchrepro_lint.source.inferred_target import inferred_torch, pinned_beside
    from torchrepro_lint.source.requirements import declared_torch, tried_torch

    declared = declared_torch(root)
    if declared:
        return TargetTorch(*declared, tried=(*tried_torch(root), *pinned_beside(root)))
    inferred = inferred_torch(root, files())
    return TargetTorch((inferred[0],), inferred[1], inferred=True) if inferred else TargetTorch()


def described(target: TargetTorch) -> str:
    """The versions that count, and what says so, in words."""
    if not target.known:
        return "unknown, so all versions are considered; `target-torch` in the settings states it"
    origin = "inferred from" if target.inferred else "from"
    return f"{target.specifier} ({origin} {target.origin})"

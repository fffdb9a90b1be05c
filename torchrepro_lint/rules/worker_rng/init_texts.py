"""What the rules on worker init functions say alike."""

from __future__ import annotations

from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.workers.init_faults import FaultySeeding

__all__ = ["seeded", "trace_of"]


def seeded(found: FaultySeeding) -> str:
    """The subject of a message: which function seeds which generators."""
    rngs = [one.called for rng, one in generators().items() if rng in found.seeding.rngs]
    name = "a lambda" if found.run.name == "<lambda>" else f"`{found.run.name}`"
    return f"worker_init_fn {name} seeds {' and '.join(filter(None, (', '.join(rngs[:-1]), rngs[-1])))}"


def trace_of(found: FaultySeeding, note: str) -> list[Link]:
    """From the loaders over the init function to the call that seeds."""
    links = [Link(loader.site, "the loader whose workers run it") for loader in found.loaders]
    if found.run.site is not None:
        links.append(Link(found.run.site, f"the init function: {found.run.name}"))
    return [*links, *found.seeding.chain, Link(found.seeding.site, note)]

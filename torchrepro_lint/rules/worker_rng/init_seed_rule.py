"""What the rules share that judge the seed which a worker init function gives."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.fixes.init_fix import reseed_fix
from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.workers.init_faults import Fault, FaultySeeding, faulty_seedings
from torchrepro_lint.rules.base import Rule

__all__ = ["InitSeedRule", "trace_of"]


class InitSeedRule(Rule):
    """A rule about one fault of a seed. `note` stands beside the call that seeds, at the end of the trace."""

    seldom = "nothing that the workers run is seen to draw from what is seeded so"
    fault: ClassVar[Fault]
    note: ClassVar[str]

    @abstractmethod
    def seed_and_effect(self, found: FaultySeeding) -> str:
        """With what the function seeds, and what comes of it: the end of a message that says what it seeds."""

    def check(self, program: Program) -> Iterator[Finding]:
        for found in faulty_seedings(program, self.fault):
            fix, declined = reseed_fix(program, found)
            message = f"{_seeded(found)} {self.seed_and_effect(found)}"
            trace = trace_of(found, self.note)
            # A loader with a generator of its own is meant to repeat, whatever else the program says.
            of_control = self.is_about_control and all(loader.lacks("generator") for loader in found.loaders)
            yield self.finding(
                program,
                found.seeding.top,
                message,
                trace,
                fix=fix,
                declined=declined,
                about_control=of_control,
                # A seed does harm where something is drawn with it, and the function runs.
                seldom_matters=(found.fault is Fault.SAME and not found.drawn) or found.is_switched_off(program.ev),
            )


def _seeded(found: FaultySeeding) -> str:
    """The subject of a message: which function seeds which generators."""
    rngs = [one.called for rng, one in generators().items() if rng in found.seeding.rngs]
    name = "this lambda" if found.run.name == "<lambda>" else f"`{found.run.name}`"
    return f"{name} seeds {' and '.join(filter(None, (', '.join(rngs[:-1]), rngs[-1])))}"


def trace_of(found: FaultySeeding, note: str) -> list[Link]:
    """From the loaders over the init function to the call that seeds, and a draw that is not seen from the loaders."""
    links = [Link(loader.site, "the loader whose workers call the function") for loader in found.loaders]
    depth = len(links)
    if found.chosen is not None:
        links += found.chosen.links(depth)
    if found.run.site is not None:
        links.append(Link(found.run.site, f"worker_init_fn: {found.run.name}", depth))
    return [*links, *found.seeding.chain, Link(found.seeding.site, note)]

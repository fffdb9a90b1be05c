"""Where seeding calls stand: in one of two arms, or in a method of an object that the program never makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.program.evaluation.classes import mro
from torchrepro_lint.program.evaluation.values import ClassValue, External
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.programs.entry_path import EntryRun
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calling_places import making_places
from torchrepro_lint.program.running.guards import Place, excludes
from torchrepro_lint.program.running.ways import Waypoint

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["in_two_arms", "is_of_objects_made_elsewhere"]


def in_two_arms(seedings: list[Evidence]) -> tuple[Evidence, Evidence] | None:
    """The first call that seeds CUDA's generators in one arm, with the one that seeds torch in the other arm, where
    nothing else seeds torch: `if use_gpu: torch.cuda.manual_seed(0)`, `else: torch.manual_seed(0)`.
    """
    torch = [one for one in seedings if "torch" in one.seeds]
    for gpu in seedings if torch else ():
        if "torch-cuda" in gpu.seeds and all(excludes(_place(gpu), _place(one)) for one in torch):
            return gpu, torch[0]
    return None


def _place(one: Evidence) -> Place:
    return Place(one.frame.facts, one.frame.scope, one.path, one.site)


def is_of_objects_made_elsewhere(program: Program, run: EntryRun, one: Evidence) -> bool:
    """Whether what seeds is a method that nothing in sight calls, of a class of which the program makes no object."""
    if not all(_is_of_no_object(program, run, way[-1]) for way in ways_of(program, one)):
        return False
    return not any(step.event.site == one.site for step in run.steps)


def _is_of_no_object(program: Program, run: EntryRun, end: Waypoint) -> bool:
    around = end.scope.parent
    if around is None or around.parent is None or not isinstance(around.node, tree.ClassDef):
        return False
    cls = ClassValue(around.node, frame_without_callers(program.ev, end.facts, around.parent))
    if any(isinstance(base, External) and base.name not in plain_classes() for base in mro(program.ev, cls)):
        return False  # a framework may make one
    return all(place.facts.path not in run.files for place in making_places(program.ev, cls))

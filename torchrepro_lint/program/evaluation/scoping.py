"""In which scopes Python looks for a name, from the inside out."""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END
from torchrepro_lint.program.evaluation.frames import Frame

__all__ = ["frames_of_name"]


def frames_of_name(name: str, site: int, frame: Frame) -> Iterator[tuple[Frame, int]]:
    """The frames in which a name that is used at `site` may be bound, each with the place up to which that has run.

    A comprehension and a class body run where they are; a function runs later, when what is around it has run to its
    end. Functions do not see the names in the body of the class around them.
    """
    current: Frame | None = frame
    place = site
    own = True
    wanted = None
    while current is not None:
        scope = current.scope
        declared = scope.declared.get(name) if own else None
        if declared is not None:
            wanted = declared
        is_skipped = (
            (not own and isinstance(scope.node, tree.ClassDef))
            or (wanted == "global" and scope.node is not None)
            or declared is not None
        )
        if not is_skipped:
            yield current, place
        if isinstance(scope.node, tree.ClassDef):
            place = scope.node.site if own else END
            own = False
        elif not isinstance(scope.node, tree.Comprehension):
            place = END
            own = False
        current = current.parent

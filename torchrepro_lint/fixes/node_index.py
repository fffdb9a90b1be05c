"""The nodes of one tree in order, so that those of a kind are found without a walk for each question."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeVar

import libcst as cst

from torchrepro_lint.fixes.scopes import children

__all__ = ["NodeIndex"]

_Node = TypeVar("_Node", bound=cst.CSTNode)


class NodeIndex:
    """All nodes of a module, parents first; white space, comments, commas and parentheses left out.

    A file with many findings has a fix planned for each, and each plan asks for the calls of the file: to walk the
    tree each time would cost the square of its length.
    """

    def __init__(self, module: cst.Module) -> None:
        self.parents: dict[int, cst.CSTNode] = {}
        self._nodes: list[cst.CSTNode] = []
        self._of_kind: dict[type[cst.CSTNode], list[int]] = {}
        stack: list[cst.CSTNode] = [module]
        while stack:
            node = stack.pop()
            self._nodes.append(node)
            below = children(node)
            for child in below:
                self.parents[id(child)] = node
            stack.extend(reversed(below))
        self._first = {id(node): place for place, node in enumerate(self._nodes)}
        self._last = dict(self._first)
        for node in reversed(self._nodes[1:]):
            parent = id(self.parents[id(node)])
            self._last[parent] = max(self._last[parent], self._last[id(node)])

    def below(self, root: cst.CSTNode) -> Sequence[cst.CSTNode]:
        """`root` and all nodes below it."""
        return self._nodes[self._first[id(root)] : self._last[id(root)] + 1]

    def of_kind(self, kind: type[_Node], root: cst.CSTNode) -> list[_Node]:
        """The nodes of a kind among `root` and all below it."""
        if kind not in self._of_kind:
            self._of_kind[kind] = [place for place, node in enumerate(self._nodes) if isinstance(node, kind)]
        places = self._of_kind[kind]
        low = bisect_left(places, self._first[id(root)])
        high = bisect_left(places, self._last[id(root)] + 1)
        return [self._nodes[place] for place in places[low:high]]  # type: ignore[misc]

"""What the two walks over expressions have in common: the nodes whose parts `ast` and libcst call by the same names."""

from __future__ import annotations

from typing import Any

from torchrepro_lint.facts import tree

__all__ = ["AlikeExpressions"]


class AlikeExpressions:
    """The part of a walk over expressions that is the same for both parsers, and with it the order of its sites."""

    def site(self, node: Any) -> int:
        """The next site, which is that of `node`."""
        raise NotImplementedError

    def expression(self, node: Any) -> tree.Expr:
        """What an expression is in the tree."""
        raise NotImplementedError

    def _conditional(self, node: Any) -> tree.Expr:
        site = self.site(node)
        test = self.expression(node.test)
        body = self.expression(node.body)
        return tree.Conditional(site, test, body, self.expression(node.orelse))

    def _walrus(self, node: Any) -> tree.Expr:
        site = self.site(node)
        value = self.expression(node.value)
        return tree.Walrus(site, self.expression(node.target), value)

    def _starred(self, node: Any) -> tree.Expr:
        return tree.Starred(self.site(node), self.expression(node.value))

"""Functions that the body of a module runs for what they do: `main()` under the guard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.statements import own_statements
from torchrepro_lint.program.running.ways import Way

__all__ = ["is_started_by_a_script"]

#: Functions whose argument is what a script does: `sys.exit(main())`, `asyncio.run(main())`.
_STARTERS: Final = frozenset({"exit", "run"})


def is_started_by_a_script(way: Way) -> bool:
    """Whether the body of a module runs the function for what it does, and not for what it gives: `main()` under the
    guard, `sys.exit(main())`, `mp.spawn(work, nprocs=2)`.
    """
    if len(way) != 2 or way[1].scope.parent is not None:
        return False
    return any(
        way[1].site in _started(one.value)
        for one in own_statements(way[1].facts.body)
        if isinstance(one, tree.ExprStmt) and isinstance(one.value, tree.Call)
    )


def _started(call: tree.Call) -> Iterator[int]:
    """The sites of what a call that is a statement runs: itself, and functions that it is passed."""
    yield call.site
    for arg in call.args:
        if isinstance(arg.value, tree.Name | tree.Attribute) or called_name(call.func) in _STARTERS:
            yield arg.value.site

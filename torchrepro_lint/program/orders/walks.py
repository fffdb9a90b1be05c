"""Walks over a tree of folders: where the order of the folders and files that they give goes.

A walk gives a folder's path, the names of its folders and those of its files, all in the file system's order. A loop
that sorts any of them is taken to know what it does; unless it asks whether a folder has folders in it, and sorts but
its files: then it goes through many, and their order is the file system's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.orders.order_carriers import Sink
from torchrepro_lint.program.orders.order_flow import find_sink, find_sink_of_target
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["sink_of_walk"]


def sink_of_walk(program: Program, facts: ModuleFacts, call: tree.Call) -> Sink | None:
    """Where the order of what `os.walk(...)` gives decides something; None where it is sorted, or decides nothing."""
    parents = parents_of(program.ev, facts)
    above = parents.of(call)
    match above:
        case tree.For():
            settled = _sorts_inside(program, facts, above) and not _takes_folders_as_they_come(program, facts, above)
            return None if settled else find_sink(program, facts, call)
        case tree.Clause():
            around = parents.of(above)
            sorts = isinstance(around, tree.Comprehension) and _sorts_inside(program, facts, around)
            return None if sorts else find_sink(program, facts, call)
        case tree.Arg():
            outer = parents.of(above)
            if isinstance(outer, tree.Call) and called_name(outer.func) == "next":
                return _of_first_folder(program, facts, outer)
            return find_sink(program, facts, call)
        case tree.Assign():
            return find_sink(program, facts, call)
    return None


def _of_first_folder(program: Program, facts: ModuleFacts, first: tree.Call) -> Sink | None:
    """`next(os.walk(root))[1]`, or `_, folders, files = next(os.walk(root))`."""
    match parents_of(program.ev, facts).of(first):
        case tree.Subscript(index=tree.Const(value=1 | 2 | -1)) as names:
            return find_sink(program, facts, names)
        case tree.Assign(targets=(tree.Display(items=(_, *lists)),)):
            found = (find_sink_of_target(program, facts, target) for target in lists)
            return next((sink for sink in found if sink is not None), None)
    return None


def _sorts_inside(program: Program, facts: ModuleFacts, holder: tree.For | tree.Comprehension) -> bool:
    """Whether something is sorted in the body of a loop or in a comprehension."""
    return any(_sorting_calls(program, facts, holder))


def _sorting_calls(
    program: Program, facts: ModuleFacts, holder: tree.For | tree.Comprehension
) -> Iterator[tree.Call]:  # fmt: skip
    parents = parents_of(program.ev, facts)
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            if "sort" in (called_name(call.func) or "") and any(above is holder for above in parents.around(call)):
                yield call


def _takes_folders_as_they_come(program: Program, facts: ModuleFacts, loop: tree.For) -> bool:
    """Whether a loop takes the folders that have none in them (`if not folders:`), and sorts only their files."""
    match loop.target:
        case tree.Display(items=(_, tree.Name(id=folders), tree.Name(id=files))):
            sorts_files = all(_sorted_name(call) == files for call in _sorting_calls(program, facts, loop))
            tests = (one.test for one in own_statements(loop.body) if isinstance(one, tree.If))
            return sorts_files and any(_asks_for_none(test, folders) for test in tests)
    return False


def _sorted_name(call: tree.Call) -> str | None:
    """The name of what is sorted: `files` in `files.sort()` and `sorted(files)`."""
    match call:
        case tree.Call(func=tree.Attribute(value=tree.Name(id=name), attr="sort")):
            return name
        case tree.Call(func=tree.Name(), args=(tree.Arg(value=tree.Name(id=name)), *_)):
            return name
    return None


def _asks_for_none(test: tree.Expr, folders: str) -> bool:
    """`not folders`, `len(folders) == 0` and their opposites: whether a folder has folders in it."""
    match test:
        case tree.Name(id=name) | tree.Unary(op="not", operand=tree.Name(id=name)):
            return name == folders
        case tree.Compare(left=tree.Call(func=tree.Name(id="len"), args=(tree.Arg(value=tree.Name(id=name)),))):
            return name == folders
        case tree.Boolean(left=left, right=right):
            return _asks_for_none(left, folders) or _asks_for_none(right, folders)
    return False

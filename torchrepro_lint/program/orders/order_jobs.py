"""Shuffles after which a list only says in which order jobs are started, and nobody takes their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.knowledge.ordering import ordering_words
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import Node, Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["only_orders_jobs"]

#: What goes through the results of jobs, so that all are done.
_WAITS: Final = frozenset({"list", "tuple", "tqdm", "get", "wait", "deque"})


def only_orders_jobs(program: Program, facts: ModuleFacts, shuffle: tree.Call) -> bool:
    """Whether a call shuffles a name of its function in place, and what is below only counts it and starts a job of a
    pool for each, without a use of what the jobs give: `random.shuffle(paths)`, `pool.map(convert, paths)`.
    """
    parents = parents_of(program.ev, facts)
    function = parents.function(shuffle)
    match parents.of(shuffle), shuffle.args:
        case tree.ExprStmt(), (tree.Arg(value=tree.Name(id=name)), *_) if isinstance(function, tree.FunctionDef):
            if name in facts.scope_of(function).declared:
                return False
            uses = [use for use in parents.names_in(name, function) if use.site > shuffle.args[0].value.site]
            reads = [use for use in uses if not parents.is_bound(use)]
            return bool(reads) and all(_is_of_jobs(parents, use) or _is_counted(parents, use) for use in reads)
    return False


def _is_of_jobs(parents: Parents, use: tree.Name) -> bool:
    argument = parents.of(use)
    call = parents.of(argument) if isinstance(argument, tree.Arg) else None
    if not isinstance(call, tree.Call) or called_name(call.func) not in ordering_words("starts_jobs"):
        return False
    whole: Node = call
    while isinstance(above := parents.of(whole), tree.Arg | tree.Call | tree.Attribute):
        if isinstance(above, tree.Call) and called_name(above.func) not in _WAITS:
            return False
        whole = above  # `list(tqdm(pool.imap(convert, paths)))`, `pool.map_async(convert, paths).wait()`
    match above:
        case tree.ExprStmt():
            return True
        case tree.For(target=tree.Name(id="_"), iter=iterated):
            return iterated is whole
    return False


def _is_counted(parents: Parents, use: tree.Name) -> bool:
    argument = parents.of(use)
    above = parents.of(argument) if isinstance(argument, tree.Arg) else None
    return isinstance(above, tree.Call) and called_name(above.func) == "len"

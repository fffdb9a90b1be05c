"""Functions of which a run takes one: the values of a dict that are called by their key, `COMMANDS[name]()`, those that
the parsers of a command line have as defaults, `parser.set_defaults(func=train)`, and those that a group of commands is
given, `cli.add_command(train)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.running.parents import Node, Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["arm_of_choice", "chooses", "is_choice", "is_chosen"]

#: Below all numbers of branching statements, which are sites: the parsers of a scope, and a dict by its own site.
_PARSERS: Final = -1
_FIRST_DICT: Final = -2


def is_choice(branch: int) -> bool:
    """Whether a branch is one of those of `arm_of_choice`, of whose arms one run takes one."""
    return branch <= _PARSERS


def arm_of_choice(ev: Evaluator, facts: ModuleFacts, use: tree.Expr) -> ArmPath:
    """The arm in which a function runs that is mentioned at `use`, and called where it is chosen; none if it is no such
    mention, or all that it stands beside are called one after the other.
    """
    parents = parents_of(ev, facts)
    value: tree.Expr = use
    while isinstance(above := parents.of(value), tree.Display) and above.kind in ("tuple", "list"):
        value = above  # `"train": (train, "trains a model")`
    match above:
        case tree.DictDisplay(items=items) if any(value is one for _, one in items):
            return () if _are_all_called(parents, above) else ((_FIRST_DICT - above.site, str(value.site)),)
        case tree.Arg(keyword=str()):
            match parents.of(above):
                case tree.Call(func=tree.Name(id="dict")) as made:
                    return () if _are_all_called(parents, made) else ((_FIRST_DICT - made.site, str(value.site)),)
                case tree.Call(func=tree.Attribute(attr="set_defaults")):
                    return ((_PARSERS, str(value.site)),)
        case tree.Arg(keyword=None) if _is_made_a_command(parents.of(above), above):
            return ((_PARSERS, str(value.site)),)
    return ()


def _is_made_a_command(call: Node | None, argument: tree.Arg) -> bool:
    """Whether a call makes a function, its first argument, a command of a group: `cli.add_command(train)`,
    `cli.command("train")(train)`.
    """
    match call:
        case tree.Call(func=tree.Attribute(attr="add_command"), args=(first, *_)):
            return first is argument
        case tree.Call(func=tree.Call(func=tree.Attribute(attr="command")), args=(first,)):
            return first is argument
    return False


def chooses(scope: Scope, site: int) -> bool:
    """Whether a call, which is in no loop of its scope, calls one of the functions of a table: `COMMANDS[name]()`."""
    call = scope.call_at(site)
    return call is not None and is_chosen(scope, call.func, site)


def is_chosen(scope: Scope, node: tree.Expr, site: int) -> bool:
    """Whether an expression at a place that is in no loop of its scope is one of the values of a table."""
    if isinstance(scope.node, tree.Comprehension):
        return False
    if any(branch in scope.loops for branch, _ in scope.path_at(site)):
        return False
    match scope.behind(node):
        case tree.Subscript() | tree.Call(func=tree.Attribute(attr="get")):
            return True
    return False


def _are_all_called(parents: Parents, made: tree.Expr) -> bool:
    """Whether a loop over a dict calls its values: `for name, test in TESTS.items(): test()`."""
    match parents.of(made), parents.target_of(made):
        case _, tree.Name(id=name):
            return any(_is_called_in_a_loop(parents, read) for read in parents.reads(name))
        case ((tree.Attribute() | tree.For() | tree.Clause()), _):
            return _is_called_in_a_loop(parents, made)
    return False


def _is_called_in_a_loop(parents: Parents, read: tree.Expr) -> bool:
    """Whether a dict is iterated over at `read`, and what the loop has from it is called in it."""
    iterated: tree.Expr = read
    match parents.of(read):
        case tree.Attribute(attr="items" | "values") as method:
            match parents.of(method):
                case tree.Call(func=func) as call if func is method:
                    iterated = call
    match parents.of(iterated):
        case tree.For(iter=over, target=target) as loop if over is iterated:
            return any(_is_called(parents, use) for name in _names(target) for use in parents.names_in(name, loop))
        case tree.Clause(iter=over, target=target) as clause if over is iterated:
            around = parents.of(clause)
            return any(_is_called(parents, use) for name in _names(target) for use in parents.names_in(name, around))
    return False


def _names(target: tree.Expr) -> list[str]:
    match target:
        case tree.Name(id=name):
            return [name]
        case tree.Display(items=items):
            return [name for item in items for name in _names(item)]
    return []


def _is_called(parents: Parents, use: tree.Expr) -> bool:
    """Whether what a name has is called, or what a dict has for it: `test()`, `TESTS[name]()`."""
    above = parents.of(use)
    if isinstance(above, tree.Subscript) and above.value is not use:
        use, above = above, parents.of(above)
    return isinstance(above, tree.Call) and above.func is use

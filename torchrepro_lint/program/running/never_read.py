"""Whether nothing is done with what is made somewhere: its name is not read, or an exception is raised below."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.program.running.binding_uses import binding_uses
from torchrepro_lint.program.running.guards import is_main_guard
from torchrepro_lint.program.running.parents import Node, Parents, parents_of
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = [
    "is_given_up",
    "is_never_read",
    "is_only_rearranged",
    "is_read_nowhere",
    "uses_of_a_module_name",
    "uses_of_its_name",
]

#: What may read any name of the place where it is called.
_TABLES: Final = frozenset({"globals", "locals", "vars", "eval", "exec"})
#: An import of all names of a file, under which others may read them.
_OF_ALL: Final = re.compile(rb"import\s*\*")
#: Methods that only change the order of what they are called on, by their names.
_REARRANGING: Final = frozenset({"sort", "reverse"})
#: Statements that go on with the next one, unless they raise.
_SIMPLE: Final = (tree.Assign, tree.AugAssign, tree.ExprStmt, tree.Assert)


def _reads_a_table(parents: Parents) -> bool:
    """Whether a file looks names up in a table of them; `vars(args)` is one of an object."""
    return any(
        not (name == "vars" and isinstance(call := parents.of(use), tree.Call) and call.args)
        for name in _TABLES & parents.names.keys()
        for use in parents.names[name]
    )


def is_never_read(ev: Evaluator, facts: ModuleFacts, made: tree.Expr) -> bool:
    """Whether an expression is given to one name, alone or as one of several, and nothing reads that.

    The name is one of a function or of the `__main__` block of a file: what is at the top level of a module may be
    imported. A file that looks names up in a table (`globals()`, `locals()`) may read any.
    """
    return uses_of_its_name(ev, facts, made) == []


def is_read_nowhere(program: Program, facts: ModuleFacts, made: tree.Expr) -> bool:
    """Whether an expression gives its value to one name at the top level of a file, which is read neither there nor in
    a file that imports it: `global_rng = random.Random()` in a copy of a file of helpers.
    """
    return uses_of_a_module_name(program, facts, made) == []


def uses_of_a_module_name(
    program: Program, facts: ModuleFacts, made: tree.Expr
) -> list[tuple[tree.Name, Scope]] | None:
    """Where the name at the top level of a file is read that an expression is given to, each with the scope around it;
    None where it is given to none, or where another file may read that.
    """
    parents = parents_of(program.ev, facts)
    target = parents.target_of(made)
    if not isinstance(target, tree.Name) or _scope_around(facts, parents, made).node is not None:
        return None
    if _reads_a_table(parents) or "__all__" in parents.names:
        return None
    mentioning = set(program.project.matching(any_word((target.id,)))) - {facts.path}
    importing = program.imports.importers(facts.path) if mentioning else ()
    if any(path in mentioning or program.project.holds(path, _OF_ALL) for path in importing):
        return None
    uses = [(use, _scope_around(facts, parents, use)) for use in parents.reads(target.id)]
    return [(use, scope) for use, scope in uses if scope.binder(target.id) in (None, facts.scope)]


def is_only_rearranged(ev: Evaluator, facts: ModuleFacts, made: tree.Expr) -> bool:
    """Whether an expression is given to a name of a function that is read only to call methods in statements of their
    own: `picked = choice(...)`, `picked.sort()`.
    """
    parents = parents_of(ev, facts)
    uses = uses_of_its_name(ev, facts, made)
    return uses is not None and all(_is_rearranged(parents, use) for use, _ in uses)


def _is_rearranged(parents: Parents, use: tree.Name) -> bool:
    method = parents.of(use)
    if not isinstance(method, tree.Attribute) or method.attr not in _REARRANGING:
        return False
    call = parents.of(method)
    return isinstance(call, tree.Call) and call.func is method and isinstance(parents.of(call), tree.ExprStmt)


def uses_of_its_name(ev: Evaluator, facts: ModuleFacts, made: tree.Expr) -> list[tuple[tree.Name, Scope]] | None:
    """Where the name is read that an expression is given to, each with the scope around it; None where it is given to
    none, or where that may be read elsewhere too.
    """
    parents = parents_of(ev, facts)
    target = parents.target_of(made)
    if not isinstance(target, tree.Name) or _reads_a_table(parents):
        return None
    scope = _scope_around(facts, parents, made)
    if scope.node is None:
        if not _is_of_main_block(parents, made):
            return None
    elif not isinstance(scope.node, tree.FunctionDef):
        return None
    binding = _binding_of(scope, parents, target.id, made)
    return None if binding is None else list(binding_uses(parents, facts, scope, binding))


def is_given_up(ev: Evaluator, facts: ModuleFacts, made: tree.Expr) -> bool:
    """Whether the block in which something is made surely raises below: `files = glob(...)`, then `raise`. What stands
    in a `try` may be caught. Or whether the next statement gives the attribute that got it something else.
    """
    parents = parents_of(ev, facts)
    statement = parents.statement(made)
    if _is_replaced(parents, statement):
        return True
    if not isinstance(statement, _SIMPLE) or any(isinstance(above, tree.Try) for above in parents.around(statement)):
        return False
    around = parents.of(statement)
    for block in (around.body, around.orelse) if isinstance(around, tree.If) else ():
        if statement in block:
            below = block[block.index(statement) + 1 :]
            last = next((one for one in below if not isinstance(one, _SIMPLE)), None)
            return isinstance(last, tree.Raise)
    return False


def _is_replaced(parents: Parents, statement: Node) -> bool:
    """Whether an assignment to an attribute (`self.files = listdir(...)`) is followed by one to the same, which neither
    reads it nor calls or passes on the object that has it.
    """
    if not isinstance(statement, tree.Assign) or len(statement.targets) != 1:
        return False
    target, around = statement.targets[0], parents.of(statement)
    name = dotted_name(target)
    blocks = (getattr(around, part, ()) for part in ("body", "orelse"))
    block = next((one for one in blocks if isinstance(one, tuple | list) and statement in one), ())
    below = block[block.index(statement) + 1 :] if block else ()
    if not isinstance(target, tree.Attribute) or name is None or not below:
        return False
    match below[0]:
        case tree.Assign(targets=(after,), value=value) if value is not None and dotted_name(after) == name:
            return not any(_may_read(parents, one, target, name) for one in walk([value]))
    return False


def _may_read(parents: Parents, node: Node, target: tree.Attribute, name: str) -> bool:
    """Whether a part of an expression is an attribute, or may read it through the object that has it."""
    owner = dotted_name(target.value)
    if isinstance(node, tree.Call) and isinstance(node.func, tree.Attribute):
        return dotted_name(node.func.value) == owner or dotted_name(node.func) == name
    if not isinstance(node, tree.Name | tree.Attribute):
        return False
    if dotted_name(node) == name:
        return True
    return dotted_name(node) == owner and not isinstance(parents.of(node), tree.Attribute)


def _scope_around(facts: ModuleFacts, parents: Parents, made: Node) -> Scope:
    for above in parents.around(made):
        if isinstance(above, tree.FunctionDef | tree.ClassDef | tree.Lambda | tree.Comprehension):
            return facts.scope_of(above)
    return facts.scope


def _is_of_main_block(parents: Parents, made: Node) -> bool:
    return any(isinstance(above, tree.If) and is_main_guard(above) for above in parents.around(made))


def _binding_of(scope: Scope, parents: Parents, name: str, made: tree.Expr) -> Binding | None:
    """The binding that gives the name what is made; None where the function declares the name global."""
    display = parents.of(made)
    for binding in scope.bindings.get(name, ()):
        if binding.node is made and not binding.unpack:
            return binding
        if isinstance(display, tree.Display) and binding.node is display and len(binding.unpack) == 1:
            if display.items[binding.unpack[0]] is made:
                return binding
    return None

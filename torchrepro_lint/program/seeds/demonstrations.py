"""Draws that a run does not want to repeat: random actions that show what an environment is like, draws that something
else replaces before anything reads them, and lines of a script or cell that have a draw alone.

action = np.random.randint(action_size)
state, reward, done, info = env.step(action)
score += reward
print(score)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal, get_args

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.values import External, ExternalObject, FunctionValue, Value
from torchrepro_lint.program.ops.tensor_values import is_network
from torchrepro_lint.program.programs.turns import may_train
from torchrepro_lint.program.running.binding_uses import binding_uses
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.epochs import is_step
from torchrepro_lint.program.running.parents import Node, Parents, children, parents_of
from torchrepro_lint.program.running.reach import Event

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_demonstrated", "is_of_a_demonstration", "is_only_demonstrated"]

#: What makes another value of one, and does nothing else.
_COMPUTING: Final = frozenset(
    {"bool", "int", "float", "str", "repr", "abs", "round", "list", "tuple", "sorted", "len", "sum"}
)
#: What is asked of an environment that goes on to no training by itself.
_LOOKS = frozenset({"render", "close", "action_space", "observation_space", "spec", "metadata", "unwrapped"})


def is_of_a_demonstration(program: Program, event: Event) -> bool:
    """Whether a draw of the program's own text gives a number that nothing reads, or that nothing but a demonstration
    of an environment does.
    """
    if event.frame is None or event.call is None or not _gives_what_it_draws(event.name):
        return False
    facts, scope, call = event.frame.facts, event.frame.scope, event.call
    key = ("demonstrated", facts.path, call.site)
    return program.once(key, lambda: _Follower(program, facts, scope).is_demonstrated(call, "draw"))


def is_demonstrated(program: Program, facts: ModuleFacts, scope: Scope, sample: tree.Call) -> bool:
    """Whether an action that is sampled from a space goes into the steps of an environment, into what is printed or
    plotted, and nowhere else; no model or agent is asked for anything around it.
    """
    return _Follower(program, facts, scope).is_demonstrated(sample, "space")


def is_only_demonstrated(program: Program, facts: ModuleFacts, scope: Scope, made: tree.Call) -> bool:
    """Whether the environment that a call makes has a name under which it is looked at, and takes steps in
    demonstrations alone.
    """
    parents = parents_of(program.ev, facts)
    target = parents.target_of(made)
    bindings = scope.bindings.get(target.id, ()) if isinstance(target, tree.Name) else ()
    uses = [use for one in bindings if one.node is made for use in binding_uses(parents, facts, scope, one)]
    return bool(uses) and all(_is_a_look(program, facts, parents, use, at) for use, at in uses)


def _is_a_look(program: Program, facts: ModuleFacts, parents: Parents, use: tree.Name, scope: Scope) -> bool:
    above = parents.of(use)
    call = parents.of(above) if isinstance(above, tree.Attribute) else None
    match above:
        case tree.Attribute(attr="reset" | "step" | "seed") if isinstance(call, tree.Call) and call.func is above:
            return _Follower(program, facts, scope).is_demonstrated(call, "environment")
        case tree.Attribute(attr=attr):
            return attr in _LOOKS
    return False


def _gives_what_it_draws(name: str) -> bool:
    """Whether a function gives what it draws and changes nothing else: not `shuffle`, nor `normal_`."""
    last = last_part(name)
    if last in ("shuffle", "__call__") or last.endswith("_") or name.startswith("torch.nn."):
        return False
    effects = rng_effects(name)
    return bool(effects) and all(effect.kind == "draw" and effect.moment == "call" for effect in effects)


class _Follower:
    """Follows what a call gives through the scope that it is in; each name and expression once."""

    def __init__(self, program: Program, facts: ModuleFacts, scope: Scope) -> None:
        while isinstance(scope.node, tree.Comprehension) and scope.parent is not None:
            scope = scope.parent
        self._program = program
        self._facts = facts
        self._scope = scope
        self._parents = parents_of(program.ev, facts)
        self._pending: list[tree.Expr] = []
        self._seen: set[int] = set()
        self._steps = False
        self._environments: set[str] = set()

    def is_demonstrated(self, call: tree.Call, of: Literal["draw", "space", "environment"]) -> bool:
        """Whether what a call gives is. What an environment gives may also be dropped, and what is drawn from a space
        may be printed alone; another draw that is printed may be a result.
        """
        is_dropped = isinstance(self._parents.of(call), tree.ExprStmt)
        if of == "draw" and self._is_tried_out(call):
            return True
        if isinstance(self._scope.node, tree.ClassDef) or (is_dropped and of != "environment"):
            return False
        if of == "draw" and self._is_unread(call):
            return True
        self._pending.append(call)
        while self._pending:
            if not self._use(self._pending.pop()):
                return False
        if of == "draw" and not self._steps:
            return False
        if not self._program.imports.any_together(self._facts.path, program_words("plays_to_learn")):
            return False  # what these steps give is the result of the program
        piece = self._piece(call)
        inside = list(_inside(piece))
        if any(isinstance(node, tree.Call) and self._may_learn(node) for node in inside):
            return False
        last = max((node.site for node in inside if not isinstance(node, tree.Clause | tree.Case)), default=0)
        return all(self._begins_anew(name, last) for name in self._environments)

    def _is_tried_out(self, call: tree.Call) -> bool:
        """Whether a line of a script or a cell has the draw alone, or what is computed of it: at most shown there."""
        node: tree.Expr = call
        while isinstance(argument := self._parents.of(node), tree.Arg):
            above = self._parents.of(argument)
            if not isinstance(above, tree.Call) or called_name(above.func) not in _COMPUTING:
                return False
            node = above
        return self._scope.parent is None and isinstance(self._parents.of(node), tree.ExprStmt)

    def _is_unread(self, call: tree.Call) -> bool:
        if self._is_read_elsewhere():
            return False
        match self._parents.of(call):
            case tree.Assign(targets=(tree.Name(id=name),)) if name not in self._scope.declared:
                given = (one for one in self._scope.bindings.get(name, ()) if one.node is call)
                return not any(True for one in given for _ in self._uses(one))
        return False

    # --- where the value goes -------------------------------------------------------------------------------------

    def _use(self, node: tree.Expr) -> bool:
        match self._parents.of(node):
            case tree.ExprStmt() | tree.Delete() | tree.Assert() | tree.Raise():
                return True
            case tree.Assign(targets=targets):
                return all(self._given(target, node) for target in targets)
            case tree.AugAssign(target=target) as statement:
                return self._given(target, statement)
            case tree.For(iter=iterated, target=target) if iterated is node:
                return self._given(target, node)
            case tree.If() | tree.While() as statement:
                return not any(isinstance(one, tree.Call) and self._may_learn(one) for one in _inside(statement))
            case tree.Clause(iter=iterated, target=target) as clause if iterated is node:
                around = self._parents.of(clause)
                names = {one.id for one in walk([target]) if isinstance(one, tree.Name)}
                self._pending += (use for name in names for use in self._parents.reads_in(name, around))
                return self._follow(around)
            case tree.Clause() as clause:
                return self._follow(self._parents.of(clause))
            case tree.Arg() as arg:
                call = self._parents.of(arg)
                return isinstance(call, tree.Call) and self._argument(call)
            case (
                tree.Attribute() | tree.Subscript() | tree.Binary() | tree.Unary() | tree.Boolean() | tree.Compare()
                | tree.Conditional() | tree.Display() | tree.DictDisplay() | tree.FormatString() | tree.Starred()
                | tree.Comprehension() | tree.Call()
            ) as above:  # fmt: skip
                return self._follow(above)
        return False

    def _follow(self, node: Node | None) -> bool:
        if not isinstance(node, get_args(tree.Expr)):
            return False
        if node.site not in self._seen:
            self._seen.add(node.site)
            self._pending.append(node)
        return True

    def _given(self, target: tree.Expr, node: tree.Expr | tree.Stmt) -> bool:
        """Whether what `target` gets of a value is followed: by the names of the function, and no other place."""
        if any(isinstance(one, tree.Attribute) for one in walk([target])):
            return False
        if isinstance(target, tree.Subscript):
            return isinstance(target.value, tree.Name) and self._named(target.value.id)
        names = {one.id for one in walk([target]) if isinstance(one, tree.Name)}
        return all(self._named(name, node) for name in names)

    def _named(self, name: str, node: tree.Expr | tree.Stmt | None = None) -> bool:
        """Follows a name of the scope: what one binding gives it, or all."""
        scope = self._scope
        if name in scope.declared or self._is_read_elsewhere():
            return False
        bindings = [one for one in scope.bindings.get(name, ()) if node is None or one.node is node]
        if not bindings or any(one.kind == "param" for one in bindings):
            return False
        return all(self._follow(use) for binding in bindings for use in self._uses(binding))

    def _is_read_elsewhere(self) -> bool:
        """Whether other files may read the names of the scope: that of a module which they import."""
        return self._scope.parent is None and self._program.imports.is_imported(self._facts.path)

    def _uses(self, binding: Binding) -> Iterator[tree.Name]:
        yield from (use for use, _ in binding_uses(self._parents, self._facts, self._scope, binding))

    # --- calls ----------------------------------------------------------------------------------------------------

    def _argument(self, call: tree.Call) -> bool:
        """Whether a call that is given the value computes, shows it, or hands it to an environment."""
        word = called_name(call.func) or ""
        if word in method_words("shows") or _shows(word):
            return True
        if self._is_of_an_environment(call.func):
            self._steps = True
            if word == "step":
                self._environments.update(one.id for one in walk([call.func]) if isinstance(one, tree.Name))
            return self._follow(call)
        if word in method_words("keeps_beside_others") and isinstance(call.func, tree.Attribute):
            held = call.func.value
            return isinstance(held, tree.Name) and self._named(held.id)
        values = self._values(call.func)
        if values and all(self._only_computes(value) for value in values):
            return self._follow(call)
        match call.func:
            case tree.Attribute(value=tree.Const()):  # "{}".format(score)
                return self._follow(call)
            case tree.Attribute(value=receiver):
                return self._is_followed(receiver) and self._follow(call)
        return False

    def _is_of_an_environment(self, func: tree.Expr) -> bool:
        """Whether a method is one of an environment, by what makes that or by its name: `self.env.reset`."""
        if not isinstance(func, tree.Attribute):
            return False
        made = known_calls("makes_environments")
        return any(function_words("names_an_environment").search(word) for word in _words([func.value])) or any(
            isinstance(value, ExternalObject) and canonical(value.name) in made for value in self._values(func.value)
        )

    def _is_followed(self, node: tree.Expr) -> bool:
        """Whether an expression is a value that is followed as well: `state.dot(action)`."""
        return any(isinstance(one, tree.Name) and one.site in self._seen for one in walk([node]))

    def _only_computes(self, value: Value) -> bool:
        match value:
            case External(name=name):
                saves = function_words("saves_numbers").search
                return canonical(name).startswith(_COMPUTES) and not saves(last_part(name))
            case FunctionValue(node=tree.FunctionDef()):
                scope = self._program.ev.function_scope(value)
                if scope.stores or scope.declared or scope.yields:
                    return False
                facts = value.frame.facts
                return not any(self._may_learn(call, facts, scope) for call, _ in scope.calls)
        return False

    def _values(self, node: tree.Expr) -> frozenset[Value]:
        return self._program.ev.values(node, frame_without_callers(self._program.ev, self._facts, self._scope))

    def _may_learn(self, call: tree.Call, facts: ModuleFacts | None = None, scope: Scope | None = None) -> bool:
        """Whether a call may ask a model or an agent for something, or train one."""
        facts, scope = facts or self._facts, scope or self._scope
        given = [arg.value for arg in call.args if isinstance(arg.value, tree.Name)]
        chooses = function_words("chooses_actions")
        if is_step(call) or any(chooses.search(one) for one in _words([call.func, *given])):
            return True
        values = self._program.ev.values(call.func, frame_without_callers(self._program.ev, facts, scope))
        return any(is_network(self._program.ev, value) for value in values) or may_train(
            self._program, facts, scope, call
        )

    # --- around it ------------------------------------------------------------------------------------------------

    def _piece(self, call: tree.Call) -> Node:
        """The outermost loop around the draw in its function, else its statement."""
        piece = self._parents.statement(call)
        for above in self._parents.around(call):
            if isinstance(above, tree.FunctionDef | tree.ClassDef | tree.Lambda):
                break
            if isinstance(above, tree.For | tree.While):
                piece = above
        return piece

    def _begins_anew(self, name: str, last: int) -> bool:
        """Whether an environment is reset before anything else than a demonstration takes a step of it."""
        uses = (use for use in self._parents.names.get(name, ()) if use.site > last)
        for use in sorted(uses, key=lambda use: use.site):
            if self._parents.function(use) is not self._scope.node and self._scope.parent is not None:
                continue
            if self._parents.is_bound(use):
                return True
            match self._parents.of(use):
                case tree.Attribute(attr="step") as above:
                    call = self._parents.of(above)
                    if not isinstance(call, tree.Call) or not all(map(_samples, call.args)):
                        return False
                case tree.Attribute(attr=attr) if attr in _LOOKS:
                    continue
                case _:
                    return True
        return True


_COMPUTES = ("numpy.", "builtins.", "math.", "time.", "matplotlib.", "IPython.", "collections.", "PIL.")


def _samples(arg: tree.Arg) -> bool:
    return isinstance(arg.value, tree.Call) and called_name(arg.value.func) == "sample"


def _shows(word: str) -> bool:
    return function_words("shows_results").search(word) is not None


def _words(nodes: list[tree.Expr]) -> Iterator[str]:
    for node in walk(nodes):
        if isinstance(node, tree.Name):
            yield node.id
        elif isinstance(node, tree.Attribute):
            yield node.attr


def _inside(node: Node) -> Iterator[Node]:
    """A node and all that is in it."""
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        pending += children(one)

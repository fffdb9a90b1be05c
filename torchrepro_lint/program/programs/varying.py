"""What changes from one turn of a loop to the next: whether a seed that is set in it is another one in each turn.

The loop may be in another function than the seed, up the way by which that runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, sub_expressions, walk
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.epochs import is_range
from torchrepro_lint.program.running.handed_over import handed_over
from torchrepro_lint.program.running.parents import Parents
from torchrepro_lint.program.running.ways import Way
from torchrepro_lint.program.worker_seeds.dependence import CONSTANT
from torchrepro_lint.program.worker_seeds.main_process import attribute_of_main, says_epoch

if TYPE_CHECKING:
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["differs_by_draws_alone", "varies_within"]

#: Functions that give the same in every turn where their arguments are the same. `torch.initial_seed()` is the seed of
#: the process, which draws do not change.
_STEADY: Final = frozenset({"int", "str", "float", "abs", "len", "getattr", "max", "min", "initial_seed"})


#: What only says how far a program has come.
_SAYS: Final = frozenset({"print", "debug", "info", "warning", "write", "format"})


def differs_by_draws_alone(parents: Parents, scope: Scope, loop: tree.For | tree.While) -> bool:
    """Whether a loop in `scope` counts turns of which none reads the count, but to print it: `for _ in range(runs)`.
    What it repeats differs from turn to turn by what is drawn alone.
    """
    if not (isinstance(loop, tree.For) and isinstance(loop.target, tree.Name) and is_range(scope.behind(loop.iter))):
        return False
    return all(_is_said(parents, use) for use in parents.reads_in(loop.target.id, loop))


def _is_said(parents: Parents, use: tree.Name) -> bool:
    return any(
        isinstance(above, tree.FormatString) or (isinstance(above, tree.Call) and called_name(above.func) in _SAYS)
        for above in parents.around(use)
    )


def varies_within(ev: Evaluator, way: Way, index: int, node: tree.Expr, *, given: bool = False) -> bool:
    """Whether an expression at the beginning of a way may have another value in each turn of a loop at `way[index]`;
    with `given` the function there is called in each turn, with other arguments.
    """
    return _Reader(ev, way, index, given).varies(0, node)


class _Reader:
    def __init__(self, ev: Evaluator, way: Way, last: int, given: bool) -> None:
        self.ev = ev
        self.way = way
        self.last = last
        self.given = given
        self._seen: set[int] = set()

    def varies(self, index: int, node: tree.Expr) -> bool:
        if id(node) in self._seen:
            return False
        self._seen.add(id(node))
        waypoint = self.way[index]
        match node:
            case tree.Const():
                return False
            case tree.Name(id=name):
                return self._name(index, name)
            case tree.Attribute(value=value, attr=attr):
                of_self = isinstance(value, tree.Name) and value.id == waypoint.scope.self_name
                kept = attribute_of_main(attr, waypoint.facts, of_object=of_self) == CONSTANT
                return says_epoch(attr) or not kept or self._is_altered_above(index, attr) or self._holder(index, value)
            case tree.Subscript(value=value, index=tree.Const(value=str(key))) if self._is_set_anew(index, value, key):
                return True
            case tree.Call(func=func):
                word = called_name(func)
                if word not in _STEADY and word not in method_words("asks_for_rank"):
                    return True
                return any(self.varies(index, arg.value) for arg in node.args)
            case tree.Lambda() | tree.Comprehension() | tree.Await() | tree.Yield():
                return True
        return any(self.varies(index, part) for part in sub_expressions(node))

    def _is_altered_above(self, index: int, attr: str) -> bool:
        """Whether a file that the way comes through alters such an attribute: `args.seed += epoch`."""
        files = (waypoint.facts for waypoint in self.way[index + 1 : self.last + 1])
        return any(attribute_of_main(attr, facts, of_object=False) != CONSTANT for facts in files)

    def _is_set_anew(self, index: int, holder: tree.Expr, key: str) -> bool:
        """Whether a function on the way, from the holder of an entry on up, gives that entry of its object something
        that varies: `options["seed"] = run + 1` in the loop, before it hands on `options`.
        """
        while True:
            waypoint = self.way[index]
            scope = waypoint.scope
            if any(_is_entry(store.target, holder, key) and self.varies(index, store.value) for store in scope.stores):
                return True
            made = self._where_from(index, holder)
            if made is None:
                return False
            index, holder = made

    def _where_from(self, index: int, holder: tree.Expr) -> tuple[int, tree.Expr] | None:
        """What a name or an attribute of the object was given, and the place of the way where that is written."""
        scope = self.way[index].scope
        match holder:
            case tree.Attribute(value=tree.Name(id=name)) if name == scope.self_name:
                kept = [store.value for store in scope.stores if dotted_name(store.target) == dotted_name(holder)]
                return (index, kept[0]) if len(kept) == 1 and isinstance(kept[0], tree.Name) else None
            case tree.Name(id=name):
                owner = scope.binder(name)
                if owner is not scope:
                    outer = (at for at in range(index + 1, self.last + 1) if self.way[at].scope is owner)
                    found = next(outer, None)
                    return (found, holder) if found is not None else None
                if [binding.kind for binding in owner.bindings[name]] == ["param"] and index < self.last:
                    _, given = self._handed(index, name)
                    return (index + 1, given) if given is not None else None
        return None

    def _name(self, index: int, name: str) -> bool:
        if says_epoch(name):
            return True
        waypoint = self.way[index]
        owner = waypoint.scope.binder(name)
        if owner is None:
            return False
        if owner is not waypoint.scope:
            return any(b.kind in ("element", "augmented") or (-1, "elsewhere") in b.path for b in owner.bindings[name])
        for binding in owner.bindings[name]:
            match binding.kind:
                case "element" | "augmented" | "context" | "caught" | "opaque" | "rest":
                    return True
                case "assign":
                    # `seed = (seed + 1) % 2**32` in a loop counts on from turn to turn.
                    made: tree.Expr = binding.node  # type: ignore[assignment]
                    counts_on = _names(made, name) and any(at in owner.loops for at, _ in binding.path)
                    if counts_on or self.varies(index, made):
                        return True
                case "param":
                    if self._argument(index, name) if index < self.last else self.given:
                        return True
        return False

    def _argument(self, index: int, name: str) -> bool:
        """Whether the call that runs the function hands something that varies to its parameter `name`."""
        known, given = self._handed(index, name)
        return not known or (given is not None and self.varies(index + 1, given))

    def _handed(self, index: int, name: str) -> tuple[bool, tree.Expr | None]:
        call = self.way[index + 1].scope.call_at(self.way[index + 1].site)
        return handed_over(call, self.way[index].scope, name) if call is not None else (False, None)

    def _holder(self, index: int, node: tree.Expr) -> bool:
        """Whether what keeps a value may be another object in each turn: `config` in `for config in configs`."""
        while isinstance(node, (tree.Attribute, tree.Subscript)):
            node = node.value
        if not isinstance(node, tree.Name) or id(node) in self._seen:
            return False
        self._seen.add(id(node))
        for binding in self.way[index].scope.bindings.get(node.id, ()):
            match binding.kind, binding.node:
                case (("element" | "augmented"), _):
                    return True
                case "assign", tree.Call(args=args):
                    # A copy is what it is made of; `Options(epoch)` is another one in each epoch.
                    if any(self.varies(index, arg.value) for arg in args):
                        return True
                case "param", _ if index < self.last:
                    known, given = self._handed(index, node.id)
                    if not known or (given is not None and self._holder(index + 1, given)):
                        return True
        return False


def _is_entry(target: tree.Expr, holder: tree.Expr, key: str) -> bool:
    """Whether an assignment is to this entry of what an expression names."""
    match target:
        case tree.Subscript(value=value, index=tree.Const(value=name)) if name == key:
            return dotted_name(value) == dotted_name(holder) is not None
    return False


def _names(node: tree.Expr, name: str) -> bool:
    """Whether an expression names something."""
    return any(isinstance(one, tree.Name) and one.id == name for one in walk([node]))

"""The uses of a name or an attribute that still have the order it was given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.classes import decorator_name
from torchrepro_lint.program.evaluation.values import ClassValue, Site
from torchrepro_lint.program.orders.inherited_attributes import inheriting
from torchrepro_lint.program.orders.order_ties import leaves_ties
from torchrepro_lint.program.running.callers import called_name, contexts
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.parents import Node, Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "attribute_uses",
    "project_bases",
    "calls_in_bases",
    "class_around",
    "is_named_dataset",
    "is_property",
    "is_target",
    "made_longer",
    "may_run_at",
    "name_uses",
    "own_bindings",
    "parameter_uses",
    "scope_around",
    "sorts",
]


def scope_around(program: Program, facts: ModuleFacts, node: tree.Expr | tree.Stmt) -> Scope:
    """The function's scope, or the module's, in which a node is."""
    function = parents_of(program.ev, facts).function(node)
    return facts.scope if function is None else facts.scope_of(function)


def may_run_at(program: Program, sites: Iterable[Site]) -> bool:
    """Whether each of some places may run for a caller in sight: `if self.ordered:` holds for none that sets it so."""
    for place in (place_of(program.ev, site) for site in sites):
        if place is not None and (place.arms or place.scope.ended):
            frames = contexts(program.ev, place.facts, place.scope)
            if not any(program.ev.may_run(place.site.number, place.arms, frame) for frame in frames):
                return False
    return True


def name_uses(program: Program, facts: ModuleFacts, target: tree.Name) -> Iterator[tree.Name]:
    """The reads of a name that what is bound, or filled in, at `target` can reach unsorted."""
    parents = parents_of(program.ev, facts)
    scope = scope_around(program, facts, target)
    function = parents.function(target)
    if target.id not in scope.bindings:
        return
    reads, bound_by = program.once(
        ("reads of a name", facts.path, target.id, function.site if function is not None else None),
        lambda: (_reads_that_mean(parents, facts, scope, target.id, function), _orders(parents, scope, target.id)),
    )
    if not reads:
        return
    # What is bound at `target`, or else what is filled there: of two arms that bind a name, each has its own.
    order = bound_by.get(parents.statement(target))
    filled = frozenset[int]() if order is not None else frozenset(map(id, scope.reaching(target.id, target.site)[0]))
    sorted_at: int | None = None
    for use in reads:
        if use is target or (sorted_at is not None and use.site > sorted_at):
            continue
        inner = parents.function(use) is not function
        reaching, _ = scope.reaching(target.id) if inner else scope.reaching(target.id, use.site)
        if not any(binding.order == order or id(binding) in filled for binding in reaching):
            continue
        if use.site > target.site and sorts(parents, use) and not _leaves_ties(program, facts, parents, use):
            sorted_at = use.site if sorted_at is None else min(sorted_at, use.site)
            continue
        if not inner and use.site > target.site and _is_bound_anew(program, facts, scope, target, use):
            continue
        if use.site > target.site or inner or _loops_back(scope, target.site, use.site):
            yield use


def made_longer(program: Program, facts: ModuleFacts, target: tree.Name) -> Iterator[tree.Name]:
    """The targets below that make longer what a name is given unsorted: `names += glob("*.jpg")`."""
    parents = parents_of(program.ev, facts)
    function = parents.function(target)
    added_to = program.ev.of_text(
        ("added-to", id(facts), id(function), target.id), lambda: _added_to(parents, target.id, function)
    )
    later = [(longer, site) for longer, site in added_to if longer.site > target.site]
    scope = scope_around(program, facts, target)
    if not later or target.id not in scope.bindings:
        return
    order = _orders(parents, scope, target.id).get(parents.statement(target))
    below = [use for use in parents.names_in(target.id, function) if use.site > target.site]
    for longer, site in later if order is not None else ():
        between = (one for one in below if one.site < site)
        reaching, _ = scope.reaching(target.id, site)
        if any(one.order == order for one in reaching) and not any(sorts(parents, one) for one in between):
            yield longer


def _added_to(parents: Parents, name: str, function: Node | None) -> tuple[tuple[tree.Name, int], ...]:
    """The targets of `names += ...` in a function, or in the file for None, each with the site of its statement."""
    return tuple(
        (use, above.site)
        for use in parents.names_in(name, function)
        if isinstance(above := parents.of(use), tree.AugAssign) and above.op == "+" and above.target is use
    )


def _is_bound_anew(program: Program, facts: ModuleFacts, scope: Scope, target: tree.Name, use: tree.Name) -> bool:
    """Whether a name gets another value between a target and a use, in an arm that is proven to run for each caller."""
    around = scope.path_at(use.site)
    anew = (one for one in scope.bindings[target.id] if target.site < one.order < use.site)
    for binding in anew:
        arms = binding.path[len(around) :]
        if not arms or binding.path[: len(around)] != around or _loops_back(scope, target.site, use.site):
            continue
        if all(program.ev.decide(arms, frame) is True for frame in contexts(program.ev, facts, scope)):
            return True
    return False


def _reads_that_mean(
    parents: Parents, facts: ModuleFacts, scope: Scope, name: str, function: Node | None
) -> tuple[tree.Name, ...]:
    """The reads of a scope's name, those in functions inside it included that mean the same name."""
    return tuple(
        use
        for use in parents.names_in(name, function)
        if not _is_target(parents, use) and not _is_another(parents, facts, use, scope)
    )


def _orders(parents: Parents, scope: Scope, name: str) -> dict[object, int]:
    """How late each statement binds a name, so that not all are gone through for each of them."""
    orders: dict[object, int] = {}
    for binding in scope.bindings[name]:
        node = binding.node
        for statement in (node, parents.of(node) if node is not None else None):
            orders[statement] = max(orders.get(statement, -1), binding.order)
    return orders


def parameter_uses(program: Program, facts: ModuleFacts, function: tree.FunctionDef, name: str) -> Iterator[tree.Name]:
    """The reads of what a parameter gets, in the function and in those that it defines."""
    parents = parents_of(program.ev, facts)
    scope = facts.scope_of(function)
    for use in parents.names_in(name, function):
        if _is_another(parents, facts, use, scope):
            continue
        inner = parents.function(use) is not function
        reaching, _ = scope.reaching(name) if inner else scope.reaching(name, use.site)
        if any(binding.kind == "param" for binding in reaching):
            yield use


def _loops_back(scope: Scope, first: int, second: int) -> bool:
    loops = {branch for branch, _ in scope.path_at(first) if branch in scope.loops}
    return any(branch in loops for branch, _ in scope.path_at(second))


def _is_another(parents: Parents, facts: ModuleFacts, use: tree.Name, home: Scope) -> bool:
    """Whether a function, lambda or comprehension between a use and the scope `home` gives the name a meaning of its
    own.
    """
    for above in parents.around(use):
        if above is home.node:
            return False
        if isinstance(above, (tree.FunctionDef, tree.Lambda, tree.Comprehension)):
            inner = facts.scope_of(above)
            if use.id in inner.bindings and use.id not in inner.declared and not _is_evaluated_outside(above, use):
                return True
    return False


def _is_evaluated_outside(opener: tree.FunctionDef | tree.Lambda | tree.Comprehension, use: tree.Name) -> bool:
    """Whether a use belongs to what opens a scope, and is evaluated in the one around: a default, a decorator, what the
    first clause of a comprehension iterates over.
    """
    match opener:
        case tree.Comprehension(clauses=(first, *_)):
            outer = [first.iter]
        case tree.FunctionDef(params=params, decorators=decorators):
            outer = [*decorators, *(param.default for param in params if param.default is not None)]
        case tree.Lambda(params=params):
            outer = [param.default for param in params if param.default is not None]
        case _:
            outer = []
    return any(part is use for part in walk(outer))


def _is_target(parents: Parents, node: tree.Expr) -> bool:
    above = parents.of(node)
    return parents.is_bound(node) or (isinstance(above, tree.AugAssign) and above.target is node)


def sorts(parents: Parents, node: tree.Expr) -> bool:
    """Whether a use is `name.sort(...)`, or sorts the rows of a table."""
    above = parents.of(node)
    return (
        isinstance(above, tree.Attribute)
        and above.attr in method_words("tables", "sorts")
        and isinstance(parents.of(above), tree.Call)
    )


def _leaves_ties(program: Program, facts: ModuleFacts, parents: Parents, use: tree.Expr) -> bool:
    """Whether `name.sort(key=...)`, or what a name is made of, leaves some elements in the order in which they came."""
    match parents.statement(use):
        case tree.ExprStmt(value=tree.Call() as call) | tree.Assign(value=tree.Call() as call):
            return leaves_ties(program, facts, scope_around(program, facts, use), call)
    return False


# --- attributes -----------------------------------------------------------------------------------------------


def own_bindings(scope: Scope, node: tree.Expr) -> Iterable[Binding]:
    """What the methods of the class around a method assign to an attribute of its object; nothing for anything else."""
    match node:
        case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == scope.self_name and scope.parent:
            # By whatever name the first parameter of each goes.
            return chain.from_iterable(method.bindings.get(f"self.{attr}", ()) for method in scope.parent.children)
    return ()


def attribute_uses(
    program: Program, facts: ModuleFacts, target: tree.Attribute | tree.FunctionDef
) -> Iterator[tuple[ModuleFacts, tree.Attribute]]:
    """The reads of `self.name` in its class, in the project's bases of that and in what derives from it; none where it
    is sorted. What gives it its value is assigned to `target`, or is a property. With them come the reads of what the
    class of a library makes of it.
    """
    own = class_around(parents_of(program.ev, facts), target)
    if own is None or (isinstance(target, tree.Attribute) and not isinstance(target.value, tree.Name)):
        return
    name = target.name if isinstance(target, tree.FunctionDef) else target.attr
    for one in (name, *(_made_by_a_library(own, name))):
        yield from _uses_in_family(program, facts, own, target, one)


def _made_by_a_library(cls: tree.ClassDef, name: str) -> Iterator[str]:
    """The attributes that the base of a data set makes of one of the class, in the same order."""
    if is_named_dataset(cls):
        own = {one.name for one in cls.body if isinstance(one, tree.FunctionDef)}
        yield from sorted(ordering_names("paths_of_names", name) - own)


def _uses_in_family(
    program: Program, facts: ModuleFacts, own: tree.ClassDef, target: tree.Attribute | tree.FunctionDef, name: str
) -> Iterator[tuple[ModuleFacts, tree.Attribute]]:
    found: list[tuple[ModuleFacts, tree.Attribute]] = []
    for home, cls in ((facts, own), *project_bases(program, facts, own)):
        reads = _reads_unsorted(program, home, cls, target, name)
        if reads is None:
            return
        found.extend((home, use) for use in reads)
    yield from found
    for (home, cls), *between in inheriting(program, facts, own, target):
        if all(_reads_unsorted(program, at, base, target, name) is not None for at, base in between):
            yield from ((home, use) for use in _reads_unsorted(program, home, cls, target, name) or ())


def _reads_unsorted(
    program: Program, facts: ModuleFacts, cls: tree.ClassDef, target: tree.Attribute | tree.FunctionDef, name: str
) -> list[tree.Attribute] | None:
    """The reads of an attribute in a class; None where that sorts it."""
    parents = parents_of(program.ev, facts)
    found: list[tree.Attribute] = []
    for use in parents.attributes_in(name, cls):
        if use is target or not isinstance(use.value, tree.Name) or _is_of_an_argument(program, facts, use.value):
            continue
        if sorts(parents, use) or _is_replaced_by_sorted(parents, use):
            if _leaves_ties(program, facts, parents, use):
                continue
            return None
        if not _is_target(parents, use):
            found.append(use)
    return found


def _is_of_an_argument(program: Program, facts: ModuleFacts, owner: tree.Name) -> bool:
    """Whether a name is what a function is given beside its own object: `dataset.names` is not `self.names`."""
    home = scope_around(program, facts, owner).binder(owner.id)
    if home is None or home.self_name == owner.id:
        return False
    return all(one.kind == "param" for one in home.bindings[owner.id])


def project_bases(
    program: Program, facts: ModuleFacts, own: tree.ClassDef
) -> Iterator[tuple[ModuleFacts, tree.ClassDef]]:
    """The bases of a class in the project, each with its file."""
    if parents_of(program.ev, facts).of(own) is None:
        for base in attributes.mro(program.ev, ClassValue(own, program.ev.module_frame(facts))):
            if isinstance(base, ClassValue) and base.node is not own:
                yield base.frame.facts, base.node


def is_property(function: tree.FunctionDef) -> bool:
    """Whether a method is read as an attribute is."""
    return any(decorator_name(one) in method_words("decorators", "properties") for one in function.decorators)


def calls_in_bases(
    program: Program, facts: ModuleFacts, function: tree.FunctionDef
) -> Iterator[tuple[ModuleFacts, tree.Call]]:
    """The calls `self.method()` in the bases of a class that has a method of that name in the place of theirs."""
    own = parents_of(program.ev, facts).of(function)
    if not isinstance(own, tree.ClassDef):
        return
    for home, base in project_bases(program, facts, own):
        parents = parents_of(program.ev, home)
        for use in parents.attributes_in(function.name, base):
            call = parents.of(use)
            if isinstance(call, tree.Call) and call.func is use:
                scope = scope_around(program, home, use)
                if isinstance(use.value, tree.Name) and use.value.id == scope.self_name:
                    yield home, call


def class_around(parents: Parents, node: tree.Expr | tree.Stmt) -> tree.ClassDef | None:
    """The class in which a node is."""
    return next((above for above in parents.around(node) if isinstance(above, tree.ClassDef)), None)


def _is_replaced_by_sorted(parents: Parents, use: tree.Attribute) -> bool:
    """Whether a use is the target of `self.files = sorted(self.files)`, of `dict(sorted(self.files.items()))` or of
    `self.files[np.argsort(self.files)]`.
    """
    above = parents.of(use)
    match above:
        case tree.Assign(targets=targets, value=tree.Call() | tree.Subscript() as made) if use in targets:
            parts = list(walk([made]))
            sorts = any(isinstance(one, tree.Call) and "sort" in (called_name(one.func) or "") for one in parts)
            return sorts and any(isinstance(one, tree.Attribute) and one.attr == use.attr for one in parts)
    return False


def is_target(program: Program, facts: ModuleFacts, node: tree.Expr) -> bool:
    """Whether a name, attribute or item is assigned to."""
    return _is_target(parents_of(program.ev, facts), node)


def is_named_dataset(cls: tree.ClassDef) -> bool:
    """Whether a base of a class says by its name that it is a data set."""
    return any("Dataset" in (called_name(base.value) or "") for base in cls.bases)

"""Permutations whose pieces are the parts of a data set, by their names or by what they are given to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.orders.cut_permutations import is_cut_by, pieces_of
from torchrepro_lint.program.orders.permuted_folds import are_folds, are_pieces_of_folds
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.epochs import is_epoch_loop, takes_steps
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.running.parents import Node, Parents, is_named, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_of_a_part", "is_part", "is_parted", "part_names", "parts_a_set", "uses_below"]

_SUBSETS: Final = re.compile(r"Subset|SubsetRandomSampler|SubsetSampler")
_BATCH: Final = function_words("batches")
_ANEW: Final = function_words("drawn_anew")
_EPISODE: Final = function_words("gives_episodes")
_FILLS: Final = frozenset({"append", "extend"})


def _says_part(name: str) -> bool:
    return function_words("part_of_data").search(name) is not None


def part_names(node: tree.Expr) -> bool:
    """Whether a target is called after a part of a data set: `train_idx`, `self.val_set`."""
    match node:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            return _says_part(name)
        case tree.Display(items=items):
            return any(part_names(item) for item in items)
        case tree.Subscript(index=tree.Const(value=str() as text)):
            return _says_part(text)
    return False


def parts_a_set(program: Program, call: KnownCall) -> bool:
    """Whether slices of the permutation are the parts of a data set, by name or by what they are given to, in its
    function or wherever it is passed.
    """
    return is_parted(parents_of(program.ev, call.facts), call.call, call.scope) or is_cut_elsewhere(program, call)


def is_cut_elsewhere(program: Program, call: KnownCall) -> bool:
    """Whether a slice that is a part of a data set is cut from the permutation in another place of its programs."""
    pieces = (one for one in pieces_of(program, call) if is_part(parents_of(program.ev, one.facts), *one[1:]))
    return any(is_cut_by(program, one, call) for one in pieces)


def is_parted(parents: Parents, node: tree.Expr, scope: Scope, seen: set[int] | None = None) -> bool:
    """Whether an expression in `scope` that is a permutation, or data in its order, is cut into the parts of a data
    set. Those in `seen` are known not to be.
    """
    seen = set() if seen is None else seen
    if id(node) in seen:
        return False
    seen.add(id(node))
    cuts = method_words("permutations", "cuts")
    above = parents.of(node)
    match above:
        case tree.Attribute(attr=attr):
            outer = parents.of(above)
            if not isinstance(outer, tree.Call) or outer.func is not above:
                return False
            if attr in cuts:
                return _are_parts(parents, outer)
            return attr in method_words("permutations") and is_parted(parents, outer, scope, seen)
        case tree.Arg():
            outer = parents.of(above)
            match outer:
                case tree.Call(func=tree.Name(id="list" | "tuple")):
                    return is_parted(parents, outer, scope, seen)
                case tree.Call(func=tree.Attribute(attr=attr), args=(first, *_)) if attr in cuts and first is above:
                    return _are_parts(parents, outer)
        case tree.Subscript(value=value):
            return is_part(parents, above, scope) if value is node else is_parted(parents, above, scope, seen)
    return any(is_parted(parents, use, scope, seen) for use in _uses_of(parents, node))


def _uses_of(parents: Parents, value: tree.Expr) -> Iterator[tree.Expr]:
    """The uses of the name that a value is given by its assignment, alone or as one of several."""
    target = parents.target_of(value)
    if target is not None:
        yield from uses_below(parents, target, value)


def uses_below(parents: Parents, target: tree.Expr, value: tree.Expr) -> Iterator[tree.Expr]:
    """The uses of a name, or of an attribute of `self`, below the value that it is given, in the same function."""
    uses: Sequence[tree.Expr] = ()
    match target:
        case tree.Name(id=name):
            uses = parents.names.get(name, ())
        case tree.Attribute(value=tree.Name(id="self"), attr=attr):
            uses = [use for use in parents.attributes.get(attr, ()) if dotted_name(use) == f"self.{attr}"]
    function = parents.function(value)
    for use in uses:
        if use.site > value.site and not parents.is_bound(use) and parents.function(use) is function:
            yield use


def _are_parts(parents: Parents, cut: tree.Call) -> bool:
    """Whether what a permutation is cut into are the parts of a data set, here or where a function returns it to."""
    if are_folds(parents, cut):
        return True
    if isinstance(parents.of(cut), tree.Return):
        function = parents.function(cut)
        return isinstance(function, tree.FunctionDef) and _gives_parts(parents, function)
    return _go_as_parts(parents, cut)


def _go_as_parts(parents: Parents, cut: tree.Call) -> bool:
    """Whether the pieces that a call gives go by the names of parts, or into subsets of a data set."""
    match parents.of(cut):
        case tree.Assign(targets=(tree.Display(items=items) as target,)):
            return part_names(target) or any(
                _goes_into_a_subset(parents, use) for item in items for use in uses_below(parents, item, cut)
            )
    return False


def _gives_parts(parents: Parents, function: tree.FunctionDef) -> bool:
    """Whether the pieces that a function returns are the parts of a data set, by its name or by what its file does with
    them; those that a loop goes through are batches.
    """
    calls = _calls_in_file(parents, function)
    if _BATCH.search(function.name) or any(isinstance(parents.of(call), (tree.For, tree.Clause)) for call in calls):
        return False
    return _splits(function) or any(_go_as_parts(parents, call) for call in calls)


def _splits(function: tree.FunctionDef) -> bool:
    return function_words("splits_data").search(function.name) is not None


def _calls_in_file(parents: Parents, function: tree.FunctionDef) -> list[tree.Call]:
    above = [parents.of(use) for use in parents.names.get(function.name, ())]
    return [call for call in above if isinstance(call, tree.Call) and is_named(call.func, function.name)]


def _goes_into_a_subset(parents: Parents, node: tree.Expr) -> bool:
    above = parents.of(node)
    outer = parents.of(above) if isinstance(above, tree.Arg) else None
    return isinstance(outer, tree.Call) and bool(_SUBSETS.fullmatch(called_name(outer.func) or ""))


def _in_same_order(parents: Parents, node: tree.Expr) -> tree.Expr:
    """What methods such as `.tolist()` make of an expression."""
    while isinstance(method := parents.of(node), tree.Attribute) and method.attr in method_words("permutations"):
        call = parents.of(method)
        if not isinstance(call, tree.Call) or call.func is not method:
            break
        node = call
    return node


def is_part(parents: Parents, piece: tree.Subscript, scope: Scope) -> bool:
    """Whether a slice goes under the name of a part, into a subset of a data set, or picks the rows of a part."""
    if not isinstance(piece.index, tree.Opaque):
        return False
    for above in parents.around(piece):
        match above:
            case tree.Call(func=func) if _SUBSETS.fullmatch(called_name(func) or ""):
                return True
            case tree.Call(func=tree.Attribute(value=owner, attr=attr)) if attr in _FILLS and _names_a_part(owner):
                return _is_drawn_once(parents, above, scope)
            case tree.AugAssign(target=target, op="+"):
                return _names_a_part(target) and _is_drawn_once(parents, above, scope)
            case tree.Assign(targets=targets):
                if _is_of_a_turn(parents, piece, scope):
                    return False
                named = any(_names_a_part(target) for target in targets) and not _is_of_an_episode(parents, piece)
                return named or _picks_a_part(parents, piece, scope)
            case tree.DictDisplay(items=items) if is_of_a_part(parents, items, piece):
                return True
            case tree.Return():
                function = parents.function(piece)
                if not isinstance(function, tree.FunctionDef) or _BATCH.search(function.name):
                    return False
                return _splits(function) or _is_one_of_two(parents, function, piece)
            case tree.Comprehension(clauses=(clause, *_)) if clause.iter is _in_same_order(parents, piece):
                continue  # `[names[i] for i in order[:cut]]` picks them one by one
            case tree.Comprehension():
                return are_pieces_of_folds(parents, piece, above)  # others are a draw of their own each
            case tree.ExprStmt() | tree.For() | tree.If():
                return False
    return False


def is_of_a_part(parents: Parents, items: tuple[tuple[tree.Expr | None, tree.Expr], ...], piece: tree.Expr) -> bool:
    """Whether the items of a dict hold a slice under the name of a part: `{"train": order[:cut]}`."""
    held = _in_same_order(parents, piece)
    for key, value in items:
        match key:
            case tree.Const(value=str() as name) if value is held and _says_part(name):
                return True
    return False


def _names_a_part(target: tree.Expr) -> bool:
    """Whether a target is called after a part, and not after a batch of one: `train_batch`."""
    match target:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            return part_names(target) and not _BATCH.search(name)
        case tree.Display(items=items):
            return any(_names_a_part(item) for item in items)
    return part_names(target)


def _is_one_of_two(parents: Parents, function: tree.FunctionDef, piece: tree.Subscript) -> bool:
    """Whether a function returns the slice together with another one of the same name, `return p[:cut], p[cut:]`, as
    the parts of a data set: by its own name, or by what its file does with them.
    """
    match parents.of(_in_same_order(parents, piece)), piece.value:
        case tree.Display(kind="tuple", items=items) as returned, tree.Name(id=name):
            slices = [part for item in items for part in walk([item]) if isinstance(part, tree.Subscript)]
            others = [part for part in slices if part is not piece and isinstance(part.index, tree.Opaque)]
            if not isinstance(parents.of(returned), tree.Return) or not any(
                is_named(one.value, name) for one in others
            ):
                return False
            return _says_part(function.name) or any(
                _go_as_parts(parents, call) for call in _calls_in_file(parents, function)
            )
    return False


def _picks_a_part(parents: Parents, piece: tree.Expr, scope: Scope) -> bool:
    """Whether a slice of a permutation, or the indices at its places, are those of a part, by what they pick."""
    indices = _in_same_order(parents, piece)
    match parents.of(indices):
        case tree.Subscript(index=index) as picked if index is indices:
            if _marks_a_part(parents, picked, scope):
                return True
            indices = _in_same_order(parents, picked)
    for use in _uses_of(parents, indices):
        use = _in_same_order(parents, use)
        if _goes_into_a_subset(parents, use):
            return True
        match parents.of(use):
            case tree.Subscript(index=index) as picked if index is use:
                if _marks_a_part(parents, picked, scope) or _has_the_name_of_a_part(parents, picked):
                    return True
    return False


def _marks_a_part(parents: Parents, picked: tree.Subscript, scope: Scope) -> bool:
    """Whether places of a mask are set, for once: `train_mask[indices] = True`."""
    match parents.of(picked):
        case tree.Assign(targets=(target,), value=tree.Const(value=True | 1)) if target is picked:
            return part_names(picked.value) and not _is_in_an_epoch(parents, picked, scope)
    return False


def _is_drawn_once(parents: Parents, node: Node, scope: Scope) -> bool:
    """Whether nothing says that it is drawn anew in each epoch, for each item or for each episode."""
    function = parents.function(node)
    anew = isinstance(function, tree.FunctionDef) and _ANEW.search(function.name)
    return not anew and not _is_in_an_epoch(parents, node, scope)


def _is_of_an_episode(parents: Parents, node: Node) -> bool:
    """Whether a function gives samples one by one, or episodes of them: what it names a part is one of those."""
    function = parents.function(node)
    return isinstance(function, tree.FunctionDef) and _EPISODE.search(function.name) is not None


def _is_in_an_epoch(parents: Parents, node: Node, scope: Scope) -> bool:
    loops = (above for above in parents.around(node) if isinstance(above, (tree.For, tree.While)))
    return any(is_epoch_loop(loop, scope) for loop in loops)


def _is_of_a_turn(parents: Parents, piece: tree.Subscript, scope: Scope) -> bool:
    """Whether each turn of a loop permutes, cuts and takes a step of a training: `idx_val = torch.randperm(n)[:8]`
    draws a batch of the part.
    """
    drawn = isinstance(piece.value, tree.Call)
    loops = (above for above in parents.around(piece) if isinstance(above, (tree.For, tree.While)))
    return drawn and any(takes_steps(scope, loop.site) for loop in loops)


def _has_the_name_of_a_part(parents: Parents, picked: tree.Subscript) -> bool:
    """Whether rows of the whole data are picked, outside loops, and called a part of it: `x_train = x[indices]`."""
    if part_names(picked.value) or any(isinstance(one, (tree.For, tree.While)) for one in parents.around(picked)):
        return False
    match parents.statement(picked):
        case tree.Assign(targets=targets):
            return any(_names_a_part(target) for target in targets)
    return False

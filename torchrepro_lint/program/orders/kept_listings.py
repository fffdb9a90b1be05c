"""Listings of directories that stay unsorted and whose order may decide something, also where nothing proves that.

    def images(folder):
        found = []
        for path in Path(folder).iterdir():  # the order of the file system is in the list that is returned
            found.append(path)
        return found

Beside such a listing a fix that sorts another one mends a half. The order of a listing is kept by a list that it fills,
by what gets it as an argument or from a function that returns it, by a slice, and by numbers in a loop; also by what
sorts it by a key that several files share, such as the length of their texts or their size. It is not by what sorts it
otherwise, counts or searches it, nor by a loop that only does something with each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.ordering import ordering_names, ordering_words
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import External, FunctionValue, MethodValue
from torchrepro_lint.program.orders.listings import listing_words, listings_in
from torchrepro_lint.program.orders.order_callees import function_of, into_function, names_called
from torchrepro_lint.program.orders.order_carriers import Carrier
from torchrepro_lint.program.orders.order_held import item_of
from torchrepro_lint.program.orders.order_loops import position_names
from torchrepro_lint.program.orders.order_places import (
    attribute_uses,
    is_property,
    made_longer,
    name_uses,
    own_bindings,
    scope_around,
    sorts,
)
from torchrepro_lint.program.orders.order_returns import calls_of
from torchrepro_lint.program.orders.order_ties import leaves_ties
from torchrepro_lint.program.orders.order_turns import names_in
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.parents import Node, Parents, parents_of
from torchrepro_lint.program.running.statements import own_statements
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["KEPT_LISTING_WORDS", "kept_listings"]

#: How many uses of one listing are followed; what has more is taken to be kept.
MAX_USES: Final = 200
#: Methods that list a folder where nothing tells what they are called on.
_BY_WORD: Final = ordering_names("listings", "by_word")
#: The same of functions, in files that name the library.
_OF_FASTAI: Final = ordering_names("listings", "of_fastai")
_FASTAI: Final = re.compile(rb"\bfast(?:ai|core)\b")
#: What a file has in it that lists a folder.
KEPT_LISTING_WORDS: Final = any_word(_BY_WORD | _OF_FASTAI | listing_words())
#: Methods that write a message.
_SAYS: Final = frozenset({"print", "debug", "info", "warning", "warn", "error", "log", "write", "join", "format"})
#: Methods after which something has the same elements in the same order, of paths and of fastai's lists.
_SAME: Final = frozenset({"copy", "tolist", "filter", "map", "glob", "items", "attrgot"})
#: Keys to sort by that give the size of a file, which others have as well.
_SIZES: Final = frozenset({"getsize", "st_size"})
#: Calls that make one list of several, where they begin with one: `sum(lists, [])`, `reduce(operator.add, lists)`.
_JOINS: Final = frozenset({"sum", "reduce"})
#: Methods that write to a file, and functions that draw from what they are given, or make a list of it.
_WRITES: Final = frozenset({"write", "writelines", "writerow"})
_DRAWN_FROM: Final = frozenset({"list", "sample", "choice", "choices", "shuffle", "permutation", "train_test_split"})
#: Calls that give a list.
_LISTS: Final = frozenset({"sorted", "list", "glob", "listdir"})


def kept_listings(program: Program) -> Iterator[tuple[ModuleFacts, tree.Call]]:
    """The calls that list a folder and whose order may decide something, file by file."""
    for path in program.project.matching(KEPT_LISTING_WORDS):
        facts = program.facts(path)
        if facts is None:
            continue
        for call in _calls(program, facts):
            program.ev.begin_question()
            if _Uses(program).keep(facts, call):
                yield facts, call


def _calls(program: Program, facts: ModuleFacts) -> Iterator[tree.Call]:
    known = list(listings_in(program, facts))
    yield from known
    of_library = _OF_FASTAI if program.project.holds(facts.path, _FASTAI) else frozenset[str]()
    seen = set(map(id, known))
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            word = called_name(call.func)
            is_method = isinstance(call.func, tree.Attribute)
            if id(call) in seen or word not in (of_library | _BY_WORD if is_method else of_library):
                continue
            frame = frame_without_callers(program.ev, facts, scope)
            if not any(map(_is_known_not_to_list, program.ev.values(call.func, frame))):
                yield call


def _is_known_not_to_list(value: object) -> bool:
    return isinstance(value, (FunctionValue, MethodValue)) or (
        isinstance(value, External) and not value.name.startswith(("fastai", "fastcore", "tensorflow"))
    )


class _Uses:
    """The uses of one listing, followed until one of them keeps its order."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._seen: set[int] = set()

    def keep(self, facts: ModuleFacts, node: tree.Expr) -> bool:
        """Whether what has the elements of an expression in their order may decide something."""
        if id(node) in self._seen:
            return False
        self._seen.add(id(node))
        if len(self._seen) > MAX_USES:
            return True
        parents = parents_of(self._program.ev, facts)
        above = parents.of(node)
        match above:
            case tree.Arg():
                call = parents.of(above)
                return isinstance(call, tree.Call) and self._call(facts, parents, call, above)
            case tree.Attribute(attr=attr) if above.value is node:
                call = parents.of(above)
                if not isinstance(call, tree.Call) or call.func is not above:
                    return False
                if attr == "pop":
                    return not isinstance(parents.of(call), tree.ExprStmt)
                return attr in _SAME | method_words("same_rows") and self.keep(facts, call)
            case tree.Subscript(value=value, index=index) if value is node:
                return not isinstance(index, (tree.Const, tree.Unary)) and not parents.is_bound(above)
            case tree.Assign(targets=targets):
                return any(self._target(facts, target) for target in targets)
            case tree.AugAssign(target=target, value=value) if value is node:
                return self._target(facts, target)
            case tree.Walrus(target=target):
                return self._target(facts, target) or self.keep(facts, above)
            case tree.Return():
                return self._returned(facts, parents, node, None)
            case tree.Yield():
                return True
            case tree.Lambda(body=body):
                return body is node
            case tree.For(iter=iterated) if iterated is node:
                return self._loop(facts, parents, above)
            case tree.Clause(iter=iterated) if iterated is node:
                made = parents.of(above)
                if not isinstance(made, tree.Comprehension) or made.kind == "set":
                    return False
                if made.kind == "dict":
                    return bool(self._numbers(above.target, above.iter) & names_in(made.element))
                return self.keep(facts, made)
            case tree.Comprehension(kind=kind, element=element):
                return kind != "set" and element is node and self.keep(facts, above)
            case tree.Starred() | tree.Await() | tree.Binary():
                return self.keep(facts, above)
            case tree.Boolean():
                return self.keep(facts, above)
            case tree.Conditional(test=test):
                return test is not node and self.keep(facts, above)
            case tree.Display(kind=kind, items=items):
                outer = parents.of(above)
                if isinstance(outer, tree.Return) and kind == "tuple":
                    return self._returned(
                        facts, parents, above, next(at for at, one in enumerate(items) if one is node)
                    )
                if isinstance(outer, tree.Compare) or kind == "set":
                    return False
                return self.keep(facts, above) if isinstance(node, tree.Starred) else True
            case tree.DictDisplay():
                return True
            case tree.With(items=items):
                return any(one is node and bound is not None and self._target(facts, bound) for one, bound in items)
        return False

    def _call(self, facts: ModuleFacts, parents: Parents, call: tree.Call, arg: tree.Arg) -> bool:
        word = called_name(call.func) or ""
        if word == "next":
            return self._first_of_walk(facts, parents, call)
        if word in _JOINS and _joins_lists(call):
            return self.keep(facts, call)
        if word in ordering_names("order_free", "words") | _SAYS or "sort" in word.lower():
            return self._leaves_ties(facts, call) and self.keep(facts, call)
        if isinstance(call.func, tree.Attribute) and word in method_words("list_fills"):
            return self._target(facts, item_of(call.func.value))
        frame = frame_without_callers(self._program.ev, facts, scope_around(self._program, facts, call))
        values = ordered(self._program.ev.values(call.func, frame))
        names = names_called(self._program, values)
        if names & ordering_names("order_free"):
            return False
        is_kept = names & ordering_names("order_keeping") or word in ordering_words("order_keeping")
        if is_kept or word in ordering_names("order_keeping", "words"):
            return self.keep(facts, call)
        carrier = Carrier(facts, arg.value)
        inside = [one for value in values for one in into_function(self._program, carrier, call, arg, value)]
        if values and all(function_of(self._program, value)[0] is not None for value in values):
            return any(self.keep(one.facts, one.node) for one in inside)
        return True

    def _leaves_ties(self, facts: ModuleFacts, call: tree.Call) -> bool:
        """Whether a call sorts by what several files have in common: these stay in the order of the listing."""
        key = next((arg.value for arg in call.args if arg.keyword == "key"), None)
        if key is None:
            return False
        parts = walk([key.body if isinstance(key, tree.Lambda) else key])
        by_size = any(isinstance(part, tree.Attribute) and part.attr in _SIZES for part in parts)
        return by_size or leaves_ties(self._program, facts, scope_around(self._program, facts, call), call)

    def _first_of_walk(self, facts: ModuleFacts, parents: Parents, call: tree.Call) -> bool:
        """`next(os.walk(root))[1]`, or `_, folders, files = next(os.walk(root))`."""
        match parents.of(call):
            case tree.Subscript(index=tree.Const(value=1 | 2 | -1)) as names:
                return self.keep(facts, names)
            case tree.Assign(targets=(tree.Display(items=(_, *lists)),)):
                return any(self._target(facts, one) for one in lists)
        return False

    def _target(self, facts: ModuleFacts, target: tree.Expr) -> bool:
        """Whether a use of what an assignment gives the elements keeps them."""
        match target:
            case tree.Name():
                if self._is_outer(facts, target):
                    return True
                if any(self.keep(facts, use) for use in list(name_uses(self._program, facts, target))):
                    return True
                return any(self._target(facts, one) for one in list(made_longer(self._program, facts, target)))
            case tree.Attribute(value=tree.Name(id=owner)):
                if scope_around(self._program, facts, target).self_name != owner:
                    return True
                return any(self.keep(home, use) for home, use in list(attribute_uses(self._program, facts, target)))
            case tree.Subscript(value=owner):
                return self._target(facts, owner)
            case tree.Display(items=items):
                return any(self._target(facts, one) for one in items)
        return False

    def _is_outer(self, facts: ModuleFacts, target: tree.Name) -> bool:
        """Whether a name lives longer than the function that gives it a value: it is global, or another file reads it;
        and it is sorted nowhere.
        """
        scope, name = scope_around(self._program, facts, target), target.id
        home = facts.scope if scope.declared.get(name) == "global" else scope.binder(name)
        if home is None or (home is scope and home is not facts.scope):
            return False
        parents = parents_of(self._program.ev, facts)
        if any(_is_sorted(parents, use) for use in parents.names_in(name, home.node)):
            return False
        if home is not scope:
            return True
        word, importers = any_word({name}), self._program.imports.importers(facts.path)
        return any(self._program.project.holds(one, word) for one in importers)

    def _returned(self, facts: ModuleFacts, parents: Parents, node: Node, place: int | None) -> bool:
        function = parents.function(node)
        if not isinstance(function, tree.FunctionDef):
            return True
        if is_property(function):
            return any(self.keep(home, use) for home, use in list(attribute_uses(self._program, facts, function)))
        calls = list(calls_of(self._program, Carrier(facts, node), function))  # type: ignore[arg-type]
        if place is None:
            return not calls or any(self.keep(home, call) for home, call, _ in calls)
        for home, call, _ in calls:
            match parents_of(self._program.ev, home).of(call):
                case tree.Assign(targets=(tree.Display(items=items),)) if place < len(items):
                    if self._target(home, items[place]):
                        return True
                case tree.ExprStmt():
                    pass
                case _:
                    return True
        return not calls

    def _numbers(self, target: tree.Expr, iterated: tree.Expr) -> set[str]:
        match iterated:
            case tree.Call(func=tree.Name(id="enumerate" | "zip")):
                return position_names(target, iterated)
        return set()

    def _loop(self, facts: ModuleFacts, parents: Parents, loop: tree.For) -> bool:
        """Whether the body of a loop over the elements fills something in their order, or numbers them."""
        statements = list(own_statements(loop.body))
        if _sorts_what_it_walks(loop, statements):
            return False
        numbers = self._numbers(loop.target, loop.iter) | set(_counters(statements))
        return any(self._fills(facts, one, numbers) for one in statements)

    def _fills(self, facts: ModuleFacts, statement: tree.Stmt, numbers: set[str]) -> bool:
        match statement:
            case tree.ExprStmt(value=tree.Yield()):
                return True
            case tree.ExprStmt(value=tree.Call(func=tree.Attribute(value=owner, attr=attr), args=args)):
                if attr in method_words("list_fills"):
                    return self._target(facts, item_of(owner))
                if attr in _WRITES:
                    return True
                return attr not in _SAYS and not numbers.isdisjoint(names_in(*(one.value for one in args)))
            case tree.ExprStmt(value=tree.Call(args=args) as call) if any(one.keyword == "file" for one in args):
                return True
            case tree.ExprStmt(value=tree.Call(args=args) as call):
                return called_name(call.func) not in _SAYS and not numbers.isdisjoint(
                    names_in(*(one.value for one in args))
                )
            case tree.AugAssign(target=target, op="+", value=tree.Display() | tree.Comprehension()):
                return self._target(facts, target)
            case tree.AugAssign(target=target, op="+", value=tree.Name() | tree.Call() as more):
                return self._is_list(facts, target, more) and self._target(facts, target)
            case tree.Assign(targets=(target,), value=tree.Binary(op="+", left=left, right=right)):
                is_made_longer = dotted_name(target) is not None and dotted_name(left) == dotted_name(target)
                return is_made_longer and self._is_list(facts, target, right) and self._target(facts, target)
            case tree.Assign(targets=(tree.Subscript(value=owner, index=key),), value=value) if value is not None:
                if not numbers.isdisjoint(names_in(key, value)) or _is_length_of(value, owner):
                    return True
                return self._lists_keys(facts, owner)
            case tree.Assign(targets=(tree.Name(id=name) as target,), value=tree.Call(args=(first, *_)) as call):
                grows = called_name(call.func) in ("concat", "concatenate", "append", "vstack", "hstack", "cat")
                return grows and name in names_in(first.value) and self._target(facts, target)
        return False

    def _lists_keys(self, facts: ModuleFacts, filled: tree.Expr) -> bool:
        """Whether the keys of a dictionary that a loop fills are listed or drawn from: `list(books)`."""
        while isinstance(filled, tree.Subscript):
            filled = filled.value
        if not isinstance(filled, tree.Name):
            return False
        parents = parents_of(self._program.ev, facts)
        for use in list(name_uses(self._program, facts, filled)):
            above = parents.of(use)
            if isinstance(above, tree.Attribute) and above.attr in ("keys", "items", "values"):
                listed = parents.of(above)
                if isinstance(listed, tree.Call) and self._are_drawn(parents, listed):
                    return True
            elif self._are_drawn(parents, use):
                return True
        return False

    def _are_drawn(self, parents: Parents, node: tree.Expr) -> bool:
        """Whether elements are drawn from something, or put in a list from which some may be."""
        above = parents.of(node)
        call = parents.of(above) if isinstance(above, tree.Arg) else None
        return isinstance(call, tree.Call) and called_name(call.func) in _DRAWN_FROM

    def _is_list(self, facts: ModuleFacts, target: tree.Expr, more: tree.Expr) -> bool:
        """Whether what a loop makes longer began as a list, or gets a part that shows that it is one."""
        if isinstance(more, (tree.Display, tree.Comprehension)):
            return True
        if isinstance(more, tree.Call) and called_name(more.func) in _LISTS:
            return True
        scope, name = scope_around(self._program, facts, target), dotted_name(target)
        bound = (*scope.bindings.get(name or "", ()), *own_bindings(scope, target))
        return any(isinstance(one.node, tree.Display) and one.node.kind == "list" for one in bound)


def _is_sorted(parents: Parents, use: tree.Name) -> bool:
    """Whether a use of a list sorts it: `names.sort()`, `sorted(names)`."""
    arg = parents.of(use)
    call = parents.of(arg) if isinstance(arg, tree.Arg) else None
    return sorts(parents, use) or (isinstance(call, tree.Call) and "sort" in (called_name(call.func) or ""))


def _counters(statements: Iterable[tree.Stmt]) -> Iterator[str]:
    """The names that a loop counts up: `index += 1`."""
    for statement in statements:
        match statement:
            case tree.AugAssign(target=tree.Name(id=name), op="+", value=tree.Const(value=int())):
                yield name


def _is_length_of(value: tree.Expr, owner: tree.Expr) -> bool:
    """Whether a dict is given the number of what it has: `classes[name] = len(classes)`."""
    match value:
        case tree.Call(func=tree.Name(id="len"), args=(arg,)):
            return dotted_name(arg.value) is not None and dotted_name(arg.value) == dotted_name(owner)
    return False


def _joins_lists(call: tree.Call) -> bool:
    """Whether a sum is one of lists, or a call of `reduce` may be."""
    return called_name(call.func) == "reduce" or any(isinstance(one.value, tree.Display) for one in call.args[1:])


def _sorts_what_it_walks(loop: tree.For, statements: Iterable[tree.Stmt]) -> bool:
    """Whether the loop over a walk sorts the names of the folders or files that it gets."""
    match loop.target:
        case tree.Display(items=(_, *lists)):
            names = names_in(*lists)
        case _:
            return False
    for part in (part for statement in statements for part in _parts(statement)):
        if isinstance(part, tree.Call) and "sort" in (called_name(part.func) or ""):
            if not names.isdisjoint(names_in(part)):
                return True
    return False


def _parts(statement: tree.Stmt) -> Iterator[tree.Expr]:
    match statement:
        case tree.ExprStmt(value=value) | tree.Assign(value=tree.Call() | tree.Comprehension() | tree.Name() as value):
            yield from walk([value])
        case tree.For(iter=value):
            yield from walk([value])

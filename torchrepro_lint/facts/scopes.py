"""Scopes and bindings: which assignments of a name can reach a use of it.

Python's scopes are modules, functions, classes, lambdas and comprehensions. Each knows its bindings in the order of the
text and, for every binding, the arms (branches) of `if`, `for`, `while`, `try` and `match` statements that contain it.
What reaches a use follows from that alone: in straight-line code the last binding before it; after a branching
statement the bindings of every arm that can fall through; in a loop also what later lines of its body bind.

The attributes of `self` that a method assigns are bindings too, under the name `self.attribute`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, Union

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, held_by, last_site, walk
from torchrepro_lint.facts.growing import no_entries

__all__ = [
    "ELSEWHERE",
    "END",
    "MAX_BINDINGS",
    "NEVER",
    "Binding",
    "Exit",
    "Path",
    "Scope",
    "ScopeNode",
    "Store",
    "Touch",
]

ScopeNode: TypeAlias = Union[tree.FunctionDef, tree.ClassDef, tree.Lambda, tree.Comprehension, None]

#: The arms in which a statement is, from the outside in: (site of the branching statement, name of the arm).
Path: TypeAlias = tuple[tuple[int, str], ...]

#: How an arm ends that never falls through to what is after it.
Exit: TypeAlias = Literal["leaves", "break", "continue"]

#: The arm of what is after a statement that always leaves the block: `sys.exit()`, and code below it.
NEVER: Final = "never"

#: The arm of what a function binds under `global` or `nonlocal`, as the scope sees it that owns the name.
ELSEWHERE: Final[Path] = ((-1, "elsewhere"),)

MAX_BINDINGS = 200  # that reach one use: past them, what it is stays unknown
END = 1 << 60  # a use "at the end of the scope"


@dataclass(slots=True, eq=False)
class Binding:
    """One way in which a name gets a value.

    `kind` says how to interpret `node`: "assign" (an expression; `unpack` are the positions taken out of it, where a
    negative one counts from the end), "rest" (a starred target: the last two of `unpack` are how many items stand
    before it and behind it), "augmented" (an AugAssign), "element" (an expression that is iterated over), "context"
    (an expression entered by `with`), "import", "import-from", "function", "class", "param", "delete", "caught" (the
    expression for the classes of an exception) or "opaque" (a name in a pattern of which it is not known what it gets).
    """

    name: str
    kind: str
    node: tree.Expr | tree.Stmt | tree.Param | None
    order: int  # the site after which it holds
    path: Path
    unpack: tuple[int, ...] = ()
    scope: Scope | None = None  # where `node` is, when that is a function that declares the name global or nonlocal


@dataclass(slots=True, eq=False)
class Store:
    """An assignment to an attribute or an item: `target = value` where `target` is not a plain name."""

    target: tree.Attribute | tree.Subscript
    value: tree.Expr
    statement: tree.Stmt
    path: Path
    unpack: tuple[int, ...] = ()
    augmented: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """Something that may change a list or dict: an assignment to an item, or a call of a method.

    `made` is that assignment or call, in the arms of `path`; it covers the sites from `site` to `last`. `method` is the
    name of the method, "" for an assignment. `within` are the indexes that lead to what is changed if that is nested in
    the list or dict in question: `a` in `names[a][b] = value`.
    """

    site: int
    last: int
    made: tree.Call | Store
    path: Path
    method: str = ""
    within: tuple[tree.Expr, ...] = ()


@dataclass(slots=True, eq=False)
class Scope:
    """One scope, with everything that is bound, stored and called directly in it, and not in an inner scope.

    `node` is what opens it, None for a module. `arms` gives for each branching statement (by its site) the names of all
    its arms, and `branches` the statement itself. `ended` are the arms after which the code below the statement does
    not run. `raises` are the statements that surely raise (see `unbound.py`), each with the site from which on nothing
    of it is evaluated.
    """

    node: ScopeNode
    parent: Scope | None
    name: str
    bindings: Mapping[str, Sequence[Binding]] = field(default_factory=no_entries)
    declared: Mapping[str, str] = field(default_factory=no_entries)  # name -> "global" | "nonlocal"
    stores: Sequence[Store] = ()
    calls: Sequence[tuple[tree.Call, Path]] = ()
    returns: Sequence[tuple[tree.Return, Path]] = ()
    asserted: Sequence[tuple[tree.Assert, Path]] = ()
    yields: Sequence[tree.Yield] = ()
    stars: Sequence[tree.ImportFrom] = ()
    children: Sequence[Scope] = ()
    arms: Mapping[int, tuple[str, ...]] = field(default_factory=no_entries)  # branching statement -> all of its arms
    branches: Mapping[int, tree.Stmt] = field(default_factory=no_entries)
    loops: Set[int] = frozenset()  # sites of loops
    ended: Mapping[tuple[int, str], frozenset[Exit]] = field(default_factory=no_entries)  # arms that never fall through
    raises: Mapping[int, int] = field(default_factory=no_entries)  # site of the statement -> site of what raises
    _starts: list[int] = field(default_factory=list)
    _paths: list[Path] = field(default_factory=list)
    _touches: dict[str, list[Touch]] | None = None
    _given: dict[int, list[str]] | None = None
    _tested: dict[str, list[tuple[int, bool]]] | None = None

    @property
    def self_name(self) -> str | None:
        """The first parameter's name, where this is a function directly in a class body."""
        if isinstance(self.node, tree.FunctionDef) and self.parent is not None and self.node.params:
            if isinstance(self.parent.node, tree.ClassDef) and self.node.params[0].kind == "positional":
                return self.node.params[0].name
        return None

    @property
    def statement_sites(self) -> list[int]:
        """The first site of every statement directly in this scope, in order."""
        return self._starts

    def binder(self, name: str) -> Scope | None:
        """The scope in which a name is bound, as seen from a use in this scope; None if no scope of the file binds it.

        Functions do not see the names in the body of the class around them.
        """
        scope: Scope | None = self
        while scope is not None and (
            name not in scope.bindings or (scope is not self and isinstance(scope.node, tree.ClassDef))
        ):
            scope = scope.parent
        return scope

    def note_statement(self, site: int, path: Path) -> None:
        self._starts.append(site)
        self._paths.append(path)

    def path_at(self, site: int) -> Path:
        """The arms that contain the last statement that begins at or before `site`."""
        index = bisect_right(self._starts, site) - 1
        return self._paths[index] if index >= 0 else ()

    def call_at(self, site: int) -> tree.Call | None:
        """The call at a site, directly in this scope."""
        return next((call for call, _ in self.calls if call.site == site), None)

    def touches(self, target: str) -> Sequence[Touch]:
        """What may change the list or dict under a dotted name (`self.samples`), directly in this scope, in order."""
        return self.all_touches().get(target, ())

    def all_touches(self) -> Mapping[str, Sequence[Touch]]:
        """The same for every dotted name of the scope."""
        if self._touches is None:
            found: dict[str, list[Touch]] = {}
            for store in self.stores:
                if isinstance(store.target, tree.Subscript):
                    owner, within = held_by(store.target.value)
                    if owner is not None:
                        touch = Touch(store.statement.site, last_site(store.value), store, store.path, within=within)
                        found.setdefault(owner, []).append(touch)
            for call, path in self.calls:
                if isinstance(call.func, tree.Attribute):
                    owner, within = held_by(call.func.value)
                    if owner is not None:
                        touch = Touch(call.site, last_site(call), call, path, call.func.attr, within)
                        found.setdefault(owner, []).append(touch)
            for touches in found.values():
                touches.sort(key=lambda one: one.site)
            self._touches = found
        return self._touches

    def given_to(self, part: tree.Call | tree.Comprehension) -> Sequence[str]:
        """The names and attributes to which an assignment directly in this scope gives a value that holds the call or
        the comprehension, and the keywords as which a call is given itself.
        """
        if self._given is None:
            self._given = {}
            assigned = [(b.name, b.node) for each in self.bindings.values() for b in each if b.kind == "assign"]
            stored = [(s.target.attr, s.value) for s in self.stores if isinstance(s.target, tree.Attribute)]
            for name, value in (*assigned, *stored):
                for one in walk([value]):  # type: ignore[list-item]
                    if isinstance(one, (tree.Call, tree.Comprehension)):
                        self._given.setdefault(one.site, []).append(name)
            for outer, _ in self.calls:
                for arg in outer.args:
                    if arg.keyword is not None and isinstance(arg.value, tree.Call):
                        self._given.setdefault(arg.value.site, []).append(arg.keyword)
        return self._given.get(part.site, ())

    def behind(self, node: tree.Expr) -> tree.Expr:
        """The expression behind a name to which one assignment in this scope alone gives its value; else the node."""
        if isinstance(node, tree.Name):
            bindings, certain = self.reaching(node.id, node.site)
            if certain and len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].unpack:
                return bindings[0].node  # type: ignore[return-value]
        return node

    def reaching(
        self, name: str, site: int = END, decide: Callable[[Path], bool | None] = lambda path: None
    ) -> tuple[list[Binding], bool]:
        """The bindings of `name` that can reach a use at `site`, and whether one of them certainly does.

        Without `site`: what holds when the scope has run to its end, as a nested function sees it. `decide` says
        whether the arms of a path are proven to run (True), proven not to run (False), or neither (None). If there are
        more than `MAX_BINDINGS`, the earlier ones are left out, and none is certain.
        """
        bindings = self.bindings.get(name)
        if not bindings:
            return [], False
        use_path = self.path_at(site) if site != END else ()
        use_arms = dict(use_path)
        implied = self._implied(use_path) if use_path and any(binding.path for binding in bindings) else {}
        found: list[Binding] = []
        # By arm: where the first binding in it is that comes after those that are still to be looked at.
        replacing: dict[Path, int] = {}
        covered: dict[int, set[str]] = {}
        last: Binding | None = None
        for binding in reversed(bindings):
            if binding.order >= site:
                continue
            path = binding.path
            if implied and path:
                if any(implied.get(branch, arm) != arm for branch, arm in path):
                    continue
                path = tuple(step for step in path if step[0] not in implied)
            verdict = self._reaches(path, use_arms, site, covered, decide)
            if verdict is False or self._is_replaced(binding, replacing):
                continue
            found.append(binding)
            # Not in a `try`, which may be left before, nor in another function, which runs whenever it is called.
            if binding.path and all(arm != "try" and branch >= 0 for branch, arm in binding.path):
                replacing[binding.path] = binding.order
            if verdict is True:
                last = binding
                break
            if len(found) > MAX_BINDINGS:
                return found, False
        found.extend(self._from_later_in_loop(bindings, site, use_path, last))
        return found, last is not None

    def _is_replaced(self, binding: Binding, replacing: Mapping[Path, int]) -> bool:
        """Whether what a binding gives its name is gone where one of `replacing` has run that is in the same arm, or
        around it, with nothing between the two that leaves the arm or a loop.
        """
        for depth in range(1, len(binding.path) + 1):
            later = replacing.get(binding.path[:depth])
            if later is not None and not any(binding.order < branch < later for branch, _ in self.ended):
                return True
        return False

    def _reaches(
        self, path: Path, use_arms: dict[int, str], site: int, covered: dict[int, set[str]],
        decide: Callable[[Path], bool | None],
    ) -> bool | None:  # fmt: skip
        """Whether what is bound in the arms `path` holds at the use: surely (True), never (False), perhaps (None)."""
        certain = True
        # From the inside out: what is around a shared statement is shared, and each `elif` is one more around.
        depth = len(path)
        while depth:
            branch, arm = path[depth - 1]
            used_arm = use_arms.get(branch)
            if used_arm is not None:
                if used_arm != arm and not (arm == "try" and used_arm.startswith("except")):
                    return False
                certain = used_arm == arm
                break
            depth -= 1
        rest = path[depth:]
        if not rest:
            return True if certain else None
        runs = decide(rest)
        if runs is False:
            return False
        if site != END:
            for place in range(depth, len(path)):
                exits = self.ended.get(path[place])
                if exits is not None:
                    return None if self._comes_back(exits, path[:place], use_arms) else False
        if runs is True:
            return True if certain else None
        # Where every arm of a branching statement binds the name, one of them has.
        for branch, arm in reversed(rest):
            arms = covered.setdefault(branch, set())
            arms.add(arm)
            if not all(
                other in arms or (branch, other) in self.ended or decide(((branch, other),)) is False
                for other in self.arms.get(branch, (arm, "none"))
            ):
                return None
        return True if certain else None

    def _implied(self, use_path: Path) -> dict[int, str]:
        """The arms that other `if` statements took where a use is in one: those with the same test."""
        implied: dict[int, str] = {}
        for branch, arm in use_path:
            key, holds = _test_of(self.branches.get(branch))
            if key is not None and self._is_steady(key):
                for other, wanted in self._tests().get(key, ()):
                    implied[other] = "then" if (arm == "then") is (holds is wanted) else "else"
        for branch, _ in use_path:
            implied.pop(branch, None)
        return implied

    def _tests(self) -> dict[str, list[tuple[int, bool]]]:
        """The `if` statements by what they test, each with whether its body runs where that holds."""
        if self._tested is None:
            self._tested = {}
            for branch, statement in self.branches.items():
                key, holds = _test_of(statement)
                if key is not None:
                    self._tested.setdefault(key, []).append((branch, holds))
        return self._tested

    def _is_steady(self, test: str) -> bool:
        """Whether what a test reads has the same value wherever this scope tests it."""
        name, _, attributes = test.partition(".")
        bindings = self.bindings.get(name, ())
        if len(bindings) > 1 or name in self.declared:
            return False
        if any(branch in self.loops for one in bindings for branch, _ in one.path):
            return False
        return not attributes or (
            name != self.self_name and all(dotted_name(store.target) != test for store in self.stores)
        )

    def _comes_back(self, exits: frozenset[Exit], around: Path, use_arms: dict[int, str]) -> bool:
        """Whether what an arm binds before it ends so can be seen at a use that is after it.

        After `return` it never is; after `break` it is after the loop, after `continue` in the loop's next round too.
        """
        loops = [branch for branch, _ in around if branch in self.loops]
        if not loops:
            return False
        inside = loops[-1] in use_arms
        return "continue" in exits or ("break" in exits and (not inside or len(loops) > 1))

    def _from_later_in_loop(
        self, bindings: Sequence[Binding], site: int, use_path: Path, last: Binding | None
    ) -> Iterator[Binding]:
        """What a turn of a loop binds behind a use, for the next turn: not where that turn surely binds it anew first,
        as `last` does in the loops that are around it, too.
        """
        anew = {branch for branch, _ in last.path} if last is not None else set()
        loops = [branch for branch, _ in use_path if branch in self.loops and branch not in anew]
        if not loops:
            return
        for binding in bindings:
            if binding.order >= site and any(branch in loops for branch, _ in binding.path):
                yield binding


def _test_of(statement: tree.Stmt | None) -> tuple[str | None, bool]:
    """The dotted name that an `if` tests, and whether its body runs where that holds; None for any other test."""
    if not isinstance(statement, tree.If):
        return None, True
    match statement.test:
        case tree.Unary(op="not", operand=operand):
            return dotted_name(operand), False
    return dotted_name(statement.test), True

"""Which expression to seed a generator with: the program's own seed, where it can be had, before a constant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.none_tests import is_none_at
from torchrepro_lint.fixes.optional_seed import as_it_may_be_read
from torchrepro_lint.fixes.parsed_options import is_parsed, options
from torchrepro_lint.fixes.scopes import Binding, Scope
from torchrepro_lint.fixes.seed_uses import SEED_NAME, SeedUse, is_configuration, is_seed_chain, names_in, seed_uses
from torchrepro_lint.fixes.seeding_helpers import SeedingHelpers
from torchrepro_lint.fixes.unsafe_reasons import COPIED, FALLS_BACK, NUMBER, Because, first_that_holds
from torchrepro_lint.fixes.visibility import is_bound_at

__all__ = [
    "SEED_WORD",
    "PassedSeed",
    "Seed",
    "as_summand",
    "config_seed",
    "find_seed",
    "is_seeded_anew",
    "is_seeded_each_time",
    "option_seed",
    "seed_written_above",
    "seed_written_below",
]

#: What a file says in which `config_seed` finds something.
SEED_WORD = re.compile(rb"seed|random_state", re.IGNORECASE)
_NOT_THERE = re.compile(r"\b(AttributeError|KeyError|LookupError)\b")
_NOT_FOR_THE_RUN = re.compile(r"worker|__getitem__|__iter__|__call__")


@dataclass(frozen=True, slots=True)
class Seed:
    """The text of a seed expression, and the names it reads. `by_rank`: the rank of the process may be part of it.
    `is_default`: it is a constant, for want of a seed that the program has. `falls_back`: it is such a constant in
    runs to which the user gives no seed, or the program seeds torch in some runs alone. `is_copied`: it is a number
    of the program's, which stays what it is when the program gets another. `is_unread`: it is an option of the command
    line that nothing reads.
    """

    text: str
    names: frozenset[str] = frozenset()
    by_rank: bool = False
    is_default: bool = False
    falls_back: bool = False
    is_copied: bool = False
    is_unread: bool = False

    @property
    def because(self) -> Because | None:
        """Why a fix with it is unsafe. A seed that the program has is safe; one that nobody chose, or a copy, is for
        the author to accept.
        """
        return first_that_holds((self.is_default, NUMBER), (self.falls_back, FALLS_BACK), (self.is_copied, COPIED))

    @property
    def applicability(self) -> Applicability:
        """Whether a fix with it may be applied unread."""
        return Applicability.SAFE if self.because is None else Applicability.UNSAFE


@dataclass(frozen=True, slots=True)
class PassedSeed:
    """`args.seed`, known from the callers of a function: they hand it `args`. `optional` where it may be None."""

    root: str
    rest: str
    optional: bool = False

    @property
    def text(self) -> str:
        return self.root + self.rest

    def under(self, name: str) -> PassedSeed:
        """The same seed, of a configuration that is called `name`."""
        return PassedSeed(name, self.rest, self.optional)


def as_summand(text: str) -> str:
    """An expression as it can be added to another: in brackets where it binds less than a sum."""
    node = cst.parse_expression(text)
    is_weak = isinstance(node, cst.BooleanOperation | cst.IfExp | cst.Comparison | cst.Lambda) and not node.lpar
    return f"({text})" if is_weak else text


def find_seed(
    document: Document,
    at: cst.BaseStatement,
    default: int,
    passed: Sequence[PassedSeed] = (),
    *,
    before_the_run: bool = False,
    is_refused: Callable[[str], bool] = lambda text: False,
) -> Seed:
    """The program's seed as it can be written before the statement `at`; the constant `default` if it has none.

    Looked for, in this order: what the same function hands to a seeding call above; a parameter or variable that is
    called a seed; `args.seed` and the like, used in the same function or class, then anywhere in the file; an option of
    the command line that is called a seed; what the callers pass to the function, `passed`; the one constant with which
    the file seeds. An expression that the program itself allows to be None gets `or default`, which nobody chose,
    unless the program seeds with a default of its own (`args.seed or 7`).

    `before_the_run`: `at` is reached as the file is imported; what a configuration of another file says then may be
    changed before the program begins, by its command line or for each of its runs. `is_refused`: whether an expression
    is not the program's seed.
    """
    for node_text, node in _candidates(document, at, passed):
        if is_refused(node_text) or (before_the_run and _is_imported_member(document, node_text, at)):
            continue
        if _is_set_below(document, node_text, at):
            continue
        if is_none_at(document, node_text, at):
            break
        if isinstance(node, PassedSeed):
            text = f"{node.text} or {default}" if node.optional else node.text
            return Seed(text, frozenset({node.root}), falls_back=node.optional)
        names = frozenset(names_in(node)) if node is not None else frozenset({node_text})
        has_default = isinstance(node, cst.BooleanOperation | cst.IfExp)  # of the author's own
        written, optional = (node_text, False) if has_default else as_it_may_be_read(document, node_text, at)
        is_unread = isinstance(node, cst.Name) and all(use.text != node_text for use in document.once(seed_uses))
        is_unread = is_unread and "." in node_text
        return Seed(f"{written} or {default}" if optional else written, names, falls_back=optional, is_unread=is_unread)
    return Seed(str(default), is_default=True)


def seed_written_above(document: Document, at: cst.BaseStatement) -> str | None:
    """What the same function hands to a seeding call above the statement `at`; the last, if there are several."""
    function, start = document.function(at), document.start(at)
    uses = [
        use
        for use in document.once(seed_uses)
        if use.in_call and use.function is function and use.start < start and _is_usable(document, use, at)
    ]
    return uses[-1].text if uses else None


def seed_written_below(
    document: Document, at: cst.BaseStatement, helpers: SeedingHelpers, *, past_a_number: bool = False
) -> str | None:
    """What the same function hands to `torch.manual_seed` below the statement `at`, itself or through one of the
    `helpers`, where it seeds nothing above: until then torch has the seed of what ran before. With `past_a_number`,
    also where it seeds with a number above, as for a split that all ranks share.
    """
    function, start = document.function(at), document.start(at)
    above = seed_written_above(document, at)
    if function is None or (above is not None and not (past_a_number and above.isdecimal())):
        return None
    for use in document.once(seed_uses):
        if use.in_call and use.function is function and use.start > start and _is_usable(document, use, at):
            loops = {id(loop) for loop in document.loops(use.node)}
            if _seeds_torch(document, use.node, helpers) and loops == {id(loop) for loop in document.loops(at)}:
                return use.text if use.text != above else None
    return None


def is_seeded_anew(document: Document, at: cst.BaseStatement, text: str, helpers: SeedingHelpers) -> bool:
    """Whether the same function seeds torch, itself or through one of the `helpers`, below the statement `at`, in the
    loops around that, and neither with `text` nor with what it seeds with above: what draws then has another seed, as
    where all ranks have one for a split first.
    """
    function, start = document.function(at), document.start(at)
    loops = {id(loop) for loop in document.loops(at)}
    above: set[str] = {text}
    below: set[str] = set()
    for call in document.nodes(cst.Call, function):
        if document.function(call) is function and (seed := _seed_of_torch(document, call, helpers)) is not None:
            if document.start(call) < start:
                above.add(seed)
            elif {id(loop) for loop in document.loops(call)} <= loops:
                below.add(seed)
    return bool(below - above)


def _seed_of_torch(document: Document, call: cst.Call, helpers: SeedingHelpers) -> str | None:
    """What a call seeds torch with, "" where it is handed nothing; None for another call."""
    if not _is_seeding_torch(call, helpers):
        return None
    argument = _seed_argument(call, helpers)
    return "" if argument is None else document.text_of(argument.value)


def _seeds_torch(document: Document, node: cst.BaseExpression, helpers: SeedingHelpers) -> bool:
    """Whether an expression is what a call seeds torch with."""
    arg = document.parent(node)
    call = document.parent(arg) if isinstance(arg, cst.Arg) else None
    return isinstance(call, cst.Call) and _is_seeding_torch(call, helpers) and _seed_argument(call, helpers) is arg


def _is_seeding_torch(call: cst.Call, helpers: SeedingHelpers) -> bool:
    """Whether a call is one of `torch.manual_seed` or of one of the `helpers`, by its name."""
    called = dotted_name(call.func) or ""
    return called.endswith("torch.manual_seed") or last_part(called) in helpers


def _seed_argument(call: cst.Call, helpers: SeedingHelpers) -> cst.Arg | None:
    at, name = helpers.get(last_part(dotted_name(call.func) or ""), (0, "seed"))
    named = next((one for one in call.args if one.keyword is not None and one.keyword.value == name), None)
    if named is not None:
        return named
    is_there = at < len(call.args) and not any(one.star or one.keyword is not None for one in call.args[: at + 1])
    return call.args[at] if is_there else None


def is_seeded_each_time(document: Document, at: cst.BaseStatement) -> bool:
    """Whether the same function seeds above the statement `at`, in each turn of the loops around that."""
    function, start = document.function(at), document.start(at)
    first = max((document.start(loop) for loop in document.loops(at) if loop is not at), default=-1)
    return any(
        use.in_call and use.function is function and first < use.start < start for use in document.once(seed_uses)
    )


def _is_set_below(document: Document, text: str, at: cst.BaseStatement) -> bool:
    """Whether the same function gives another value to an expression below the statement `at`, as where a run is
    resumed: `if opt.seed == 0: opt.seed = saved.seed`.
    """
    function, start = document.function(at), document.start(at)
    targets = (
        target.target
        for assignment in document.nodes(cst.Assign)
        if document.start(assignment) > start and document.function(assignment) is function
        for target in assignment.targets
    )
    return any(document.text_of(target) == text for target in targets)


def _is_imported_member(document: Document, text: str, at: cst.BaseStatement) -> bool:
    """Whether an expression reads a member of an object that is imported by its name, `from config import cfg`, and the
    file does not itself seed with it above.
    """
    own = [use for use in document.once(seed_uses) if use.in_call and use.function is None and use.text == text]
    if any(use.start < document.start(at) for use in own):
        return False
    name, *rest = re.split(r"[.\[]", text, maxsplit=1)
    owner = document.scope_of(at).resolve(name) if rest else None
    targets = [binding.target for binding in owner.bindings[name]] if owner is not None else []
    return any(target is not None and target[1] is not None for target in targets)


def config_seed(document: Document, name: str, at: cst.BaseStatement) -> PassedSeed | None:
    """The seed that the configuration `name` has, as far as this file reads it or gives it as an option."""
    found = [
        use.text
        for use in document.once(seed_uses)
        if is_seed_chain(use.node) and use.names[:1] == (name,)
        if use.function is document.function(at) or _is_visible(document, use, at)
    ]
    for text in [*found, *_options(document, at, name)]:
        written, optional = as_it_may_be_read(document, text, at)
        if written.startswith(name):
            return PassedSeed(name, written.removeprefix(name), optional)
    return None


def option_seed(document: Document, at: cst.BaseStatement, name: str) -> PassedSeed | None:
    """The seed that the arguments have which a file parses, once they are called `name`: an option `--seed`."""
    for option in _seed_options(document)[:1]:
        return PassedSeed(name, f".{option}", as_it_may_be_read(document, f"{name}.{option}", at)[1])
    return None


def _options(document: Document, at: cst.BaseStatement, name: str | None = None) -> Iterator[str]:
    """`args.seed`, where `args` are parsed arguments at a place and `--seed` is an option, though nothing reads it."""
    names = _seed_options(document)
    scope: Scope | None = document.scope_of(at) if names else None
    while scope is not None:
        for bound in [name] if name is not None else sorted(scope.bindings):
            resolved = document.scope_of(at).resolve(bound) is scope
            if resolved and is_parsed(document, scope, bound) and is_bound_at(document, bound, at):
                yield f"{bound}.{names[0]}"
        scope = scope.parent


def _seed_options(document: Document) -> list[str]:
    return [option for option in options(document) if SEED_NAME.fullmatch(option)]


def _candidates(
    document: Document, at: cst.BaseStatement, passed: Sequence[PassedSeed]
) -> Iterator[tuple[str, cst.BaseExpression | PassedSeed | None]]:
    start = document.start(at)
    function = document.function(at)
    uses = document.once(seed_uses)
    here = [use for use in uses if use.function is function and _is_usable(document, use, at)]
    for use in reversed([use for use in here if use.in_call and use.start < start]):
        yield use.text, use.node
    scope = document.scope_of(at)
    while True:
        names = [name for name in scope.bindings if SEED_NAME.fullmatch(name) and is_bound_at(document, name, at)]
        yield from ((name, None) for name in names if _is_value(document, name, at))
        if scope.parent is None:
            break
        scope = scope.parent
    for use in here:
        if not use.in_call and (use.start < start or not use.text.startswith("self.")):
            yield use.text, use.node
    own_class = document.enclosing_class(at)
    if function is not None and own_class is not None and function.name.value != "__init__":
        for use in uses:
            of_class = use.text.startswith("self.") and document.enclosing_class(use.node) is own_class
            if of_class and _is_usable(document, use, at):
                yield use.text, use.node
    elsewhere = [use for use in uses if use.function is not function and _is_visible(document, use, at)]
    yield from ((use.text, use.node) for use in elsewhere)
    yield from ((text, cst.Name(text.partition(".")[0])) for text in _options(document, at))
    own = document.scope_of(at)
    for seed in passed:
        owner = own.resolve(seed.root)
        if owner is not None and [binding.kind for binding in owner.bindings[seed.root]] in (["param"], ["import"]):
            yield seed.text, seed
    constants = {use.text for use in uses if isinstance(use.node, cst.Integer) and _is_for_the_run(use)}
    if len(constants) == 1:
        yield constants.pop(), cst.Integer("0")


def _is_for_the_run(use: SeedUse) -> bool:
    """Whether an expression is in code of the main process, as far as the function's names tell."""
    if use.function is None:
        return True
    names = [use.function.name.value, *(param.name.value for param in use.function.params.params)]
    return not any(_NOT_FOR_THE_RUN.search(name) for name in names)


def _is_value(document: Document, name: str, at: cst.BaseStatement) -> bool:
    owner = document.scope_of(at).resolve(name)
    return (
        owner is not None
        and all(
            binding.kind in ("assign", "param", "walrus", "for", "augmented")
            or (binding.target is not None and name.isupper())
            for binding in owner.bindings[name]
        )
        and not any(_holds_a_text(document, binding) for binding in owner.bindings[name])
    )


def _holds_a_text(document: Document, binding: Binding) -> bool:
    """Whether what is bound is not a number as it is written: `SEED = "12"`, `seed: str`."""
    node: cst.CSTNode | None = binding.node
    if isinstance(node, cst.Param):
        annotation, value = node.annotation, node.default
        if annotation is not None and re.search(r"\b(str|float)\b", document.text_of(annotation.annotation)):
            return True
    else:
        while node is not None and not isinstance(node, cst.BaseSmallStatement):
            node = document.parent(node)
        value = node.value if isinstance(node, cst.Assign | cst.AnnAssign) else None
    return isinstance(value, cst.BaseString | cst.Float)


def _is_usable(document: Document, use: SeedUse, at: cst.BaseStatement) -> bool:
    return all(is_bound_at(document, name, at) for name in use.names) and not _is_tried(document, use.node, at)


def _is_tried(document: Document, node: cst.BaseExpression, at: cst.BaseStatement) -> bool:
    """Whether a `try` that `at` is not in catches that there is no such attribute or key."""
    around = {id(outer) for outer in document.ancestors(at)}
    tries = [outer for outer in document.ancestors(node) if isinstance(outer, cst.Try) and id(outer.body) not in around]
    return any(
        _NOT_THERE.search(document.text_of(handler.type))
        for outer in tries
        for handler in outer.handlers
        if handler.type is not None
    )


def _is_visible(document: Document, use: SeedUse, at: cst.BaseStatement) -> bool:
    """Whether an expression from another function means the same at `at`: same bindings, or the usual config name."""
    if not use.names or not _is_usable(document, use, at):
        return False
    there, here = document.scope_of(use.node), document.scope_of(at)
    others = [name for name in use.names if there.resolve(name) is not here.resolve(name)]
    if not _is_for_the_run(use):
        # What a worker adds to it is its own; `args.seed` is the run's, where it reads the same `args`.
        return not use.in_call and not others
    return all(is_configuration(name) and name != "self" for name in others)

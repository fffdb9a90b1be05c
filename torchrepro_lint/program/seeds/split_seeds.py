"""Seeds that are set for one split: `np.random.seed(42)`, `np.random.shuffle(indices)`, and the parts are cut off."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Constant
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.ops.tensor_values import is_network
from torchrepro_lint.program.orders.order_callees import names_called
from torchrepro_lint.program.orders.permutations import is_parted, uses_below
from torchrepro_lint.program.running.blocks import expressions_in
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.entry_walk import training_steps
from torchrepro_lint.program.running.guards import is_main_guard
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.running.started_by_scripts import is_started_by_a_script
from torchrepro_lint.program.running.statements import block_of

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["is_for_a_split", "is_for_the_next_draw", "is_right_above"]

#: A seed of torch reaches the weights as well.
_RNGS: Final = frozenset({"python", "numpy"})
#: What computes the numbers and the lists of which a split is made, and draws nothing.
_PLAIN: Final = frozenset(
    {
        "len",
        "range",
        "arange",
        "list",
        "tuple",
        "set",
        "dict",
        "sorted",
        "int",
        "float",
        "round",
        "sum",
        "min",
        "max",
        "abs",
        "str",
    }
    | {"floor", "ceil", "keys", "values", "items", "tolist", "copy", "array", "asarray", "unique", "print"}
)


def is_for_a_split(program: Program, one: Evidence) -> bool:
    """Whether a seed stands alone right before the permutation that splits a data set, or before some of the data are
    chosen: it keeps that split, and does not say that the run is to be repeated. What only computes how many, and of
    which, may stand between.
    """
    if not one.seeds <= _RNGS or not isinstance(one.node, tree.Call):
        return False
    parents = parents_of(program.ev, one.frame.facts)
    below = _below_a_lone_seed(program, one, parents, may_be_prepared=True)
    if any(_chooses_some(program, one, node) for node in walk(list(expressions_in(below)))):
        return True
    return any(is_parted(parents, order, one.frame.scope) for order in _permuted(program, one, parents, below))


def _chooses_some(program: Program, one: Evidence, node: object) -> bool:
    """Whether a call draws some of the data, each once: `np.random.choice(n, size=50, replace=False)`,
    `random.sample(names, 50)`.
    """
    if not isinstance(node, tree.Call):
        return False
    if called_name(node.func) == "sample" and one.seeds == {"python"}:
        return names_called(program, program.ev.values(node.func, one.frame)) == {"random.sample"}
    if called_name(node.func) not in method_words("permutations", "chooses"):
        return False
    keeps_out = any(
        arg.keyword == "replace" and isinstance(arg.value, tree.Const) and arg.value.value is False for arg in node.args
    )
    return keeps_out and _may_draw_from(program, one, node)


def is_for_the_next_draw(program: Program, one: Evidence) -> bool:
    """Whether a constant stands alone as a seed right before a shuffle, a permutation or a split by `random_split`: it
    keeps that one draw, and does not say that the run is to be repeated. One of torch in the script itself, before any
    network is made, is also followed by all that comes after.
    """
    if one.value is None or not isinstance(one.node, tree.Call):
        return False
    values = program.ev.values(one.value, one.frame)
    if not values or not all(isinstance(value, Constant) for value in values):
        return False
    if "torch" in one.seeds and _is_first_of_a_script(program, one):
        return False
    parents = parents_of(program.ev, one.frame.facts)
    below = _below_a_lone_seed(program, one, parents)
    calls = [node for node in walk(list(expressions_in(below))) if isinstance(node, tree.Call)]
    return any(_orders_by_it(program, one, call) or ("torch" in one.seeds and _splits_by_torch(call)) for call in calls)


def _is_first_of_a_script(program: Program, one: Evidence) -> bool:
    """Whether a seed is set in the body of a script or in the function that it starts, before any network is made
    there.
    """
    scope = one.frame.scope
    if scope.parent is not None and not any(map(is_started_by_a_script, ways_of(program, one))):
        return False
    first = program.once(("first network", one.frame), lambda: _first_network(program, one.frame))
    return first is None or one.site.number <= first


def _first_network(program: Program, frame: Frame) -> int | None:
    """The site of the first call in a function or module that makes a network, or gives one."""
    calls = sorted((call for call, _ in frame.scope.calls), key=lambda call: call.site)
    return next(
        (call.site for call in calls if any(is_network(program.ev, one) for one in program.ev.values(call, frame))),
        None,
    )


def is_right_above(program: Program, one: Evidence, call: tree.Call) -> bool:
    """Whether a call is in the statement after a seed that stands alone."""
    if not isinstance(one.node, tree.Call):
        return False
    below = _below_a_lone_seed(program, one, parents_of(program.ev, one.frame.facts))
    return any(node is call for node in walk(list(expressions_in(below))))


def _orders_by_it(program: Program, one: Evidence, call: tree.Call) -> bool:
    """Whether a call surely shuffles or permutes by a generator that is seeded, or a function of the project does so by
    its name.
    """
    if (
        one.seeds <= _RNGS
        and isinstance(call.func, tree.Name)
        and function_words("orders_data").fullmatch(call.func.id)
    ):
        return True
    if called_name(call.func) not in {
        *method_words("permutations", "makes"),
        *method_words("permutations", "shuffles"),
    }:
        return False
    names = names_called(program, program.ev.values(call.func, one.frame))
    effects = [effect for name in names for effect in rng_effects(name) if effect.kind == "draw"]
    return bool(effects) and all(effect.rng in one.seeds for effect in effects)


def _splits_by_torch(call: tree.Call) -> bool:
    """Whether a call splits by torch's own generator, by its name."""
    if called_name(call.func) != "random_split":
        return False
    return len(call.args) == 2 and all(arg.keyword != "generator" and not arg.star for arg in call.args)


def _below_a_lone_seed(
    program: Program, one: Evidence, parents: Parents, *, may_be_prepared: bool = False
) -> tree.Block:
    """The statement after a seed; nothing where another seed is before or after it, or where the whole program is.

    Where that may be prepared, it is the first one after those that only compute what it needs.
    """
    assert isinstance(one.node, tree.Call)
    statement = parents.statement(one.node)
    block = block_of(parents, one.frame.facts, statement)
    at = bisect_left(block, statement.site, key=lambda other: other.site)  # type: ignore[union-attr]
    if (
        at == len(block)
        or block[at] is not statement
        or any(_seeds(program, one, other) for other in block[max(0, at - 1) : at])
    ):
        return ()
    between = _prepared(block[at + 1 :]) if may_be_prepared else 0
    below = block[at + 1 + between : at + 2 + between]
    if between and _is_drawn_from_later(program, one, below):
        return ()
    return () if any(_is_the_run(other) for other in below) else below


def _is_drawn_from_later(program: Program, one: Evidence, below: tree.Block) -> bool:
    """Whether the function around a seed draws from what is seeded once more below a statement."""
    end = max((part.site for part in walk(list(expressions_in(below))) if isinstance(part, tree.Call)), default=0)
    later = (call for call, _ in one.frame.scope.calls if call.site > end)
    return any(not one.seeds.isdisjoint(_drawn_from(program, one, call)) for call in later)


def _prepared(block: tree.Block) -> int:
    """How many statements at the start of a block only compute what those below them need, as far as the first that is
    another one: `n, _ = rows.shape`, `train = int(0.8 * n)`.
    """
    given: set[str] = set()
    for number, statement in enumerate(block):
        parts = list(walk(_expressions_of(statement)))
        given -= {part.id for part in parts if isinstance(part, tree.Name) and part.id not in _names_given(statement)}
        plain = isinstance(statement, tree.Assign | tree.Assert | tree.ExprStmt)
        if not plain or any(isinstance(part, tree.Call) and called_name(part.func) not in _PLAIN for part in parts):
            return 0 if given else number
        given.update(_names_given(statement))
    return 0


def _expressions_of(statement: tree.Stmt) -> list[tree.Expr]:
    return [statement.test] if isinstance(statement, tree.Assert) else list(expressions_in((statement,)))


def _names_given(statement: tree.Stmt) -> set[str]:
    targets = list(statement.targets) if isinstance(statement, tree.Assign) else []
    return {part.id for part in walk(targets) if isinstance(part, tree.Name) and part.id != "_"}


def _seeds(program: Program, one: Evidence, statement: tree.Stmt) -> bool:
    """Whether a statement beside the seed is a seed as well."""
    path = one.site.path
    seeds = program.once(
        ("sites of seeds", path),
        lambda: {two.site.number for two in program.evidence_in(path) if two.effect == "seed"},
    )
    return any(node.site in seeds for node in walk(list(expressions_in((statement,)))))


def _is_the_run(statement: tree.Stmt) -> bool:
    """Whether a statement is the whole program, or trains: what it splits is only a part of what it does."""
    calls = (node for node in walk(list(expressions_in((statement,)))) if isinstance(node, tree.Call))
    return is_main_guard(statement) or any(called_name(call.func) in training_steps() for call in calls)


def _permuted(program: Program, one: Evidence, parents: Parents, block: tree.Block) -> Iterator[tree.Expr]:
    """What a generator that is seeded orders in statements: a permutation, the uses of a list that is shuffled."""
    for node in walk(list(expressions_in(block))):
        if not isinstance(node, tree.Call) or not _may_draw_from(program, one, node):
            continue
        name = called_name(node.func)
        if name in method_words("permutations", "makes"):
            yield node
        elif name in method_words("permutations", "shuffles") and node.args:
            yield from uses_below(parents, node.args[0].value, node)


def _may_draw_from(program: Program, one: Evidence, call: tree.Call) -> bool:
    """Whether nothing says that a call draws from another generator than the one that is seeded."""
    drawn = _drawn_from(program, one, call)
    return not drawn or any(rng in one.seeds for rng in drawn)


def _drawn_from(program: Program, one: Evidence, call: tree.Call) -> list[str]:
    """The generators from which a call of a library draws."""
    names = names_called(program, program.ev.values(call.func, one.frame))
    return [effect.rng for name in sorted(names) for effect in rng_effects(name) if effect.kind == "draw"]

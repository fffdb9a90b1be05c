"""Seeding calls that are for a whole run, and not for a worker, a test, a loop, a split or a choice of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import is_for_one_draw, ways_of
from torchrepro_lint.program.intent.kept_states import is_undone
from torchrepro_lint.program.intent.seed_entropy import entropy_of
from torchrepro_lint.program.programs.worker_seedings import is_for_workers_alone
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.entry_walk import training_steps
from torchrepro_lint.program.running.started_by_scripts import is_started_by_a_script
from torchrepro_lint.program.running.statements import own_statements
from torchrepro_lint.program.running.ways import Way
from torchrepro_lint.program.seeds.given_back import is_given_back
from torchrepro_lint.program.seeds.reseeding import repeats
from torchrepro_lint.program.seeds.seed_faults import is_fresh_by_choice, is_stand_in
from torchrepro_lint.program.seeds.split_seeds import is_for_a_split, is_for_the_next_draw

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_for_the_run", "is_of_a_framework"]

#: The generators whose first state is another one in every run, also if nothing seeds them.
_SEED_THEMSELVES: Final = frozenset({"python", "numpy"})


def is_for_the_run(program: Program, one: Evidence) -> bool:
    """Whether a seeding call is the program's own, and none of a worker, a test, a loop or a mock, nor for a while,
    one split or one draw.
    """
    if is_undone(program.ev, one.frame.scope, one.site.number) or is_given_back(program, one):
        return False
    if program.is_test(one.site.path) or is_stand_in(program, one) or isinstance(one.frame.scope.node, tree.Lambda):
        return False
    if _is_of_test(program, one):
        return False
    known = seeding_call(one.name)
    if one.value is None and (known is None or known.default is None):
        return False  # a seed from the system is none: TRL503
    if _is_the_clock(program, one):
        return False
    ways = ways_of(program, one)
    if not _says_so(program, one, ways) or repeats(program, ways):
        return False
    if ways and all(map(_is_for_a_missing_file, ways)):
        return False
    if is_fresh_by_choice(program, one):
        return False  # no two runs are meant to be alike
    if is_for_workers_alone(program, one) or _counts_itself_on(one) or _is_of_its_object(program, one):
        return False
    return not (is_for_a_split(program, one) or is_for_the_next_draw(program, one) or is_for_one_draw(program, one))


def _is_the_clock(program: Program, one: Evidence) -> bool:
    """Whether a script seeds `random` or NumPy with the clock or the system where that is written, as they seed
    themselves: `random.seed(time.time())`. Python's hash of a text is meant to be the same in every run.
    """
    if one.value is None or not one.seeds <= _SEED_THEMSELVES or one.frame.scope.parent is not None:
        return False
    source = entropy_of(program.ev, one.value, one.frame)
    return source is not None and not source.fallback and not source.path and source.name != "builtins.hash"


def _counts_itself_on(one: Evidence) -> bool:
    """Whether the function that seeds counts the seed on below, for its next call: `param.latest += 1`. It is a seed of
    what is drawn until then, as for two inputs that are to be augmented alike.
    """
    name = dotted_name(one.value) if isinstance(one.value, tree.Attribute) else None
    return name is not None and any(
        store.augmented and store.statement.site > one.site.number and dotted_name(store.target) == name
        for store in one.frame.scope.stores
    )


def _is_of_its_object(program: Program, one: Evidence) -> bool:
    """Whether a method seeds with what its object keeps, if it was given one, and the object is no run: an estimator
    that is fitted, which has `if self.seed is not None: torch.manual_seed(self.seed)`.
    """
    scope = one.frame.scope
    cls = scope.parent
    match one.value:
        case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == scope.self_name and cls is not None:
            asked = (scope.branches.get(branch) for branch, arm in one.path if arm == "then")
            is_asked = any(isinstance(test, tree.If) and _asks_whether_given(test.test, owner, attr) for test in asked)
            return is_asked and not _is_of_a_run(program, one, cls)
    return False


def _asks_whether_given(test: tree.Expr, owner: str, attr: str) -> bool:
    match test:
        case tree.Compare(left=tree.Attribute(value=tree.Name(id=name), attr=asked), ops=("is not" | "!=",)):
            return name == owner and asked == attr
    return False


def is_of_a_framework(one: Evidence) -> bool:
    """Whether nobody asks for a seed: what is made to train (`TrainingArguments`) seeds with a number of its own."""
    known = seeding_call(one.name)
    made = last_part(one.name)[:1].isupper()
    return made and one.value is None and known is not None and known.default is not None


def _is_of_test(program: Program, one: Evidence) -> bool:
    """Whether the seeding call is in a method of a test case, in a file that is more than a test."""
    around = one.frame.scope.parent
    if around is None or around.parent is None or not isinstance(around.node, tree.ClassDef):
        return False
    cls = ClassValue(around.node, frame_without_callers(program.ev, one.frame.facts, around.parent))
    return any(function_words("is_a_test").match(base) for base in external_bases(program.ev, cls))


def _says_so(program: Program, one: Evidence, places: Sequence[Way]) -> bool:
    """Whether the function that seeds is one that sets a run up, trains itself, is what a script starts, or only seeds;
    others seed what they compute (a mask, a sample). An object seeds the run if it is the run; others seed for
    themselves (a dataset its choice of samples), or can be seeded as gym asks of an environment (`env.seed(0)`).
    """
    scope = one.frame.scope
    while scope.parent is not None and not isinstance(scope.node, tree.FunctionDef):
        scope = scope.parent
    if not isinstance(scope.node, tree.FunctionDef):
        return True
    around = scope.parent
    if scope.node.name in ("__init__", "__post_init__") or (scope.node.name == "seed" and scope.self_name is not None):
        return around is not None and _is_of_a_run(program, one, around)
    name = scope.node.name
    if any(called_name(call.func) in training_steps() for call, _ in scope.calls):
        return True
    if function_words("makes_data").fullmatch(name):
        return False
    if function_words("sets_up_a_run").search(name) is not None:
        return True
    return any(map(is_started_by_a_script, places)) or _only_seeds(program, one, scope.node)


def _is_for_a_missing_file(way: Way) -> bool:
    """Whether a way comes through an `if` that asks whether a file is there: what is made and kept in it has a seed,
    and the next run, which finds the file, seeds nothing.
    """
    around = [one.scope.branches.get(branch) for one in way for branch, _ in one.path]
    asked = walk([outer.test for outer in around if isinstance(outer, tree.If)])
    words = method_words("asks_for_a_file")
    return any(isinstance(one, tree.Call) and called_name(one.func) in words for one in asked)


def _only_seeds(program: Program, one: Evidence, function: tree.FunctionDef) -> bool:
    """Whether a function does nothing but to seed, to set switches and environment variables, and to print."""
    known = {other.site.number for other in program.evidence_in(one.site.path)}
    for statement in own_statements(function.body):
        match statement:
            case tree.ExprStmt(value=tree.Call() as call):
                if call.site not in known and called_name(call.func) != "print":
                    return False
            case tree.Assign(targets=targets):
                if not all(isinstance(target, tree.Attribute | tree.Subscript) for target in targets):
                    return False
            case tree.ExprStmt(value=tree.Const()) | tree.Return(value=None | tree.Name()) | tree.If():
                pass
            case _:
                return False
    return True


def _is_of_a_run(program: Program, one: Evidence, cls: Scope) -> bool:
    """Whether the objects of a class are a run, by its name: a `TrainDataset` is none, nor is what has a base of such a
    name.
    """
    if not isinstance(cls.node, tree.ClassDef) or cls.parent is None:
        return False
    frame = frame_without_callers(program.ev, one.frame.facts, cls.parent)
    names = [cls.name, *external_bases(program.ev, ClassValue(cls.node, frame))]
    if any(function_words("is_a_collection").search(name) for name in names):
        return False
    return function_words("is_a_run").search(cls.name) is not None

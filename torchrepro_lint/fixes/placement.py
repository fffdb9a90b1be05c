"""Where the generator of a loader is made: once, before everything that repeats the loader.

One generator serves all loaders of a function (or of the module's own code): it is made above the first of them. They
draw from it in the order of the program, so that a run repeats. The place follows from the text alone, so that two
fixes in one function want the same lines at the same place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.going_on import goes_on, steps_what_is_kept
from torchrepro_lint.fixes.seed_expression import Seed, seeding_argument
from torchrepro_lint.fixes.unseeded_calls import KnownLoaders, unseeded_calls

__all__ = [
    "Declined",
    "Place",
    "find_place",
    "is_epoch_loop",
    "repeats_the_seed",
]

# A loop over these runs whole trainings one after the other; it is not an epoch loop.
_LOOP_OVER_RUNS = re.compile(
    r"seeds?|runs?|trials?|repeats?|folds?|kfold|split|phase|mode|task|experiment|exp|lr|cfg|config|params?|name|"
    r"dataset|ds|model|rank|subset|stage|key|domain|client|k|ckpts?|checkpoints?"
)
_NUMBER_OF_RUNS = re.compile(
    r"repeats?|repetitions?|replicates?|restarts?|runs?|trials?|[nk]?folds?|splits?|seeds?|experiments?"
)
_EPOCH = re.compile(r"epochs?|ep|e|step|iteration|it|batch_idx|round|_", re.IGNORECASE)
# Federated learning: in each round some clients train a little, from where the round before has left off.
_ROUND = re.compile(r"rounds?|epoch")
_ROUNDS = re.compile(r"rounds?|epochs")
_ONE_LINE = "the body of the function is on the line of its def"


@dataclass(frozen=True, slots=True)
class Declined:
    """No fix, and in a few words why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    """The statement before which the generator is made."""

    statement: cst.BaseStatement
    blocks: frozenset[int]
    """The blocks around the call, by id: what is made in one of them once is made once for the loader."""


@dataclass(frozen=True, slots=True)
class _Step:
    block: cst.CSTNode
    statement: cst.BaseStatement


def find_place(
    document: Document,
    call: cst.Call,
    *,
    at_module_level: bool = False,
    for_loaders: bool = False,
    known: KnownLoaders | None = None,
    is_served: Callable[[cst.Call, frozenset[int]], bool] = lambda call, blocks: False,
) -> Place | Declined:
    """The place for the generator of the loader `call`; with `at_module_level`, outside the function around it.

    `for_loaders`: splits and samplers have generators of their own, and are not looked at. If no loaders are `known`,
    the text decides which calls may want a generator. A call that `is_served` by a generator which
    is there already, in one of the blocks around it, wants no place.
    """
    reason = _hopeless(document, call)
    if reason is not None:
        return Declined(reason)
    if at_module_level:
        return Place(document.top_level_statement(call), frozenset({id(document.module)}))
    steps = document.once(_Steps)
    own = steps.around(call)
    if not own:
        return Declined(_ONE_LINE)
    others = unseeded_calls(document, document.function(call), known, for_loaders=for_loaders)
    chains = [own]
    for other in others:
        chain = steps.around(other) if other is not call else []
        if chain and not is_served(other, _blocks(chain)):
            chains.append(chain)
    depth = 0
    while all(len(chain) > depth and chain[depth].block is own[depth].block for chain in chains):
        depth += 1
        if depth == len(own):
            break
    level = [chain[depth - 1].statement for chain in chains]
    first = min(level, key=document.start)
    return Place(first, _blocks(own))


def _blocks(chain: list[_Step]) -> frozenset[int]:
    return frozenset(id(step.block) for step in chain)


def repeats_the_seed(document: Document, call: cst.Call, seed: Seed) -> bool:
    """Whether the function around `call` is called in an epoch loop of this file, with the same seed each time.

    A generator that is made and seeded in such a function gives the same order in every epoch.
    """
    function = document.function(call)
    return function is not None and _runs_per_epoch(document, function, seed, set(), by_round=False)


def _runs_per_epoch(
    document: Document, function: cst.FunctionDef, seed: Seed, seen: set[int], *, by_round: bool
) -> bool:
    """`by_round`: the way out has come by a training, which only rounds repeat within one and the same training."""
    if id(function) in seen:
        return False
    seen.add(id(function))
    is_part = not by_round and steps_what_is_kept(document, function)
    by_round = by_round or _has_epoch_loop(document, function)
    for call in _calls_of(document, function):
        for loop in document.loops(call):
            if is_epoch_loop(document, loop, by_round=by_round and not (is_part and goes_on(document, call, loop))):
                if not _seed_varies(document, function, call, loop, seed):
                    return True
        outer = document.function(call)
        if outer is not None and _runs_per_epoch(document, outer, Seed(""), seen, by_round=by_round):
            return True
    return False


def _calls_of(document: Document, function: cst.FunctionDef) -> Iterator[cst.Call]:
    """The calls that may be of a function, as far as names show: `model.train()` is none of a function `train`, nor of
    the method in which it stands.
    """
    name = function.name.value
    is_method = document.enclosing_class(function) is not None
    for node in document.nodes(cst.Call):
        match node.func:
            case cst.Attribute(attr=cst.Name(value=called)) if is_method:
                pass
            case cst.Name(value=called):
                pass
            case _:
                continue
        if called == name and not any(outer is function for outer in document.ancestors(node)):
            yield node


def _has_epoch_loop(document: Document, function: cst.FunctionDef) -> bool:
    """A function with an epoch loop of its own is a training, however often it is called, unless in rounds."""
    return any(
        re.search("epoch", document.text_of(node.target) + document.text_of(node.iter))
        for node in document.nodes(cst.For, function)
    )


def is_epoch_loop(document: Document, loop: cst.For | cst.While, *, by_round: bool = False) -> bool:
    """Whether a loop repeats parts of one training, as far as its text shows, and not whole trainings. `by_round`: what
    it repeats is itself a training, so that it has to say that its turns are rounds.
    """
    if by_round:
        return isinstance(loop, cst.For) and _says_rounds(_parts(document, loop.target), _parts(document, loop.iter))
    if isinstance(loop, cst.While):
        return True
    names = [node.value for node in document.nodes(cst.Name, loop.target)]
    if any("epoch" in name.lower() for name in names):
        return True
    # `for i in range(args.repeat)`
    if any(_NUMBER_OF_RUNS.fullmatch(part) for part in _parts(document, loop.iter)):
        return False
    if any(_EPOCH.fullmatch(name) for name in names):
        return True
    if any(_LOOP_OVER_RUNS.fullmatch(part) for part in _parts(document, loop.target)):
        return False
    return not isinstance(loop.iter, cst.List | cst.Tuple | cst.Set | cst.Dict)


def _says_rounds(target: set[str], iterated: set[str]) -> bool:
    """Whether a loop says that it counts rounds, or so many; `for epochs in (10, 20)` has a training in each turn."""
    if any(map(_ROUND.fullmatch, target)):
        return True
    return "epochs" not in target and any(map(_ROUNDS.fullmatch, iterated))


def _parts(document: Document, node: cst.CSTNode) -> set[str]:
    """The words of which the names in a piece of code are put together."""
    return {part for name in document.nodes(cst.Name, node) for part in name.value.lower().split("_")}


def _seed_varies(
    document: Document, function: cst.FunctionDef, call: cst.Call, loop: cst.For | cst.While, seed: Seed
) -> bool:
    """Whether the call hands something of the loop's own to the parameter that the seed is made of."""
    if not isinstance(loop, cst.For):
        return False
    own = {node.value for node in document.nodes(cst.Name, loop.target)}
    params = [param.name.value for param in (*function.params.posonly_params, *function.params.params)]
    if params[:1] == ["self"] and isinstance(call.func, cst.Attribute):
        params = params[1:]
    for index, argument in enumerate(call.args):
        name = argument.keyword.value if argument.keyword else (params[index] if index < len(params) else "")
        if name in seed.names:
            read = {node.value for node in document.nodes(cst.Name, argument.value)}
            return bool(read & own)
    return False


def _hopeless(document: Document, call: cst.Call) -> str | None:
    """Why no statement can be put before a call, if none can."""
    inner: cst.CSTNode = call
    for outer in document.ancestors(call):
        if isinstance(outer, cst.Param):
            return "the loader is made in the default value of a parameter"
        if isinstance(outer, cst.Decorator):
            return "the loader is made in a decorator"
        if isinstance(outer, cst.Annotation):
            return "the loader is made in an annotation"
        if isinstance(outer, cst.FormattedString):
            return "the loader is made in an f-string"
        if isinstance(outer, cst.FunctionDef) and inner is outer.body:
            return None if isinstance(inner, cst.IndentedBlock) else _ONE_LINE
        inner = outer
    return None


class _Steps:
    """The statements around the calls of a document, looked for once for each."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._around: dict[int, list[_Step]] = {}

    def around(self, call: cst.Call) -> list[_Step]:
        """The statements around a call from the function's body inwards, down to the first that repeats it; none where
        nothing can be put before it.
        """
        if id(call) not in self._around:
            hopeless = _hopeless(self._document, call) is not None
            self._around[id(call)] = [] if hopeless else _steps(self._document, call)
        return self._around[id(call)]


def _steps(document: Document, call: cst.Call) -> list[_Step]:
    chain: list[_Step] = []
    inner: cst.CSTNode = call
    for outer in document.ancestors(call):
        if isinstance(inner, cst.BaseStatement) and isinstance(outer, cst.IndentedBlock | cst.Module):
            chain.append(_Step(outer, inner))
        if isinstance(outer, cst.FunctionDef) and inner is outer.body:
            break
        inner = outer
    chain.reverse()
    loops = {id(loop) for loop in document.loops(call)}
    for index, step in enumerate(chain):
        statement = step.statement
        repeats = id(statement) in loops and not _is_loop_over_seeds(document, statement, call)
        if repeats or (isinstance(statement, cst.ClassDef) and index < len(chain) - 1):
            return chain[: index + 1]
    return chain


def _is_loop_over_seeds(document: Document, loop: cst.CSTNode, call: cst.Call) -> bool:
    """Whether each turn of a loop seeds anew, with something that the loop varies: each turn is a run of its own."""
    if not isinstance(loop, cst.For):
        return False
    varied = {node.value for node in document.nodes(cst.Name, loop.target)}
    for node in document.nodes(cst.Call, loop.body):
        if document.start(node) < document.start(call):
            argument = seeding_argument(node)
            if argument is not None and any(name.value in varied for name in document.nodes(cst.Name, argument)):
                return True
    return False

"""Where the generator of a loader is made: once, before everything that repeats the loader.

One generator serves all loaders of a function (or of the module's own code): it is made above the first of them. They
draw from it in the order of the program, so that a run repeats. The place follows from the text alone, so that two
fixes in one function want the same lines at the same place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import libcst as cst

from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.seed_expression import Seed, seeding_argument

__all__ = [
    "Declined",
    "Place",
    "find_place",
    "first_statement_that_needs_init",
    "is_epoch_loop",
    "repeats_the_seed",
]

# A loop over these runs whole trainings one after the other; it is no epoch loop.
_LOOP_OVER_RUNS = re.compile(
    r"seeds?|runs?|trials?|repeats?|folds?|kfold|split|phase|mode|task|experiment|exp|lr|cfg|config|params?|name|"
    r"dataset|ds|model|rank|subset|stage|key|domain|client|k"
)
_NUMBER_OF_RUNS = re.compile(
    r"repeats?|repetitions?|replicates?|restarts?|runs?|trials?|[nk]?folds?|splits?|seeds?|experiments?"
)
_EPOCH = re.compile(r"epochs?|ep|e|step|iteration|it|batch_idx|round|_", re.IGNORECASE)
_ONE_LINE = "the body of the function is on the line of its def"
_SPLITS_AND_SAMPLERS = frozenset(
    {"random_split", "randperm", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler"}
)
_LOADER_OPTIONS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers")


@dataclass(frozen=True, slots=True)
class Declined:
    """No fix, and in a few words why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    """The statement before which the generator is made."""

    statement: cst.BaseStatement
    blocks: frozenset[int]
    """The blocks around it, by id: what is made in one of them once is made once for the loader."""


@dataclass(frozen=True, slots=True)
class _Step:
    block: cst.CSTNode
    statement: cst.BaseStatement


@dataclass(frozen=True, slots=True)
class _Wanting:
    """A call that may want a generator, and the statements around it."""

    call: cst.Call
    is_split_or_sampler: bool
    steps: list[_Step]


def find_place(
    document: Document,
    call: cst.Call,
    *,
    at_module_level: bool = False,
    for_loaders: bool = False,
    known: Mapping[tuple[int, int], bool] = MappingProxyType({}),
) -> Place | Declined:
    """The place for the generator of the loader `call`; with `at_module_level`, outside the function around it.

    `for_loaders`: splits and samplers have generators of their own, and are not looked at. `known` are the ranges of
    the calls that make loaders, and whether they may need a generator; of others their text decides.
    """
    reason = _hopeless(document, call)
    if reason is not None:
        return Declined(reason)
    if at_module_level:
        return Place(document.top_level_statement(call), frozenset({id(document.module)}))
    own = _steps(document, call)
    if not own:
        return Declined(_ONE_LINE)
    function = document.function(call)
    chains = [own]
    wanting = document.once(_wanting_a_generator).get(id(function), [])
    for other in [*wanting, *_by_other_names(document, function, known)]:
        is_other = other.call is not call and known.get(document.span(other.call), True)
        if is_other and not (for_loaders and other.is_split_or_sampler):
            chains.append(other.steps)
    depth = 0
    while all(len(chain) > depth and chain[depth].block is own[depth].block for chain in chains):
        depth += 1
        if depth == len(own):
            break
    level = [chain[depth - 1].statement for chain in chains]
    first = min(level, key=document.start)
    return Place(first, frozenset(id(step.block) for step in own[:depth]))


def first_statement_that_needs_init(
    document: Document, call: cst.Call, known: Collection[tuple[int, int]] = ()
) -> cst.BaseStatement:
    """The first statement of the module that holds `call`, or another loader that may want a worker init function.

    `known` are the ranges of the calls that make loaders, whatever these are called.
    """
    others = [one for one in _calls_at(document, known) if _lacks_init(one)]
    wanting = [*document.once(_first_wanting_init), *others, call]
    return document.top_level_statement(min(wanting, key=document.start))


def _first_wanting_init(document: Document) -> list[cst.Call]:
    wanting = [node for node in document.nodes(cst.Call) if _wants_init(node)]
    return [min(wanting, key=document.start)] if wanting else []


def repeats_the_seed(document: Document, call: cst.Call, seed: Seed) -> bool:
    """Whether the function around `call` is called in an epoch loop of this file, with the same seed each time.

    A generator that is made and seeded in such a function gives the same order in every epoch.
    """
    function = document.function(call)
    return function is not None and _runs_per_epoch(document, function, seed, set())


def _runs_per_epoch(document: Document, function: cst.FunctionDef, seed: Seed, seen: set[int]) -> bool:
    if id(function) in seen or _has_epoch_loop(document, function):
        return False
    seen.add(id(function))
    for call in _calls_of(document, function):
        for loop in document.loops(call):
            if is_epoch_loop(document, loop) and not _seed_varies(document, function, call, loop, seed):
                return True
        outer = document.function(call)
        if outer is not None and _runs_per_epoch(document, outer, Seed(""), seen):
            return True
    return False


def _calls_of(document: Document, function: cst.FunctionDef) -> Iterator[cst.Call]:
    name = function.name.value
    for node in document.nodes(cst.Call):
        func = node.func
        called = func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", None)
        if called == name:
            yield node


def _has_epoch_loop(document: Document, function: cst.FunctionDef) -> bool:
    """A function with an epoch loop of its own is a training, however often it is called."""
    return any(
        re.search("epoch", document.text_of(node.target) + document.text_of(node.iter))
        for node in document.nodes(cst.For, function)
    )


def is_epoch_loop(document: Document, loop: cst.For | cst.While) -> bool:
    """Whether a loop repeats parts of one training, as far as its text tells, and not whole trainings."""
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


def _steps(document: Document, call: cst.Call) -> list[_Step]:
    """The statements around a call from the function's body inwards, down to the first that repeats it."""
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


def _wanting_a_generator(document: Document) -> dict[int, list[_Wanting]]:
    """The calls before which a generator may be wanted, by the id of the function around them."""
    found: dict[int, list[_Wanting]] = {}
    for call in document.nodes(cst.Call):
        if _wants_generator(document, call) and _hopeless(document, call) is None:
            one = _Wanting(call, _is_split_or_sampler(document, call), _steps(document, call))
            found.setdefault(id(document.function(call)), []).append(one)
    return found


def _by_other_names(
    document: Document, function: cst.FunctionDef | None, known: Mapping[tuple[int, int], bool]
) -> Iterator[_Wanting]:
    """The known loaders of a function that are not called as loaders are: `loader_class(...)`, `DataLoaderX(...)`."""
    for call in _calls_at(document, [span for span, wants in known.items() if wants]):
        is_wanting = document.function(call) is function and not _is_loader(call) and not _given(call, "generator")
        if is_wanting and _hopeless(document, call) is None:
            yield _Wanting(call, False, _steps(document, call))


def _calls_at(document: Document, spans: Collection[tuple[int, int]]) -> Iterator[cst.Call]:
    for span in spans:
        call = document.node_at(*span, cst.Call)
        if call is not None:
            yield call


def _is_split_or_sampler(document: Document, call: cst.Call) -> bool:
    """Whether a call is named as torch's splits and samplers are, and the name is no other module's or the file's."""
    if _last_name(call.func) not in _SPLITS_AND_SAMPLERS:
        return False
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    owner = document.scope_of(call).resolve(name)
    targets = [binding.target for binding in owner.bindings[name]] if owner is not None else []
    return not targets or any(target is not None and target[0].partition(".")[0] == "torch" for target in targets)


def _wants_generator(document: Document, other: cst.Call) -> bool:
    """Whether a call, as far as its text tells, is a loader, split or sampler that may want a generator, by any fix."""
    if _given(other, "generator"):
        return False
    if _is_split_or_sampler(document, other):
        return True
    if not _is_loader(other):
        return False
    shuffle = _argument(other, "shuffle")
    return _has_workers(other) or (shuffle is not None and dotted_name(shuffle) not in ("False", "None"))


def _wants_init(other: cst.Call) -> bool:
    return _is_loader(other) and _lacks_init(other)


def _lacks_init(loader: cst.Call) -> bool:
    return not _given(loader, "worker_init_fn") and _has_workers(loader)


def _is_loader(call: cst.Call) -> bool:
    """A call of something named as loaders are, or of `partial` over it."""
    name = _last_name(call.func)
    if name == "partial" and call.args:
        name = _last_name(call.args[0].value)
    return name.endswith("Loader") and bool(call.args)


def _last_name(node: cst.BaseExpression) -> str:
    return last_part(dotted_name(node) or "")


def _has_workers(call: cst.Call) -> bool:
    """Whether a call asks for workers; a `**` argument may."""
    if any(argument.star == "**" for argument in call.args):
        return True
    workers = _argument(call, "num_workers")
    return workers is not None and not (isinstance(workers, cst.Integer) and workers.value == "0")


def _given(call: cst.Call, name: str) -> bool:
    value = _argument(call, name)
    return value is not None and dotted_name(value) != "None"


def _argument(call: cst.Call, name: str) -> cst.BaseExpression | None:
    for index, argument in enumerate(call.args):
        if argument.star:
            continue
        if argument.keyword is not None:
            if argument.keyword.value == name:
                return argument.value
        elif index < len(_LOADER_OPTIONS) and _LOADER_OPTIONS[index] == name:
            return argument.value
    return None

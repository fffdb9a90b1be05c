"""Streams that are split among the workers of a loader, and not among the processes of a distributed training."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk, words_in
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import ClassValue, Instance, Site
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.programs.epoch_loops import is_for_evaluation
from torchrepro_lint.program.programs.frameworks import uses_a_framework
from torchrepro_lint.program.running.blocks import expressions_in
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.workers.dataset_reseeding import reaches_dataset
from torchrepro_lint.program.workers.rank_names import depends_on_rank
from torchrepro_lint.program.workers.ranks import distributed_start
from torchrepro_lint.program.workers.streams import is_stream

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["SharedStream", "shared_stream"]

#: What tells the processes of a training apart, or splits data by a number from elsewhere.
_OF_RANKS: Final = function_words("ranks_or_shards")
#: What is given to an object after it was made.
_SET_LATER: Final = re.compile(
    rb"\.(?:\w*(?:rank|world_size|num_replicas|shard_?(?:id|ind|num)|n(?:um)?_shard)\w*|shards?)\s*=[^=]"
)


@dataclass(frozen=True, slots=True)
class SharedStream:
    """A dataset whose `__iter__` asks for the worker alone, and the place that starts several processes."""

    dataset: Instance
    start: Site


def shared_stream(program: Program, loader: Loader) -> SharedStream | None:
    """The dataset of a loader of which every process delivers all, as far as its class and its arguments show."""
    values = [one for one in loader.value("dataset") if isinstance(one, Instance) and is_stream(program.ev, one)]
    start = distributed_start(program, loader) if values else None
    if start is None or reaches_dataset(program, loader) or is_for_evaluation(program, loader.facts, loader.call):
        return None
    path = loader.facts.path
    if uses_a_framework(program, program.imports.together(path)) or program.project.holds(path, _SET_LATER):
        return None
    for value in ordered(values):
        if _asks_for_the_worker_alone(program, value) and not _is_given_a_part(program, value):
            return SharedStream(value, start)
    return None


def _asks_for_the_worker_alone(program: Program, value: Instance) -> bool:
    events = program.walker.fetching(frozenset((value,)))
    names = {event.name for event in events if event.name}
    if names.isdisjoint(known_calls("asks_for_the_worker")) or program.ev.lacks:
        return False
    if any("random" in name or name.startswith("torch.distributed.") for name in names):
        return False  # a stream in a random order may be another one in each process
    scopes = {event.frame.scope for event in events if event.frame is not None}
    return not any(_mentions_ranks(scope) for scope in (*scopes, *_methods(program, value)))


def _methods(program: Program, value: Instance) -> Iterator[Scope]:
    for base in attributes.mro(program.ev, value.cls):
        if isinstance(base, ClassValue):
            yield from program.ev.class_frame(base).scope.children


def _mentions_ranks(scope: Scope) -> bool:
    """Whether a name, a keyword or a text in a function is that of a rank, a node or a shard."""
    if not isinstance(scope.node, tree.FunctionDef):
        return False
    inside = list(expressions_in(scope.node.body))
    keywords = (arg.keyword for call in walk(inside) if isinstance(call, tree.Call) for arg in call.args if arg.keyword)
    words = (*(param.name for param in scope.node.params), *words_in(inside), *keywords)
    return any(map(_OF_RANKS.search, words))


def _is_given_a_part(program: Program, value: Instance) -> bool:
    """Whether what makes the dataset may hand it the part of one process: a rank, or files that are split by ranks."""
    made = call_at(program.ev, value.site) if value.site is not None else None
    if made is None:
        return True
    facts, scope, call, _ = made
    return any(
        arg.star
        or (arg.keyword is not None and _OF_RANKS.search(arg.keyword))
        or depends_on_rank(program.ev, arg.value, facts, scope)
        for arg in call.args
    )

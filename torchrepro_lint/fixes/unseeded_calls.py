"""The calls of a file that create loaders, splits and samplers, by their text and by what the program knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import cached_property

import libcst as cst

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.passed_arguments import given
from torchrepro_lint.knowledge.loaders import Role, torch_position
from torchrepro_lint.knowledge.ordering import OrderingTable, ordering_words

__all__ = ["KnownLoaders", "first_statement_that_needs_init", "is_split", "is_split_or_sampler", "may_want_generator"]

_SPLITS: tuple[OrderingTable, ...] = ("torch_splits", "torch_permutations")
_SPLITS_AND_SAMPLERS: tuple[OrderingTable, ...] = (*_SPLITS, "torch_samplers")


class KnownLoaders:
    """The calls of a document that create loaders, whatever they are called, as far as the program knows them, by their
    `spans`; of these, the `idle` ones draw nothing. `safety` tells of the span of a call that has no generator how safe
    the fix is that gives it one; None where there is none. `drawn` are the spans of the splits and samplers that are
    reported, None where that is not known.
    """

    def __init__(
        self,
        document: Document,
        spans: Set[tuple[int, int]],
        idle: Set[tuple[int, int]] = frozenset(),
        safety: Callable[[tuple[int, int]], Applicability | None] = lambda span: Applicability.SAFE,
        drawn: Set[tuple[int, int]] | None = None,
    ) -> None:
        self.document = document
        self._spans = spans
        self._idle = idle
        self._safety = safety
        self._drawn = drawn
        self._told: dict[int, Applicability | None] = {}

    def is_idle(self, call: cst.Call) -> bool:
        """Whether a call creates a loader that is known to draw nothing, so that it wants no generator."""
        return id(call) in self._idle_calls

    def is_known(self, call: cst.Call) -> bool:
        """Whether a call is known to create a loader."""
        return self.document.span(call) in self._spans

    def safety(self, call: cst.Call) -> Applicability | None:
        """How safe the fix is that gives a call which has no generator one, as far as is known; None where it draws
        nothing, or no fix does.
        """
        if id(call) not in self._told:
            span = self.document.span(call)
            if span in self._spans:
                self._told[id(call)] = None if self.is_idle(call) else self._safety(span)
            else:
                is_left = self._drawn is not None and span not in self._drawn
                self._told[id(call)] = None if is_left else Applicability.SAFE
        return self._told[id(call)]

    def that_get_one(self, calls: Sequence[cst.Call], applicability: Applicability) -> int:
        """How many of some calls that have no generator get one by a fix that is so safe."""
        return sum([self.safety(call) is applicability for call in calls])

    @cached_property
    def _idle_calls(self) -> frozenset[int]:
        document = self.document
        return frozenset(id(call) for call in document.nodes(cst.Call) if document.span(call) in self._idle)

    @cached_property
    def first_that_lacks_init(self) -> cst.Call | None:
        """The first of all that is given no worker init function, and has workers."""
        lacking = [call for call in self._calls if _lacks_init(call)]
        return min(lacking, key=self.document.start, default=None)

    @cached_property
    def by_other_names(self) -> tuple[cst.Call, ...]:
        """Those that are not called as loaders are: `loader_class(...)`."""
        return tuple(call for call in self._calls if not _is_loader(call))

    @cached_property
    def that_want_none(self) -> tuple[cst.Call, ...]:
        """Those that by their text want no generator, in the order of the text, but may draw."""
        return tuple(
            call for call in self._calls if not may_want_generator(self.document, call) and not self.is_idle(call)
        )

    @cached_property
    def _calls(self) -> tuple[cst.Call, ...]:
        found = (self.document.node_at(*span, cst.Call) for span in sorted(self._spans))
        return tuple(call for call in found if call is not None)


def may_want_generator(document: Document, call: cst.Call) -> bool:
    """Whether a call looks like a split, a sampler, or a loader that shuffles or has workers."""
    if is_split_or_sampler(document, call):
        return True
    if not _is_loader(call):
        return False
    shuffle = _argument(call, "shuffle")
    return _has_workers(call) or (shuffle is not None and dotted_name(shuffle) not in ("False", "None"))


def first_statement_that_needs_init(
    document: Document, call: cst.Call, known: KnownLoaders | None
) -> cst.BaseStatement:
    """The first statement of the module that contains `call` or another loader that may need a worker init function."""
    others = (document.once(_first_by_text), known.first_that_lacks_init if known is not None else None)
    calls = [call, *(other for other in others if other is not None)]
    return document.top_level_statement(min(calls, key=document.start))


def _first_by_text(document: Document) -> cst.Call | None:
    lacking = [node for node in document.nodes(cst.Call) if _is_loader(node) and _lacks_init(node)]
    return min(lacking, key=document.start, default=None)


def is_split(call: cst.Call) -> bool:
    """Whether a call has the name of a split or a permutation."""
    return any(_last_name(call.func) in ordering_words(table) for table in _SPLITS)


def is_split_or_sampler(document: Document, call: cst.Call) -> bool:
    """Whether a call has the name of one of torch's splits or samplers, and the name does not belong to another module
    or to the file itself.
    """
    if not any(_last_name(call.func) in ordering_words(table) for table in _SPLITS_AND_SAMPLERS):
        return False
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    owner = document.scope_of(call).resolve(name)
    targets = [binding.target for binding in owner.bindings[name]] if owner is not None else []
    return not targets or any(target is not None and target[0].partition(".")[0] == "torch" for target in targets)


def _lacks_init(loader: cst.Call) -> bool:
    return not _given(loader, "worker_init_fn") and _has_workers(loader)


def _is_loader(call: cst.Call) -> bool:
    """A call of something with the name of a loader."""
    return _last_name(call.func).endswith("Loader") and bool(call.args)


def _last_name(node: cst.BaseExpression) -> str:
    return last_part(dotted_name(node) or "")


def _has_workers(call: cst.Call) -> bool:
    """Whether a call may have workers; a `**` argument may pass them."""
    if any(argument.star == "**" for argument in call.args):
        return True
    workers = _argument(call, "num_workers")
    return workers is not None and not (isinstance(workers, cst.Integer) and workers.value == "0")


def _given(call: cst.Call, name: Role) -> bool:
    value = _argument(call, name)
    return value is not None and dotted_name(value) != "None"


def _argument(call: cst.Call, name: Role) -> cst.BaseExpression | None:
    # What else is called a loader has an order of its own; a data set may be.
    position = torch_position(name) if _last_name(call.func) == "DataLoader" else None
    argument = given(call, name, position)
    return argument.value if argument is not None else None

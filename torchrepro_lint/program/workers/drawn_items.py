"""Data sets whose items do not depend on the index: each is drawn, or is the next one, whichever is asked for.

def __getitem__(self, index):
    start = random.randint(0, len(self.signal) - self.length)
    return self.signal[start : start + self.length]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import Instance, MethodValue, Value
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.loaders.loaders import Loader

__all__ = ["ignores_the_index"]


def ignores_the_index(ev: Evaluator, loader: Loader) -> bool:
    """Whether no data set that the loader may have reads the index of the item: in which order the sampler gives the
    indices then changes nothing.
    """
    data_sets = loader.value("dataset")
    return bool(data_sets) and all(_ignores_it(ev, value) for value in data_sets)


def _ignores_it(ev: Evaluator, value: Value) -> bool:
    if not isinstance(value, Instance) or ev.attribute(value, "__getitems__"):
        return False
    methods = ev.attribute(value, "__getitem__")
    return bool(methods) and all(isinstance(one, MethodValue) and _is_unread(ev, one) for one in methods)


def _is_unread(ev: Evaluator, method: MethodValue) -> bool:
    function = method.function
    match function.node:
        case tree.FunctionDef(name="__getitem__", params=(_, index, *_)) as node:
            facts = function.frame.facts
            gives = any(statement.value is not None for statement, _ in facts.scope_of(node).returns)
            return gives and not parents_of(ev, facts).reads_in(index.name, node)
    return False

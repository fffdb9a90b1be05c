"""Options that ask for determinism: what their names say, and switches that are given one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import Condition
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.switches import Switch
from torchrepro_lint.program.evaluation.values import Arguments, External, ExternalObject, Value, Values
from torchrepro_lint.program.loaders.worker_runs import condition_holds
from torchrepro_lint.program.running.if_tests import says

__all__ = ["SWITCHED", "WISH", "Given", "takes_effect"]

#: In the name of an option: with it, a run is meant to be deterministic.
WISH: Final = function_words("wishes")

#: In the name of an object of torch whose attributes are switches.
SWITCHED: Final = re.compile(r"cudnn|backends|matmul|inductor")

#: An expression, where one is written, and what it can be.
Given = tuple[tree.Expr | None, Values]


def takes_effect(switch: Switch, arguments: Arguments, given: Callable[[Condition], Given]) -> bool:
    """Whether a call or an assignment switches: surely, or, where that shows intent, in the runs that have an option
    which names it. `given` tells what is given for the parameter of a condition.
    """
    verdicts = [condition_holds(condition, arguments) for condition in switch.when]
    if False in verdicts or None not in verdicts:
        return False not in verdicts
    left_open = [condition for condition, verdict in zip(switch.when, verdicts, strict=True) if verdict is None]
    if switch.level != "deterministic" or len({one.parameter for one in left_open}) > 1:
        return False
    wish = next((one for one in left_open if one.test == "is-true" and one.parameter != _WEAKENS), None)
    return wish is not None and _is_wish(*given(wish))


#: Whether torch only warns says nothing of whether determinism is wanted.
_WEAKENS = "warn_only"


def _is_wish(written: tree.Expr | None, values: Values) -> bool:
    """Whether an expression names determinism as something that may be wanted, and not as what torch is set to now."""
    return written is not None and says(written, True, WISH) is True and not any(map(_is_state_of_torch, values))


def _is_state_of_torch(value: Value) -> bool:
    return isinstance(value, (External, ExternalObject)) and value.name.startswith("torch.")

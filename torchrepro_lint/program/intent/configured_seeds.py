"""Seeds that a framework reads from a configuration: `cfg.SEED = 42; default_setup(cfg, args)`.

Which number that is can be told where the function that hands the configuration over sets it, or where its file sets a
plain number. Files and the command line may set another one: then nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.switches import SeedingCall
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Constant, Value
from torchrepro_lint.program.intent.wishes import Given

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["configured_seed"]


def configured_seed(ev: Evaluator, seeding: SeedingCall, call: tree.Call, frame: Frame) -> Given:
    """The seed that the configuration in a call holds, where it is written; nothing where none is, or no seed is."""
    here = [one for one in _set_in(frame.scope, seeding) if one.site < call.site]
    if here:
        values = ev.values(here[-1], frame)
        return (None, values) if values and all(map(_is_no_seed, values)) else (here[-1], values)
    for scope in frame.facts.walk_scopes():
        for written in _set_in(scope, seeding) if scope is not frame.scope else ():
            if isinstance(written, tree.Const) and not _is_no_seed(Constant(written.value)):
                return written, frozenset((Constant(written.value),))
    return None, frozenset()


def _set_in(scope: Scope, seeding: SeedingCall) -> Iterator[tree.Expr]:
    """What a scope assigns to the attribute that holds the seed."""
    for store in scope.stores:
        name = dotted_name(store.target) if not store.augmented and not store.unpack else None
        if name is not None and any(name.endswith(f".{attribute}") for attribute in seeding.configured_by):
            yield store.value


def _is_no_seed(value: Value) -> bool:
    """Whether a value asks for a random seed: none, or one below 0."""
    if not isinstance(value, Constant):
        return False
    return not isinstance(value.value, int) or value.value < 0

"""Whether what a program draws is trained by it: an optimizer gets the parameters of that very object, or a trainer the
object, by itself or in what was made with it.

    model = Net()                     # before the seed
    torch.manual_seed(0)
    optimizer = Adam(model.parameters())

A network that only shows its form, while another one is made under the seed and trained, has no part in a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    DictValue,
    External,
    ExternalObject,
    Instance,
    SequenceValue,
    Site,
    Value,
    Values,
)
from torchrepro_lint.program.programs.entry_path import EntryRun
from torchrepro_lint.program.programs.first_weights import built_at
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers
from torchrepro_lint.program.running.entry_walk import training_steps

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.running.reach import Event

__all__ = ["is_trained"]

_GIVE_PARAMETERS: Final = frozenset({"parameters", "named_parameters"})
#: What only counts parameters, or looks at them.
_COUNT: Final = frozenset(
    {"sum", "len", "next", "any", "all", "print", "max", "min", "list", "tuple", "zip", "enumerate"}
)


def is_trained(program: Program, run: EntryRun, event: Event) -> bool:
    """Whether the network or tensor that a draw makes is shown to be trained in a program."""
    return not {built_at(program, event), event.site}.isdisjoint(_trained(program, run))


def _trained(program: Program, run: EntryRun) -> frozenset[Site]:
    """The places that make what the program trains."""
    return program.once(("trained", run.entry.path, run.entry.called), lambda: frozenset(_found(program, run)))


def _found(program: Program, run: EntryRun) -> Iterator[Site]:
    for path in program.imports.ordered(run.files):
        facts = program.facts(path)
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            for call, _ in scope.calls:
                given = list(_given(program, facts, scope, call))
                if given:
                    yield from _made(program, facts, scope, given)


def _given(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> Iterator[tree.Expr]:
    """What a call trains: that of which it gets the parameters, a tensor that an optimizer gets, what a trainer is
    given.
    """
    name = called_name(call.func) or ""
    if name in training_steps() or name.endswith(("Trainer", "Runner")):
        yield from (arg.value for arg in call.args)
    elif name not in _COUNT:
        functions = program.ev.values(call.func, frame_without_callers(program.ev, facts, scope))
        optimizes = any(isinstance(one, External) and one.name.startswith("torch.optim.") for one in functions)
        given = [arg.value for arg in call.args]
        for part in walk(given) if optimizes else given:
            match part:
                case tree.Call(func=tree.Attribute(value=owner, attr=attr)) if attr in _GIVE_PARAMETERS:
                    yield owner
                case tree.Name() | tree.Attribute() if optimizes:
                    yield part


def _made(program: Program, facts: ModuleFacts, scope: Scope, given: list[tree.Expr]) -> Iterator[Site]:
    program.ev.begin_question()
    for frame in contexts(program.ev, facts, scope):
        for node in given:
            yield from _sites(program.ev.values(node, frame))


def _sites(values: Values) -> Iterator[Site]:
    """Where these objects are made, and those that they were made with or hold."""
    seen: set[Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in seen:
            seen.add(value)
            pending += _inside(value)
            if isinstance(value, Instance | ExternalObject) and value.site is not None:
                yield value.site


def _inside(value: Value) -> Iterator[Value]:
    """What an object was made with, and what a container holds."""
    match value:
        case Instance(arguments=Arguments() as given) | ExternalObject(arguments=Arguments() as given):
            for values in given.positional:
                yield from values
            for _, values, _ in given.keywords:
                yield from values
        case DictValue():
            yield from value.all_values()
        case SequenceValue():
            yield from value.elements()

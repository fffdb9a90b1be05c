"""The operations of torch that a project calls.

A function is recognized by its qualified name, a method by its name and a receiver that is a tensor, and a network
module where it is constructed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.conditions import UNKNOWN, Condition
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ops import OpRow, op_names, op_rows
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import External, Site, Value
from torchrepro_lint.program.ops.held_operations import held_names, held_pattern, is_called_by, without_partial
from torchrepro_lint.program.ops.inherited_operations import base_pattern, inherited_operation, initialises_a_base
from torchrepro_lint.program.ops.tensor_params import named_as_data
from torchrepro_lint.program.ops.tensor_results import Tensor
from torchrepro_lint.program.ops.tensors import tensor
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers, is_open

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "Operation",
    "called_by",
    "find_operations",
    "operation_at",
]

_METHOD = "torch.Tensor."


class Operands:
    """The tensors that a call works on, looked up on demand, since most calls are never asked for them."""

    def __init__(self, ev: Evaluator, nodes: Sequence[tree.Expr], frame: Frame) -> None:
        self._ev = ev
        self._nodes = nodes
        self._frame = frame

    @cached_property
    def subject(self) -> Tensor | None:
        if not self._nodes:
            return None
        return named_as_data(self._nodes[0], tensor(self._ev, self._nodes[0], self._frame))

    def at(self, frame: Frame) -> Operands:
        """The same in another frame."""
        return Operands(self._ev, self._nodes, frame)

    def tensors(self) -> Iterator[Tensor]:
        """Each that shows itself as one, the subject first."""
        if self.subject is not None:
            yield self.subject
        for node in self._nodes[1:]:
            found = tensor(self._ev, node, self._frame)
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of an operation, or one construction of a module for it, in a frame. `name` is canonical,
    `torch.Tensor.scatter_add_` for a method.
    """

    name: str
    call: tree.Call
    site: Site
    frame: Frame
    path: ArmPath
    operands: Operands = field(compare=False)
    given: tuple[tree.Arg, ...] = ()

    def at(self, frame: Frame) -> Operation:
        """The same operation in another frame of its scope."""
        return replace(self, frame=frame, operands=self.operands.at(frame))

    @property
    def args(self) -> tuple[tree.Arg, ...]:
        """The arguments of the call, including those of a `functools.partial` around it, which the call may override by
        keyword.
        """
        before = [arg for arg in self.given if arg.keyword is None and arg.star != "**"]
        return (*before, *self.call.args, *(arg for arg in self.given if arg not in before))

    @property
    def subject(self) -> Tensor | None:
        """The tensor operated upon, as far as it shows itself."""
        return self.operands.subject

    def any_input(self, holds: Callable[[Tensor], bool]) -> bool:
        """Whether it holds for any of the tensors among the receiver and the arguments that show themselves."""
        return any(holds(one) for one in self.operands.tensors())

    def all_inputs(self, holds: Callable[[Tensor], bool]) -> bool:
        """Whether it holds for all of them; not where none shows itself."""
        return not self.any_input(lambda one: not holds(one)) and self.any_input(holds)

    @property
    def is_method(self) -> bool:
        return self.name.startswith(_METHOD)

    @property
    def is_module(self) -> bool:
        """Whether this constructs what runs the operation later, in its `forward`."""
        return last_part(self.name)[:1].isupper()

    @property
    def short(self) -> str:
        """The name as a person says it: `Tensor.scatter_add_`, `nn.Upsample`, `F.grid_sample`."""
        for long, short in (("torch.nn.functional.", "F."), ("torch.nn.", "nn."), ("torch.Tensor.", "Tensor.")):
            if self.name.startswith(long):
                return short + self.name.removeprefix(long)
        return self.name


def called_by(speaks_of: Callable[[OpRow], bool]) -> frozenset[str]:
    """The names by which the operations of such a row are called: what comes after the last dot."""
    names = _by_last_part().items()
    return frozenset(last for last, full in names if any(speaks_of(row) for name in full for row in op_rows(name)))


@cache
def _by_last_part() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in sorted(op_names()):
        if name.endswith("*"):
            continue  # what is called so has no name to look for
        found.setdefault(last_part(name), []).append(name)
    return {last: tuple(names) for last, names in found.items()}


_NEVER_REPORTED = frozenset({"cublas", "memory", "mps", "compiled", "cudnn", "indexing"})


def _may_matter(call: tree.Call, last: str) -> bool:
    """A quick check of the argument list alone: whether some row of an operation of that name may apply to the call."""
    return any(
        not row.flags & _NEVER_REPORTED and not any(_is_ruled_out(call, condition) for condition in row.when)
        for name in _by_last_part().get(last, ())
        for row in op_rows(name)
    )


def _is_ruled_out(call: tree.Call, condition: Condition) -> bool:
    """Whether a condition fails because its argument is not passed, or is a literal that does not satisfy it."""
    if not condition.decided_by_arguments:
        return False
    for index, arg in enumerate(call.args):
        if arg.star or (arg.keyword is None and index == condition.position) or arg.keyword == condition.parameter:
            literal = arg.value.value if isinstance(arg.value, tree.Const) and not arg.star else UNKNOWN
            return condition.test != "is-tensor" and condition.holds(True, literal) is False
    return condition.holds(False) is False


def find_operations(ev: Evaluator, path: Path, called: Set[str]) -> Iterator[tuple[str, Operation]]:
    """The operations that one file calls by one of these names, each with that name and one of the frames in which it
    runs.
    """
    may_hold = ev.project.holds(path, held_pattern(frozenset(called)))
    derives = ev.project.holds(path, base_pattern(frozenset(called)))
    facts = ev.project.facts(path) if may_hold or derives or ev.project.may_call_any(path, called) else None
    if facts is None:
        return
    aliases = ev.of_text(("imported-as", id(facts)), lambda: _imported_as(facts))
    held = held_names(ev, facts, called) if may_hold else frozenset()
    for scope in facts.walk_scopes():
        for operation in _in_scope(ev, facts, scope, aliases, held, called):
            name = called_name(operation.call.func) or ""
            # What goes by a name of its own may be another operation there: `layer = nn.Conv2d if wide else nn.Linear`.
            key = next((one for one in (aliases.get(name, name), last_part(operation.name)) if one in called), None)
            if key is not None:
                yield key, operation


def _in_scope(
    ev: Evaluator, facts: ModuleFacts, scope: Scope, aliases: Mapping[str, str], held: Set[str], called: Set[str]
) -> Iterator[Operation]:
    calls = [
        (call, path)
        for call, path in scope.calls
        if is_called_by(call.func, held)
        or (
            (name := called_name(call.func)) is not None
            and (last := aliases.get(name, name)) in called
            and _may_matter(call, last)
        )
        or initialises_a_base(call, scope, called)
    ]
    if not calls:
        return
    alone = frame_without_callers(ev, facts, scope)
    ev.begin_question()
    seen = set()
    for operation in _in_frame(ev, calls, alone):
        seen.add(operation.call.site)
        yield operation
    # Who calls the scope is asked only where the scope itself leaves something open: that takes much longer.
    left = [one for one in calls if one[0].site not in seen]
    left = [one for one in left if is_called_by(one[0].func, held) or is_open(ev, one[0].func, alone)]
    for frame in contexts(ev, facts, scope) if left else ():
        ev.begin_question()
        for operation in _in_frame(ev, left, frame):
            seen.add(operation.call.site)
            yield operation
        left = [one for one in left if one[0].site not in seen]
        if not left:
            return


def _in_frame(ev: Evaluator, calls: Sequence[tuple[tree.Call, ArmPath]], frame: Frame) -> Iterator[Operation]:
    for call, path in calls:
        if ev.may_run(call.site, path, frame):
            operation = operation_at(ev, call, frame, path)
            if operation is not None:
                yield operation


def operation_at(ev: Evaluator, call: tree.Call, frame: Frame, path: ArmPath) -> Operation | None:
    """The operation that a call is in a frame; `path` are the arms in which it is."""
    name, given = _operation_name(ev, call, frame)
    if name is None:
        return None
    operands = Operands(ev, _operands(name, call), frame)
    return Operation(name, call, ev.site(call, frame), frame, path, operands, given)


def _imported_as(facts: ModuleFacts) -> dict[str, str]:
    """The different names that imports give to names: `from torch.nn.functional import grid_sample as sample`."""
    aliases: dict[str, str] = {}
    for scope in facts.walk_scopes():
        for bindings in scope.bindings.values():
            for binding in bindings:
                if isinstance(binding.node, tree.ImportFrom):
                    aliases.update({alias: name for name, alias in binding.node.names if alias is not None})
    return aliases


def _operation_name(ev: Evaluator, call: tree.Call, frame: Frame) -> tuple[str | None, tuple[tree.Arg, ...]]:
    """The operation that a call runs, by its function or by a method of a tensor, and the arguments that are already
    bound.
    """
    values = [without_partial(one, call.site) for one in ordered(ev.values(call.func, frame))]
    for value, given in values:
        name = canonical(value.name) if isinstance(value, External) else ""
        if op_rows(name) and (called_name(call.func) == last_part(name) or _is_the_only_one(values, name)):
            return name, given
    match call.func:
        case tree.Attribute(value=receiver, attr=attr) if op_rows(_METHOD + attr):
            if tensor(ev, receiver, frame) is not None:
                return _METHOD + attr, ()
    return inherited_operation(ev, call, frame), ()


def _is_the_only_one(values: Sequence[tuple[Value, object]], name: str) -> bool:
    """Whether something with a name of its own, or taken out of a dict, can only be this operation."""
    return all(isinstance(value, External) and canonical(value.name) == name for value, _ in values)


def _operands(name: str, call: tree.Call) -> list[tree.Expr]:
    """What a call works on: the receiver of a method, and the arguments."""
    nodes = [arg.value for arg in call.args if not arg.star]
    if name.startswith(_METHOD) and isinstance(call.func, tree.Attribute):
        nodes.insert(0, call.func.value)
    return nodes

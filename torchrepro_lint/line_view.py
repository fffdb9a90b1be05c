"""What the tool knows about the calls on a line that no rule reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.loaders import loader_class
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ops import OpRow, op_names, op_rows
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import call_switches, seeding_call
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    External,
    FunctionValue,
    Instance,
    MethodValue,
    Site,
    Value,
)
from torchrepro_lint.program.ops.op_runs import may_run_backward, may_run_on_cuda, may_use_cuda
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.ops.proven_rows import rows_proven, runs_somewhere
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.callers import contexts

__all__ = ["calls_at"]

# The rules about operations report none of these rows.
_ASIDE = frozenset({"cublas", "memory", "mps", "compiled", "cudnn", "indexing", "plain"})


def calls_at(program: Program, path: Path, row: int) -> list[str]:
    """A line for each call that begins in the row: what it is to the rules, and why none of them reports it."""
    operations = {one.call.site: one for one in program.operations(path, _called())}
    lines = []
    for call, values in _calls(program, path, row):
        operation = operations.get(call.site)
        if operation is not None and (rows := _rows(program, operation.name)):
            lines.append(f"  `{operation.short}`: {_why_no_operation(program, operation, rows)}")
        else:
            written = _written(call.func)
            lines += [f"  `{written}`: {what}" for what in dict.fromkeys(_what(program, one) for one in values)]
    return list(dict.fromkeys(lines))


def _called() -> frozenset[str]:
    return frozenset(map(last_part, op_names()))


def _calls(program: Program, path: Path, row: int) -> Iterator[tuple[tree.Call, Sequence[Value]]]:
    facts = program.facts(path)
    for scope in facts.walk_scopes() if facts is not None else ():
        for call, _ in scope.calls:
            if program.location(Site(path, call.site)).start.row != row:
                continue
            assert facts is not None
            frames = contexts(program.ev, facts, scope)
            yield call, tuple(dict.fromkeys(value for frame in frames for value in program.ev.values(call.func, frame)))


def _rows(program: Program, name: str) -> list[OpRow]:
    newest = program.target.newest()
    return [row for row in op_rows(name) if row.holds_at(newest) and not row.flags & _ASIDE]


def _why_no_operation(program: Program, operation: Operation, rows: list[OpRow]) -> str:
    """Why an operation that is nondeterministic on CUDA in some cases is not reported."""
    if not may_use_cuda(program, operation.site.path):
        return "nondeterministic on CUDA in some cases; no program in sight uses a GPU"
    if not runs_somewhere(program.ev, operation):
        return "nondeterministic on CUDA in some cases; a condition around it is never true"
    proven = rows_proven(program.ev, operation, rows, flag="off", any_backend=True)
    if not proven:
        return _in_cases("nondeterministic on CUDA only in cases that are not proven here", rows)
    if not may_run_on_cuda(program, operation):
        return "nondeterministic on CUDA; its inputs are on the CPU"
    if proven[0].phase == "backward" and not may_run_backward(program, operation, proven[0]):
        return "nondeterministic on CUDA in its backward pass; no gradient was seen to flow back through it"
    return "nondeterministic on CUDA; what it adds makes no difference here, or no program in sight runs it"


def _in_cases(what: str, rows: list[OpRow]) -> str:
    cases = "; ".join(dict.fromkeys(row.condition for row in rows if row.condition))
    return f"{what} ({cases})" if cases else what


def _written(node: tree.Expr) -> str:
    """The name of what is called, as the file has it."""
    if isinstance(node, tree.Name):
        return node.id
    if isinstance(node, tree.Attribute):
        return f"{_written(node.value)}.{node.attr}"
    return "(...)"


def _what(program: Program, value: Value) -> str:
    """What a call is to the rules."""
    if isinstance(value, External) and (rows := _rows(program, canonical(value.name))):
        return _in_cases("nondeterministic on CUDA, but not with these arguments", rows)
    if isinstance(value, External):
        return _external(canonical(value.name))
    if isinstance(value, ClassValue):
        return "a class of the project; what its constructor does is reported at its own lines"
    if isinstance(value, MethodValue | FunctionValue | Instance):
        return _OWN
    return "what it calls could not be followed, so nothing is proven about it"


_OWN = "a function of the project; what it does is reported at its own lines"


def _external(name: str) -> str:
    if seeding_call(name) is not None:
        return "seeds; no rule objects to how"
    if call_switches(name):
        return "a switch of determinism; no rule objects to its value"
    kinds = {effect.kind for effect in rng_effects(name)}
    if "draw" in kinds:
        return "draws random numbers; no rule objects to where, or to the generator that they come from"
    if kinds:
        return "makes, seeds or restores a generator; no rule objects to how"
    if loader_class(name) is not None:
        return "a loader; no rule objects to what it is passed, or to what its workers run"
    return "no rule is about it, as far as the tool's tables know it"

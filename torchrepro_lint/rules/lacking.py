"""How a message says that a call goes without an argument: it writes none, or one that is or may be None."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.program.running.written_arguments import written_argument

__all__ = ["lacking", "named_without"]


def lacking(call: tree.Call, parameter: Parameter) -> str:
    """`no generator`, `generator is None` or `generator may be None`, with the parameter in backquotes."""
    name = f"`{parameter.name}`"
    written = written_argument(call, parameter)
    return f"no {name}" if written is None else f"{name} {_is_none(written)}"


def named_without(name: str, call: tree.Call, parameter: Parameter) -> str:
    """What a call of `name` lacks, or has and should not, as a message says it: `random_split without generator`,
    `random_split whose generator may be None`, `ResampledShards with deterministic=False`.
    """
    written = written_argument(call, parameter)
    if written is None:
        return f"{name} without `{parameter.name}`"
    if isinstance(written, tree.Const) and isinstance(written.value, bool):
        return f"{name} with `{parameter.name}={written.value}`"
    return f"{name} whose `{parameter.name}` {_is_none(written)}"


def _is_none(written: tree.Expr) -> str:
    return "is None" if isinstance(written, tree.Const) else "may be None"

"""What a program lets be given on its command line, as far as its text says so with argparse."""

from __future__ import annotations

import libcst as cst

from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.scopes import Scope

__all__ = ["is_parsed", "is_parsing", "option_names", "options"]


def option_names(call: cst.Call) -> frozenset[str]:
    """The attributes that `parser.add_argument("--seed")` gives the parsed arguments; none for any other call."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "add_argument":
        return frozenset()
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == "dest":
            value = argument.value.evaluated_value if isinstance(argument.value, cst.SimpleString) else None
            return frozenset({value}) if isinstance(value, str) else frozenset()
    flags = [
        argument.value.evaluated_value
        for argument in call.args
        if argument.keyword is None and isinstance(argument.value, cst.SimpleString)
    ]
    names = [flag for flag in flags if isinstance(flag, str) and flag.startswith("--")]
    return frozenset(name.lstrip("-").replace("-", "_") for name in names[:1])


def options(document: Document) -> tuple[str, ...]:
    """The attributes of the parsed arguments that the options of a file make, in its order."""
    return document.once(_options)


def _options(document: Document) -> tuple[str, ...]:
    names: list[str] = []
    for call in sorted(document.nodes(cst.Call), key=document.start):
        names.extend(option_names(call))
    return tuple(names)


def is_parsed(document: Document, owner: Scope, name: str) -> bool:
    """Whether a name of a scope is bound to parsed arguments, and to nothing else."""
    bindings = owner.bindings.get(name, [])
    values = [document.parent(document.parent(binding.node) or binding.node) for binding in bindings]
    return bool(values) and all(isinstance(value, cst.Assign) and is_parsing(value.value) for value in values)


def is_parsing(value: cst.BaseExpression) -> bool:
    """Whether an expression is a call that parses the command line: `parser.parse_args()`."""
    if not isinstance(value, cst.Call):
        return False
    called = dotted_name(value.func) or (value.func.attr.value if isinstance(value.func, cst.Attribute) else "")
    return last_part(called) == "parse_args"

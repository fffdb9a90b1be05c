"""Whether a seed may be a text: argparse gives the text of an option that names no type.

    parser.add_argument("--seed", default=0)

`torch.manual_seed("5")` and `random.seed("5")` take it, `numpy.random.seed("5")` and `Generator.manual_seed("5")` raise
(measured on torch 2.13 and NumPy 2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.call_index import calls_in

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["as_number", "may_be_text"]

_ADD = "add_argument"
_OPTION = re.compile(r"\w+\.(\w+)(?: or \d+)?")


def may_be_text(program: Program, path: Path, seed: str) -> bool:
    """Whether an expression of a file, `args.seed`, may be a text: an option of its command line names no type; where
    the file has no such option, one of another file of the project does.
    """
    member = _OPTION.fullmatch(seed)
    if member is None:
        return False
    own = list(_options(program, path, member[1]))
    others = sorted(set(program.project.containing(_ADD)) - {path} - program.tests) if not own else ()
    found = own or [one for other in others for one in _options(program, other, member[1])]
    return any(map(_gives_text, found))


def as_number(seed: str) -> str:
    """The expression of a seed as a number."""
    return f"int({seed})"


def _options(program: Program, path: Path, name: str) -> Iterator[tree.Call]:
    """The calls in a file that add an option of a name to a command line."""
    facts = program.facts(path)
    for one in calls_in(program.ev, facts, _ADD) if facts is not None else ():
        if name in _names(one.call):
            yield one.call


def _names(call: tree.Call) -> Iterator[str]:
    """The attribute that an option gives the parsed arguments: its `dest`, else its first long flag."""
    for arg in call.args:
        if arg.keyword == "dest" and isinstance(arg.value, tree.Const):
            yield str(arg.value.value)
            return
    flags = [arg.value.value for arg in call.args if arg.keyword is None and isinstance(arg.value, tree.Const)]
    long = [flag for flag in flags if isinstance(flag, str) and flag.startswith("--")]
    yield from (flag.lstrip("-").replace("-", "_") for flag in long[:1])


def _gives_text(call: tree.Call) -> bool:
    """Whether an option keeps the text that is given on the command line."""
    given = {arg.keyword: arg.value for arg in call.args}
    if None in given and any(arg.star for arg in call.args):
        return False
    kind = given.get("type")
    return "action" not in given and (kind is None or (isinstance(kind, tree.Name) and kind.id == "str"))

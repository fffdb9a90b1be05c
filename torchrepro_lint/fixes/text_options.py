"""Whether a seed may be no number: argparse gives the text of an option that names no type, and a list with `nargs`.

    parser.add_argument("--seed", default=0)
    parser.add_argument("--seed", type=int, nargs="+")

`torch.manual_seed("5")` and `random.seed("5")` take a text, `numpy.random.seed("5")` and `Generator.manual_seed("5")`
raise (measured on torch 2.13 and NumPy 2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.call_index import calls_in

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.program.program import Program

__all__ = ["as_number", "may_be_several", "may_be_text"]

_ADD = "add_argument"
_OPTION = re.compile(r"\w+\.(\w+)(?: or \d+)?")
_NAMED = re.compile(r"(?:\w+\.)*(\w+)")


def may_be_text(program: Program, path: Path, seed: str) -> bool:
    """Whether an expression of a file, `args.seed`, may be a text: an option of its command line names no type; where
    the file has no such option, one of another file of the project does.
    """
    member = _OPTION.fullmatch(seed)
    return member is not None and any(map(_gives_text, _options_of(program, path, member[1])))


def may_be_several(program: Program, path: Path, seed: str) -> bool:
    """Whether an expression of a file, `args.seeds` or `self.seed`, may be several seeds: an option of the command line
    takes several arguments, or the file gives a name or attribute so called a list.
    """
    named = _NAMED.fullmatch(seed)
    facts = program.facts(path) if named is not None else None
    if named is None or facts is None:
        return False
    if any(map(_is_list, _values_of(facts, named[1]))):
        return True
    return "." in seed and any(map(_gives_several, _options_of(program, path, named[1])))


def _values_of(facts: ModuleFacts, name: str) -> Iterator[object]:
    """What a file assigns to names and attributes that are called so."""
    for scope in facts.walk_scopes():
        yield from (one.node for one in scope.bindings.get(name, ()) if one.kind == "assign" and not one.unpack)
        yield from (
            one.value for one in scope.stores if isinstance(one.target, tree.Attribute) and one.target.attr == name
        )


def _is_list(node: object) -> bool:
    match node:
        case tree.Conditional(body=body, orelse=other):
            return _is_list(body) or _is_list(other)
        case tree.Boolean(left=left, right=right):
            return _is_list(left) or _is_list(right)
    return isinstance(node, tree.Display | tree.DictDisplay | tree.Comprehension)


def _options_of(program: Program, path: Path, name: str) -> list[tree.Call]:
    """The calls that add an option of a name to a command line: those of a file, else those of the others."""
    own = list(_options(program, path, name))
    others = sorted(set(program.project.containing(_ADD)) - {path} - program.tests) if not own else ()
    return own or [one for other in others for one in _options(program, other, name)]


def _gives_several(call: tree.Call) -> bool:
    """Whether an option gives a list."""
    given = {arg.keyword: arg.value for arg in call.args}
    number, action = given.get("nargs"), given.get("action")
    is_single = number is None or (isinstance(number, tree.Const) and number.value == "?")
    return not is_single or (isinstance(action, tree.Const) and action.value in ("append", "extend"))


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

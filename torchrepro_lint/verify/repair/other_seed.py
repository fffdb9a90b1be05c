"""How a script is given another seed than its usual one: by an option among its arguments, or one that it declares."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_DECLARE = ("add_argument", "option")  # argparse; click and typer
_OPTION = re.compile(r"--?[\w.-]*seed[\w-]*", re.IGNORECASE)
_ASSIGNED = re.compile(r"([\w.+-]*seed[\w-]*)=(\d+)", re.IGNORECASE)
_OF_SOMETHING_ELSE = re.compile(r"split|data|eval|val|test|sampl|shuffle", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OtherSeed:
    """`command` is the script with its arguments and another seed, `words` are those arguments that give it."""

    command: tuple[str, ...]
    words: str


def other_seed(command: Sequence[str], given: Sequence[str] | None, files: Iterable[Path]) -> OtherSeed | None:
    """Another seed for the script; None where it is not known how to give it one.

    Args:
        command: The script, or `-m` and the module, and its arguments.
        given: Arguments with another seed, as the user has named them: the last one of an option counts.
        files: Files in which the option may be declared, the likeliest first.
    """
    if given is not None:
        return OtherSeed((*command, *given), shlex.join(given))
    for at, word in enumerate(command):
        assigned = _ASSIGNED.fullmatch(word)
        if at and assigned is not None:
            changed = f"{assigned[1]}={int(assigned[2]) + 1}"
            return OtherSeed((*command[:at], changed, *command[at + 1 :]), changed)
        value = command[at + 1] if at + 1 < len(command) else ""
        if at and _OPTION.fullmatch(word) and value.isdecimal():
            number = str(int(value) + 1)
            return OtherSeed((*command[: at + 1], number, *command[at + 2 :]), f"{word} {number}")
    for path in files:
        declared = sorted(_declared(path), key=lambda one: (bool(_OF_SOMETHING_ELSE.search(one[0])), len(one[0])))
        for option, default in declared:
            number = str(default + 1 if default is not None else 1)
            return OtherSeed((*command, option, number), f"{option} {number}")
    return None


def _declared(path: Path) -> Iterator[tuple[str, int | None]]:
    """The options for a seed that a file declares, each with its default where that is a number."""
    try:
        module = ast.parse(path.read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError):
        return
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _DECLARE:
            continue
        names = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        option = next((name for name in reversed(names) if _OPTION.fullmatch(name)), None)
        if option is not None and not any(one.arg == "action" for one in node.keywords):
            defaults = [one.value for one in node.keywords if one.arg == "default"]
            number = defaults[0].value if defaults and isinstance(defaults[0], ast.Constant) else None
            yield option, number if isinstance(number, int) and number >= 0 else None

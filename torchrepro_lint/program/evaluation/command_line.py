"""The possible values of command line options: of `args.x`, if `add_argument("--x", choices=[...])` lists them.

A default proves nothing, since the user may give another value. With `choices`, the user may give only one of these;
the default counts in addition to them, because argparse does not check it against the choices. What the user gives is
never None: if the default is not None, neither is the option.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.frames import Frame, enclosing_frame
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    UNKNOWN,
    ClassValue,
    Constant,
    ExternalObject,
    FunctionValue,
    MethodValue,
    Partial,
    SequenceValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["choices_of", "defaults_of", "handlers_of", "is_assigned", "is_never_none", "is_parsed"]

#: How many files are asked for the declarations of an option, or for its handlers. Where more may have them, nothing is
#: known of it.
MAX_FILES = 12
_PARSING = ("parse_args", "parse_known_args")
_PARSERS = frozenset(f"argparse.ArgumentParser.{name}" for name in _PARSING)
_SEVERAL = ("+", "*")
_HANDLERS = (FunctionValue, MethodValue, ClassValue, Partial)


def is_parsed(value: ExternalObject) -> bool:
    """Whether the object is what a parser of the command line gave."""
    return value.name in _PARSERS


def choices_of(ev: Evaluator, arguments: ExternalObject, name: str) -> Values:
    """What `arguments.name` can be; nothing where no `choices` bound it.

    The file that parses is asked first, then the others that declare arguments: options may be elsewhere.
    """
    if arguments.site is None:
        return NOTHING
    path = arguments.site.path
    return ev.remembered(("choices", path, name), lambda: _choices(ev, path, name), NOTHING)


def _choices(ev: Evaluator, parsed_in: Path, name: str) -> Values:
    found = [_allowed(ev, call, frame) for call, frame in _declared(ev, parsed_in, name)]
    # One declaration without choices, or with choices that cannot be followed, leaves it open.
    if not found or any(not values or UNKNOWN in values for values in found):
        return NOTHING
    return union(*found)


def handlers_of(ev: Evaluator, arguments: ExternalObject, name: str) -> Values:
    """The functions and classes that `arguments.name` can be: those of `set_defaults(name=train)` for one command or
    another, since the user can give a text only. Files that parse a command line of their own are other programs.
    """
    if arguments.site is None:
        return NOTHING
    path = arguments.site.path
    return ev.remembered(("handlers", path, name), lambda: frozenset(_handlers(ev, path, name)), NOTHING)


def _handlers(ev: Evaluator, parsed_in: Path, name: str) -> Iterator[Value]:
    spelt = set(ev.project.containing(name))
    others = {path for name in _PARSING for path in ev.project.containing(name)} - {parsed_in}
    setting = [path for path in ev.project.containing("set_defaults") if path in spelt]
    files = [path for path in setting if path not in others] or setting
    for path in files if len(files) <= MAX_FILES else ():
        facts = ev.project.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            for call, _ in scope.calls:
                if isinstance(call.func, tree.Attribute) and call.func.attr == "set_defaults" and facts is not None:
                    frame = enclosing_frame(ev, facts, scope)
                    given = [ev.values(arg.value, frame) for arg in call.args if arg.keyword == name]
                    yield from (one for one in union(*given) if isinstance(one, _HANDLERS))


def is_never_none(ev: Evaluator, arguments: ExternalObject, name: str) -> bool:
    """Whether `arguments.name` is something in each run: each declaration requires it, or has a default."""
    if arguments.site is None:
        return False
    path = arguments.site.path
    return ev.remembered(("never-none", path, name), lambda: _is_never_none(ev, path, name), False)


def _is_never_none(ev: Evaluator, parsed_in: Path, name: str) -> bool:
    found = list(_declared(ev, parsed_in, name))
    files = {frame.facts for _, frame in found} | {ev.project.facts(parsed_in)}
    return (
        bool(found)
        and all(_gives_something(ev, call, frame) for call, frame in found)
        and not any(_sets_many(facts) for facts in files if facts is not None)
    )


def _gives_something(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    """Whether a declared argument is never None."""
    if any(arg.star for arg in call.args):
        return False
    given = {arg.keyword: arg.value for arg in call.args if arg.keyword is not None}
    match given.get("action"), given.get("nargs"), given.get("type"):
        case tree.Const(value="store_true" | "store_false"), None, None:
            return "default" not in given
        case None | tree.Const(value="store"), nargs, None | tree.Name(id="int" | "float" | "str"):
            if isinstance(nargs, tree.Const) and nargs.value == "?":
                return False
        case _:
            return False
    if "default" in given:
        values = ev.values(given["default"], frame)
        return bool(values) and all(isinstance(value, Constant) and value.value is not None for value in values)
    required = given.get("required")
    return not _is_optional(call) or (isinstance(required, tree.Const) and required.value is True)


def _sets_many(facts: ModuleFacts) -> bool:
    """Whether the file may give options other values under names that it does not spell: `vars(args).update(...)`."""
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            match call.func:
                case tree.Name(id="setattr") | tree.Attribute(attr="set_defaults"):
                    return True
                case tree.Attribute(
                    attr="update",
                    value=tree.Attribute(attr="__dict__") | tree.Call(func=tree.Name(id="vars")),
                ):
                    return True
    return False


def is_assigned(facts: ModuleFacts, name: str) -> bool:
    """Whether the file assigns to an attribute of that name: `args.x = ...`."""
    for scope in facts.walk_scopes():
        for store in scope.stores:
            match store.target:
                case tree.Attribute(value=tree.Name(id=owner), attr=attr) if attr == name and owner != scope.self_name:
                    return True
    return False


def defaults_of(ev: Evaluator, arguments: ExternalObject, name: str) -> Iterator[tuple[tree.Expr, Frame]]:
    """The defaults that the file which parses declares for `arguments.name`, each with the frame it is in."""
    facts = ev.project.facts(arguments.site.path) if arguments.site is not None else None
    if facts is not None:
        for scope, call in _declared_in(ev, facts, name):
            for arg in call.args:
                if arg.keyword == "default":
                    yield arg.value, enclosing_frame(ev, facts, scope)


def _declared(ev: Evaluator, parsed_in: Path, name: str) -> Iterator[tuple[tree.Call, Frame]]:
    """The declarations of an argument: those of the file that parses, else of others. None where a file assigns it."""
    facts = ev.project.facts(parsed_in)
    if facts is None or is_assigned(facts, name):
        return
    found = _declared_in(ev, facts, name)
    yield from ((call, enclosing_frame(ev, facts, scope)) for scope, call in found)
    if found:
        return
    spelt = set(ev.project.containing(name)) | set(ev.project.containing(name.replace("_", "-")))
    others = [path for path in ev.project.containing("add_argument") if path in spelt and path != parsed_in]
    for path in sorted(others) if len(others) <= MAX_FILES else ():
        other = ev.project.facts(path)
        if other is not None and not is_assigned(other, name):
            for scope, call in _declared_in(ev, other, name):
                yield call, enclosing_frame(ev, other, scope)


def _declared_in(ev: Evaluator, facts: ModuleFacts, name: str) -> list[tuple[Scope, tree.Call]]:
    declared = ev.of_text(("arguments-declared", id(facts)), lambda: _declarations(facts))
    return declared.get(name, [])


def _declarations(facts: ModuleFacts) -> dict[str, list[tuple[Scope, tree.Call]]]:
    found: dict[str, list[tuple[Scope, tree.Call]]] = {}
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            match call.func:
                case tree.Attribute(attr="add_argument"):
                    name = _destination(call)
                    if name is not None:
                        found.setdefault(name, []).append((scope, call))
    return found


def _destination(call: tree.Call) -> str | None:
    """The attribute under which argparse keeps an argument: `dest`, the first long option, or the positional name."""
    spellings: list[str] = []
    for arg in call.args:
        match arg:
            case tree.Arg(keyword="dest", value=tree.Const(value=str() as text)):
                return text
            case tree.Arg(keyword=None, star="", value=tree.Const(value=str() as text)):
                spellings.append(text)
    long = [text for text in spellings if text.startswith("--")]
    chosen = (long or spellings or [""])[0].lstrip("-")
    return chosen.replace("-", "_") or None


def _allowed(ev: Evaluator, call: tree.Call, frame: Frame) -> Values:
    given = {arg.keyword: arg.value for arg in call.args if arg.keyword is not None}
    if "choices" not in given:
        return NOTHING
    choices = ev.elements(ev.values(given["choices"], frame))
    if not choices or not all(isinstance(value, Constant) for value in choices):
        return NOTHING
    required = given.get("required")
    if "default" in given:
        default = ev.values(given["default"], frame)
    elif _is_optional(call) and not (isinstance(required, tree.Const) and required.value is True):
        default = values_of(Constant(None))
    else:
        default = NOTHING
    match given.get("nargs"), given.get("action"):
        case None, None | tree.Const(value="store"):
            return union(choices, default)
        case tree.Const(value=nargs), None if nargs in _SEVERAL or isinstance(nargs, int):
            return union(values_of(SequenceValue("list", None, choices)), default)
        case None, tree.Const(value="append"):
            return union(values_of(SequenceValue("list", None, choices)), default)
    return unknown()


def _is_optional(call: tree.Call) -> bool:
    return any(
        isinstance(arg.value, tree.Const) and str(arg.value.value).startswith("-")
        for arg in call.args
        if arg.keyword is None
    )

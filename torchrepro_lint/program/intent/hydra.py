"""The configuration that a function gets from Hydra, put together from the YAML files beside it, as Hydra does.

What the command line overrides, and what a resolver or an interpolation gives, is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Constant, External
from torchrepro_lint.program.running.callers import visible_calls
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument
from torchrepro_lint.regular_files import read_if_there
from torchrepro_lint.source.configurations import read_configuration
from torchrepro_lint.source.root import absolute

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["compose", "configured"]

_MAX_CALLS = 4  # of one function: with more, its configuration is not known
_MAX_DEPTH = 4  # of functions that hand the configuration on, and of groups that name other groups


def configured(ev: Evaluator, node: tree.Expr, frame: Frame, depth: int = 0) -> object:
    """What `cfg.trainer.deterministic`, `cfg["seed"]` or `cfg` itself is in the configuration; None where that is not
    known, or nothing is set.
    """
    match node:
        case tree.Attribute(value=owner, attr=key) | tree.Subscript(value=owner, index=tree.Const(value=str() as key)):
            found = configured(ev, owner, frame, depth)
            return found.get(key) if isinstance(found, Mapping) else None
        case tree.Call(
            func=tree.Attribute(value=owner, attr="get"), args=(tree.Arg(value=tree.Const(value=str() as key)), *_)
        ):
            found = configured(ev, owner, frame, depth)
            return found.get(key) if isinstance(found, Mapping) else None
        case tree.Name(id=name, site=site):
            bindings, certain = frame.scope.reaching(name, site)
            only = bindings[0] if certain and len(bindings) == 1 else None
            if only is None or depth > _MAX_DEPTH:
                return None
            if only.kind == "param":
                return _given(ev, frame, name, depth)
            if only.kind == "assign" and isinstance(only.node, (tree.Attribute, tree.Subscript)) and not only.unpack:
                return configured(ev, only.node, frame, depth + 1)
    return None


def _given(ev: Evaluator, frame: Frame, name: str, depth: int) -> object:
    """The configuration that a function gets as a parameter: from Hydra, or from the one function that hands it on."""
    function = frame.scope.node
    if not isinstance(function, tree.FunctionDef):
        return None
    names = [param.name for param in function.params]
    for decorator in function.decorators:
        if isinstance(decorator, tree.Call) and names[:1] == [name] and _is_hydra(ev, decorator, frame):
            return _composed(ev, decorator, frame.facts)
    given: list[object] = []
    parameter = parameter_of(frame.scope, name)
    calls = visible_calls(ev, frame.facts, frame.scope)
    for call, caller in calls if len(calls) <= _MAX_CALLS else ():
        written = written_argument(call, parameter)
        if written is not None:
            given.append(configured(ev, written, caller, depth + 1))
    return given[0] if given and all(one == given[0] for one in given) else None


def _is_hydra(ev: Evaluator, decorator: tree.Call, frame: Frame) -> bool:
    values = ev.values(decorator.func, frame.parent or frame)
    return any(isinstance(value, External) and value.name == "hydra.main" for value in values)


def _composed(ev: Evaluator, decorator: tree.Call, facts: ModuleFacts) -> Mapping[str, object]:
    around = ev.module_frame(facts)
    texts: dict[str, str] = {}
    for index, arg in enumerate(decorator.args):
        key = arg.keyword or ("config_path", "config_name")[index] if index < 2 or arg.keyword else ""
        values = ev.values(arg.value, around)
        only = next(iter(values)) if len(values) == 1 else None
        if isinstance(only, Constant) and isinstance(only.value, str):
            texts[key] = only.value
    if "config_name" not in texts or "config_path" not in texts:
        return {}
    folder = absolute(facts.path.parent / texts["config_path"])
    if not folder.is_relative_to(ev.project.root):
        return {}  # of another project, whose changes nobody watches
    return ev.remembered(("hydra", folder, texts["config_name"]), lambda: compose(folder, texts["config_name"]), {})


def compose(folder: Path, name: str) -> Mapping[str, object]:
    """The configuration `name` in `folder` with what its list of defaults brings in; empty if that goes deeper than is
    followed, as what lies there may set anything.

    Source: hydra.cc/docs/advanced/defaults_list (1.3). What names no file is left out.
    """
    return _composed_of(folder, name, ()) or {}


def _composed_of(folder: Path, name: str, around: tuple[Path, ...]) -> Mapping[str, object] | None:
    """The same for one that is in a list of defaults of those `around` it, from the outside in; None if something below
    is too deep.
    """
    path = folder / f"{name.removesuffix('.yaml')}.yaml"
    own = dict(read_configuration(path)) if path not in around else {}
    defaults = own.pop("defaults", None)
    entries = list(_defaults(defaults)) if isinstance(defaults, list) else []
    if len(around) >= _MAX_DEPTH and any(one != ("", "_self_") for one in entries):
        return None
    if ("", "_self_") not in entries:
        entries.append(("", "_self_"))
    result: dict[str, object] = {}
    for group, option in entries:
        if option == "_self_":
            _merge(result, own)
            continue
        file = f"{group}/{option}" if group else option
        found = _composed_of((folder / file).parent, Path(file).name, (*around, path))
        if found is None:
            return None
        for key in [] if _is_global(folder / f"{file.removesuffix('.yaml')}.yaml") else reversed(group.split("/")):
            found = {key: found} if key and found else found
        _merge(result, found)
    return result


def _defaults(entries: list[object]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        if isinstance(entry, str):
            yield "", entry
        elif isinstance(entry, dict):
            for group, option in entry.items():
                name = str(group).removeprefix("override ").removeprefix("optional ").strip().lstrip("/")
                for one in option if isinstance(option, list) else [option]:
                    if isinstance(one, str) and not name.startswith("hydra"):
                        yield name.partition("@")[0], one


def _is_global(path: Path) -> bool:
    return b"@package _global_" in read_if_there(path)[:500]


def _merge(into: dict[str, object], other: Mapping[str, object]) -> None:
    for key, value in other.items():
        mine = into.get(key)
        if isinstance(mine, dict) and isinstance(value, Mapping):
            mine = dict(mine)
            _merge(mine, value)
            into[key] = mine
        else:
            into[key] = value

"""The number of workers of a loader in a class that only configurations make: `_target_: data.Digits` (Hydra),
`class_path: data.Digits` (LightningCLI), with `num_workers: 0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.arguments import merged
from torchrepro_lint.program.evaluation.values import Arguments, ClassValue, Constant, values_of
from torchrepro_lint.program.files_of_tests import is_named_like_a_test
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calling_places import making_places
from torchrepro_lint.program.running.training_hooks import is_meant_by_a_target, is_named_by_a_configuration
from torchrepro_lint.program.word_index import any_word
from torchrepro_lint.source.commands import ALL_COMMANDS, commands_below, digest_of
from torchrepro_lint.source.configurations import ALL_CONFIGURATIONS, configurations_below, configurations_digest

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.loaders.loaders import Loader

__all__ = ["with_configured_workers"]

_TARGETS: Final = ("_target_", "class_path")
_ARGUMENTS: Final = "init_args"
#: Where Lightning keeps the arguments of a constructor that calls `self.save_hyperparameters()`.
_SAVED, _SAVES = "hparams", "save_hyperparameters"
_OFF: Final = frozenset({b"0", b"False", b"false"})

#: The names by which something is reached, from the outside in.
_Keys = tuple[str, ...]


class _Given(NamedTuple):
    """What a mapping gives, by its keys and those of the mappings in it that have no target of their own; `target` is
    what it says is to be made, empty for what is around all of these.
    """

    target: str
    values: Mapping[_Keys, object]


def with_configured_workers(ev: Evaluator, loader: Loader) -> Loader:
    """The loader with 0 workers, where these are an argument of a constructor that no code of the project calls, all
    configurations that have the class made say 0, or leave out what is 0 by default, and none that may be put together
    with them, no command and no code says anything else.
    """
    name = loader.known.keywords.get("num_workers")
    cls = loader.scope.parent
    if name is None or cls is None or not isinstance(cls.node, tree.ClassDef) or cls.parent is not loader.facts.scope:
        return loader
    if not loader.has_workers or not is_named_by_a_configuration(ev, loader.facts, cls.name):
        return loader
    written = next((arg.value for arg in loader.call.args if arg.keyword == name), None)
    keys = _argument_of_the_constructor(written, loader.scope, cls) if written is not None else ()
    if not keys or making_places(ev, ClassValue(cls.node, frame_without_callers(ev, loader.facts, cls.parent))):
        return loader
    if not _is_always_0(ev, loader, cls, keys) or _may_be_changed(ev, keys[-1]):
        return loader
    none = values_of(Constant(0))
    return replace(loader, arguments=merged(loader.arguments, Arguments((), ((name, none, True),))))


def _argument_of_the_constructor(node: tree.Expr, scope: Scope, cls: Scope) -> _Keys:
    """The argument of the constructor that an expression in a method is, and the names below it:
    `("loading", "num_workers")` for `self.loading.num_workers` with `self.loading = loading`. Empty for all else.
    """
    base, keys = _reached(node)
    init = next((one for one in cls.children if one.name == "__init__"), None)
    if not keys or base is None or base != scope.self_name or init is None:
        return ()
    stores = [
        store
        for method in cls.children
        for store in method.stores
        if isinstance(store.target, tree.Attribute)
        and store.target.attr == keys[0]
        and isinstance(store.target.value, tree.Name)
        and store.target.value.id == method.self_name
    ]
    if not stores and keys[0] == _SAVED and any(called_name(call.func) == _SAVES for call, _ in init.calls):
        return keys[1:]
    if len(stores) != 1 or stores[0] not in init.stores or stores[0].augmented or stores[0].unpack:
        return ()
    given, below = _reached(stores[0].value)
    parameter = next((one for one in _parameters(init) if one.name == given), None)
    if parameter is None or len(init.bindings.get(parameter.name, ())) != 1:
        return ()
    return (*below, *keys[1:]) if parameter.kind == "double-star" else (parameter.name, *below, *keys[1:])


def _parameters(init: Scope) -> tuple[tree.Param, ...]:
    return init.node.params if isinstance(init.node, tree.FunctionDef) else ()


def _reached(node: tree.Expr | None) -> tuple[str | None, _Keys]:
    """The name that an expression begins with, and the attributes and keys from there on; no name for another one."""
    keys: list[str] = []
    while True:
        match node:
            case tree.Attribute(value=node, attr=key) | tree.Subscript(value=node, index=tree.Const(value=str(key))):
                keys.append(key)
            case tree.Name(id=name):
                return name, tuple(reversed(keys))
            case _:
                return None, ()


def _is_always_0(ev: Evaluator, loader: Loader, cls: Scope, keys: _Keys) -> bool:
    """Whether all configurations that have the class made give 0, and so do those that name nothing to be made."""
    of_class = 0
    nothing: tuple[_Given, ...] = ()
    for given in ev.of_project("given-by-configurations", lambda: _given_by_configurations(ev), nothing):
        if given.target and not is_meant_by_a_target(loader.facts.path, cls.name, given.target):
            continue
        values = [value for path, value in given.values.items() if path[-1:] == keys[-1:]]
        if given.target:
            of_class += 1
            values = [given.values[keys]] if keys in given.values else [_default(cls, keys)]
        if not all(type(value) in (int, bool) and not value for value in values):
            return False
    return of_class > 0


def _default(cls: Scope, keys: _Keys) -> object:
    """What a parameter of the constructor is if it is left out; None if that is no number."""
    init = next(one for one in cls.children if one.name == "__init__")
    default = next((one.default for one in _parameters(init) if keys == (one.name,)), None)
    return default.value if isinstance(default, tree.Const) else None


def _given_by_configurations(ev: Evaluator) -> tuple[_Given, ...]:
    ev.project.outside[ALL_CONFIGURATIONS] = configurations_digest(ev.project.root)
    found: list[_Given] = []
    for configuration in configurations_below(ev.project.root):
        around: dict[_Keys, object] = {}
        found.extend((*_givens(configuration, (), around), _Given("", around)))
    return tuple(found)


def _givens(node: object, keys: _Keys, around: dict[_Keys, object]) -> Iterator[_Given]:
    """The mappings with a target in `node`; what belongs to none of them is put into `around`, by its keys."""
    if isinstance(node, list):
        for item in node:
            yield from _givens(item, keys, around)
    elif isinstance(node, Mapping):
        target = next((node[key] for key in _TARGETS if isinstance(node.get(key), str)), None)
        values: dict[_Keys, object] = {} if target is not None else around
        for key, value in node.items():
            below = () if target is not None else keys
            is_wrapped = target is not None and key == _ARGUMENTS
            yield from _givens(value, below if is_wrapped else (*below, str(key)), values)
        if target is not None:
            yield _Given(str(target), values)
    else:
        around[keys] = node


def _may_be_changed(ev: Evaluator, key: str) -> bool:
    """Whether a command gives what is called so another value than 0, or code may, that of tests aside:
    `config.num_workers = 4`, `instantiate(config, num_workers=4)`.
    """
    return ev.of_project(f"changed-workers:{key}", lambda: _is_given(ev, key) or _is_changed(ev, key), True)


def _is_given(ev: Evaluator, key: str) -> bool:
    commands = commands_below(ev.project.root)
    ev.project.outside[ALL_COMMANDS] = digest_of(commands)
    # `data.num_workers=4`, `--data.num_workers 4`, `{"num_workers": 4}`; what YAML says is read as such.
    told = re.compile(
        rb"\b%s(?:[ \t]*=[ \t]*|[ \t]+(?=[\d$])|[\"']\s*:\s*)[\"']?([^\s\"'\\,)}]+)" % re.escape(key.encode())
    )
    root = ev.project.root
    texts = (text for path, text in commands.items() if not is_named_like_a_test(root, root / path))
    return any(value not in _OFF for text in texts for value in told.findall(text))


def _is_changed(ev: Evaluator, key: str) -> bool:
    for path in ev.project.matching(any_word({key})):
        facts = ev.project.facts(path) if path not in ev.project.tests else None
        for scope in facts.walk_scopes() if facts is not None else ():
            for store in scope.stores:
                base, keys = _reached(store.target)
                is_0 = isinstance(store.value, tree.Const) and not store.value.value and not store.augmented
                if keys[-1:] == (key,) and base != scope.self_name and not is_0:
                    return True
            for call, _ in scope.calls:
                if called_name(call.func) == "instantiate" and any(arg.keyword == key for arg in call.args):
                    return True
    return False

"""Settings of a configuration whose only known value is False: `_C.CUDNN.DETERMINISTIC = False`, which nothing in the
code sets to anything else. Who reads such a setting does not ask for determinism by that. An option of the command line
is no such setting: it is there to be given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, cast

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, sub_expressions, walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding
from torchrepro_lint.program.core.backward import Backward
from torchrepro_lint.program.core.queries import Origin, Query
from torchrepro_lint.program.intent.wishes import SWITCHED
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.if_tests import tests_around
from torchrepro_lint.program.word_index import any_word
from torchrepro_lint.source.configurations import ALL_CONFIGURATIONS, configurations_digest, names_setting

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.intent.intent import Evidence

__all__ = ["declared_texts", "gives_option", "is_off_by_default", "is_only_for_what_is_off"]

#: The names by which a setting is reached, from the configuration on: `CUDNN.DETERMINISTIC`.
_Keys = tuple[str, ...]
_GIVES_OPTIONS: Final = frozenset({"add_argument", "option", "DEFINE_bool", "DEFINE_boolean", "add_bool", "Option"})


def is_only_for_what_is_off(ev: Evaluator, tests: Iterable[tree.Expr], frame: Frame) -> bool:
    """Whether one of the tests that must hold for something asks for such a setting, and no YAML file names that."""
    client = _OffByDefault(ev)
    parts = [part for test in tests for part in _that_must_hold(test) if client.of(part, frame) is True]
    if not parts:
        return False
    ev.project.outside[ALL_CONFIGURATIONS] = configurations_digest(ev.project.root)
    named = (keys[-1] for keys, _ in map(_keys_of, parts) if keys)
    return any(not names_setting(ev.project.root, name) for name in named)


def is_off_by_default(ev: Evaluator, one: Evidence) -> bool:
    """Whether a switch is given a setting whose only known value is False, or is under an `if` that asks for one."""
    client = _OffByDefault(ev)
    asked = [test for test, holds in tests_around(one.frame.scope, one.path) if holds]
    if one.value is not None and not isinstance(one.value, tree.Const):
        asked.append(one.value)
    return any(client.of(each, one.frame) is True for test in asked for each in _that_must_hold(test))


def _that_must_hold(test: tree.Expr) -> Iterator[tree.Expr]:
    """The parts of `a and b`, and what is made True or False of something: `bool(a)`."""
    match test:
        case tree.Boolean(op="and", left=left, right=right):
            yield from _that_must_hold(left)
            yield from _that_must_hold(right)
        case tree.Call(func=tree.Name(id="bool"), args=(arg,)):
            yield from _that_must_hold(arg.value)
        case _:
            yield test


class _OffByDefault(Backward[bool]):
    """Whether a value is a setting whose only known value is False, wherever it comes from."""

    def source(self, query: Query) -> bool | None:
        """A setting: it is reached by names from a configuration."""
        keys, default = _keys_of(query.node)
        if query.access or not keys:
            return None
        known = self.ev.remembered(("settings", keys), lambda: _is_off(self.ev, keys, default), False)
        return True if known else None

    def joined(self, query: Query, facts: Sequence[tuple[bool | None, Origin]], is_open: bool) -> bool | None:
        """Each of several values is such a setting."""
        return True if facts and all(fact is True for fact, _ in facts) else None


def _keys_of(node: tree.Expr) -> tuple[_Keys, bool]:
    """The names by which a setting is reached, none where the expression is not of that form, and whether it gives a
    default that is False: `config.get("deterministic", False)`.
    """
    keys: list[str] = []
    default = False
    while True:
        match node:
            case tree.Attribute(value=node, attr=key) | tree.Subscript(value=node, index=tree.Const(value=str(key))):
                keys.append(key)
            case tree.Call(
                func=tree.Attribute(value=node, attr="get"),
                args=(tree.Arg(value=tree.Const(value=str(key))), *others),
            ):
                default = default or (not keys and any(_is_no(arg.value) is True for arg in others))
                keys.append(key)
            case tree.Name():
                return tuple(reversed(keys)), default
            case _:
                return (), False


def _is_off(ev: Evaluator, keys: _Keys, default: bool) -> bool:
    found = [default] if default else []
    # An option of the command line may be written with a hyphen: `--cudnn-deterministic`.
    for path in ev.project.matching(any_word({keys[-1], keys[-1].replace("_", "-")})):
        facts = ev.project.facts(path)
        for value in _set_to(facts, keys) if facts is not None else ():
            verdict = _is_no(value)
            if verdict is not True:
                return False
            found.append(verdict)
    return bool(found)


def _is_no(value: tree.Expr | None) -> bool | None:
    """Whether a value that is written is False, 0 or None; None where it is not written as such."""
    return not value.value if isinstance(value, tree.Const) else None


def _set_to(facts: ModuleFacts, keys: _Keys) -> Iterator[tree.Expr | None]:
    """What a file sets the setting to, None for what it does not show: an option of the command line is one."""
    for scope in facts.walk_scopes():
        for store in scope.stores:
            if not SWITCHED.search(dotted_name(store.target) or "") and _is_meant(_keys_of(store.target)[0], keys):
                yield store.value if not store.unpack and not store.augmented else None
            yield from _in_displays(store.value, keys[-1])
        for name, bindings in scope.bindings.items():
            is_field = name == keys[-1] and (scope.parent is None or isinstance(scope.node, tree.ClassDef))
            for binding in bindings:
                value = _assigned(binding)
                if is_field:
                    yield value
                yield from _in_displays(value, keys[-1])
        for call, _ in scope.calls:
            if gives_option(call, keys[-1]):
                yield None
            yield from (arg.value for arg in call.args if arg.keyword == keys[-1] and _is_no(arg.value) is not None)


def _assigned(binding: Binding) -> tree.Expr | None:
    """What is assigned to a name, as it is written."""
    return cast("tree.Expr", binding.node) if binding.kind == "assign" and not binding.unpack else None


def _is_meant(named: _Keys, keys: _Keys) -> bool:
    """Whether what is set by these names is the setting: one of the two may be reached from further out."""
    size = min(len(named), len(keys))
    return size > 0 and named[-size:] == keys[-size:]


def _in_displays(value: tree.Expr | None, key: str) -> Iterator[tree.Expr]:
    for node in walk([value]) if value is not None else ():
        if isinstance(node, tree.DictDisplay):
            yield from (item for name, item in node.items if isinstance(name, tree.Const) and name.value == key)


def gives_option(call: tree.Call, key: str) -> bool:
    """Whether a call declares an option of the command line that is called so."""
    texts = (node.value for node in sub_expressions(call) if isinstance(node, tree.Const))
    return called_name(call.func) in _GIVES_OPTIONS and any(
        isinstance(text, str) and text.lstrip("-").replace("-", "_") == key for text in texts
    )


def declared_texts(call: tree.Call) -> list[str]:
    """What a call that declares an option is given by position: its flags, or its name."""
    given = (arg.value.value for arg in call.args if arg.keyword is None and isinstance(arg.value, tree.Const))
    return [text for text in given if isinstance(text, str)]
